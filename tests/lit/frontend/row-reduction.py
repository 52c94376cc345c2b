# SPDX-License-Identifier: Apache-2.0
# A row of an array is a view of it; a sum over it is one operation.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[M, N], y: asc.float32[M]):
    for i in asc.parallel_for(M):
        y[i] = asc.sum(x[i])


# CHECK:        func.func {symbol = "k", sizes = ["M", "N"], written = [1]} {
# CHECK-NEXT:   ^(%x: ref<M x N x f32>, %y: ref<M x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %M = func.size {symbol = "M"}
# CHECK-NEXT:     %1 = arith.constant {value = 1} : i64
# CHECK-NEXT:     %N = func.size {symbol = "N"}
# CHECK-NEXT:     scf.for %0, %M, %1, [] {kind = "parallel"} {
# CHECK-NEXT:     ^(%i: i64):
# CHECK-NEXT:       %2 = mem.view %x, [%i, %0], [%1, %N], [%1, %1] {axes = [1]} : ref<N x f32>
# CHECK-NEXT:       %3 = tensor.read %2
# CHECK-NEXT:       %4 = tensor.reduce %3 {fn = "add", axes = [0]} : tensor<f32>
# CHECK-NEXT:       %5 = tensor.extract %4, []
# CHECK-NEXT:       py.store %5, %y, [%i]
# CHECK-NEXT:       scf.yield
# CHECK-NEXT:     }
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
