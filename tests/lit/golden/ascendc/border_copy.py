# RUN: pyasc compile %s --emit ascendc | golden %S/border_copy.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def border_copy(p: asc.float32[M, N]):
    p[:, -1] = p[:, -2]
    p[0, :] = p[1, :]
