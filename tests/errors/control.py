# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: loops, jumps, conditions, returns, recursion."""
import math
import numpy as np
import pyasc as asc

#: iterating over a number
@asc.kernel
def k(x: asc.float32[4]):
    for i in 3:
#            ^ PA0306: cannot iterate over int 3
        x[i] = 1.0

#: iterating over a size
@asc.kernel
def k(x: asc.float32[N]):
    for i in N:
#            ^ PA0306: cannot iterate over int
        x[i] = 1.0

#: iterating over a float
@asc.kernel
def k(x: asc.float32[4]):
    for i in range(2.5):
#            ^ PA0404: expected an integer, found float 2.5
        x[i] = 1.0

#: iterating over text
@asc.kernel
def k(x: asc.float32[4]):
    for c in "abc":
#            ^ PA0306: cannot iterate over 'abc'
        x[0] += 1.0

#: iterating over a function
@asc.kernel
def k(x: asc.float32[4]):
    for i in range:
#            ^ PA0306: cannot iterate over `range`
        x[0] += 1.0

#: a bound that is a run-time float
@asc.kernel
def k(x: asc.float32[N], n: float):
    for i in range(n):
#            ^ PA0404: expected an integer, found float
        x[i] = 1.0

#: a bound that is an array
@asc.kernel
def k(x: asc.float32[N]):
    for i in range(x):
#            ^ PA0404: expected an integer, found float32 array of 1 dimension
        x[i] = 1.0

#: a step of zero
@asc.kernel
def k(x: asc.float32[4]):
    for i in range(0, 4, 0):
#            ^ PA0503: the step of a range must not be 0
        x[i] = 1.0

#: a parallel step of zero
@asc.kernel
def k(x: asc.float32[4]):
    for i in asc.parallel_for(0, 4, 0):
#            ^ PA0503: the step of a range must not be 0
        x[i] = 1.0

#: a range without bounds
@asc.kernel
def k(x: asc.float32[4]):
    for i in range():
#            ^ PA0408: `range` needs a value for `start`
        x[i] = 1.0

#: a range with too many bounds
@asc.kernel
def k(x: asc.float32[4]):
    for i in range(0, 4, 1, 1):
#            ^ PA0408: `range` takes 3 arguments, got 4
        x[i] = 1.0

#: an endless loop
@asc.kernel
def k(x: asc.float32[4]):
    while True:
#         ^ PA0309: this loop never ends
        x[0] = x[0] + 1.0

#: an endless loop by a number
@asc.kernel
def k(x: asc.float32[4]):
    while 1:
#         ^ PA0309: this loop never ends
        x[0] = x[0] + 1.0

#: a condition that is an array
@asc.kernel
def k(x: asc.float32[4]):
    if x > 0:
#      ^ PA0405: the truth value of an array is ambiguous
        x[0] = 1.0

#: a while condition that is an array
@asc.kernel
def k(x: asc.float32[4]):
    while x > 0:
#         ^ PA0405: the truth value of an array is ambiguous
        x[0] = 1.0

#: an array between and
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4]):
    z = x > 0 and y > 0
#       ^ PA0405: the truth value of an array is ambiguous

#: not of an array
@asc.kernel
def k(x: asc.float32[4]):
    y = not x
#       ^ PA0405: the truth value of an array is ambiguous

#: a chained comparison of arrays
@asc.kernel
def k(x: asc.float32[4]):
    y = 0 < x < 1
#       ^ PA0405: the truth value of an array is ambiguous

#: an assertion on an array
@asc.kernel(debug=True)
def k(x: asc.float32[4]):
    assert x > 0
#          ^ PA0405: the truth value of an array is ambiguous

#: unpacking a loop's items into too many names
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4]):
    for a, b, c in zip(x, y):
#       ^ PA0408: 3 names for 2 values
        x[0] = a + b + c

#: unpacking a counter
@asc.kernel
def k(x: asc.float32[4]):
    for i, j in range(4):
#       ^ PA0408: cannot unpack int into 2 names
        x[i] = 1.0

#: enumerate without a second name
@asc.kernel
def k(x: asc.float32[4]):
    for i in enumerate(x):
        x[i] = 1.0
#         ^ PA0505: 2 indices for an array of 1 dimension

#: unrolling a run-time number
@asc.kernel
def k(x: asc.float32[N], n: int):
    for i in asc.unroll(range(n)):
#            ^ PA0307: the number of iterations must be known when the kernel is compiled
        x[i] = 1.0

#: unrolling too often
@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.unroll(range(100000)):
#            ^ PA0703: 100000 iterations written out
        x[i] = 1.0

#: a list of run-time length
@asc.kernel
def k(x: asc.float32[N], n: int):
    y = [x[i] for i in range(n)]
#                      ^ PA0307: the number of iterations must be known when the kernel is compiled

#: a list with a run-time condition
@asc.kernel
def k(x: asc.float32[4]):
    y = [x[i] for i in range(4) if x[i] > 0]
#                                  ^ PA0307: the length of a list must be known when the kernel is compiled

#: a tuple beside a run-time range
@asc.kernel
def k(x: asc.float32[N], n: int):
    for i, w in zip(range(n), (1.0, 2.0)):
#               ^ PA0306: a tuple together with a run-time range
        x[i] = w

#: recursion
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
#                          ^ PA0303: `fib` calls itself

