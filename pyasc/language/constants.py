# SPDX-License-Identifier: Apache-2.0
"""Numbers with a name. They are Python floats, and so weak."""

from __future__ import annotations

import math

__all__ = ["e", "inf", "nan", "pi"]

inf = math.inf
nan = math.nan
pi = math.pi
e = math.e
