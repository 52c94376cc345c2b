# SPDX-License-Identifier: Apache-2.0
# `/` of integers is computed in float32.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(a: asc.int32[4], y: asc.float32[4], n: int):
    y[0] = a[0] / n


# CHECK:        func.func {symbol = "k", written = [1]} {
# CHECK-NEXT:   ^(%a: ref<4 x i32>, %y: ref<4 x f32>, %n: i64):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %1 = py.load %a, [%0]
# CHECK-NEXT:     %2 = arith.cast %1 : f32
# CHECK-NEXT:     %3 = arith.cast %n : f32
# CHECK-NEXT:     %4 = arith.div %2, %3
# CHECK-NEXT:     py.store %4, %y, [%0]
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
