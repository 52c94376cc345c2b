# SPDX-License-Identifier: Apache-2.0
# A condition that is known leaves one side.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc
LIMIT = 3


@asc.kernel
def k(x: asc.float32[4]):
    if LIMIT > 2 and asc.__version__ >= "0":
        x[0] = 1.0
    else:
        x[0] = undefined


# CHECK:        func.func {symbol = "k", written = [0]} {
# CHECK-NEXT:   ^(%x: ref<4 x f32>):
# CHECK-NEXT:     %0 = arith.constant {value = 0} : i64
# CHECK-NEXT:     %1 = arith.constant {value = 1.0} : f32
# CHECK-NEXT:     py.store %1, %x, [%0]
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
