# SPDX-License-Identifier: Apache-2.0
# `continue` at the end of a side leaves no flag: the rest goes into the other side.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] < 0:
            continue
        y[i] = x[i]


# CHECK:        func.func {symbol = "k", sizes = ["N"], written = [1]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>, %y: ref<N x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 0.0} : f32
# CHECK-NEXT:     scf.for %0, %N, %1, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%i: i64):
# CHECK-NEXT:       %3 = py.load %x, [%i]
# CHECK-NEXT:       %4 = arith.lt %3, %2
# CHECK-NEXT:       scf.if %4 {
# CHECK-NEXT:         scf.yield
# CHECK-NEXT:       } {
# CHECK-NEXT:         %5 = py.load %x, [%i]
# CHECK-NEXT:         py.store %5, %y, [%i]
# CHECK-NEXT:         scf.yield
# CHECK-NEXT:       }
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
