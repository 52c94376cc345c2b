# SPDX-License-Identifier: Apache-2.0
"""A chain of whole-array operations: one loop, one reading of each input, no temporary arrays."""

from __future__ import annotations

import pyasc as asc


@asc.kernel
def chain(x: asc.float32[N], w: asc.float32[N], y: asc.float32[N]):
    y[:] = asc.maximum(x * w + 2.5 * x, 0.0) * (x - w)
