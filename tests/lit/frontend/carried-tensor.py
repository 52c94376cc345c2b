# SPDX-License-Identifier: Apache-2.0
# A tensor that a loop carries lives in a buffer.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[N], steps: int):
    y = x * 2
    for _ in range(steps):
        y = y + x
    return y


# CHECK:        func.func {symbol = "k", sizes = ["N"], written = [2], outputs = [2]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>, %steps: i64, %out: ref<N x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 2.0} : tensor<N x f32>
# CHECK-NEXT:     %1 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %3 = tensor.read %x
# CHECK-NEXT:     %y = arith.mul %3, %0
# CHECK-NEXT:     %4 = mem.alloc : ref<N x f32, local>
# CHECK-NEXT:     tensor.write %y, %4
# CHECK-NEXT:     scf.for %1, %steps, %2, [] {
# CHECK-NEXT:     ^(%_: i64):
# CHECK-NEXT:       %5 = tensor.read %4
# CHECK-NEXT:       %6 = tensor.read %x
# CHECK-NEXT:       %y_1 = arith.add %5, %6
# CHECK-NEXT:       tensor.write %y_1, %4
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     %7 = tensor.read %4
# CHECK-NEXT:     tensor.write %7, %out
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
