# SPDX-License-Identifier: Apache-2.0
# A place is named where it changes, and the vector loop and its tail share it.
# RUN: pyasc compile %s --emit cpp --line-comments | filecheck %s
from __future__ import annotations

import pyasc as asc


@asc.kernel
def scale_then_shift(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        y[i] = x[i] * 2.0
    for i in range(N - 1):
        y[i] = y[i + 1] + 1.0


# CHECK: {{^}}// scale_then_shift, line-comments.py:10
# CHECK: // line-comments.py:12
# CHECK-NEXT: {{pa_store|if|for|const}}
# CHECK-NOT: //
# CHECK: {{^}}extern "C"
# CHECK: // line-comments.py:13
# CHECK-NEXT: for
# CHECK-NEXT: // line-comments.py:14
# CHECK-NEXT: y[i_2] = y[i_2 + 1] + 1.0f;
