# SPDX-License-Identifier: Apache-2.0
"""The number table: for each elementwise function, what it takes, gives and means on every dtype.

One page for frontend, folder, interpreter and both lowerings: the rows, the promotion of operands, the folding of
Python constants, and the evaluation on NumPy arrays.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pyasc.ir.numbers_fold import fold, round_constant
from pyasc.ir.numbers_promote import (
    Operand,
    Signature,
    Weak,
    default_dtype,
    float_dtype,
    promote,
    reduction_dtype,
    signature,
)
from pyasc.ir.numbers_table import CASTS_2201, ROWS, TABLE, Row, Unit

if TYPE_CHECKING:
    from pyasc.ir.numbers_eval import convert, evaluate, evaluate_constants
    from pyasc.ir.numbers_half import from_float, to_float

_ON_ARRAYS = {
    **dict.fromkeys(("convert", "evaluate", "evaluate_constants"), "pyasc.ir.numbers_eval"),
    **dict.fromkeys(("from_float", "to_float"), "pyasc.ir.numbers_half"),
}
"""What needs NumPy, which is loaded when one of these is first used: most kernels compile without it."""

__all__ = [
    "CASTS_2201",
    "ROWS",
    "TABLE",
    "Operand",
    "Row",
    "Signature",
    "Unit",
    "Weak",
    "convert",
    "default_dtype",
    "evaluate",
    "evaluate_constants",
    "float_dtype",
    "fold",
    "from_float",
    "promote",
    "reduction_dtype",
    "round_constant",
    "signature",
    "to_float",
]


def __getattr__(name: str) -> Any:
    if name not in _ON_ARRAYS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ON_ARRAYS[name]), name)
