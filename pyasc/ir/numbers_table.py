# SPDX-License-Identifier: Apache-2.0
"""The rows of the number table: what each elementwise function takes, gives and means.

`evaluate` (numbers_eval.py) is the meaning of a row on every dtype, `fold` (numbers_fold.py) its meaning on Python
constants, `signature` (numbers_promote.py) the types that operands of different types are brought to first.
"""

from __future__ import annotations

from pyasc.ir.record import Record, changed


class Unit(Record):
    """Where a function exists on one SoC architecture.

    `arch` is the NpuArch number (2201: 910B and 910_93, 2002: 310P, 3510: 950), `unit` is `"vector"` or `"cube"`,
    `instruction` the Ascend C call, `dtypes` the names of the element types that it takes.
    """

    arch: str
    unit: str
    instruction: str
    dtypes: tuple[str, ...]


class Row(Record):
    """One elementwise function.

    `result` is `"same"` (the type of the operands), `"bool"`, or `"second"` (the type of the second operand);
    `kinds` lists the dtype kinds the operands may have (see `DType.kind`). `numpy` names the NumPy function with the
    same meaning, if there is one. `ulps` bounds the error of code on `cpu` in units in the last place of the result;
    0 means correctly rounded (float16 and bfloat16: the float32 result rounded once more). `range` says what
    happens at the edges. `units` says where the function is one Ascend C call; an architecture that is not listed
    has not been documented for it.
    """

    name: str
    arity: int
    result: str = "same"
    kinds: str = "fiub"
    commutative: bool = False
    numpy: str = ""
    ulps: int = 0
    range: str = ""
    units: tuple[Unit, ...] = ()


_BOTH = ("f16", "f32")
_ARITH = ("f16", "f32", "i16", "i32")

# Ascend C calls of arch 2201 with their element types, from section 3, 4 and 10 of the API sheet.
_VECTOR_2201: dict[str, tuple[str, tuple[str, ...]]] = {
    **{fn: (call, _ARITH) for fn, call in (("add", "Add"), ("sub", "Sub"), ("mul", "Mul"))},
    **{fn: (call, _ARITH) for fn, call in (("minimum", "Min"), ("maximum", "Max"))},
    "div": ("Div", _BOTH),
    "abs": ("Abs", _BOTH),
    "exp": ("Exp", _BOTH),
    "log": ("Ln", _BOTH),
    "sqrt": ("Sqrt", _BOTH),
    **{
        fn: (call, ("i16", "u16"))
        for fn, call in (("and", "And"), ("or", "Or"), ("not", "Not"), ("xor", "Xor"))
    },
    **{
        fn: (call, ("i16", "u16", "i32", "u32")) for fn, call in (("shl", "ShiftLeft"), ("shr", "ShiftRight"))
    },
    **dict.fromkeys(("lt", "le", "gt", "ge", "ne"), ("Compare", _BOTH)),
    "eq": ("Compare", ("f16", "f32", "i32")),
    "select": ("Select", _BOTH),
    "pow": ("Power", ("f16", "f32", "i32")),
    "fmod": ("Fmod", _BOTH),
    "sign": ("Sign", _BOTH),
    "rint": ("Cast", ("f32",)),
    **{
        fn: (fn.capitalize(), _BOTH)
        for fn in (
            "tanh sinh cosh asin acos atan asinh acosh atanh sin cos tan erf erfc log2 log10 floor ceil trunc"
        ).split()
    },
}

_NAN = "NaN outside the domain"
_WRAP = "integers wrap; floats overflow to infinity"
_ZERO = "integers: by zero gives 0, lowest // -1 wraps"
_SHIFT = "a count outside 0 to bits-1 shifts everything out: 0, or -1 for a negative value going right"


def _bool(name: str, numpy: str, kinds: str = "fiub", commutative: bool = False) -> Row:
    edge = "comparisons with NaN are false (ne: true)" if len(kinds) > 1 else ""
    return Row(name, 2 if len(kinds) > 1 else 1, "bool", kinds, commutative, numpy, range=edge)


def _math(name: str, ulps: int, numpy: str = "", edge: str = "", arity: int = 1) -> Row:
    return Row(name, arity, kinds="f", numpy=numpy or name, ulps=ulps, range=edge)


