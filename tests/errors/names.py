# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: names that do not exist, are not set, or mean different things on different paths."""
import math
import numpy as np
import pyasc as asc

#: a misspelt parameter
@asc.kernel
def k(values: asc.float32[N]):
    for i in range(N):
        values[i] = valeus[i] + 1
#                   ^ PA0301: `valeus` is not defined

#: a misspelt symbolic size
@asc.kernel
def k(x: asc.float32[Rows, Cols]):
    for i in range(Row):
#                  ^ PA0301: `Row` is not defined
        x[i, 0] = 1.0

#: a name of the caller that is not passed
def helper():
    return x[0]
#          ^ PA0301: `x` is not defined

@asc.kernel
def k(x: asc.float32[N]):
    x[1] = helper()

#: read before set
@asc.kernel
def k(n: int):
    m = n + t
#           ^ PA0302: `t` is read before it is set
    t = 1
    return m

#: set only if a condition holds
@asc.kernel
def k(n: int):
    if n > 1:
        t = 1
    return t
#          ^ PA0302: `t` may have no value here

#: set on one side of an else
@asc.kernel
def k(n: int):
    if n > 1:
        t = 1
    else:
        u = 2
    return t + n
#          ^ PA0302: `t` may have no value here

#: set only when the loop runs
@asc.kernel
def k(n: int):
    for i in range(n):
        t = i
    return t
#          ^ PA0302: `t` may have no value here

#: the counter after a loop that may not run
@asc.kernel
def k(n: int):
    for i in range(n):
        pass
    return i
#          ^ PA0302: `i` may have no value here

#: set only if a while loop runs
@asc.kernel
def k(n: int):
    while n > 10:
        t = n
        n -= 1
    return t
#          ^ PA0302: `t` may have no value here

#: skipped by a break
@asc.kernel
def k(n: int):
    for i in range(10):
        if i == n:
            break
        t = i
    return t
#          ^ PA0302: `t` may have no value here

#: skipped by a continue
@asc.kernel
def k(x: asc.float32[4], n: int):
    for i in range(4):
        if i == n:
            continue
        t = i
    x[0] = t
#          ^ PA0302: `t` may have no value here

#: an augmented assignment to nothing
@asc.kernel
def k(x: asc.float32[N]):
    for i in range(N):
        total += x[i]
#       ^ PA0302: `total` is read before it is set
    x[0] = total

#: a comprehension's name after it
@asc.kernel
def k(x: asc.float32[4]):
    s = sum([x[j] for j in range(4)])
    x[0] = s + j
#              ^ PA0301: `j` is not defined

#: a lambda's parameter outside of it
@asc.kernel
def k(x: asc.float32[4]):
    f = lambda v: v + 1
    x[0] = f(v)
#            ^ PA0301: `v` is not defined

#: a local of a nested function outside of it
@asc.kernel
def k(x: asc.float32[4]):
    def f():
        inner = 2.0
        return inner
    x[0] = f() + inner
#                ^ PA0301: `inner` is not defined

#: a misspelt function of pyasc
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = asc.sqroot(x[1])
#          ^ PA0311: `pyasc` has no attribute `sqroot`

#: a misspelt function of math
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = math.sqr(x[1])
#          ^ PA0311: `math` has no attribute `sqr`

#: a misspelt dtype
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = asc.flaot16(x[1])
#          ^ PA0311: `pyasc` has no attribute `flaot16`

#: an attribute that arrays do not have
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = x.length
#          ^ PA0311: float32 array of 1 dimension has no attribute `length`

#: a method that arrays do not have
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = x.average()
#          ^ PA0311: float32 array of 1 dimension has no attribute `average`

#: a misspelt method
@asc.kernel
def k(x: asc.float32[4, 2]):
    y = x.reshap(8)
#       ^ PA0311: float32 array of 2 dimensions has no attribute `reshap`
    x[0, 0] = y[0]

#: an attribute of a tuple
@asc.kernel
def k(x: asc.float32[N]):
    pair = (1, 2)
    x[0] = pair.first
#          ^ PA0311: a tuple of 2 has no attribute `first`

#: an attribute of a number
@asc.kernel
def k(x: asc.float32[N], n: int):
    x[0] = n.real_part()
#          ^ PA0311: int has no attribute `real_part`

#: an array before a loop, a number in it
@asc.kernel
def k(x: asc.float32[4], n: int):
    y = x
    for i in range(n):
        y = 1.0
    x[0] = y
#          ^ PA0305: `y` has no single value here

#: an array that a loop replaces by a computed one, told once
@asc.kernel
def k(a: asc.float32[N, N], r: asc.float32[N, N]):
    for t in range(3):
        r = r @ a
