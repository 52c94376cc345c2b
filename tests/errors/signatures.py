# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: parameters, annotations, declared results, memory."""
import numpy as np
import pyasc as asc

#: any number of arguments
@asc.kernel
def k(*x):
#      ^ PA0201: a kernel takes a fixed list of parameters
    pass

#: any keywords
@asc.kernel
def k(x: asc.float32[4], **options):
#                          ^ PA0201: a kernel takes a fixed list of parameters
    pass

#: a misspelt dtype
@asc.kernel
def k(x: asc.foat32):
#        ^ PA0311: `pyasc` has no attribute `foat32`
    pass

#: a misspelt dtype of an array
@asc.kernel
def k(x: asc.flot32[4]):
#        ^ PA0311: `pyasc` has no attribute `flot32`
    pass

#: text as size
@asc.kernel
def k(x: asc.float32['a b']):
#                    ^ PA0501: `'a b'` is not a size
    pass

#: a quotient as size
@asc.kernel
def k(x: asc.float32[N / 2]):
#                    ^ PA0501: `N / 2` is not a size
    pass

#: a float as size
@asc.kernel
def k(x: asc.float32[2.5]):
#                    ^ PA0501: `2.5` is not a size
    pass

#: a call as size
@asc.kernel
def k(x: asc.float32[len(y)]):
#                    ^ PA0501: `len(y)` is not a size
    pass

#: trailing sizes left out
@asc.kernel
def k(x: asc.float32[N, ...]):
#                    ^ PA0501: `...` stands for leading sizes, so it comes first
    pass

#: an open size in a sum
@asc.kernel
def k(x: asc.float32[... + 1]):
#                    ^ PA0501: `...` has no value to compute with
    pass

#: a dtype as size
@asc.kernel
def k(x: asc.float32[asc.int32]):
#                    ^ PA0501: `asc.int32` is asc.int32, not a size
    pass

#: str
@asc.kernel
def k(x: str):
#        ^ PA0401: `str` is not an annotation that a kernel takes
    pass

#: list
@asc.kernel
def k(x: list[int]):
#        ^ PA0401: `list` is not an element type
    pass

#: dict
@asc.kernel
def k(x: dict):
#        ^ PA0401: `dict` is not an annotation that a kernel takes
    pass

#: complex
@asc.kernel
def k(x: complex):
#        ^ PA0401: `complex` is not an annotation that a kernel takes
    pass

#: an annotation that is not defined
@asc.kernel
def k(x: floot):
#        ^ PA0301: `floot` is not defined
    pass

#: a module that is not imported
@asc.kernel
def k(x: torch.Tensor):
#        ^ PA0301: `torch` is not defined
    pass

#: a number as annotation
@asc.kernel
def k(x: 3):
#        ^ PA0401: `3` is not an annotation that a kernel takes
    pass

#: a union
@asc.kernel
def k(x: int | float):
#        ^ PA0401: `int | float` is not an annotation that a kernel takes
    pass

#: an array of a Python type
@asc.kernel
def k(x: float[4]):
#        ^ PA0401: `float` is not an element type
    pass

#: a wrong result annotation
@asc.kernel
def k(x: asc.float32[4]) -> str:
#                           ^ PA0401: `str` is not an annotation that a kernel takes
    return x[0]

#: a result of another type
@asc.kernel
def k(x: asc.float32[4]) -> asc.int32:
    return x[0]
#          ^ PA0413: returns float32, declared is int32

#: an array where a number is declared
@asc.kernel
def k(x: asc.float32[4]) -> asc.float32:
    return x
#          ^ PA0413: returns float32 array of 1 dimension, declared is float32

#: a number where an array is declared
@asc.kernel
def k(x: asc.float32[4]) -> asc.float32[4]:
    return x[0]
#          ^ PA0413: returns float32, declared is float32[4]

#: an array of another dtype than declared
@asc.kernel
def k(x: asc.float32[4]) -> asc.float16[4]:
    return x
#          ^ PA0413: returns float32 array of 1 dimension, declared is float16[4]

#: too many results
@asc.kernel
def k(x: asc.float32[4]) -> asc.float32:
    return x[0], x[1]
#          ^ PA0413: returns 2 values, declared are 1

#: too few results
@asc.kernel
def k(x: asc.float32[4]) -> tuple[asc.float32, asc.float32]:
    return x[0]
#          ^ PA0413: returns 1 value, declared are 2

#: a declared result that is missing
@asc.kernel
def k(x: asc.float32[4]) -> asc.float32:
#< PA0413: returns 0 values, declared are 1
    x[0] = 1.0

#: a result where none is declared
@asc.kernel
def k(x: asc.float32[4]) -> None:
    return x[0]
#          ^ PA0413: returns 1 value, declared are 0

#: an alignment that is no power of two
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.aligned_alloc(4, asc.float32, 48)
#       ^ PA0507: an alignment is a power of two that is known when the kernel is compiled

#: a run-time alignment
@asc.kernel
def k(x: asc.float32[4], n: int):
    y = asc.aligned_alloc(4, asc.float32, n)
#       ^ PA0507: an alignment is a power of two that is known when the kernel is compiled

#: a buffer of a negative size
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.shared_memory(-4, asc.float32)
#       ^ PA0506: a size cannot be negative: -4

#: a copy into a number
@asc.kernel
def k(x: asc.float32[4]):
    asc.copy(x, x[0])
#   ^ PA0410: cannot copy into float32

#: a copy of another length
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[3]):
    asc.copy(x, y)
#   ^ PA0502: an array of shape (4,) does not fit into one of shape (3,)

#: an atomic update of a number
@asc.kernel
def k(x: asc.float32[4]):
    asc.atomic_add(x[0], 0, 1.0)
#   ^ PA0410: cannot update an element of float32

#: an atomic update with too many indices
@asc.kernel
def k(x: asc.float32[4]):
    asc.atomic_add(x, (0, 0), 1.0)
#   ^ PA0505: 2 indices for an array of 1 dimension

#: an atomic update with a float index
@asc.kernel
def k(x: asc.float32[4]):
    asc.atomic_add(x, 0.5, 1.0)
#   ^ PA0404: expected an integer, found float 0.5

#: a negative size
@asc.kernel
def k(x: asc.float32[-4]):
#                    ^ PA0501: -4 is not a size
    pass

#: a size that 64 bits do not hold
@asc.kernel
def k(x: asc.float32[99999999999999999999999]):
#                    ^ PA0501: 99999999999999999999999 is not a size
    pass

#: a precision that does not exist
@asc.kernel
def k(x: asc.float32[4]):
    with asc.precision("bogus"):
#        ^ PA0408: asc.precision takes a mode, and a tolerance that is a positive number
        x[0] = 1.0
