# SPDX-License-Identifier: Apache-2.0
"""The number table: for each elementwise function, what it takes, gives and means on every dtype."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One elementwise function.

    `result` is `"same"` (the type of the operands), `"bool"`, or `"second"` (the type of the second operand);
    `kinds` lists the dtype kinds the operands may have (see `DType.kind`).
    """

    name: str
    arity: int
    result: str = "same"
    kinds: str = "fiub"
    commutative: bool = False


ROWS: tuple[Row, ...] = (
    Row("add", 2, kinds="fiu", commutative=True),
    Row("sub", 2, kinds="fiu"),
    Row("mul", 2, kinds="fiu", commutative=True),
    Row("div", 2, kinds="f"),
    Row("floordiv", 2, kinds="fiu"),
    Row("mod", 2, kinds="fiu"),
    Row("pow", 2, kinds="fiu"),
    Row("fma", 3, kinds="f"),
    Row("neg", 1, kinds="fiu"),
    Row("abs", 1, kinds="fiu"),
    Row("sign", 1, kinds="fiu"),
    Row("minimum", 2),
    Row("maximum", 2),
    Row("pymin", 2),
    Row("pymax", 2),
    Row("and", 2, kinds="iub", commutative=True),
    Row("or", 2, kinds="iub", commutative=True),
    Row("xor", 2, kinds="iub", commutative=True),
    Row("not", 1, kinds="iub"),
    Row("shl", 2, kinds="iu"),
    Row("shr", 2, kinds="iu"),
    Row("lt", 2, "bool"),
    Row("le", 2, "bool"),
    Row("gt", 2, "bool"),
    Row("ge", 2, "bool"),
    Row("eq", 2, "bool", commutative=True),
    Row("ne", 2, "bool", commutative=True),
    Row("isnan", 1, "bool", kinds="f"),
    Row("isinf", 1, "bool", kinds="f"),
    Row("isfinite", 1, "bool", kinds="f"),
    Row("signbit", 1, "bool", kinds="f"),
    Row("select", 3, "second"),
    *(
        Row(name, 1, kinds="f")
        for name in (
            "sqrt rsqrt cbrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh "
            "asinh acosh atanh erf erfc floor ceil trunc rint"
        ).split()
    ),
    *(Row(name, 2, kinds="f") for name in "atan2 hypot copysign".split()),
)

TABLE = {row.name: row for row in ROWS}
