# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: indices, slices, shapes, axes, reshaping, joining, contractions."""
import math
import numpy as np
import pyasc as asc

#: an index past the end
@asc.kernel
def k(x: asc.float32[4]):
    x[4] = 1.0
#     ^ PA0504: index 4 is out of range

#: a negative index past the front
@asc.kernel
def k(x: asc.float32[4]):
    x[-5] = 1.0
#     ^ PA0504: index -5 is out of range

#: the second index past the end
@asc.kernel
def k(x: asc.float32[4, 3]):
    x[0, 3] = 1.0
#        ^ PA0504: index 3 is out of range

#: an index past the end of a row
@asc.kernel
def k(x: asc.float32[4, 3]):
    row = x[1]
    row[3] = 1.0
#       ^ PA0504: index 3 is out of range

#: too many indices
@asc.kernel
def k(x: asc.float32[4]):
    x[0, 0] = 1.0
#     ^ PA0505: 2 indices for an array of 1 dimension

#: too many indices of a row
@asc.kernel
def k(x: asc.float32[4, 3]):
    x[0][1][2] = 1.0
#   ^ PA0505: cannot assign to an element of float32

#: a float index
@asc.kernel
def k(x: asc.float32[4]):
    x[1.5] = 1.0
#     ^ PA0404: expected an integer, found float 1.5

#: a run-time float index
@asc.kernel
def k(x: asc.float32[4], f: float):
    x[f] = 1.0
#     ^ PA0404: expected an integer, found float

#: a quotient as index
@asc.kernel
def k(x: asc.float32[N]):
    x[N / 2] = 1.0
#     ^ PA0404: expected an integer, found float

#: text as index
@asc.kernel
def k(x: asc.float32[4]):
    x["a"] = 1.0
#     ^ PA0505: 'a' is not an index

#: a float array as indices
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4]):
    z = x[y]
#       ^ PA0404: indices must be integers, found float32

#: a mask as index
@asc.kernel
def k(x: asc.float32[4]):
    y = x[x > 0]
#       ^ PA0205: a mask selects a number of elements that only the run time knows

#: an array assigned through a mask
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4]):
    x[x > 0] = y
#              ^ PA0205: a mask selects a number of elements that only the run time knows

#: indexing a number
@asc.kernel
def k(x: asc.float32[4], n: int):
    x[0] = n[0]
#          ^ PA0505: int has no elements to index

#: indexing an element
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = x[1][0]
#          ^ PA0505: float32 has no elements to index

#: indexing a function
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = asc.exp[0]
#          ^ PA0505: the function asc.exp has no elements to index

#: assigning to an element of a tuple
@asc.kernel
def k(x: asc.float32[4]):
    t = (1, 2)
    t[0] = 3
#   ^ PA0505: cannot assign to an element of a tuple of 2

#: assigning to an element of an expression
@asc.kernel
def k(x: asc.float32[4]):
    (x + 1)[0] = 3.0
#    ^ PA0505: cannot assign to an element of float32 array of 1 dimension

#: an index of a tuple past the end
@asc.kernel
def k(x: asc.float32[4]):
    t = (1, 2)
    x[0] = t[2]
#            ^ PA0504: index 2 of a tuple of 2

#: a run-time index of a tuple
@asc.kernel
def k(x: asc.float32[4], n: int):
    t = (1.0, 2.0)
    x[0] = t[n]
#            ^ PA0504: a tuple is indexed at compile time

#: a slice with step zero
@asc.kernel
def k(x: asc.float32[4]):
    y = x[::0]
#       ^ PA0503: the step of a slice must not be 0

#: a slice with a run-time step
@asc.kernel
def k(x: asc.float32[4], n: int):
    y = x[::n]
#       ^ PA0206: the step of a slice must be known when the kernel is compiled

#: a slice with a float bound
@asc.kernel
def k(x: asc.float32[4]):
    y = x[0.5:]
#       ^ PA0404: expected an integer, found float 0.5

#: two ellipses
@asc.kernel
def k(x: asc.float32[4, 4, 4]):
    y = x[..., 0, ...]
