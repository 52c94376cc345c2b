# RUN: pyasc compile %s --emit ascendc | golden %S/pixels.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def pixels(img: asc.uint8[H, W, 3], out: asc.uint8[H, W, 3]):
    for i, j in asc.parallel_for_grid(H, W):
        out[i, j, 0] = img[i, j, 2]
        out[i, j, 1] = img[i, j, 1]
        out[i, j, 2] = img[i, j, 0]
