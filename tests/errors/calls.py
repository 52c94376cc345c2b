# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: calls of functions, helpers, lambdas, methods and classes."""
import math
import os
import random
import time
import numpy as np
import pyasc as asc

#: print
@asc.kernel
def k(x: asc.float32[4]):
    print(x[0])
#   ^ PA0209: `print` cannot be called in a kernel

#: open
@asc.kernel
def k(x: asc.float32[4]):
    open("file")
#   ^ PA0209: `open` cannot be called in a kernel

#: input
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = input()
#          ^ PA0209: `input` cannot be called in a kernel

#: sorted
@asc.kernel
def k(x: asc.float32[4]):
    y = sorted((3, 1, 2))
#       ^ PA0209: `sorted` cannot be called in a kernel

#: map
@asc.kernel
def k(x: asc.float32[4]):
    y = map(abs, x)
#       ^ PA0209: `map` cannot be called in a kernel

#: filter
@asc.kernel
def k(x: asc.float32[4]):
    y = filter(None, x)
#       ^ PA0209: `filter` cannot be called in a kernel

#: set of an array
@asc.kernel
def k(x: asc.float32[4]):
    y = set(x)
#       ^ PA0209: `set` cannot be called in a kernel

#: dict called
@asc.kernel
def k(x: asc.float32[4]):
    y = dict(a=1)
#       ^ PA0209: `dict` cannot be called in a kernel

#: str
@asc.kernel
def k(x: asc.float32[4]):
    y = str(x[0])
#       ^ PA0209: `str` cannot be called in a kernel

#: complex
@asc.kernel
def k(x: asc.float32[4]):
    y = complex(1, 2)
#       ^ PA0209: `complex` cannot be called in a kernel

#: isinstance
@asc.kernel
def k(x: asc.float32[4]):
    if isinstance(x, int):
#      ^ PA0209: `isinstance` cannot be called in a kernel
        x[0] = 1.0

#: type
@asc.kernel
def k(x: asc.float32[4]):
    y = type(x)
#       ^ PA0209: `type` cannot be called in a kernel

#: getattr
@asc.kernel
def k(x: asc.float32[4]):
    y = getattr(x, "shape")
#       ^ PA0209: `getattr` cannot be called in a kernel

#: id
@asc.kernel
def k(x: asc.float32[4]):
    y = id(x)
#       ^ PA0209: `id` cannot be called in a kernel

#: eval
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = eval("1")
#          ^ PA0209: `eval` cannot be called in a kernel

#: iter
@asc.kernel
def k(x: asc.float32[4]):
    y = iter(x)
#       ^ PA0209: `iter` cannot be called in a kernel

#: next
@asc.kernel
def k(x: asc.float32[4]):
    y = next(x)
#       ^ PA0209: `next` cannot be called in a kernel

#: a NumPy function without a counterpart
@asc.kernel
def k(x: asc.float32[4]):
    y = np.fft.fft(x)
#       ^ PA0209: `np.fft.fft` cannot be called in a kernel

#: a NumPy array made in the kernel
@asc.kernel
def k(x: asc.float32[4]):
    y = np.array([1.0, 2.0])
#       ^ PA0209: `np.array` cannot be called in a kernel

#: random numbers of NumPy
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = np.random.rand()
#          ^ PA0209: `np.random.rand` cannot be called in a kernel

#: NumPy's zeros
@asc.kernel
def k(x: asc.float32[4]):
    y = np.zeros(4)
#       ^ PA0209: `np.zeros` cannot be called in a kernel

#: calling a number
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = 3(1)
#          ^ PA0411: int 3 cannot be called

#: calling an array
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = x(1)
#          ^ PA0411: float32 array of 1 dimension cannot be called

#: calling a tuple
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = (1, 2)(0)
#          ^ PA0411: a tuple of 2 cannot be called

#: calling None
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = None()
#          ^ PA0411: None cannot be called

#: calling a module
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = math(1.0)
#          ^ PA0411: `math` cannot be called

#: too many arguments of a function of pyasc
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.exp(1.0, 2.0)
#       ^ PA0408: asc.exp takes 1 argument, got 2

#: too few arguments of a function of pyasc
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.zeros()
#       ^ PA0408: `zeros` needs a value for `shape`

#: an unknown keyword of a function of pyasc
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.sum(x, dim=0)
#       ^ PA0408: `sum` has no parameter `dim`

#: an unknown keyword of an elementwise function
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.exp(x, out=x)
#       ^ PA0408: no argument is named `out`