@asc.kernel
def k(n: int):
    return fib(n)

#: recursion through another function
def even(n):
    return odd(n - 1)

def odd(n):
    return even(n - 1)
#          ^ PA0303: `even` calls itself

@asc.kernel
def k(n: int):
    return even(n)

#: a kernel that calls itself
@asc.kernel
def k(n: int):
    return k(n - 1)
#          ^ PA0303: `k` calls itself

#: a path without a return
@asc.kernel
def k(x: asc.float32[4]) -> asc.float32:
#< PA0312: `k` does not return a value on every path
    if x[0] > 0:
        return x[0]

#: a bare return on one path
@asc.kernel
def k(x: asc.float32[4]) -> asc.float32:
#< PA0305: `k` returns different kinds of values
    if x[0] > 0:
        return
    return x[0]

#: a path of a helper without a return
def sign(v):
#< PA0312: `sign` does not return a value on every path
    if v > 0:
        return 1.0
    elif v < 0:
        return -1.0

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = sign(x[1])

#: returns of different kinds
@asc.kernel
def k(x: asc.float32[4], n: int):
#< PA0305: `k` returns different kinds of values
    if n > 0:
        return x
    return 1.0

#: returns of different numbers of values
@asc.kernel
def k(x: asc.float32[4], n: int):
#< PA0305: `k` returns different kinds of values
    if n > 0:
        return 1.0, 2.0
    return 1.0

#: a result that is text
@asc.kernel
def k(x: asc.float32[4]):
    return "done"
#          ^ PA0413: a kernel cannot return 'done'

#: a result that is a function
@asc.kernel
def k(x: asc.float32[4]):
    return asc.exp
#          ^ PA0413: a kernel cannot return the function asc.exp

#: a result that is a range
@asc.kernel
def k(x: asc.float32[4]):
    return range(4)
#          ^ PA0413: a kernel cannot return a range

#: a list of lists as the result
@asc.kernel
def k(x: asc.float32[4]):
    return [[1, 2], [3, 4]]
#          ^ PA0413: a kernel cannot return a list of 2

#: iterating over an array without axes
@asc.kernel
def k(x: asc.float32[4]):
    for v in asc.sum(x, axis=0, keepdims=False):
#            ^ PA0306: cannot iterate over float32
        x[0] = v

#: zip with a number
@asc.kernel
def k(x: asc.float32[4]):
    for a, b in zip(x, 3):
#               ^ PA0306: cannot iterate over int 3
        x[0] = a

#: a truth value of a range
@asc.kernel
def k(x: asc.float32[4], n: int):
    if range(n):
#      ^ PA0402: expected a truth value, found a range
        x[0] = 1.0

#: a size that may be zero beside -1
@asc.kernel
def k(x: asc.float32[4]):
    y = x.reshape(-1, 0)
#       ^ PA0506: -1 beside a size of 0 stands for any number

#: a tuple repeated too often
@asc.kernel
def k(x: asc.float32[4]):
    t = (0,) * 10 ** 10
#       ^ PA0703: a tuple of 10000000000 items

#: a list of a billion items
@asc.kernel
def k(x: asc.float32[4]):
    y = [i for i in range(10 ** 9)]
#                   ^ PA0703: 1000000000 iterations written out

#: a tuple of a billion items
@asc.kernel
def k(x: asc.float32[4]):
    y = tuple(range(10 ** 9))
#       ^ PA0703: 1000000000 iterations written out

#: a grid with too few names
@asc.kernel
def k(x: asc.float32[3, 4]):
    for i, j, l in asc.parallel_for_grid(3, 4):
#       ^ PA0408: 3 names for 2 values
        x[i, j] = 1.0

#: an iterator with a name
@asc.kernel
def k(x: asc.float32[4]):
    pairs = zip(x, x)
#   ^ PA0306: an iterator that has a name
    for a, b in pairs:
        x[0] += a * b

#: a generator with a name
@asc.kernel
def k(x: asc.float32[4]):
    squares = (i * i for i in range(4))
#   ^ PA0306: an iterator that has a name
    x[0] = sum(squares) + sum(squares)

#: an iterator as an argument of a helper
@asc.kernel
def k(x: asc.float32[4]):
    def twice(pairs):
        return len(list(pairs)) + len(list(pairs))
    x[0] = twice(enumerate((1, 2)))
#          ^ PA0306: an iterator that has a name

#: the reverse of an iterator
@asc.kernel
def k(x: asc.float32[4]):
    for a, b in reversed(zip(x, x)):
#               ^ PA0306: `reversed` of an iterator
        x[0] += a * b

#: the length of an iterator
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = len(zip(x, x))
#          ^ PA0402: `len` of an iterator

#: a generator expression that sets a name
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = any((last := i) > 1 for i in (1, 2, 3))
#               ^ PA0202: a generator expression that sets a name

#: a generator expression that writes
@asc.kernel
def k(x: asc.float32[4]):
    def count(i):
        x[0] += 1
        return i > 1
    x[1] = any(count(i) for i in (1, 2, 3))
#             ^ PA0202: a generator expression that writes to an array

#: a lambda of a comprehension that has ended
@asc.kernel
def k(x: asc.float32[4]):
    i = 10
    parts = [lambda: i for i in range(3)]
    x[0] = parts[0]()
#          ^ PA0210: `<lambda>` is called after the comprehension around it has ended
