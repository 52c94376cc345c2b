# SPDX-License-Identifier: Apache-2.0
"""The number table against NumPy on every dtype and special value: evaluation and conversion."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.ir.numbers import (
    TABLE,
    convert,
    evaluate,
    evaluate_constants,
    from_float,
    round_constant,
    to_float,
)
from pyasc.ir.numbers_eval import plain
from pyasc.ir.numbers_fold import round_fraction
from pyasc.ir.numbers_half import carrier

FLOATS = [dtypes.f16, dtypes.f32, dtypes.f64]
NATIVE = [dtype for dtype in dtypes.ALL if dtype is not dtypes.bf16]


def samples(dtype: DType) -> np.ndarray[Any, Any]:
    """Special and ordinary values of a dtype, carried."""
    if dtype.is_bool:
        return np.array([False, True])
    if dtype.is_float:
        return float_samples(dtype)
    info = np.iinfo(carrier(dtype))
    edges = [
        info.min,
        info.min + 1,
        info.max,
        info.max - 1,
        info.max // 2,
        0,
        1,
        2,
        3,
        5,
        7,
        8,
        15,
        16,
        31,
        33,
        63,
        64,
    ]
    if dtype.is_signed:
        edges += [-1, -2, -3, -7, -8, -33, -64]
    return np.array([edge for edge in edges if info.min <= edge <= info.max], carrier(dtype))


def float_samples(dtype: DType) -> np.ndarray[Any, Any]:
    positive = [
        0.0,
        1.0,
        0.1,
        0.5,
        1.5,
        2.0,
        2.5,
        3.0,
        3.5,
        7.3,
        100.0,
        1e-4,
        6e-8,
        65504.0,
        65520.0,
        1e30,
        3e38,
    ]
    positive += [2.0**31, 2.0**32, 2.0**63, 2.0**64, 127.5, 255.5, 1e-40, 5e-324, math.inf, math.nan]
    values = np.array([*positive, *(-v for v in positive)])
    return from_float(values if dtype is dtypes.f64 else values.astype(np.float32), dtype)


def pairs(dtype: DType) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    values = samples(dtype)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def assert_same_bits(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    assert actual.dtype == expected.dtype
    same = (actual == expected) & (
        np.signbit(actual) == np.signbit(expected) if actual.dtype.kind == "f" else True
    )
    if actual.dtype.kind == "f":
        same |= np.isnan(actual) & np.isnan(expected)
    assert same.all(), (actual[~same][:5], expected[~same][:5])


EXACT = [
    (fn, dtype)
    for fn, row in TABLE.items()
    for dtype in NATIVE
    if row.numpy and not row.ulps and dtype.kind in row.kinds and fn not in ("select", "minimum", "maximum")
]


@pytest.mark.parametrize(("fn", "dtype"), EXACT, ids=lambda value: str(value))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_exact_functions_are_numpy_bit_for_bit(fn: str, dtype: DType) -> None:
    args = pairs(dtype)[: TABLE[fn].arity]
    with np.errstate(all="ignore"):
        expected = getattr(np, TABLE[fn].numpy)(*args)
    assert_same_bits(evaluate(fn, *args), expected)


ROUNDED = [
    (fn, dtype)
    for fn, row in TABLE.items()
    for dtype in FLOATS
    if row.numpy and row.ulps and "f" in row.kinds
]


@pytest.mark.parametrize(("fn", "dtype"), ROUNDED, ids=lambda value: str(value))
def test_transcendental_functions_are_numpy_within_its_own_error(fn: str, dtype: DType) -> None:
    args = pairs(dtype)[: TABLE[fn].arity]
    with np.errstate(all="ignore"):
        expected = getattr(np, TABLE[fn].numpy)(*args)
    actual = evaluate(fn, *args)
    assert actual.dtype == expected.dtype
    assert (np.isnan(actual) == np.isnan(expected)).all()
    number = ~np.isnan(expected)
    np.testing.assert_array_max_ulp(actual[number], expected[number], maxulp=4)


@pytest.mark.parametrize("fn", ["minimum", "maximum"])
@pytest.mark.parametrize("dtype", NATIVE, ids=str)
def test_extremes_are_numpys_but_for_the_sign_of_zero(fn: str, dtype: DType) -> None:
    a, b = pairs(dtype)
    np.testing.assert_array_equal(evaluate(fn, a, b), getattr(np, fn)(a, b))
    if dtype.is_float:
        zeros = evaluate(fn, np.array([0.0, -0.0]), np.array([-0.0, 0.0]))
        assert list(np.signbit(zeros)) == [True, False]


@pytest.mark.parametrize(("fn", "builtin"), [("pymin", min), ("pymax", max)])
@pytest.mark.parametrize("dtype", NATIVE, ids=str)
def test_python_extremes_are_pythons(fn: str, builtin: Any, dtype: DType) -> None:
    a, b = pairs(dtype)
    expected = np.array([builtin(x, y) for x, y in zip(a, b, strict=True)], a.dtype)
    assert_same_bits(evaluate(fn, a, b), expected)


@pytest.mark.parametrize("dtype", [d for d in NATIVE if d.is_integer], ids=str)
def test_integer_powers_wrap(dtype: DType) -> None:
    a, b = pairs(dtype)
    bits = dtype.bits
    for x, y, got in zip(a.tolist(), b.tolist(), evaluate("pow", a, b).tolist(), strict=True):
        want = 0 if y < 0 else pow(x, y, 1 << bits)
        if dtype.is_signed and want >= 1 << (bits - 1):
            want -= 1 << bits
        assert got == want, (x, y)


@pytest.mark.parametrize("dtype", [d for d in NATIVE if d.is_integer], ids=str)
def test_integer_division_floors_with_the_documented_zeros(dtype: DType) -> None:
    a, b = pairs(dtype)
    info = np.iinfo(a.dtype)
    quotients, remainders = evaluate("floordiv", a, b).tolist(), evaluate("mod", a, b).tolist()
    for x, y, quotient, remainder in zip(a.tolist(), b.tolist(), quotients, remainders, strict=True):
        if y == 0:
            assert (quotient, remainder) == (0, 0)
        elif dtype.is_signed and (x, y) == (info.min, -1):
            assert (quotient, remainder) == (info.min, 0)
        else:
            assert (quotient, remainder) == divmod(x, y)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_float_division_floors_as_python_does(dtype: DType) -> None:
    a, b = pairs(dtypes.f64)
    keep = (b != 0) & np.isfinite(a)
    for x, y in zip(a[keep].tolist(), b[keep].tolist(), strict=True):
        quotient, remainder = (float(evaluate(fn, np.array(x), np.array(y))) for fn in ("floordiv", "mod"))
        assert str((quotient, remainder)) == str(divmod(x, y))


def test_fma_rounds_once() -> None:
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        a, b = (rng.standard_normal(2000).astype(dtype) for _ in range(2))
        c = (-(a.astype(np.float64) * b)).astype(dtype)
        c[::3] *= rng.standard_normal(len(c[::3])).astype(dtype)
        exact = [
            exact_fma(x, y, z, dtype) for x, y, z in zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
        ]
        np.testing.assert_array_equal(evaluate("fma", a, b, c), np.array(exact, dtype))
    special = np.array([np.inf, 0.0, 1.0, 3e38, np.nan], np.float32)
    got = evaluate("fma", special, special[::-1].copy(), special)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(got, special * special[::-1] + special)


def exact_fma(a: float, b: float, c: float, dtype: Any) -> float:
    return round_fraction(Fraction(a) * Fraction(b) + Fraction(c), dtypes.BY_NUMPY[np.dtype(dtype).name])


def test_rsqrt_and_error_functions() -> None:
    x = np.array([0.0, -0.0, 4.0, -1.0, np.inf], np.float32)
    assert_same_bits(evaluate("rsqrt", x), np.array([np.inf, -np.inf, 0.5, np.nan, 0.0], np.float32))
    erf = evaluate("erf", np.array([0.5, -3.0], np.float32))
    assert_same_bits(erf, np.array([math.erf(0.5), math.erf(-3.0)], np.float32))
    erfc = evaluate("erfc", np.array([0.5, 3.0], np.float16))
    assert_same_bits(erfc, np.array([math.erfc(0.5), math.erfc(3.0)], np.float16))


def test_select_takes_either_side() -> None:
    condition = np.array([True, False])
    assert evaluate("select", condition, np.array([1, 2]), np.array([3, 4])).tolist() == [1, 4]


def test_wrong_uses_are_refused() -> None:
    with pytest.raises(TypeError, match="takes 2 operands"):
        evaluate("add", np.zeros(1))
    with pytest.raises(TypeError, match="and is not defined on f32"):
        evaluate("and", np.zeros(1, np.float32), np.zeros(1, np.float32))
    with pytest.raises(KeyError):
        evaluate("sinus", np.zeros(1))


@pytest.mark.parametrize(
    "fn", ["add", "sub", "mul", "lt", "le", "gt", "ge", "eq", "ne", "maximum", "floordiv"]
)
def test_single_numbers_are_evaluated_as_arrays_are(fn: str) -> None:
    for dtype in dtypes.ALL:
        if dtype.kind not in TABLE[fn].kinds:
            continue
        a, b = pairs(dtype)
        expected = evaluate(fn, a, b, dtype=dtype)
        wide = [to_float(x, dtype) if dtype.is_float else x for x in (a, b)]
        target = dtypes.i1 if TABLE[fn].result == "bool" else dtype
        for x, y, want in zip(*(values.tolist() for values in wide), expected, strict=True):
            got = evaluate_constants(fn, dtype, x, y)
            assert repr(got) == repr(plain(want, target)), (dtype, x, y)


def test_constants_are_evaluated_in_their_dtype() -> None:
    assert evaluate_constants("add", dtypes.i8, 127, 1) == -128
    assert evaluate_constants("mul", dtypes.f16, 300.0, 300.0) == math.inf
    assert evaluate_constants("add", dtypes.bf16, 1.0, 2.0**-8) == 1.0
    assert evaluate_constants("lt", dtypes.u8, 3, 4) is True
    assert evaluate_constants("select", dtypes.f32, True, 1.0, 2.0) == 1.0
    assert isinstance(evaluate_constants("add", dtypes.u64, 2**63, 1), int)


BF16_EDGES = [
    0.0,
    -0.0,
    1.0,
    1.0 + 2**-8,
    1.0 + 3 * 2**-8,
    3.3895313892515355e38,
    3.4e38,
    1e-40,
    math.inf,
    math.nan,
]


def test_bfloat16_rounds_to_nearest_even() -> None:
    values = np.array(BF16_EDGES, np.float32)
    back = to_float(from_float(values, dtypes.bf16), dtypes.bf16)
    expected = [
        0.0,
        -0.0,
        1.0,
        1.0,
        1.0 + 2**-6,
        3.3895313892515355e38,
        math.inf,
        2.0**-133,
        math.inf,
        math.nan,
    ]
    assert_same_bits(back, np.array(expected, np.float32))


def test_bfloat16_rounds_any_bits_to_the_nearest() -> None:
    bits = np.random.default_rng(1).integers(0, 1 << 32, 3000, dtype=np.uint32)
    values = bits.view(np.float32)
    values = values[~np.isnan(values)]
    expected = np.array([round_constant(v, dtypes.bf16) for v in values.tolist()], np.float32)
    assert_same_bits(to_float(from_float(values, dtypes.bf16), dtypes.bf16), expected)
    not_numbers = np.array([0x7F800001, 0xFFFFFFFF, 0x7FFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(to_float(from_float(not_numbers, dtypes.bf16), dtypes.bf16)).all()


def test_bfloat16_is_computed_in_float32_and_rounded_once() -> None:
    a, b = pairs(dtypes.bf16)
    for fn in ("add", "mul", "div", "minimum", "floordiv", "exp"):
        args = (a, b)[: TABLE[fn].arity]
        expected = from_float(evaluate(fn, *(to_float(x, dtypes.bf16) for x in args)), dtypes.bf16)
        actual = evaluate(fn, *args, dtype=dtypes.bf16)
        assert actual.dtype == np.uint16
        np.testing.assert_array_equal(to_float(actual, dtypes.bf16), to_float(expected, dtypes.bf16))
    assert evaluate("lt", a, b, dtype=dtypes.bf16).dtype == np.bool_


INTEGERS = [dtype for dtype in NATIVE if dtype.is_integer]


@pytest.mark.parametrize("source", NATIVE, ids=str)
@pytest.mark.parametrize("target", NATIVE, ids=str)
def test_conversions_are_numpys_where_numpy_defines_them(source: DType, target: DType) -> None:
    values = samples(source)
    actual = convert(values, source, target)
    if source.is_float and target.is_integer:
        expected = np.array([saturated(float(v), target) for v in values], carrier(target))
    else:
        with np.errstate(all="ignore"):
            expected = values.astype(carrier(target))
    assert_same_bits(actual, expected)


def saturated(value: float, target: DType) -> int:
    info = np.iinfo(carrier(target))
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return int(info.max if value > 0 else info.min)
    return max(int(info.min), min(int(info.max), int(value)))


@pytest.mark.parametrize(
    "source", [dtypes.i32, dtypes.i64, dtypes.u64, dtypes.f64, dtypes.u8, dtypes.i1], ids=str
)
def test_conversion_to_bfloat16_rounds_once(source: DType) -> None:
    values = samples(source)
    if source.is_integer and source.bits > 16:
        near = [(1 << e) + (1 << (e - 8)) + delta for e in (20, 30) for delta in (-1, 0, 1)]
        near += [(1 << 62) + (1 << 54) + delta for delta in (-1, 0, 1)] if source.bits == 64 else []
        values = np.concatenate([values, np.array(near, values.dtype)])
    if source is dtypes.f64:
        values = np.concatenate([values, 1.0 + 2.0**-8 + np.array([-1e-12, 0, 1e-12])])
    got = to_float(convert(values, source, dtypes.bf16), dtypes.bf16)
    expected = np.array([round_constant(v, dtypes.bf16) for v in values.tolist()], np.float32)
    assert_same_bits(got, expected)


def test_bfloat16_converts_to_everything() -> None:
    bits = from_float(np.array([1.5, -300.0, np.nan, np.inf], np.float32), dtypes.bf16)
    assert convert(bits, dtypes.bf16, dtypes.i8).tolist() == [1, -128, 0, 127]
    assert convert(bits, dtypes.bf16, dtypes.u64).tolist() == [1, 0, 0, 2**64 - 1]
    assert convert(bits, dtypes.bf16, dtypes.i1).tolist() == [True] * 4
    assert convert(bits, dtypes.bf16, dtypes.f16).dtype == np.float16
    assert convert(bits, dtypes.bf16, dtypes.bf16) is bits
