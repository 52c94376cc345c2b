# SPDX-License-Identifier: Apache-2.0
# Basic slices are views; constant bounds keep sizes that types can name.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[N], y: asc.float32[N]):
    y[1:] = x[:-1]


# CHECK:        func.func {symbol = "k", sizes = ["N"], written = [1]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>, %y: ref<N x f32>):
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %0 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %1 = arith.sub %N, %0
# CHECK-NEXT:     %2 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %3 = arith.ge %1, %2
# CHECK-NEXT:     %4 = arith.neg %1
# CHECK-NEXT:     py.check %3, [%4] {error = "IndexError", message = "a slice reaches {} beyond the axis"}
# CHECK-NEXT:     %5 = mem.view %x, [%2], [%1], [%0] {axes = [0]} : ref<(N - 1) x f32>
# CHECK-NEXT:     %6 = mem.view %y, [%0], [%1], [%0] {axes = [0]} : ref<(N - 1) x f32>
# CHECK-NEXT:     %7 = tensor.read %5
# CHECK-NEXT:     tensor.write %7, %6
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
