# SPDX-License-Identifier: Apache-2.0
# The tiled product of the article.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def matmul(A: asc.float32[1024, 1024], B: asc.float32[1024, 1024], C: asc.float32[1024, 1024]):
    block_size = 32
    for i in asc.parallel_for(0, 1024, block_size):
        for j in asc.parallel_for(0, 1024, block_size):
            for k in range(1024):
                for ii in range(i, min(i + block_size, 1024)):
                    for jj in range(j, min(j + block_size, 1024)):
                        C[ii, jj] += A[ii, k] * B[k, jj]


# CHECK:        func.func {symbol = "matmul", written = [2]} {
# CHECK-NEXT:   ^(%A: ref<1024 x 1024 x f32>, %B: ref<1024 x 1024 x f32>, %C: ref<1024 x 1024 x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 1024} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 32} : i64
# CHECK-NEXT:     %3 = arith.constant {value = 1} : i64
# CHECK-NEXT:     scf.for %0, %1, %2, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%i: i64):
# CHECK-NEXT:       scf.for %0, %1, %2, [] {kind = "parallel"} {
# CHECK-NEXT:       ^(%j: i64):
# CHECK-NEXT:         scf.for %0, %1, %3, [] {
# CHECK-NEXT:         ^(%k: i64):
# CHECK-NEXT:           %4 = arith.add %i, %2
# CHECK-NEXT:           %5 = arith.pymin %4, %1
# CHECK-NEXT:           scf.for %i, %5, %3, [] {
# CHECK-NEXT:           ^(%ii: i64):
# CHECK-NEXT:             %6 = arith.add %j, %2
# CHECK-NEXT:             %7 = arith.pymin %6, %1
# CHECK-NEXT:             scf.for %j, %7, %3, [] {
# CHECK-NEXT:             ^(%jj: i64):
# CHECK-NEXT:               %8 = py.load %C, [%ii, %jj]
# CHECK-NEXT:               %9 = py.load %A, [%ii, %k]
# CHECK-NEXT:               %10 = py.load %B, [%k, %jj]
# CHECK-NEXT:               %11 = arith.mul %9, %10
# CHECK-NEXT:               %12 = arith.add %8, %11
# CHECK-NEXT:               py.store %12, %C, [%ii, %jj]
# CHECK-NEXT:               scf.yield
# CHECK-NEXT:             }
# CHECK-NEXT:             scf.yield
# CHECK-NEXT:           }
# CHECK-NEXT:           scf.yield
# CHECK-NEXT:         }
# CHECK-NEXT:         scf.yield
# CHECK-NEXT:       }
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