#: an argument given twice
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.sum(x, 0, axis=0)
#       ^ PA0408: `sum` gets a second value for `axis`

#: an unknown keyword of a method
@asc.kernel
def k(x: asc.float32[4]):
    y = x.sum(dim=0)
#       ^ PA0408: `sum` has no parameter `dim`

#: too many arguments of a builtin
@asc.kernel
def k(x: asc.float32[4]):
    y = len(x, x)
#       ^ PA0408: `len` takes 1 argument, got 2

#: abs of nothing
@asc.kernel
def k(x: asc.float32[4]):
    y = abs()
#       ^ PA0408: `abs` needs a value for `value`

#: arguments by a dictionary
@asc.kernel
def k(x: asc.float32[4]):
    options = (1,)
    y = asc.sum(x, **options)
#       ^ PA0202: `**` in a call is not supported in a kernel

#: arguments by a run-time star
@asc.kernel
def k(x: asc.float32[4]):
    y = max(*x)
#           ^ PA0202: `*` is not supported in a kernel

#: too many arguments of a helper
def double(v):
    return v * 2

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = double(x[0], 1)
#          ^ PA0408: `double` takes 1 argument, got 2

#: too few arguments of a helper
def scaled(v, factor):
    return v * factor

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = scaled(x[0])
#          ^ PA0408: `scaled` needs a value for `factor`

#: an unknown keyword of a helper
def scaled(v, factor):
    return v * factor

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = scaled(x[0], by=2)
#          ^ PA0408: `scaled` has no parameter `by`

#: an argument of a helper given twice
def scaled(v, factor):
    return v * factor

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = scaled(x[0], 2, factor=2)
#          ^ PA0408: `scaled` gets a second value for `factor`

#: a helper with any number of arguments
def total(*values):
#          ^ PA0201: a kernel takes a fixed list of parameters
    return values[0]

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = total(x[0], x[1])

#: a helper with any keywords
def total(**values):
#           ^ PA0201: a kernel takes a fixed list of parameters
    return 1.0

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = total(a=x[0])

#: a keyword-only parameter of a helper by position
def total(v, *, factor):
    return v * factor

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = total(x[0], 2)
#          ^ PA0408: `total` takes 1 argument, got 2

#: a creation function of NumPy that Python can read
@asc.kernel
def k(x: asc.float32[4]):
    y = np.ones((2, 2))
#       ^ PA0209: `np.ones` cannot be called in a kernel

#: a function of NumPy that is none of pyasc
@asc.kernel
def k(x: asc.float32[4]):
    y = np.linalg.norm(x)
#       ^ PA0209: `np.linalg.norm` cannot be called in a kernel

#: an annotation of another dtype
@asc.kernel
def k(x: asc.float32[4]):
    y: "asc.float16[4]" = x * 2
#                         ^ PA0412: `y` is asc.float16[4], got float32 array of 1 dimension

#: a quoted annotation of a dtype that there is not
@asc.kernel
def k(x: asc.float32[4]):
    y: "asc.flaot16" = x[0]
#      ^ PA0311: `pyasc` has no attribute `flaot16`

#: a helper that takes another dtype
def half(v: asc.float16):
    return v / 2

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = half(x[1])
#          ^ PA0412: `v` takes float16, got float32

#: a helper that takes an array
def first(v: asc.float32[4]):
    return v[0]

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = first(x[1])
#          ^ PA0412: `v` takes float32[4], got float32

#: a helper that takes an array of another dtype
def first(v: asc.int32[4]):
    return v[0]

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = first(x)
#          ^ PA0412: `v` takes int32[4], got float32 array of 1 dimension

#: a helper that takes a number
def first(n: int):
    return n + 1

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = first(x)
#          ^ PA0412: `n` takes int, got float32 array of 1 dimension

#: a mistake in a helper
def broken(v):
    return v.nonsense()
#          ^ PA0311: float32 array of 1 dimension has no attribute `nonsense`

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = broken(x)

#: a mistake in a helper of a helper
def inner(v):
    return v + undefined
#              ^ PA0301: `undefined` is not defined

def outer(v):
    return inner(v)

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = outer(x[1])

#: too few arguments of a lambda
@asc.kernel
def k(x: asc.float32[4]):
    f = lambda a, b: a + b
    x[0] = f(1.0)
#          ^ PA0408: `<lambda>` needs a value for `b`

#: too many arguments of a nested function
@asc.kernel
def k(x: asc.float32[4]):
    def f(a):
        return a
    x[0] = f(1.0, 2.0)
