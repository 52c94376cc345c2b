# SPDX-License-Identifier: Apache-2.0
# A choice between cheap values is a select.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[N]):
    for i in asc.parallel_for(N):
        x[i] = x[i] if x[i] > 0 else 0.0


# CHECK:        func.func {symbol = "k", sizes = ["N"], written = [0]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 0.0} : f32
# CHECK-NEXT:     scf.for %0, %N, %1, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%i: i64):
# CHECK-NEXT:       %3 = py.load %x, [%i]
# CHECK-NEXT:       %4 = arith.gt %3, %2
# CHECK-NEXT:       %5 = scf.if %4 : f32 {
# CHECK-NEXT:         %6 = py.load %x, [%i]
# CHECK-NEXT:         scf.yield %6
# CHECK-NEXT:       } {
# CHECK-NEXT:         scf.yield %2
# CHECK-NEXT:       }
# CHECK-NEXT:       py.store %5, %x, [%i]
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
