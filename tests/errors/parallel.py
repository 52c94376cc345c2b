# SPDX-License-Identifier: Apache-2.0
"""Wrong kernels: parallel loops whose iterations depend on each other."""
import pyasc as asc

#: a value carried from one iteration to the next
@asc.kernel
def k(x: asc.float32[N]):
    s = 0.0
    for i in asc.parallel_for(N):
        s = s * 0.5 + x[i]
#       ^ PA0601: `s` is carried from one iteration of a parallel loop to the next
    x[0] = s

#: a value of the last iteration
@asc.kernel
def k(x: asc.float32[4]):
    for i in asc.parallel_for(4):
        t = x[i]
    x[0] = t
#          ^ PA0302: `t` may have no value here

#: the counter after the loop
@asc.kernel
def k(x: asc.float32[4]):
    for i in asc.parallel_for(4):
        x[i] = 1.0
    x[0] = i
#          ^ PA0302: `i` may have no value here

#: break
@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0:
            break
#           ^ PA0602: `break` in a parallel loop

#: return
@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0:
            return
#           ^ PA0602: `return` in a parallel loop

#: else
@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.parallel_for(N):
        x[i] = 1.0
    else:
        x[0] = 2.0
#       ^ PA0602: `else` on a parallel loop

#: a sum over a grid
@asc.kernel
def k(x: asc.float32[N, M], y: asc.float32[1]):
    s = 0.0
    for i, j in asc.parallel_for_grid(N, M):
        s = s + x[i, j]
#       ^ PA0601: `s` is carried from one iteration of a parallel loop to the next
    y[0] = s

#: break out of a grid
@asc.kernel
def k(x: asc.float32[N, M]):
    for i, j in asc.parallel_for_grid(N, M):
        break
#       ^ PA0602: `break` in a parallel loop

#: a neighbour is read
@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.parallel_for(N - 1):
        x[i] = x[i + 1]
#       ^ PA0603: iterations of this parallel loop touch each other's elements of `x`

#: the neighbour before is read
@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.parallel_for(1, N):
        x[i] = x[i - 1] + 1.0
#       ^ PA0603: iterations of this parallel loop touch each other's elements of `x`

#: a neighbour in a row is read
@asc.kernel
def k(x: asc.float32[N, M]):
    for i in asc.parallel_for(N - 1):
        for j in range(M):
            x[i, j] = x[i + 1, j]
#           ^ PA0603: iterations of this parallel loop touch each other's elements of `x`

#: every iteration writes one element
@asc.kernel
def k(x: asc.float32[N], y: asc.float32[1]):
    for i in asc.parallel_for(N):
        y[0] = x[i]
#       ^ PA0603: every iteration of this parallel loop writes the same element of `y`

#: every iteration writes one row
@asc.kernel
def k(x: asc.float32[N, M], y: asc.float32[M]):
    for i in asc.parallel_for(N):
        for j in range(M):
            y[j] = x[i, j]
#           ^ PA0603: every iteration of this parallel loop writes the same element of `y`

#: two iterations write one element
@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.parallel_for(N - 1):
        x[i] = 1.0
#       ^ PA0603: iterations of this parallel loop touch each other's elements of `x`
        x[i + 1] = 2.0

#: a shift by a constant distance
@asc.kernel
def k(x: asc.float32[1024]):
    for i in asc.parallel_for(1000):
        x[i] = x[i + 7] * 2.0
#       ^ PA0603: iterations of this parallel loop touch each other's elements of `x`

#: a histogram
@asc.kernel
def k(x: asc.int32[N], bins: asc.int32[256]):
    for i in asc.parallel_for(N):
        bins[x[i]] += 1
#       ^ PA0604: iterations of this parallel loop may update one element of `bins` at once

#: a scatter of maxima
@asc.kernel
def k(x: asc.int32[N], y: asc.float32[N], best: asc.float32[64]):
    for i in asc.parallel_for(N):
        best[x[i]] = max(best[x[i]], y[i])
#       ^ PA0604: iterations of this parallel loop may update one element of `best` at once

#: a value carried through a nested sequential loop
@asc.kernel
def k(x: asc.float32[N, M]):
    level = 1.0
    for i in asc.parallel_for(N):
        for j in range(M):
            level = level * 0.5
#           ^ PA0601: `level` is carried from one iteration of a parallel loop to the next
            x[i, j] = level

#: every iteration writes an element that only the run time knows
@asc.kernel
def k(x: asc.float32[N], i: int):
    for j in asc.parallel_for(8):
        x[i] = j
#       ^ PA0603: every iteration of this parallel loop writes the same element of `x`

#: the same part of an array
@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[:] = x[i]
#       ^ PA0603: iterations 0 and 1 of this parallel loop write the same element of `y`

#: slices that overlap
@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i:i + 2] = x[i]
#       ^ PA0603: iterations 0 and 1 of this parallel loop write the same element of `y`

#: a quotient of the counter
@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i // 2] = x[i]
#       ^ PA0603: iterations 0 and 1 of this parallel loop write the same element of `y`

#: a remainder of the counter
@asc.kernel
def k(x: asc.float32[8], y: asc.float32[8]):
    for i in asc.parallel_for(8):
        y[i % 4] = x[i]
#       ^ PA0603: iterations 0 and 4 of this parallel loop write the same element of `y`

#: a sum of what others write
@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = asc.sum(x[i:i + 2])
        x[i] = 0.0
#       ^ PA0603: iteration 0 of this parallel loop reads an element of `x` that iteration 1 writes
