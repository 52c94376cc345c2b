# SPDX-License-Identifier: Apache-2.0
"""What operations cost on a host processor, in additions."""

from __future__ import annotations

DEFAULT_TRIPS = 16
"""What a loop whose trip count is not a polynomial of sizes is taken to run."""

SLOW = frozenset(("div", "sqrt", "floordiv", "mod"))
"""Functions that cost about `SLOW_COST` times an addition."""
SLOW_COST = 4
TRANSCENDENTAL_COST = 12

TRANSCENDENTAL = frozenset(
    """pow rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    erf erfc atan2 hypot""".split()
)
