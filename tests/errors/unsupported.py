# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: Python that kernels do not have."""
import numpy as np
import pyasc as asc

#: try
@asc.kernel
def k(x: asc.float32[4]):
    try:
#   ^ PA0202: `try` is not supported in a kernel
        x[0] = 1.0
    finally:
        x[1] = 1.0

#: raise
@asc.kernel
def k(x: asc.float32[4]):
    if x[0] < 0:
        raise ValueError("negative")
#       ^ PA0202: `raise` is not supported in a kernel

#: a dictionary
@asc.kernel
def k(x: asc.float32[4]):
    d = {1: 2}
#       ^ PA0202: a dictionary is not supported in a kernel

#: a set
@asc.kernel
def k(x: asc.float32[4]):
    d = {1, 2}
#       ^ PA0202: a set is not supported in a kernel

#: a dictionary comprehension
@asc.kernel
def k(x: asc.float32[4]):
    d = {i: i for i in range(4)}
#       ^ PA0202: a dictionary comprehension is not supported in a kernel

#: a set comprehension
@asc.kernel
def k(x: asc.float32[4]):
    d = {i for i in range(4)}
#       ^ PA0202: a set comprehension is not supported in a kernel

#: import
@asc.kernel
def k(x: asc.float32[4]):
    import os
#   ^ PA0202: `import` is not supported in a kernel

#: from import
@asc.kernel
def k(x: asc.float32[4]):
    from os import path
#   ^ PA0202: `import` is not supported in a kernel

#: a class
@asc.kernel
def k(x: asc.float32[4]):
    class C:
#   ^ PA0202: a class definition is not supported in a kernel
        pass

#: global
@asc.kernel
def k(x: asc.float32[4]):
    global counter
#   ^ PA0202: `global` is not supported in a kernel
    counter = 1

#: nonlocal
@asc.kernel
def k(x: asc.float32[4]):
    n = 0
    def f():
        nonlocal n
#       ^ PA0202: `nonlocal` is not supported in a kernel
        n = 1
    f()

#: del
@asc.kernel
def k(x: asc.float32[4]):
    del x
#   ^ PA0202: `del` is not supported in a kernel

#: del of an element
@asc.kernel
def k(x: asc.float32[4]):
    del x[0]
#   ^ PA0202: `del` is not supported in a kernel

#: an f-string
@asc.kernel
def k(x: asc.float32[4]):
    s = f"{x[0]}"
#       ^ PA0202: an f-string is not supported in a kernel

#: match
@asc.kernel
def k(x: asc.float32[4], n: int):
    match n:
#   ^ PA0202: `match` is not supported in a kernel
        case 1:
            x[0] = 1.0

#: yield
@asc.kernel
def k(x: asc.float32[4]):
    yield x[0]
#   ^ PA0202: `yield` is not supported in a kernel

#: yield from
@asc.kernel
def k(x: asc.float32[4]):
    yield from x
#   ^ PA0202: `yield from` is not supported in a kernel

#: await
@asc.kernel
def k(x: asc.float32[4]):
    async def f():
#   ^ PA0202: `async def` is not supported in a kernel
        await g()
    x[0] = 1.0

#: an asynchronous helper (run)
async def helper(x):
#< PA0202: `async def` is not supported in a kernel
    return x

@asc.kernel
def k(x: asc.float32[4]):
    x[0] = helper(x)

#: with
@asc.kernel
def k(x: asc.float32[4]):
    with open("file"):
#   ^ PA0202: `with` is not supported in a kernel
        x[0] = 1.0

#: an array spread into a tuple
@asc.kernel
def k(x: asc.float32[4]):
    t = (*x, 1)
#        ^ PA0202: `*` is not supported in a kernel

#: an attribute set
@asc.kernel
def k(x: asc.float32[4]):
    x.shape = (2, 2)
#   ^ PA0203: the attribute `shape` cannot be set

#: an attribute updated
@asc.kernel
def k(x: asc.float32[4]):
    x.scale += 1
#   ^ PA0203: an attribute cannot be set

#: the matrix product in place
@asc.kernel
def k(x: asc.float32[4, 4]):
    x @= x
#   ^ PA0202: `@=` is not supported in a kernel

#: a decorated class in a nested function
@asc.kernel
def k(x: asc.float32[4]):
    def f():
        class C:
#       ^ PA0202: a class definition is not supported in a kernel
            pass
        return 1.0
    x[0] = f()

#: two mistakes in one kernel
@asc.kernel
def k(x: asc.float32[4]):
    d = {1: 2}
#       ^ PA0202: a dictionary is not supported in a kernel
    x[0] = 1.0
    x[9] = 2.0
#     ^ PA0504: index 9 is out of range

#: a mistake on one line of several
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = (
        1.0
        + nothing
#         ^ PA0301: `nothing` is not defined
        + 2.0
    )

#: wide characters before the place
@asc.kernel
def k(x: asc.float32[4]):
    長さ = 1; x[0] = 長さ + nichts
#                       ^ PA0301: `nichts` is not defined

#: tabs before the place
@asc.kernel
def k(x: asc.float32[4]):
	if x[0] > 0:
		x[0] = nothing
#        ^ PA0301: `nothing` is not defined

#: a list that grows
@asc.kernel
def k(x: asc.float32[4]):
    items = [1, 2]
    items.append(3)
#   ^ PA0311: a list of 2 has no attribute `append`
    x[0] = len(items)

#: NumPy's round
@asc.kernel
def k(x: asc.float32[4]):
    x[...] = np.round(x)
#            ^ PA0209: `np.round` cannot be called in a kernel
