# SPDX-License-Identifier: Apache-2.0
# Whole arrays: promotion and broadcasting are written out.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[M, N], b: asc.float16[N]):
    return x * 2 + b


# CHECK:        func.func {symbol = "k", sizes = ["M", "N"], written = [2], outputs = [2]} {
# CHECK-NEXT:   ^(%x: ref<M x N x f32>, %b: ref<N x f16>, %out: ref<M x N x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 2.0} : tensor<M x N x f32>
# CHECK-NEXT:     %1 = tensor.read %x
# CHECK-NEXT:     %2 = arith.mul %1, %0
# CHECK-NEXT:     %3 = tensor.read %b
# CHECK-NEXT:     %4 = arith.cast %3 : tensor<N x f32>
# CHECK-NEXT:     %5 = tensor.broadcast %4, [] : tensor<M x N x f32>
# CHECK-NEXT:     %6 = arith.add %2, %5
# CHECK-NEXT:     tensor.write %6, %out
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
