# SPDX-License-Identifier: Apache-2.0
# asc.unroll writes the body out with known counters.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[4]):
    for i in asc.unroll(range(3)):
        x[i] = x[i + 1] * i


# CHECK:        func.func {symbol = "k", written = [0]} {
# CHECK-NEXT:   ^(%x: ref<4 x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 3} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %3 = arith.constant {value = 0.0} : f32
# CHECK-NEXT:     %4 = arith.constant {value = 2} : i64
# CHECK-NEXT:     %5 = arith.constant {value = 1.0} : f32
# CHECK-NEXT:     %6 = arith.constant {value = 2.0} : f32
# CHECK-NEXT:     %7 = py.load %x, [%2]
# CHECK-NEXT:     %8 = arith.mul %7, %3
# CHECK-NEXT:     py.store %8, %x, [%0]
# CHECK-NEXT:     %9 = py.load %x, [%4]
# CHECK-NEXT:     %10 = arith.mul %9, %5
# CHECK-NEXT:     py.store %10, %x, [%2]
# CHECK-NEXT:     %11 = py.load %x, [%1]
# CHECK-NEXT:     %12 = arith.mul %11, %6
# CHECK-NEXT:     py.store %12, %x, [%4]
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
