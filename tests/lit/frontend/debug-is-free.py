# SPDX-License-Identifier: Apache-2.0
# Debug statements leave nothing behind without debug.
# RUN: pyasc show %s --level py | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def k(x: asc.float32[4]):
    asc.assert_shape(x, (4,))
    asc.print(f"{x[0]:.3f}")
    assert x[0] > 0, "positive"


# CHECK:        func.func {symbol = "k"} {
# CHECK-NEXT:   ^(%x: ref<4 x f32>):
# CHECK-NEXT:     func.return
# CHECK-NEXT:   }