_BASE: tuple[Row, ...] = (
    Row("add", 2, kinds="fiu", commutative=True, numpy="add", range=_WRAP),
    Row("sub", 2, kinds="fiu", numpy="subtract", range=_WRAP),
    Row("mul", 2, kinds="fiu", commutative=True, numpy="multiply", range=_WRAP),
    Row("div", 2, kinds="f", numpy="divide", range="by zero gives an infinity, 0/0 NaN"),
    Row("floordiv", 2, kinds="fiu", numpy="floor_divide", range=f"{_ZERO}; floats as div by zero"),
    Row(
        "mod", 2, kinds="fiu", numpy="remainder", range="integers: by zero gives 0; floats: by zero gives NaN"
    ),
    Row(
        "fmod",
        2,
        kinds="fiu",
        numpy="fmod",
        range="sign of the first operand; by zero integers give 0, floats NaN",
    ),
    Row("pow", 2, kinds="fiu", numpy="power", ulps=2, range="integers wrap, a negative exponent gives 0"),
    Row("fma", 3, kinds="f", range="one rounding of a*b + c; f16 and bf16: of the float32 result once more"),
    Row("neg", 1, kinds="fiu", numpy="negative", range="integers wrap"),
    Row("abs", 1, kinds="fiu", numpy="absolute", range="the lowest integer stays"),
    Row("sign", 1, kinds="fiu", numpy="sign", range="both zeros give 0, NaN stays"),
    Row("minimum", 2, numpy="minimum", range="NaN wins; of two zeros the second"),
    Row("maximum", 2, numpy="maximum", range="NaN wins; of two zeros the second"),
    Row(
        "pymin", 2, range="Python's min: the first unless the second is smaller, so a NaN first operand stays"
    ),
    Row(
        "pymax", 2, range="Python's max: the first unless the second is larger, so a NaN first operand stays"
    ),
    Row("and", 2, kinds="iub", commutative=True, numpy="bitwise_and"),
    Row("or", 2, kinds="iub", commutative=True, numpy="bitwise_or"),
    Row("xor", 2, kinds="iub", commutative=True, numpy="bitwise_xor"),
    Row("not", 1, kinds="iub", numpy="invert", range="a bool is negated, other bits are flipped"),
    Row("shl", 2, kinds="iu", numpy="left_shift", range=_SHIFT),
    Row("shr", 2, kinds="iu", numpy="right_shift", range=_SHIFT),
    _bool("lt", "less"),
    _bool("le", "less_equal"),
    _bool("gt", "greater"),
    _bool("ge", "greater_equal"),
    _bool("eq", "equal", commutative=True),
    _bool("ne", "not_equal", commutative=True),
    *(_bool(name, name, "f") for name in ("isnan", "isinf", "isfinite", "signbit")),
    Row("select", 3, "second", numpy="where"),
    _math("sqrt", 0, edge=_NAN),
    _math("rsqrt", 2, "-", "of zero an infinity with its sign"),
    _math("cbrt", 2),
    _math("exp", 2, edge="overflows to infinity, underflows through subnormals to 0"),
    _math("exp2", 2),
    _math("expm1", 3),
    _math("log", 2, edge="of zero -infinity, of negatives NaN"),
    _math("log2", 2, edge="of zero -infinity, of negatives NaN"),
    _math("log10", 2, edge="of zero -infinity, of negatives NaN"),
    _math("log1p", 3, edge="of -1 -infinity, below it NaN"),
    _math("sin", 2, edge="of an infinity NaN"),
    _math("cos", 2, edge="of an infinity NaN"),
    _math("tan", 4, edge="of an infinity NaN"),
    _math("asin", 4, "arcsin", _NAN),
    _math("acos", 4, "arccos", _NAN),
    _math("atan", 4, "arctan"),
    _math("sinh", 4),
    _math("cosh", 4),
    _math("tanh", 4),
    _math("asinh", 4, "arcsinh"),
    _math("acosh", 4, "arccosh", _NAN),
    _math("atanh", 4, "arctanh", _NAN),
    _math("erf", 4, "-"),
    _math("erfc", 4, "-"),
    _math("floor", 0),
    _math("ceil", 0),
    _math("trunc", 0),
    _math("rint", 0, edge="halves go to the even neighbour"),
    _math("atan2", 4, "arctan2", arity=2),
    _math("hypot", 2, edge="an infinity wins over NaN", arity=2),
    _math("copysign", 0, arity=2),
)


def _with_units(row: Row) -> Row:
    numpy = "" if row.numpy == "-" else row.numpy
    if row.name not in _VECTOR_2201:
        return changed(row, numpy=numpy)
    call, dtypes = _VECTOR_2201[row.name]
    return changed(row, numpy=numpy, units=(Unit("2201", "vector", call, dtypes),))


ROWS: tuple[Row, ...] = tuple(_with_units(row) for row in _BASE)
TABLE: dict[str, Row] = {row.name: row for row in ROWS}
"""Every row by the name of its function."""

CASTS_2201: dict[str, tuple[str, ...]] = {
    "i8": ("f16",),
    "u8": ("f16",),
    "i16": ("f16", "f32"),
    "f16": ("i8", "u8", "i16", "i32", "f32"),
    "bf16": ("f32", "i32"),
    "i32": ("i16", "f16", "f32", "i64"),
    "f32": ("f16", "bf16", "i16", "i32", "i64", "f32"),
    "i64": ("i32", "f32"),
}
"""The conversions that are one Cast on arch 2201, from section 5 of the API sheet."""