#       ^ PA0505: `...` stands in an index once

#: shapes that do not broadcast
@asc.kernel
def k(x: asc.float32[4, 5], y: asc.float32[5, 4]):
    return x + y
#          ^ PA0502: shapes (4, 5) and (5, 4) do not fit together

#: shapes of a comparison that do not broadcast
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[3]):
    return x < y
#          ^ PA0502: shapes (4,) and (3,) do not fit together

#: shapes of a where that do not broadcast
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[3]):
    return asc.where(x > 0, x, y)
#          ^ PA0502: shapes (4,) and (3,) do not fit together

#: an assignment of another shape
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[3]):
    x[...] = y
#            ^ PA0502: an array of shape (3,) does not fit into one of shape (4,)

#: an assignment to a slice of another length
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4]):
    x[0:2] = y
#            ^ PA0502: an array of shape (4,) does not fit into one of shape (2,)

#: an assignment of too many dimensions
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[2, 4]):
    x[...] = y
#            ^ PA0502: an array of shape (2, 4) does not fit into one of shape (4,)

#: a row of another length
@asc.kernel
def k(x: asc.float32[4, 3], y: asc.float32[4]):
    x[0] = y
#          ^ PA0502: an array of shape (4,) does not fit into one of shape (3,)

#: matrices that do not fit
@asc.kernel
def k(x: asc.float32[3, 4], y: asc.float32[5, 6]):
    return x @ y
#          ^ PA0502: matrices of shapes (3, 4) and (5, 6) cannot be multiplied

#: batches of matrices that do not fit
@asc.kernel
def k(x: asc.float32[2, 3, 4], y: asc.float32[5, 4, 6]):
    return x @ y
#          ^ PA0502: shapes (2, 3, 4) and (5, 4, 6) do not fit together

#: the matrix product with a number
@asc.kernel
def k(x: asc.float32[3, 4]):
    return x @ 2
#          ^ PA0402: a matrix product takes arrays, found int 2

#: an axis that does not exist
@asc.kernel
def k(x: asc.float32[4]):
    return asc.sum(x, axis=1)
#          ^ PA0509: axis 1 of an array of 1 dimension

#: a negative axis that does not exist
@asc.kernel
def k(x: asc.float32[4]):
    return x.max(axis=-2)
#          ^ PA0509: axis -2 of an array of 1 dimension

#: an axis named twice
@asc.kernel
def k(x: asc.float32[4, 4]):
    return asc.sum(x, axis=(0, 0))
#          ^ PA0509: an axis is named twice

#: a run-time axis
@asc.kernel
def k(x: asc.float32[4, 4], n: int):
    return asc.sum(x, axis=n)
#          ^ PA0509: an axis must be an integer that is known when the kernel is compiled

#: a float axis
@asc.kernel
def k(x: asc.float32[4, 4]):
    return asc.sum(x, axis=0.5)
#          ^ PA0509: an axis must be an integer that is known when the kernel is compiled

#: run-time keepdims
@asc.kernel
def k(x: asc.float32[4, 4], n: int):
    return asc.sum(x, axis=0, keepdims=n)
#          ^ PA0307: `keepdims` must be known when the kernel is compiled

#: the maximum of nothing
@asc.kernel
def k(x: asc.float32[4]):
    return asc.max(x[4:])
#          ^ PA0510: the minimum or maximum of an empty axis

#: argmax of nothing
@asc.kernel
def k(x: asc.float32[4]):
    return asc.argmax(x[:0])
#          ^ PA0510: the minimum or maximum of an empty axis

#: min without a value
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = min(())
#          ^ PA0408: `min` of nothing

#: a reshape to another number of elements
@asc.kernel
def k(x: asc.float32[4]):
    y = x.reshape(3, 3)
#       ^ PA0506: cannot reshape: 9 elements asked for, 4 there

#: a reshape with two open sizes
@asc.kernel
def k(x: asc.float32[4]):
    y = x.reshape(-1, -1)
#       ^ PA0506: only one size may be -1

