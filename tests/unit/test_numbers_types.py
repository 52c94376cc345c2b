# SPDX-License-Identifier: Apache-2.0
"""Promotion against NumPy on every pair of dtypes, and constant folding against CPython."""

from __future__ import annotations

import itertools
import math
import operator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers import (
    ROWS,
    TABLE,
    Operand,
    Weak,
    default_dtype,
    float_dtype,
    fold,
    promote,
    reduction_dtype,
    round_constant,
    signature,
)

NATIVE = [dtype for dtype in dtypes.ALL if dtype is not dtypes.bf16]
PYTHON: dict[Weak, Any] = {Weak.BOOL: True, Weak.INT: 1, Weak.FLOAT: 1.0}


def of_numpy(dtype: np.dtype[Any], *operands: Operand) -> DType:
    """Our dtype for NumPy's answer: float64 out of nothing that is float64 is float32."""
    ours = dtypes.BY_NUMPY[dtype.name]
    return dtypes.f32 if ours is dtypes.f64 and dtypes.f64 not in operands else ours


def sample(operand: Operand) -> Any:
    return PYTHON[operand] if isinstance(operand, Weak) else np.ones(1, operand.numpy)


@pytest.mark.parametrize("left", NATIVE, ids=str)
@pytest.mark.parametrize("right", NATIVE, ids=str)
def test_dtypes_are_promoted_as_in_numpy(left: DType, right: DType) -> None:
    assert promote(left, right) is of_numpy(np.promote_types(left.numpy, right.numpy), left, right)


@pytest.mark.parametrize("dtype", NATIVE, ids=str)
@pytest.mark.parametrize("weak", Weak)
def test_python_numbers_are_weak_as_in_numpy_2(dtype: DType, weak: Weak) -> None:
    expected = of_numpy(np.result_type(np.ones(1, dtype.numpy), PYTHON[weak]), dtype)
    assert promote(dtype, weak) is promote(weak, dtype) is expected


def test_python_numbers_alone_stay_weak() -> None:
    assert promote(Weak.BOOL, Weak.INT) is Weak.INT
    assert promote(Weak.FLOAT, Weak.INT) is Weak.FLOAT
    assert promote(Weak.BOOL) is Weak.BOOL
    assert [default_dtype(weak) for weak in Weak] == [dtypes.i1, dtypes.i64, dtypes.f32]


def test_promotion_does_not_depend_on_the_order() -> None:
    operands = (dtypes.i8, Weak.FLOAT, dtypes.f16, dtypes.bf16, Weak.INT)
    assert {promote(*order) for order in itertools.permutations(operands)} == {dtypes.f32}


BF16 = [
    (dtypes.i8, dtypes.bf16),
    (dtypes.u8, dtypes.bf16),
    (dtypes.i1, dtypes.bf16),
    (dtypes.i16, dtypes.f32),
    (dtypes.i64, dtypes.f32),
    (dtypes.f16, dtypes.f32),
    (dtypes.f32, dtypes.f32),
    (dtypes.f64, dtypes.f64),
    (Weak.FLOAT, dtypes.bf16),
    (Weak.INT, dtypes.bf16),
]


@pytest.mark.parametrize(("other", "expected"), BF16, ids=str)
def test_bfloat16_follows_the_rule_of_float16(other: Operand, expected: DType) -> None:
    assert promote(dtypes.bf16, other) is promote(other, dtypes.bf16) is expected


def by_signature(fn: str, *operands: Operand) -> Operand | None:
    try:
        return signature(fn, *operands).result
    except TypeError:
        return None


def by_numpy(fn: str, *operands: Operand) -> DType | None:
    try:
        with np.errstate(all="ignore"):
            return of_numpy(getattr(np, TABLE[fn].numpy)(*map(sample, operands)).dtype, *operands)
    except TypeError:
        return None


BINARY = [row.name for row in ROWS if row.arity == 2 and row.numpy]
UNARY = [row.name for row in ROWS if row.arity == 1 and row.numpy]


@pytest.mark.parametrize("fn", BINARY)
def test_binary_functions_have_numpys_types(fn: str) -> None:
    for operands in itertools.product([*NATIVE, *Weak], repeat=2):
        if any(isinstance(operand, DType) for operand in operands):
            expected = by_numpy(fn, *operands)
            if TABLE[fn].result == "bool" and set(operands) <= {dtypes.u64, *SIGNED} and is_mixed(operands):
                expected = None
            assert by_signature(fn, *operands) is expected, operands


SIGNED = {dtypes.i8, dtypes.i16, dtypes.i32, dtypes.i64}


def is_mixed(operands: tuple[Operand, ...]) -> bool:
    return len(set(operands)) == 2 and dtypes.u64 in operands


@pytest.mark.parametrize("fn", UNARY)
def test_unary_functions_have_numpys_types(fn: str) -> None:
    for operand in NATIVE:
        assert by_signature(fn, operand) is by_numpy(fn, operand), operand


def test_python_numbers_have_pythons_types() -> None:
    assert signature("add", Weak.BOOL, Weak.BOOL).result is Weak.INT
    assert signature("div", Weak.INT, Weak.INT).result is Weak.FLOAT
    assert signature("floordiv", Weak.INT, Weak.INT).result is Weak.INT
    assert signature("and", Weak.BOOL, Weak.BOOL).result is Weak.BOOL
    assert signature("not", Weak.BOOL).result is Weak.INT
    assert signature("exp", Weak.INT).result is Weak.FLOAT
    assert signature("lt", Weak.INT, Weak.FLOAT).operand is Weak.FLOAT
    assert signature("lt", Weak.INT, Weak.FLOAT).result is dtypes.i1