#          ^ PA0408: `f` takes 1 argument, got 2

#: an unknown keyword of a nested function
@asc.kernel
def k(x: asc.float32[4]):
    def f(a):
        return a
    x[0] = f(1.0, b=2.0)
#          ^ PA0408: `f` has no parameter `b`

#: a nested function with any number of arguments
@asc.kernel
def k(x: asc.float32[4]):
    def f(*a):
        return a[0]
    x[0] = f(1.0)
#          ^ PA0201: `f` takes any number of arguments

#: a nested function that calls itself
@asc.kernel
def k(x: asc.float32[4]):
    def f(a):
        return f(a - 1)
#              ^ PA0303: `f` calls itself
    x[0] = f(1.0)

#: a nested function with a decorator
@asc.kernel
def k(x: asc.float32[4]):
    @asc.func
#    ^ PA0204: a nested function cannot have decorators
    def f(a):
        return a
    x[0] = f(1.0)

#: a nested function that escapes
def maker():
    return lambda a: a + 1

@asc.kernel
def k(x: asc.float32[4]):
    f = maker()
    x[0] = f(1.0)
#          ^ PA0210: `<lambda>` is called after the function around it has ended

#: a class that is called (run)
class Pair:
    pass

@asc.kernel
def k(x: asc.float32[4]):
    p = Pair()
#       ^ PA0209: `Pair` cannot be called in a kernel

#: too many names for a tuple
@asc.kernel
def k(x: asc.float32[4]):
    a, b, c = 1, 2
#   ^ PA0408: 3 names for 2 values

#: too few names for a tuple
@asc.kernel
def k(x: asc.float32[4]):
    a, b = 1, 2, 3
#   ^ PA0408: 2 names for 3 values

#: unpacking a number
@asc.kernel
def k(x: asc.float32[4], n: int):
    a, b = n
#   ^ PA0408: cannot unpack int into 2 names

#: min of nothing
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = min()
#          ^ PA0408: `min` of nothing

#: sum of a number
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = sum(x[0])
#          ^ PA0402: `sum` of float32

#: a grid of nothing
@asc.kernel
def k(x: asc.float32[4]):
    for i in asc.parallel_for_grid():
#            ^ PA0408: asc.parallel_for_grid needs at least one size
        x[0] = 1.0

#: asc.assert_ without a condition
@asc.kernel(debug=True)
def k(x: asc.float32[4]):
    asc.assert_()
#   ^ PA0408: asc.assert_ takes a condition and a message

#: asc.assert_shape of a number
@asc.kernel(debug=True)
def k(x: asc.float32[4]):
    asc.assert_shape(x[0], (4,))
#   ^ PA0402: asc.assert_shape takes an array and a tuple of sizes

#: asc.assert_shape of other dimensions
@asc.kernel(debug=True)
def k(x: asc.float32[4]):
    asc.assert_shape(x, (4, 4))
#                       ^ PA0508: the array has 1 dimension

#: printing a function
@asc.kernel(debug=True)
def k(x: asc.float32[4]):
    asc.print(lambda v: v)
#             ^ PA0402: a function cannot be printed

#: printing with a format from the run
@asc.kernel(debug=True)
def k(x: asc.float32[4], n: int):
    asc.print(f"{x[0]:{n}}")
#             ^ PA0202: a format that is computed at run time is not supported in a kernel

#: a function of pyasc that is not of the language
@asc.kernel
def k(x: asc.float32[4]):
    asc.set_device("cpu")
#   ^ PA0209: `asc.set_device` cannot be called in a kernel

#: a nested function's parameter given twice
@asc.kernel
def k(x: asc.float32[4]):
    def f(a, b=2):
        return a + b
    x[0] = f(1, a=2)
#          ^ PA0408: `f` gets a second value for `a`

#: a nested function's positional parameter given by name
@asc.kernel
def k(x: asc.float32[4]):
    def f(a, /, b=2):
        return a + b
    x[0] = f(a=1)
#          ^ PA0408: `f` has no parameter `a` that has a name in a call

#: a namesake of a NumPy function
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = np.emath.sqrt(x[1])
#          ^ PA0209: `np.emath.sqrt` cannot be called in a kernel

#: an array that a loop replaces and that a mistake has made: one mistake
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4]):
    total = np.zeros(4, np.float32)
#           ^ PA0209: `np.zeros` cannot be called in a kernel
    for i in range(4):
        total = total * 2.0 + x
    y[...] = total
