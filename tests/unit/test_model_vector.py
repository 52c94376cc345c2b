# SPDX-License-Identifier: Apache-2.0
"""Vector operations of the model against NumPy: values, rounding modes, clamps and special values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pyasc.model.driver import Scalar, run
from tests.compilers import needs_compiler
from tests.unit.model_support import REFERENCE, built, clean, poisoned, source

pytestmark = needs_compiler
F16, F32, I16, I32, I64 = np.float16, np.float32, np.int16, np.int32, np.int64
NONE, RINT, FLOOR, CEIL, ROUND, TRUNC, ODD = range(7)
FIVE = (RINT, FLOOR, CEIL, ROUND, TRUNC)


def _ops(entry: str, arrays: list[np.ndarray], out: int, out_dtype: type, *numbers: int) -> np.ndarray:
    kernel = built(REFERENCE / "ops" / "vector_ops.cpp")
    scalars = [Scalar(np.uint32(v)) for v in (arrays[0].size, *numbers)]
    result = run(kernel, [*map(source, arrays), poisoned(out, out_dtype), *scalars], entry=entry)
    return clean(result).outputs[0]


def _bfloat16(values: np.ndarray) -> np.ndarray:
    return (values.astype(F32).view(np.uint32) >> 16).astype(np.uint16)


def _samples(dtype: type, rng: np.random.Generator) -> np.ndarray:
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        edges = np.array([info.min, info.max, 0, 1, -1 if info.min else 0], dtype)
        return np.concatenate([edges, rng.integers(info.min, info.max, 300, dtype, endpoint=True)])
    special = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        0.25,
        np.inf,
        -np.inf,
        np.nan,
        65519.0,
        65520.0,
        1e-7,
        3e9,
        -3e9,
    ]
    spread = rng.standard_normal(300) * np.exp(rng.uniform(-12, 12, 300))
    with np.errstate(over="ignore"):
        return np.concatenate([special, spread]).astype(dtype)


def _integral(x: np.ndarray, mode: int) -> np.ndarray:
    wide = x.astype(np.float64)
    away = np.copysign(np.floor(np.abs(wide) + 0.5), wide)
    return {FLOOR: np.floor(wide), CEIL: np.ceil(wide), TRUNC: np.trunc(wide), ROUND: away}.get(
        mode, np.rint(wide)
    )


def _clamped(x: np.ndarray, mode: int, dtype: type) -> np.ndarray:
    info = np.iinfo(dtype)
    v = _integral(x, mode)
    v = np.where(np.isnan(v), 0, v)
    out = np.clip(v, float(info.min), float(info.max))
    top = v >= float(info.max)
    return np.where(top, info.max, np.where(top, 0, out).astype(dtype)).astype(dtype)


TO_INTEGER = [
    (4, F16, np.int8, (*FIVE, NONE)),
    (5, F16, np.uint8, (*FIVE, NONE)),
    (6, F16, I16, FIVE),
    (7, F16, I32, FIVE),
    (16, F32, I16, FIVE),
    (17, F32, I32, FIVE),
    (18, F32, I64, FIVE),
]


@pytest.mark.parametrize(("pair", "src", "dst", "modes"), TO_INTEGER)
def test_cast_to_integer(pair: int, src: type, dst: type, modes: tuple[int, ...]) -> None:
    x = _samples(src, np.random.default_rng(1))
    for mode in modes:
        assert (_ops("cast", [x], x.size, dst, pair, mode) == _clamped(x, mode, dst)).all(), mode


@pytest.mark.parametrize(
    ("pair", "src", "dst"),
    [(0, np.int8, F16), (1, np.uint8, F16), (3, I16, F32), (8, F16, F32), (13, I32, I64)],
)
def test_widening_casts_are_exact(pair: int, src: type, dst: type) -> None:
    x = _samples(src, np.random.default_rng(2))
    np.testing.assert_array_equal(_ops("cast", [x], x.size, dst, pair, NONE), x.astype(dst))


def test_cast_from_bfloat16() -> None:
    bits = _bfloat16(_samples(F32, np.random.default_rng(3)))
    values = (bits.astype(np.uint32) << 16).view(F32)
    np.testing.assert_array_equal(_ops("cast", [bits], bits.size, F32, 9, NONE), values)
    for mode in FIVE:
        assert (_ops("cast", [bits], bits.size, I32, 10, mode) == _clamped(values, mode, I32)).all()


def test_narrowing_integer_casts_clamp() -> None:
    x = _samples(I32, np.random.default_rng(4))
    assert (_ops("cast", [x], x.size, I16, 11, NONE) == np.clip(x, -32768, 32767)).all()
    wide = _samples(I64, np.random.default_rng(4))
    assert (_ops("cast", [wide], wide.size, I32, 20, NONE) == np.clip(wide, -(2**31), 2**31 - 1)).all()


def test_nearest_rounding_is_numpys() -> None:
    f = _samples(F32, np.random.default_rng(5))
    with np.errstate(over="ignore"):
        for mode in (NONE, RINT):
            np.testing.assert_array_equal(_ops("cast", [f], f.size, F16, 14, mode), f.astype(F16))
    i, j = _samples(I32, np.random.default_rng(5)), _samples(I64, np.random.default_rng(5))
    assert (_ops("cast", [i], i.size, F32, 12, RINT) == i.astype(F32)).all()
    assert (_ops("cast", [j], j.size, F32, 21, RINT) == j.astype(F32)).all()
    h = _samples(I16, np.random.default_rng(5))
    assert (_ops("cast", [h], h.size, F16, 2, RINT) == h.astype(F16)).all()
    assert (_ops("cast", [f], f.size, F32, 19, FLOOR) == np.floor(f))[~np.isnan(f)].all()


@pytest.mark.parametrize(
    ("pair", "src", "narrow"),
    [(14, F32, F16), (12, I32, F32), (21, I64, F32), (2, I16, F16)],
)
def test_directed_rounding(pair: int, src: type, narrow: type) -> None:
    x = _samples(src, np.random.default_rng(6))
    x = x[np.isfinite(x.astype(F32)) & (np.abs(x.astype(F32)) < (6e4 if narrow is F16 else 1e30))]
    exact = x.astype(np.longdouble)
    down, up = (_ops("cast", [x], x.size, narrow, pair, mode).astype(np.longdouble) for mode in (FLOOR, CEIL))
    assert (down <= exact).all()
    assert (up >= exact).all()
    neighbour = np.nextafter(down.astype(narrow), narrow(np.inf)).astype(np.longdouble)
    assert ((up == down) | (up == neighbour)).all()
    zero = _ops("cast", [x], x.size, narrow, pair, TRUNC).astype(np.longdouble)
    assert (zero == np.where(exact < 0, up, down)).all()
    away = _ops("cast", [x], x.size, narrow, pair, ROUND).astype(np.longdouble)
    low, high = exact - down, up - exact
    assert (away == np.where((low > high) | ((low == high) & (exact > 0)), up, down)).all()


def test_cast_to_odd() -> None:
    x = _samples(F32, np.random.default_rng(7))
    x = x[np.abs(x) < 6e4]
    bits = _ops("cast", [x], x.size, F16, 14, ODD).view(np.uint16)
    exact = x == x.astype(F16)
    assert (bits[~exact] & 1).all()
    assert (bits[exact] == x[exact].astype(F16).view(np.uint16)).all()


def test_cast_to_bfloat16_rounds_to_even() -> None:
    x = _samples(F32, np.random.default_rng(8))
    x = x[np.isfinite(x)]
    raw = x.view(np.uint32)
    expected = ((raw + 0x7FFF + ((raw >> 16) & 1)) >> 16).astype(np.uint16)
    assert (_ops("cast", [x], x.size, np.uint16, 15, RINT) == expected).all()


@pytest.mark.parametrize(("type_", "dtype"), [(0, F16), (1, F32), (2, I16), (3, I32)])
@pytest.mark.parametrize("op", range(5))
def test_binary(type_: int, dtype: type, op: int) -> None:
    rng = np.random.default_rng(9)
    x, y = _samples(dtype, rng), rng.permutation(_samples(dtype, rng))
    function = (np.add, np.subtract, np.multiply, np.maximum, np.minimum)[op]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(_ops("binary", [x, y], x.size, dtype, type_, op), function(x, y))


def _relu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, x.dtype.type(0), x)


def _float_cases(t: type) -> list[tuple[int, Callable[[np.ndarray, np.ndarray], np.ndarray], float]]:
    """Operation number, what NumPy says, and the relative bound (0: bit for bit)."""
    wide = F32
    return [
        (0, lambda x, y: np.exp(x.astype(np.float64)), 2e-7),
        (1, lambda x, y: np.log(x.astype(np.float64)), 2e-7),
        (2, lambda x, y: np.sqrt(x), 0),
        (5, lambda x, y: np.abs(x), 0),
        (6, lambda x, y: _relu(x), 0),
        (7, lambda x, y: x / y, 0),
        (8, lambda x, y: _relu(x + y), 0),
        (9, lambda x, y: _relu(x - y), 0),
        (10, lambda x, y: (x.astype(wide) * y.astype(wide) + y.astype(wide)).astype(t), 0),
        (11, lambda x, y: (x.astype(wide) * y.astype(wide) + y.astype(wide)).astype(t), 0),
        (12, lambda x, y: x + t(1.5), 0),
        (13, lambda x, y: x * t(1.5), 0),
        (14, lambda x, y: np.maximum(x, t(1.5)), 0),
        (15, lambda x, y: np.minimum(x, t(1.5)), 0),
        (16, lambda x, y: np.where(x < 0, x * t(0.25), x), 0),
        (17, lambda x, y: (x.astype(wide) * wide(1.5) + y.astype(wide)).astype(t), 0),
        (18, lambda x, y: np.full_like(x, 1.5), 0),
        (19, lambda x, y: np.arange(3, 3 + x.size).astype(t), 0),
    ]


@pytest.mark.parametrize(("wide", "dtype"), [(0, F16), (1, F32)])
def test_float_operations(wide: int, dtype: type) -> None:
    rng = np.random.default_rng(10)
    x, y = _samples(dtype, rng), rng.permutation(_samples(dtype, rng))
    with np.errstate(all="ignore"):
        for op, function, bound in _float_cases(dtype):
            out = _ops("floating", [x, y], x.size, dtype, wide, op)
            expected = function(x, y).astype(dtype)
            if bound == 0:
                np.testing.assert_array_equal(out, expected, err_msg=str(op))
            else:
                ulp = 1e-3 if dtype is F16 else bound
                np.testing.assert_allclose(out, expected, rtol=ulp, atol=1.5e-45, err_msg=str(op))


@pytest.mark.parametrize(("wide", "dtype", "worst"), [(0, F16, 4e-3), (1, F32, 4e-4)])
def test_reciprocals_are_approximations(wide: int, dtype: type, worst: float) -> None:
    x = np.random.default_rng(11).uniform(0.5, 100, 400).astype(dtype)
    for op, exact in ((3, 1 / np.sqrt(x.astype(np.float64))), (4, 1 / x.astype(np.float64))):
        error = np.abs(_ops("floating", [x, x], x.size, dtype, wide, op) / exact - 1)
        assert error.max() < worst
        assert error.max() > worst / 8  # close enough would let a kernel rely on it


@pytest.mark.parametrize(("type_", "dtype"), [(0, I16), (1, np.uint16), (2, I32), (3, np.uint32)])
def test_bits(type_: int, dtype: type) -> None:
    rng = np.random.default_rng(12)
    x, y = _samples(dtype, rng), rng.permutation(_samples(dtype, rng))
    expected = [x << dtype(3), x >> dtype(3), x & y, x | y, ~x]
    for op in range(5 if dtype().nbytes == 2 else 2):
        assert (_ops("bits", [x, y], x.size, dtype, type_, op) == expected[op]).all(), op


def _tree(x: np.ndarray) -> np.ndarray:
    while x.shape[-1] > 1:
        x = x[..., 0::2] + x[..., 1::2]
    return x[..., 0]


@pytest.mark.parametrize(("wide", "dtype"), [(0, F16), (1, F32)])
def test_reductions(wide: int, dtype: type) -> None:
    lanes = 64 if wide else 128
    x = np.random.default_rng(13).standard_normal(5 * lanes).astype(dtype)
    repeats, blocks = x.reshape(-1, lanes), x.reshape(-1, 16 if wide == 0 else 8)
    total = dtype(0)
    for part in _tree(repeats):
        total = dtype(total + part)
    expected = [
        _tree(repeats),
        repeats.max(1),
        repeats[:, :-3].min(1),
        _tree(blocks),
        blocks.max(1),
        blocks.min(1),
        x[0::2] + x[1::2],
        total.reshape(1),
        x.max().reshape(1),
        x.min().reshape(1),
    ]
    for op, values in enumerate(expected):
        out = _ops("reduce", [x], values.size, dtype, wide, op)
        np.testing.assert_array_equal(out, values, err_msg=str(op))


@pytest.mark.parametrize(("wide", "dtype"), [(0, F16), (1, F32)])
@pytest.mark.parametrize("scalar", [0, 1])
def test_compare(wide: int, dtype: type, scalar: int) -> None:
    rng = np.random.default_rng(14)
    x = rng.integers(-2, 3, 512).astype(dtype) * dtype(0.5)
    y = rng.integers(-2, 3, 512).astype(dtype) * dtype(0.5)
    x[3] = np.nan
    other = dtype(0.5) if scalar else y
    functions = (np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal)
    for mode, function in enumerate(functions):
        bits = _ops("compare", [x, y], 64, np.uint8, wide, mode, scalar)
        assert (bits == np.packbits(function(x, other), bitorder="little")).all(), mode
