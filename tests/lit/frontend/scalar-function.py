# SPDX-License-Identifier: Apache-2.0
# A function of scalars is mapped over arrays, as a ufunc is.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def add_tensors(a: asc.float32, b: asc.float32) -> asc.float32:
    return a + b


# CHECK:        func.func {symbol = "add_tensors", written = [2], outputs = [2]} {
# CHECK-NEXT:   ^(%a: f32, %b: f32, %out: ref<f32>):
# CHECK-NEXT:     %0 = arith.add %a, %b
# CHECK-NEXT:     py.store %0, %out, []
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
