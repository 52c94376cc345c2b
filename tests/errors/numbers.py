# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: types of numbers, operators, conversions, constants."""
import math
import numpy as np
import pyasc as asc

#: a constant too large for uint8
@asc.kernel
def k(x: asc.uint8[4]):
    x[0] = x[1] + 300
#          ^ PA0403: 300 does not fit uint8

#: a negative constant for an unsigned type
@asc.kernel
def k(x: asc.uint32[4]):
    x[0] = x[1] + -1
#          ^ PA0403: -1 does not fit uint32

#: a constant too large for int16 stored
@asc.kernel
def k(x: asc.int16[4]):
    x[0] = 70000
#          ^ PA0403: 70000 does not fit int16

#: a constant too large for 64 bits
@asc.kernel
def k(x: asc.int64[4]):
    x[0] = 2 ** 70
#          ^ PA0403: 1180591620717411303424 does not fit int64

#: an array filled with a constant too large
@asc.kernel
def k(x: asc.int8[4]):
    x[...] = 1000
#            ^ PA0403: 1000 does not fit int8

#: bit operations on floats
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = x[1] & 1
#          ^ PA0407: `&` does not take float32 and int 1

#: a shift of a float
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = x[1] << 2
#          ^ PA0407: `<<` does not take float32 and int 2

#: a shift by a float
@asc.kernel
def k(x: asc.int32[4], f: float):
    x[0] = x[1] << f
#          ^ PA0407: `<<` does not take int32 and float

#: ~ of a float
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = ~x[1]
#          ^ PA0407: `~` does not take float32

#: minus of a bool
@asc.kernel
def k(x: asc.bool_[4]):
    x[0] = -x[1]
#          ^ PA0407: `-` does not take bool

#: a difference of bools
@asc.kernel
def k(x: asc.bool_[4]):
    x[0] = x[1] - x[2]
#          ^ PA0407: `-` does not take bool and bool

#: division by a constant zero
@asc.kernel
def k(x: asc.int32[4]):
    y = 7 // 0
#       ^ PA0406: division by zero

#: remainder by a constant zero
@asc.kernel
def k(x: asc.int32[4]):
    y = 7 % 0
#       ^ PA0406: division by zero

#: true division by a constant zero
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = 1 / 0
#          ^ PA0406: division by zero

#: divmod by a constant zero
@asc.kernel
def k(x: asc.int32[4]):
    a, b = divmod(7, 0)
#          ^ PA0406: division by zero

#: zero to a negative power
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = 0.0 ** -1
#          ^ PA0406: zero to a negative power

#: a shift by a negative constant
@asc.kernel
def k(x: asc.int32[4]):
    y = 1 << -1
#       ^ PA0406: this constant cannot be computed: negative shift count

#: a constant that overflows
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = 10.0 ** 400
#          ^ PA0406: this constant cannot be computed: Numerical result out of range

#: a negative number to a broken power
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = (-8) ** 0.5
#          ^ PA0406: this constant cannot be computed: it is a complex number

#: an integer element to a negative power
@asc.kernel
def k(x: asc.int32[4]):
    x[0] = x[1] ** -2
#          ^ PA0407: an integer to a negative power is not an integer

#: text plus a number
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = "1" + 1
#          ^ PA0407: `+` does not take '1' and int 1

#: text times an element
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = "1" * x[1]
#          ^ PA0402: expected a number or an array, found '1'

#: None plus a number
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = None + 1
#          ^ PA0407: `+` does not take None and int 1

#: a tuple plus a number
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = (1, 2) + 3
#          ^ PA0407: `+` does not take a tuple of 2 and int 3

#: a tuple minus a tuple
@asc.kernel
def k(x: asc.float32[4]):
    t = (1, 2) - (1, 2)
#       ^ PA0407: `-` does not take a tuple of 2 and a tuple of 2

#: a tuple times an element
@asc.kernel
def k(x: asc.float32[4]):
    t = (1, 2) * x[0]
#       ^ PA0407: `*` does not take a tuple of 2 and float32

#: text compared with a number
@asc.kernel
def k(x: asc.float32[4]):
    if "a" < 1:
#      ^ PA0407: `<` does not take 'a' and int 1
        x[0] = 1.0

#: None compared with an element
@asc.kernel
def k(x: asc.float32[4]):
    if x[0] > None:
#      ^ PA0407: `>` does not take float32 and None
        x[0] = 1.0

#: a function in arithmetic
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = asc.exp + 1
#          ^ PA0407: `+` does not take the function asc.exp and int 1

#: a method in arithmetic
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = x.sum + 1
#          ^ PA0402: expected a number or an array, found the method `sum`

#: minus of text
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = -"a"
#          ^ PA0402: expected a number or an array, found 'a'

#: ~ of a constant float
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = ~1.5
#          ^ PA0407: `~` does not take float 1.5

#: a complex constant
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = 2j
#          ^ PA0402: a kernel has no complex values

#: a bytes constant
@asc.kernel
def k(x: asc.uint8[4]):
    x[0] = b"a"
#          ^ PA0402: a kernel has no bytes values

#: text stored
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = "a"
#          ^ PA0410: an element cannot hold 'a'

#: None stored
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = None
#          ^ PA0410: an element cannot hold None

#: a tuple stored in an element
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = (1, 2)
#          ^ PA0410: an element cannot hold a tuple of 2

#: an array stored in an element
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4]):
    x[0] = y
#          ^ PA0410: an element cannot hold float32 array of 1 dimension

#: a function stored
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = asc.exp
#          ^ PA0410: an element cannot hold the function asc.exp

#: text in a whole array
@asc.kernel
def k(x: asc.float32[4]):
    x[...] = "a"
#            ^ PA0410: cannot fill an array from 'a'

#: floats into an integer array in place
@asc.kernel
def k(x: asc.int32[4]):
    x += 0.5
#   ^ PA0409: the result is float32, which does not go into an array of int32

#: floats into a slice of integers in place
@asc.kernel
def k(x: asc.int32[4]):
    x[1:3] *= 1.5
#   ^ PA0409: the result is float32, which does not go into an array of int32

#: true division of an integer array in place
@asc.kernel
def k(x: asc.int32[4]):
    x /= 2
#   ^ PA0409: the result is float32, which does not go into an array of int32

#: signed into unsigned in place
@asc.kernel
def k(x: asc.uint32[4], y: asc.int32[4]):
    x += y
#   ^ PA0409: the result is int64, which does not go into an array of uint32

#: round to decimal places
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = round(x[1], 2)
#          ^ PA0208: `round` to decimal places

#: int of infinity
@asc.kernel
def k(x: asc.int32[4]):
    x[0] = int(float("inf"))
#          ^ PA0406: cannot convert float infinity to integer

#: int of text
@asc.kernel
def k(x: asc.int32[4]):
    x[0] = int("abc")
#          ^ PA0406: invalid literal for int() with base 10: 'abc'

#: int of an array
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = int(x)
#          ^ PA0402: `int` of float32 array of 1 dimension

#: float of a tuple
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = float((1, 2))
#          ^ PA0402: expected a number or an array, found a tuple of 2

#: a conversion of two values
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = asc.float16(x[1], x[2])
#          ^ PA0408: asc.float16 takes one value to convert, got 2

#: a conversion of text
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = asc.float16("a")
#          ^ PA0402: expected a number, found 'a'

#: a conversion of a tuple
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = asc.float16((1, 2))
#          ^ PA0402: expected a number, found a tuple of 2

#: math on an array
@asc.kernel
def k(x: asc.float32[4]):
    x[...] = math.exp(x)
#            ^ PA0402: math.exp takes numbers, found float32 array of 1 dimension

#: math on text
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = math.exp("a")
#          ^ PA0402: expected a number or an array, found 'a'

#: abs of text
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = abs("a")
#          ^ PA0402: expected a number or an array, found 'a'

#: is between numbers
@asc.kernel
def k(x: asc.int32[4]):
    if x[0] is 3:
#      ^ PA0207: `is` compares objects, which a kernel does not have
        x[0] = 1

#: in an array
@asc.kernel
def k(x: asc.int32[4]):
    if 3 in x:
#      ^ PA0207: `in` looks into tuples, and for integers into ranges, alone
        x[0] = 1

#: a float in a range
@asc.kernel
def k(x: asc.float32[4], n: int):
    if x[0] in range(4):
#      ^ PA0207: `in` looks into tuples, and for integers into ranges, alone
        x[0] = 1

#: in a range of unknown step
@asc.kernel
def k(x: asc.int32[4], n: int):
    if x[0] in range(0, 9, n):
