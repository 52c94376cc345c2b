# SPDX-License-Identifier: Apache-2.0
# parallel_for_grid is a nest of parallel loops.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[M, N]):
    for i, j in asc.parallel_for_grid(M, N):
        x[i, j] = i * j


# CHECK:        func.func {symbol = "k", sizes = ["M", "N"], written = [0]} {
# CHECK-NEXT:   ^(%x: ref<M x N x f32>):
# CHECK-NEXT:     %M = func.size {symbol = "M"}
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     scf.for %0, %M, %1, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%i: i64):
# CHECK-NEXT:       scf.for %0, %N, %1, [] {kind = "parallel"} {
# CHECK-NEXT:       ^(%j: i64):
# CHECK-NEXT:         %2 = arith.mul %i, %j
# CHECK-NEXT:         %3 = arith.cast %2 : f32
# CHECK-NEXT:         py.store %3, %x, [%i, %j]
# CHECK-NEXT:         scf.yield
# CHECK-NEXT:       }
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
