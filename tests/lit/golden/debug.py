# SPDX-License-Identifier: Apache-2.0
# A debug build names source lines, prints and asserts.
# RUN: pyasc compile %s --emit cpp | golden %S/debug.cpp
from __future__ import annotations

import pyasc as asc


@asc.kernel(debug=True)
def watched(x: asc.float32[N], y: asc.float32[N]):
    asc.assert_shape(y, [4])
    for i in range(N):
        asc.print("x", x[i])
        y[i] = x[i]
