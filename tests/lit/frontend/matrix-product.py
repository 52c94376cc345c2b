# SPDX-License-Identifier: Apache-2.0
# `@` in float16 accumulates in float32.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(a: asc.float16[M, K], b: asc.float16[K, N]):
    return a @ b


# CHECK:        func.func {symbol = "k", sizes = ["M", "K", "N"], written = [2], outputs = [2]} {
# CHECK-NEXT:   ^(%a: ref<M x K x f16>, %b: ref<K x N x f16>, %out: ref<M x N x f16>):
# CHECK-NEXT:     %0 = tensor.read %a
# CHECK-NEXT:     %1 = tensor.read %b
# CHECK-NEXT:     %2 = tensor.contract %0, %1 {equation = "ik,kj->ij", accumulate = f32} : tensor<M x N x f16>
# CHECK-NEXT:     tensor.write %2, %out
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
