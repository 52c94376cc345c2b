# SPDX-License-Identifier: Apache-2.0
# A float16 sum is carried in float32 and rounded once.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def total(x: asc.float16[N], out: asc.float16[1]):
    s = 0.0
    for i in range(N):
        s += x[i]
    out[0] = s


# CHECK:        func.func {symbol = "total", sizes = ["N"], written = [1]} {
# CHECK-NEXT:   ^(%x: ref<N x f16>, %out: ref<1 x f16>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %2 = arith.constant {value = 0.0} : f32
# CHECK-NEXT:     %s = scf.for %0, %N, %1, [%2] : f32 {
# CHECK-NEXT:     ^(%i: i64, %s_1: f32):
# CHECK-NEXT:       %3 = py.load %x, [%i]
# CHECK-NEXT:       %4 = arith.cast %3 : f32
# CHECK-NEXT:       %s_2 = arith.add %s_1, %4
# CHECK-NEXT:       scf.yield %s_2
# CHECK-NEXT:     }
# CHECK-NEXT:     %5 = arith.cast %s : f16
# CHECK-NEXT:     py.store %5, %out, [%0]
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
