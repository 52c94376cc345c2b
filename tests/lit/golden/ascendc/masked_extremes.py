# RUN: pyasc compile %s --emit ascendc | golden %S/masked_extremes.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def masked_extremes(mask: asc.bool_[R, C], x: asc.bfloat16[R, C], low: asc.bfloat16, out: asc.bfloat16[R]):
    out[:] = asc.max(asc.where(mask, x, low), axis=1)