#: a reshape that leaves a rest
@asc.kernel
def k(x: asc.float32[7]):
    y = x.reshape(-1, 2)
#       ^ PA0506: cannot reshape: 1 elements are left over

#: a reshape to a float
@asc.kernel
def k(x: asc.float32[4]):
    y = x.reshape(2.0, 2)
#       ^ PA0404: expected an integer, found float 2.0

#: a negative size
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.zeros((2, -1))
#       ^ PA0506: a size cannot be negative: -1

#: a float size
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.zeros(2.5)
#       ^ PA0404: expected an integer, found float 2.5

#: zeros of something that is no type
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.zeros(4, dtype=3)
#       ^ PA0401: int 3 is not an element type

#: full of an array
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.full(4, x)
#       ^ PA0402: asc.full takes a number, found float32 array of 1 dimension

#: arange of floats in integers
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.arange(0.0, 1.0, 0.25, dtype=asc.int32)
#       ^ PA0404: asc.arange of floats in int32

#: arange with step zero
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.arange(0, 4, 0)
#       ^ PA0503: the step of asc.arange must not be 0

#: a transpose with too few axes
@asc.kernel
def k(x: asc.float32[2, 3, 4]):
    y = x.transpose(0, 1)
#       ^ PA0509: an array of 3 dimensions needs each axis once

#: a transpose with an axis twice
@asc.kernel
def k(x: asc.float32[2, 3]):
    y = asc.transpose(x, (0, 0))
#       ^ PA0509: an array of 2 dimensions needs each axis once

#: concatenate of one array
@asc.kernel
def k(x: asc.float32[4]):
    y = asc.concatenate(x)
#       ^ PA0402: asc.concatenate takes a tuple of arrays

#: concatenate of different dimensions
@asc.kernel
def k(x: asc.float32[4], y: asc.float32[4, 4]):
    z = asc.concatenate((x, y))
#       ^ PA0502: arrays of different numbers of dimensions cannot be joined

#: concatenate of different rows
@asc.kernel
def k(x: asc.float32[2, 4], y: asc.float32[2, 5]):
    z = asc.concatenate((x, y))
#       ^ PA0502: cannot join: size 5 against 4

#: concatenate of numbers
@asc.kernel
def k(x: asc.float32[2]):
    z = asc.concatenate((x[0], x[1]))
#       ^ PA0402: expected an array, found float32

#: stack of nothing
@asc.kernel
def k(x: asc.float32[2]):
    z = asc.stack(())
#       ^ PA0402: asc.stack takes a tuple of arrays

#: stack of different shapes
@asc.kernel
def k(x: asc.float32[2], y: asc.float32[3]):
    z = asc.stack((x, y))
#       ^ PA0502: cannot join: size 3 against 2

#: a split that leaves a rest
@asc.kernel
def k(x: asc.float32[7]):
    a, b = asc.split(x, 2)
#          ^ PA0506: the axis does not split into 2 equal parts

#: a split into a run-time number of parts
@asc.kernel
def k(x: asc.float32[8], n: int):
    a = asc.split(x, n)
#       ^ PA0307: the number of parts must be known when the kernel is compiled

#: broadcast_to fewer axes
@asc.kernel
def k(x: asc.float32[2, 3]):
    y = asc.broadcast_to(x, (3,))
#       ^ PA0502: broadcasting cannot drop axes

#: broadcast_to another size
@asc.kernel
def k(x: asc.float32[3]):
    y = asc.broadcast_to(x, (2, 4))
#       ^ PA0502: cannot broadcast size 3 to 4

#: an equation with too few operands
@asc.kernel
def k(x: asc.float32[3, 3]):
    y = asc.einsum("ij,jk->ik", x)
#       ^ PA0509: this equation does not fit the operands

#: an equation of other dimensions
@asc.kernel
def k(x: asc.float32[3, 3]):
    y = asc.einsum("ijk->ik", x)
#       ^ PA0509: this equation does not fit the operands

#: an equation with a diagonal
@asc.kernel
def k(x: asc.float32[3, 3]):
    y = asc.einsum("ii->i", x)
