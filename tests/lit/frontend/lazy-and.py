# SPDX-License-Identifier: Apache-2.0
# The right operand of `and` is not read when the left one decides.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N], i: int):
    if i < N and x[i] > 0:
        y[0] = 1.0


# CHECK:        func.func {symbol = "k", sizes = ["N"], written = [1]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>, %y: ref<N x f32>, %i: i64):
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %0 = arith.constant {value = 0.0} : f32
# CHECK-NEXT:     %1 = arith.constant {value = false} : i1
# CHECK-NEXT:     %2 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %3 = arith.constant {value = 1.0} : f32
# CHECK-NEXT:     %4 = arith.lt %i, %N
# CHECK-NEXT:     %5 = scf.if %4 : i1 {
# CHECK-NEXT:       %6 = py.load %x, [%i]
# CHECK-NEXT:       %7 = arith.gt %6, %0
# CHECK-NEXT:       scf.yield %7
# CHECK-NEXT:     } {
# CHECK-NEXT:       scf.yield %1
# CHECK-NEXT:     }
# CHECK-NEXT:     scf.if %5 {
# CHECK-NEXT:       py.store %3, %y, [%2]
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     } {
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
