# SPDX-License-Identifier: Apache-2.0
# Debug statements in a debug build.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel(debug=True)
def k(x: asc.float32[N]):
    asc.assert_shape(x, (4,))
    asc.print(f"x is {x[0]:.3f}", N)
    assert x[0] > 0, "positive"


# CHECK:        func.func {symbol = "k", sizes = ["N"]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>):
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %0 = arith.constant {value = 4} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 0.0} : f32
# CHECK-NEXT:     %3 = arith.eq %N, %0
# CHECK-NEXT:     py.check %3, [%0, %N] {error = "AssertionError", message = "axis 0: expected size {}, got {}"}
# CHECK-NEXT:     %4 = py.load %x, [%1]
# CHECK-NEXT:     py.print %4, %N {format = "x is {:.3f} {}"}
# CHECK-NEXT:     %5 = py.load %x, [%1]
# CHECK-NEXT:     %6 = arith.gt %5, %2
# CHECK-NEXT:     py.check %6, [] {error = "AssertionError", message = "positive"}
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
