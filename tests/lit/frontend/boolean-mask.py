# SPDX-License-Identifier: Apache-2.0
# An assignment through a mask is a choice by element.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[N]):
    x[x < 0] = 0.0


# CHECK:        func.func {symbol = "k", sizes = ["N"], written = [0]} {
# CHECK-NEXT:   ^(%x: ref<N x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0.0} : tensor<N x f32>
# CHECK-NEXT:     %1 = tensor.read %x
# CHECK-NEXT:     %2 = arith.lt %1, %0
# CHECK-NEXT:     %3 = tensor.read %x
# CHECK-NEXT:     %4 = arith.select %2, %0, %3
# CHECK-NEXT:     tensor.write %4, %x
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
