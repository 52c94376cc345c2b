# SPDX-License-Identifier: Apache-2.0
# The products of a float16 sum stay exact in float32, as the sum does.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def dot(x: asc.float16[N], y: asc.float16[N]):
    s = 0.0
    for i in range(N):
        s += x[i] * y[i]
    return s


# CHECK:      %s = scf.for %{{.*}}, %N, %{{.*}}, [%{{.*}}] : f32 {
# CHECK-NEXT: ^(%i: i64, %s_1: f32):
# CHECK-NEXT:   %[[X:.*]] = py.load %x, [%i]
# CHECK-NEXT:   %[[Y:.*]] = py.load %y, [%i]
# CHECK-NEXT:   %[[A:.*]] = arith.cast %[[X]] : f32
# CHECK-NEXT:   %[[B:.*]] = arith.cast %[[Y]] : f32
# CHECK-NEXT:   %[[P:.*]] = arith.mul %[[A]], %[[B]]
# CHECK-NEXT:   %s_2 = arith.add %s_1, %[[P]]
# CHECK-NEXT:   scf.yield %s_2
# CHECK:      %[[R:.*]] = arith.cast %s : f16
# CHECK-NEXT: py.store %[[R]], %out, []
