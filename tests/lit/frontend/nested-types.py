# SPDX-License-Identifier: Apache-2.0
# Types found for an outer loop reach inner ones.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[M, N]):
    s = 0
    for i in range(M):
        for j in range(N):
            s += x[i, j]
    return s


# CHECK:        func.func {symbol = "k", sizes = ["M", "N"], written = [1], outputs = [1]} {
# CHECK-NEXT:   ^(%x: ref<M x N x f32>, %out: ref<f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %M = func.size {symbol = "M"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %2 = arith.constant {value = 0.0} : f32
# CHECK-NEXT:     %s = scf.for %0, %M, %1, [%2] : f32 {
# CHECK-NEXT:     ^(%i: i64, %s_1: f32):
# CHECK-NEXT:       %s_2 = scf.for %0, %N, %1, [%s_1] : f32 {
# CHECK-NEXT:       ^(%j: i64, %s_3: f32):
# CHECK-NEXT:         %3 = py.load %x, [%i, %j]
# CHECK-NEXT:         %s_4 = arith.add %s_3, %3
# CHECK-NEXT:         scf.yield %s_4
# CHECK-NEXT:       }
# CHECK-NEXT:       scf.yield %s_2
# CHECK-NEXT:     }
# CHECK-NEXT:     py.store %s, %out, []
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