#       ^ PA0509: an operand has two axes `i`, whose diagonal is no view here

#: an equation of other sizes
@asc.kernel
def k(x: asc.float32[3, 4], y: asc.float32[5, 6]):
    z = asc.einsum("ij,jk->ik", x, y)
#       ^ PA0502: the axis `j` has sizes 4 and 5

#: an equation that is no text
@asc.kernel
def k(x: asc.float32[3, 4]):
    z = asc.einsum(3, x)
#       ^ PA0509: this equation does not fit the operands

#: len of a number
@asc.kernel
def k(x: asc.float32[3], n: int):
    x[0] = len(n)
#          ^ PA0402: `len` of int

#: unpacking an array of unknown length
@asc.kernel
def k(x: asc.float32[N]):
    a, b = x
#   ^ PA0408: cannot unpack float32 array of 1 dimension into 2 names

#: unpacking an array of another length
@asc.kernel
def k(x: asc.float32[3]):
    a, b = x
#   ^ PA0408: 2 names for 3 values

#: softmax of a number
@asc.kernel
def k(x: asc.float32[3]):
    x[0] = asc.softmax(x[1])
#          ^ PA0402: expected an array, found a number

#: take with float indices
@asc.kernel
def k(x: asc.float32[3], y: asc.float32[2]):
    z = asc.take(x, y)
#       ^ PA0404: indices must be integers, found float32

#: returned shape is not the declared one
@asc.kernel
def k(x: asc.float32[4, 5]) -> asc.float32[5]:
    return asc.sum(x, axis=1)
#          ^ PA0512: returns shape (4,), declared is float32[5]

#: returned rank is not the declared one
@asc.kernel
def k(x: asc.float32[4, 5]) -> asc.float32[4]:
    return x
#          ^ PA0512: returns float32 array of 2 dimensions, declared is float32[4]

#: a returned shape that only the run knows
@asc.kernel
def k(x: asc.float32[N], n: int):
    return x[:n] * 2
#          ^ PA0511: the shape of the returned array is known only when it has been computed

#: True as an index
@asc.kernel
def k(x: asc.float32[4]):
    x[True] = 1
#     ^ PA0404: expected an integer index, found bool True

#: a comparison as an index
@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N]):
    y[0] = x[y[1] > 0]
#            ^ PA0404: expected an integer index, found bool

#: a comparison as an index beside a slice
@asc.kernel
def k(x: asc.float32[M, N], i: int):
    x[i > 0, :] = 1
#     ^ PA0404: expected an integer index, found bool

#: a store into a reshaped parameter
@asc.kernel
def k(x: asc.float32[4, 5]):
    flat = x.reshape(-1)
    for i in range(20):
        flat[i] = 1.0
#       ^ PA0513: in NumPy this is also stored in `x`, and here it is not

#: a reshaped array read behind a store
@asc.kernel
def k(x: asc.float32[4, 5]) -> asc.float32:
    flat = x.ravel()
    x[0, 0] = 1.0
#   ^ PA0513: in NumPy this is also seen in what `ravel` gave, and here it is not
    return flat[0]

#: an update in place of a reshaped parameter
@asc.kernel
def k(x: asc.float32[4, 5]):
    flat = asc.reshape(x, (20,))
    flat += 1.0
#   ^ PA0513: in NumPy this is also stored in `x`, and here it is not

#: a tuple cut at a run-time place
@asc.kernel
def k(x: asc.float32[4], n: int):
    x[0] = sum((1, 2, 3)[:n])
#                        ^ PA0504: a tuple is indexed at compile time

#: a tuple cut in steps of 0
@asc.kernel
def k(x: asc.float32[4]):
    x[0] = sum((1, 2, 3)[::0])
#                        ^ PA0503: the step of a slice is 0

#: dot of an array of three dimensions
@asc.kernel
def k(x: asc.float32[2, 3], y: asc.float32[2, 3, 2]):
    z = asc.dot(x, y)
#       ^ PA0402: asc.dot of an array of more than two dimensions
