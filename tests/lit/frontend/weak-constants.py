# SPDX-License-Identifier: Apache-2.0
# A Python constant is rounded once to the type it meets, and folded exactly before that.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float16[4], y: asc.float64[4]):
    x[0] = x[1] * (1 / 3 + 2**-1)
    y[0] = y[1] * (1 / 3 + 2**-1)


# CHECK:        func.func {symbol = "k", written = [0, 1]} {
# CHECK-NEXT:   ^(%x: ref<4 x f16>, %y: ref<4 x f64>):
# CHECK-NEXT:     %0 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 0.83349609375} : f16
# CHECK-NEXT:     %2 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %3 = arith.constant {value = 0.8333333333333333} : f64
# CHECK-NEXT:     %4 = py.load %x, [%0]
# CHECK-NEXT:     %5 = arith.mul %4, %1
# CHECK-NEXT:     py.store %5, %x, [%2]
# CHECK-NEXT:     %6 = py.load %y, [%0]
# CHECK-NEXT:     %7 = arith.mul %6, %3
# CHECK-NEXT:     py.store %7, %y, [%2]
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
