# RUN: pyasc compile %s --emit ascendc | golden %S/integer_cube.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def integer_cube(x: asc.int32[N]):
    return x**3 + asc.sign(x)
