# SPDX-License-Identifier: Apache-2.0
"""What operations cost on a host processor, in additions."""

from __future__ import annotations

from pyasc.ir.sizes import SizeExpr, constant

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

UNKNOWN = constant(1)
"""The work of loops whose operations have not been counted."""

STEPS_A_COST = 2
"""Steps of sums in registers that cost as much as an addition, whose operands come from memory."""


def is_size(amount: SizeExpr) -> bool:
    """Whether sizes alone say it: atoms of `Polynomials` stand for values of the run."""
    return not any(name.startswith("%") for name in amount.names)


def trips(distance: SizeExpr) -> SizeExpr:
    """How often a loop runs over a distance, as far as sizes say."""
    return distance if is_size(distance) else constant(DEFAULT_TRIPS)