#           ^ PA0305: `r` has no single value here
    return r

#: names of the module and of the function around, told once
@asc.kernel
def k(x: asc.float32[4]):
    c = 0

    def bump():
        nonlocal c
#       ^ PA0202: `nonlocal` is not supported in a kernel
        c += 1

    def note():
        global d
#       ^ PA0202: `global` is not supported in a kernel
        d += 1
    bump()
    note()
    x[0] = 1.0

#: arrays that change places
@asc.kernel
def k(u: asc.float32[4], v: asc.float32[4], n: int):
    for t in range(n):
        v[0] = u[0] * 0.5
#              ^ PA0305: `u` has no single value here
        if t > 1:
            u, v = v, u
#                  ^ PA0305: `v` has no single value here

#: an array or a number by a condition
@asc.kernel
def k(x: asc.float32[4], n: int):
    if n > 0:
        y = x
    else:
        y = 0.0
    x[0] = y + 1
#          ^ PA0305: `y` has no single value here

#: tuples of different lengths by a condition
@asc.kernel
def k(x: asc.float32[4], n: int):
    if n > 0:
        t = (1, 2)
    else:
        t = (1, 2, 3)
    x[0] = t[0]
#          ^ PA0305: `t` has no single value here

#: a choice between an array and a number
@asc.kernel
def k(x: asc.float32[4]):
    y = x if x[0] > 0 else 1
#       ^ PA0305: a choice at run time between float32 array of 1 dimension and int 1

#: a choice between two arrays
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4], n: int):
    z = x if n else y
#       ^ PA0305: a choice at run time between float32 array of 1 dimension and float32 array of 1 dimension
    z[0] = 1.0

#: integers of 64 bits with a sign and without
@asc.kernel
def k(x: asc.int64[4], y: asc.uint64[4]):
    x[0] = max(x[1], y[0])
#          ^ PA0305: a choice at run time between int64 and uint64: no type holds both

#: an int that may be negative, and unsigned elements of 64 bits
@asc.kernel
def k(x: asc.int64[4], y: asc.uint64[4], n: int):
    x[0] = n if x[1] else y[0]
#          ^ PA0305: a choice at run time between int and uint64: no type holds both

#: None on one path
@asc.kernel
def k(x: asc.float32[4], n: int):
    t = None
    if n > 0:
        t = 1
    x[0] = t
#          ^ PA0305: `t` has no single value here

#: functions by a condition
@asc.kernel
def k(x: asc.float32[4], n: int):
    f = asc.exp if n > 0 else asc.log
#       ^ PA0305: a choice at run time between the function asc.exp and the function asc.log
    x[0] = f(x[0])

#: text by a condition
@asc.kernel
def k(x: asc.float32[4], n: int):
    mode = "a" if n > 0 else "b"
#          ^ PA0305: a choice at run time between 'a' and 'b'
    x[0] = 1.0 if mode == "a" else 2.0

#: arrays by a condition
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4], n: int):
    if n > 0:
        z = x
    else:
        z = y
    z[0] = 1.0
#   ^ PA0305: `z` has no single value here

#: arrays of different shapes by a condition
@asc.kernel
def k(x: asc.float32[4], n: int):
    if n > 0:
        z = asc.zeros(4)
    else:
        z = asc.zeros(5)
    x[0] = z[0]
#          ^ PA0305: `z` has no single value here

#: numbers of a tuple by a condition
@asc.kernel
def k(x: asc.float32[4], n: int):
    if n > 0:
        t = (1, 2)
    else:
        t = (n, 3)
    x[0] = t[0]
#          ^ PA0305: `t` has no single value here

#: a conflict that another condition keeps
@asc.kernel
def k(x: asc.float32[4], n: int):
    if n > 0:
        y = x
    else:
        y = 0.0
    if n > 1:
        y = y
#           ^ PA0305: `y` has no single value here
    x[0] = y + 1

#: a number before a loop, an array in it
@asc.kernel
def k(x: asc.float32[4], n: int):
    total = 0.0
    for i in range(n):
        total = total + x
#               ^ PA0305: `total` has no single value here
    x[...] = total

#: an array whose shape changes in a loop
@asc.kernel
def k(x: asc.float32[4], n: int):
    y = x * 1
    for i in range(n):
        y = asc.stack((y, y))
#                      ^ PA0305: `y` has no single value here
    x[...] = y

#: a mistake in both branches
@asc.kernel
def k(x: asc.float32[4], n: int):
    if n > 0:
        y = nothing
#           ^ PA0301: `nothing` is not defined
    else:
        y = 1.0
    x[0] = y
