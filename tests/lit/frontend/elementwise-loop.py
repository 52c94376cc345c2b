# SPDX-License-Identifier: Apache-2.0
# A parallel loop over elements: sizes once at the top, Python's index rules kept for later.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def add(x: asc.float32[N], y: asc.float32[N], z: asc.float32[N]):
    for i in asc.parallel_for(N):
        z[i] = x[i] + y[i]


# CHECK:        func.func {symbol = "add", sizes = ["N"], written = [2]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>, %y: ref<N x f32>, %z: ref<N x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     scf.for %0, %N, %1, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%i: i64):
# CHECK-NEXT:       %2 = py.load %x, [%i]
# CHECK-NEXT:       %3 = py.load %y, [%i]
# CHECK-NEXT:       %4 = arith.add %2, %3
# CHECK-NEXT:       py.store %4, %z, [%i]
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
