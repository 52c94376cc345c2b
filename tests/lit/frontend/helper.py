# SPDX-License-Identifier: Apache-2.0
# Helpers are inlined; defaults and keywords are bound as Python binds them.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


def blend(a, b, t=0.5):
    return a + (b - a) * t


@asc.kernel
def k(x: asc.float32[4]):
    x[0] = blend(x[1], x[2])
    x[3] = blend(b=x[1], a=x[2], t=1.0)


# CHECK:        func.func {symbol = "k", written = [0]} {
# CHECK-NEXT:   ^(%x: ref<4 x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 2} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 0.5} : f32
# CHECK-NEXT:     %3 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %4 = arith.constant {value = 1.0} : f32
# CHECK-NEXT:     %5 = arith.constant {value = 3} : i64
# CHECK-NEXT:     %6 = py.load %x, [%0]
# CHECK-NEXT:     %7 = py.load %x, [%1]
# CHECK-NEXT:     %8 = arith.sub %7, %6
# CHECK-NEXT:     %9 = arith.mul %8, %2
# CHECK-NEXT:     %10 = arith.add %6, %9
# CHECK-NEXT:     py.store %10, %x, [%3]
# CHECK-NEXT:     %11 = py.load %x, [%0]
# CHECK-NEXT:     %12 = py.load %x, [%1]
# CHECK-NEXT:     %13 = arith.sub %11, %12
# CHECK-NEXT:     %14 = arith.mul %13, %4
# CHECK-NEXT:     %15 = arith.add %12, %14
# CHECK-NEXT:     py.store %15, %x, [%5]
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
