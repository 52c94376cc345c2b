# RUN: pyasc compile %s --emit ascendc | golden %S/attention.cpp
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pyasc as asc


@asc.kernel
def attention(q: asc.float16[S, D], k: asc.float16[T, D], v: asc.float16[T, D]) -> asc.float16[S, D]:
    return asc.softmax(q @ k.T) @ v