#      ^ PA0207: `in` needs the step of a range
        x[0] = 1

#: the matrix product of numbers
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = x[1] @ x[2]
#          ^ PA0402: a matrix product takes arrays, found float32

#: an index that no register holds
@asc.kernel
def k(x: asc.float32[N]):
    x[10**30] = 1
#     ^ PA0403: 1000000000000000000000000000000 does not fit int64

#: a slice with a step that no register holds
@asc.kernel
def k(x: asc.float32[N]):
    x[::10**30] = 1
#     ^ PA0403: a number here does not fit int64

#: a range that no register counts
@asc.kernel
def k(x: asc.float32[N]):
    for j in range(10**30): x[0] = j
#            ^ PA0403: 1000000000000000000000000000000 does not fit int64

#: a range of integers that no register counts
@asc.kernel
def k(x: asc.float32[N]):
    y = asc.arange(10**30)
#       ^ PA0403: 1000000000000000000000000000000 does not fit int64

#: an array of more elements than can be counted
@asc.kernel
def k(x: asc.float32[N]):
    y = asc.zeros(2**70)
#       ^ PA0403: 1180591620717411303424 does not fit int64

#: a sum of a run-time int and one of more than 64 bits
@asc.kernel
def k(x: asc.float32[N], i: int):
    x[0] = i + 2**64
#          ^ PA0403: 18446744073709551616 does not fit int64

#: an int beyond all floats
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = x[1] + 10**400
#          ^ PA0403: an int that no float holds

#: the least of one number
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = min(x[1])
#          ^ PA0402: `min` of one number

#: the greatest of a number and a text
@asc.kernel
def k(x: asc.float32[N]):
    x[0] = max(x[1], "a")
#          ^ PA0402: expected a number or an array, found 'a'

#: a constant with too many digits
@asc.kernel
def k(x: asc.int32[4]):
    x[0] = 10 ** 10 ** 10
#          ^ PA0406: this constant has too many digits

#: a shift of a constant by too much
@asc.kernel
def k(x: asc.int32[4]):
    x[0] = 1 << 10 ** 12
#          ^ PA0406: this constant has too many digits

#: an index that 64 bits do not hold
@asc.kernel
def k(x: asc.int32[4]):
    x[10 ** 30] = 1
#     ^ PA0403: 1000000000000000000000000000000 does not fit int64

#: a bound that 64 bits do not hold
@asc.kernel
def k(x: asc.int32[4]):
    for i in range(10 ** 30):
#            ^ PA0403: 1000000000000000000000000000000 does not fit int64
        x[0] = 1

#: an index of a text past the end
@asc.kernel
def k(x: asc.int32[4]):
    mode = "abc"[5]
#                ^ PA0504: index 5 of a text of 3

#: a list changed in place
@asc.kernel
def k(x: asc.float32[4]):
    a = [1, 2]
    b = a
    a += [3]
#   ^ PA0202: a list is changed in place
    x[0] = len(b)

#: a list and a tuple
@asc.kernel
def k(x: asc.float32[4]):
    y = [1] + (2,)
#       ^ PA0407: `+` does not take a list of 1 and a tuple of 1

#: a byte under a mask that holds no 300
@asc.kernel
def k(x: asc.uint8[4]):
    x[x > 1] = 300
#              ^ PA0403: 300 does not fit uint8

#: an int rounded to tens
@asc.kernel
def k(x: asc.float32[4], n: int):
    x[0] = round(n, -1)
#          ^ PA0208: `round` of ints to tens

#: builtin max of a matrix
@asc.kernel
def k(x: asc.float32[4, 4]):
    x[0, 0] = max(x)
#             ^ PA0405: `max` of an array of several dimensions

#: a plus before a bool of NumPy's
@asc.kernel
def k(x: asc.bool_[4]):
    x[0] = +x[1]
#          ^ PA0407: `+` does not take bools

#: a factorial with too many digits
@asc.kernel
def k(x: asc.int32[4]):
    x[0] = math.factorial(10 ** 7) % 7
#          ^ PA0406: this constant has too many digits

#: a binomial with too many digits
@asc.kernel
def k(x: asc.int32[4]):
    x[0] = math.comb(10 ** 8, 5 * 10 ** 7) % 7
#          ^ PA0406: this constant has too many digits
