# SPDX-License-Identifier: Apache-2.0
"""The number table: for each elementwise function, what it takes, gives and means on every dtype.

One page for frontend, folder, interpreter and both lowerings: the rows, the promotion of operands, the folding of
Python constants, and the evaluation on NumPy arrays.
"""

from __future__ import annotations

from pyasc.ir.numbers_eval import convert, evaluate, evaluate_constants
from pyasc.ir.numbers_fold import fold, round_constant
from pyasc.ir.numbers_half import from_float, to_float
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