def test_bools_are_combined_by_logic() -> None:
    assert signature("add", dtypes.i1, dtypes.i1).fn == "or"
    assert signature("mul", dtypes.i1, Weak.BOOL).fn == "and"
    assert signature("floor", dtypes.i32).fn == ""
    with pytest.raises(TypeError, match="sub is not defined on bool: use"):
        signature("sub", dtypes.i1, dtypes.i1)
    with pytest.raises(TypeError, match="shl is not defined on a Python float"):
        signature("shl", Weak.INT, Weak.FLOAT)
    with pytest.raises(TypeError, match="signed and unsigned 64-bit"):
        signature("lt", dtypes.i64, dtypes.u64)


@pytest.mark.parametrize("dtype", NATIVE, ids=str)
def test_reductions_have_numpys_types(dtype: DType) -> None:
    array = np.ones(2, dtype.numpy)
    for fn, reduce in (
        ("add", np.sum),
        ("mul", np.prod),
        ("maximum", np.max),
        ("mean", np.mean),
        ("or", np.any),
    ):
        assert reduction_dtype(fn, dtype) is of_numpy(reduce(array).dtype, dtype)
    assert reduction_dtype("add", dtype) is of_numpy(np.cumsum(array).dtype, dtype)


def test_float_functions_of_integers() -> None:
    assert [
        float_dtype(d) for d in (dtypes.i1, dtypes.u8, dtypes.i16, dtypes.i64, dtypes.bf16, Weak.INT)
    ] == [
        dtypes.f16,
        dtypes.f16,
        dtypes.f32,
        dtypes.f32,
        dtypes.bf16,
        Weak.FLOAT,
    ]


OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "lt": operator.lt,
    "eq": operator.eq,
    "pymin": min,
    "pymax": max,
}
CONSTANTS: list[Any] = [0, 1, -1, 7, 2**70, True, False, 0.0, -0.0, 0.1, -2.5, 1e308, math.inf, math.nan]


def outcome(function: Any, *values: Any) -> str:
    try:
        return repr(function(*values))
    except (ArithmeticError, ValueError, TypeError, MemoryError) as error:
        return type(error).__name__


@pytest.mark.parametrize("fn", OPERATORS)
def test_operators_fold_as_python_does(fn: str) -> None:
    for a, b in itertools.product(CONSTANTS, repeat=2):
        if not (fn in ("pow", "shl") and b == 2**70):
            assert outcome(lambda x, y: fold(fn, x, y), a, b) == outcome(OPERATORS[fn], a, b)


def test_every_row_folds() -> None:
    arguments: dict[int, tuple[float, ...]] = {1: (0.5,), 2: (0.5, 0.25), 3: (1.0, 0.5, 0.25)}
    for row in ROWS:
        values = (1, 2, 3)[: row.arity] if row.kinds in ("iub", "iu") else arguments[row.arity]
        values = (1.5,) if row.name == "acosh" else values
        result = fold(row.name, *values)
        assert isinstance(result, bool if row.result == "bool" else (int, float)), row.name


def test_math_functions_fold_as_math_does() -> None:
    assert fold("sqrt", 2) == math.sqrt(2)
    with pytest.raises(ValueError, match=r"."):
        fold("log", 0)
    assert fold("rint", 2.5) == 2.0
    assert str(fold("ceil", -0.5)) == "-0.0"
    assert fold("floor", 7) == 7
    assert math.isnan(float(fold("maximum", math.nan, 0.0)))
    assert math.isnan(float(fold("minimum", 0.0, math.nan)))
    assert fold("not", True) is False
    assert fold("not", 5) == -6
    assert fold("sign", -3) == -1
    assert fold("sign", -0.5) == -1.0
    assert fold("fma", 0.1, 10.0, -1.0) == float(Fraction(0.1) * 10 - 1)
    assert fold("select", False, 1, 2) == 2
    assert fold("cbrt", 27.0) == pytest.approx(3.0, rel=1e-15)
    assert fold("exp2", 3) == 8.0
    assert fold("rsqrt", 4) == 0.5
    assert fold("signbit", -0.0) is True


def test_constants_are_rounded_once() -> None:
    for value in (
        0.1,
        1e-40,
        5e-324,
        65519.9,
        65520.0,
        3.5e38,
        2.0**-25,
        2.0**-25 * 1.01,
        -0.0,
        -1e39,
        math.inf,
    ):
        for dtype in (dtypes.f16, dtypes.f32, dtypes.f64):
            with np.errstate(over="ignore"):
                expected = float(np.dtype(dtype.numpy).type(value))
            assert str(round_constant(value, dtype)) == str(expected), (value, dtype)
    tie = 2**53 + 2**29 + 1
    assert round_constant(tie, dtypes.f32) == float(2**53 + 2**30)
    assert round_constant(2**24 + 1, dtypes.f32) == 2.0**24
    assert round_constant(10**400, dtypes.f32) == math.inf
    assert round_constant(1.0 + 2.0**-8, dtypes.bf16) == 1.0
    assert math.isnan(round_constant(math.nan, dtypes.f16))
    assert round_constant(True, dtypes.f32) == 1.0
    assert isinstance(round_constant(3, dtypes.f32), float)


def test_constants_must_fit_integer_dtypes() -> None:
    assert round_constant(255, dtypes.u8) == 255
    assert round_constant(-(2**63), dtypes.i64) == -(2**63)
    assert round_constant(2, dtypes.i1) is True
    with pytest.raises(OverflowError, match=r"256 does not fit u8 \(0 to 255\)"):
        round_constant(256, dtypes.u8)
    with pytest.raises(TypeError, match=r"1\.5 is not an integer, which i8 needs"):
        round_constant(1.5, dtypes.i8)
