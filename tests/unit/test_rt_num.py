# SPDX-License-Identifier: Apache-2.0
"""The scalar semantics of pyasc_num.h against NumPy and CPython."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from rt_shim import NUMPY, Loop, Shim, assert_same

SIGNED = ("i8", "i16", "i32", "i64")
INTEGERS = (*SIGNED, "u8", "u16", "u32", "u64")
FLOATS = ("f32", "f64")
BINARY_INT = (
    "add", "sub", "mul", "floordiv", "mod", "fmod", "pow", "shl", "shr", "pymin", "pymax", "minimum", "maximum",
)  # fmt: skip
UNARY_INT = ("neg", "abs", "sign")
BINARY_FLOAT = ("fmod", "floordiv", "mod", "pymin", "pymax", "minimum", "maximum", "fmin", "fmax", "copysign")
UNARY_FLOAT = ("sign", "rint", "floor", "ceil", "trunc", "abs")
TESTS_FLOAT = ("isnan", "isinf", "isfinite", "signbit")


@pytest.fixture(scope="module")
def ints() -> Shim:
    loops = [Loop(f"{f}_{d}", f"pa_{f}(a, b)", (d, d), d, f != "pow") for f in BINARY_INT for d in INTEGERS]
    loops += [Loop(f"{f}_{d}", f"pa_{f}(a)", (d,), d) for f in UNARY_INT for d in INTEGERS]
    return Shim(loops)


@pytest.fixture(scope="module")
def floats() -> Shim:
    loops = [Loop(f"{f}_{d}", f"pa_{f}(a, b)", (d, d), d) for f in BINARY_FLOAT for d in FLOATS]
    loops += [Loop(f"{f}_{d}", f"pa_{f}(a)", (d,), d) for f in UNARY_FLOAT for d in FLOATS]
    loops += [Loop(f"{f}_{d}", f"pa_{f}(a)", (d,), "i1") for f in TESTS_FLOAT for d in FLOATS]
    loops += [Loop(f"clip_{d}", "pa_clip(a, b, c)", (d, d, d), d) for d in FLOATS]
    return Shim(loops)


@pytest.fixture(scope="module")
def casts() -> Shim:
    dtypes = (*INTEGERS, *FLOATS, "i1")
    pairs = itertools.product(dtypes, dtypes)
    return Shim([Loop(f"{s}_to_{d}", f"pa_cast<{_ctype(d)}>(a)", (s,), d) for s, d in pairs])


def _ctype(dtype: str) -> str:
    return {"f32": "float", "f64": "double", "i1": "bool"}.get(dtype) or (
        ("u" if dtype[0] == "u" else "") + f"int{dtype[1:]}_t"
    )


def integer_values(dtype: str) -> np.ndarray:
    """All values of 8 bits; for wider types the edges, small numbers and seeded random ones."""
    info = np.iinfo(NUMPY[dtype])
    if info.bits == 8:
        return np.arange(info.min, info.max + 1).astype(NUMPY[dtype])
    rng = np.random.default_rng(info.bits)
    edges = {info.min, info.min + 1, info.max, info.max - 1, info.max // 2, *range(max(info.min, -9), 70)}
    random = rng.integers(info.min, info.max, 60, dtype=NUMPY[dtype], endpoint=True)
    shifted = random >> rng.integers(0, info.bits, 60).astype(NUMPY[dtype])
    return np.unique(np.concatenate([np.array(sorted(edges), NUMPY[dtype]), random, shifted]))


def pairs_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    a, b = np.meshgrid(values, values)
    return a.ravel(), b.ravel()


def python_ints(function, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Apply a function of Python integers and wrap its results to the dtype of the inputs."""
    bits = a.dtype.itemsize * 8
    wrapped = [function(x, y) & ((1 << bits) - 1) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    return np.array(wrapped, np.uint64).astype(f"u{a.dtype.itemsize}").view(a.dtype)


REFERENCES = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "shl": np.left_shift, "shr": np.right_shift,
    "minimum": np.minimum, "maximum": np.maximum,
    "floordiv": lambda a, b: python_ints(lambda x, y: x // y if y else 0, a, b),
    "mod": lambda a, b: python_ints(lambda x, y: x % y if y else 0, a, b),
    "fmod": lambda a, b: python_ints(lambda x, y: (abs(x) % abs(y)) * (-1 if x < 0 else 1) if y else 0, a, b),
    "pymin": lambda a, b: python_ints(min, a, b), "pymax": lambda a, b: python_ints(max, a, b),
    "neg": np.negative, "abs": np.abs, "sign": np.sign,
}  # fmt: skip


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", [f for f in BINARY_INT if f != "pow"])
def test_integer_binary(ints: Shim, name: str, dtype: str) -> None:
    a, b = pairs_of(integer_values(dtype))
    with np.errstate(all="ignore"):
        assert_same(ints(f"{name}_{dtype}", a, b), REFERENCES[name](a, b), a, b)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", UNARY_INT)
def test_integer_unary(ints: Shim, name: str, dtype: str) -> None:
    a = integer_values(dtype)
    with np.errstate(all="ignore"):
        assert_same(ints(f"{name}_{dtype}", a), REFERENCES[name](a), a)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_power_wraps(ints: Shim, dtype: str) -> None:
    a, b = pairs_of(integer_values(dtype))
    keep = (b >= 0) & (b < 100)
    a, b = a[keep], b[keep]
    assert_same(ints(f"pow_{dtype}", a, b), np.power(a, b), a, b)


def float_values(dtype: str) -> np.ndarray:
    """Zeros, subnormals, infinities, NaN, halves, numbers near integers and seeded random ones."""
    info = np.finfo(NUMPY[dtype])
    small = [
        0.0,
        0.5,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        3.5,
        0.1,
        0.7,
        5.3,
        1e-3,
        7.0,
        100.0,
        1e6 + 0.5,
        2.0**31,
        2.0**62,
    ]
    edges = [info.max, info.tiny, info.smallest_subnormal, np.inf, 8388607.5, 8388609.0, 1 - info.epsneg]
    rng = np.random.default_rng(3)
    random = rng.standard_normal(40) * 2.0 ** rng.integers(-40, 40, 40)
    positive = np.array([*small, *edges, *np.abs(random)], NUMPY[dtype])
    return np.concatenate([positive, -positive, np.array([np.nan], NUMPY[dtype])])


FLOAT_REFERENCES = {
    "fmod": np.fmod, "floordiv": np.floor_divide, "mod": np.remainder, "fmin": np.fmin, "fmax": np.fmax,
    "copysign": np.copysign, "pymin": lambda a, b: np.where(b < a, b, a),
    "pymax": lambda a, b: np.where(b > a, b, a), "sign": np.sign, "rint": np.rint, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "abs": np.abs, "isnan": np.isnan, "isinf": np.isinf,
    "isfinite": np.isfinite, "signbit": np.signbit, "minimum": np.minimum, "maximum": np.maximum,
}  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", BINARY_FLOAT)
def test_float_binary(floats: Shim, name: str, dtype: str) -> None:
    a, b = pairs_of(float_values(dtype))
    if name in ("minimum", "maximum", "fmin", "fmax"):
        # Which of two zeros NumPy returns depends on its vector path.
        keep = ~((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)))
        a, b = a[keep], b[keep]
    with np.errstate(all="ignore"):
        assert_same(floats(f"{name}_{dtype}", a, b), FLOAT_REFERENCES[name](a, b), a, b)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY_FLOAT + TESTS_FLOAT)
def test_float_unary(floats: Shim, name: str, dtype: str) -> None:
    a = float_values(dtype)
    assert_same(floats(f"{name}_{dtype}", a), FLOAT_REFERENCES[name](a), a)


def test_float_floor_division_and_modulo_follow_cpython(floats: Shim) -> None:
    a, b = pairs_of(float_values("f64"))
    keep = (b != 0) & np.isfinite(a) & np.isfinite(b)
    a, b = a[keep], b[keep]
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert_same(floats("floordiv_f64", a, b), np.array([x // y for x, y in pairs]), a, b)
    assert_same(floats("mod_f64", a, b), np.array([x % y for x, y in pairs]), a, b)


def test_float32_remainder_of_random_bits_is_numpys(floats: Shim) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2**32, (2, 200_000), dtype=np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        near = np.float32(rng.integers(1, 2**26, b.size)) * b
        for x in (a, near):
            assert_same(floats("fmod_f32", x, b), np.fmod(x, b), x, b)
            assert_same(floats("mod_f32", x, b), np.remainder(x, b), x, b)
            assert_same(floats("floordiv_f32", x, b), np.floor_divide(x, b), x, b)


def test_python_min_and_max_keep_the_first_of_equal_or_unordered_arguments(floats: Shim) -> None:
    values = [0.0, -0.0, 1.0, math.nan, -math.inf]
    a, b = pairs_of(np.array(values))
    want_min = np.array([min(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)])
    want_max = np.array([max(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)])
    assert_same(floats("pymin_f64", a, b), want_min, a, b)
    assert_same(floats("pymax_f64", a, b), want_max, a, b)


@pytest.mark.parametrize("dtype", FLOATS)
def test_clip_is_numpys(floats: Shim, dtype: str) -> None:
    a, b = pairs_of(float_values(dtype))
    high = np.full_like(a, 2.0)
    keep = ~((a == 0) & (b == 0))
    a, b, high = a[keep], b[keep], high[keep]
    assert_same(floats(f"clip_{dtype}", a, b, high), np.clip(a, b, high), a, b)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", (*INTEGERS, *FLOATS, "i1"))
def test_casts_of_integers_are_numpys(casts: Shim, source: str, target: str) -> None:
    a = integer_values(source)
    assert_same(casts(f"{source}_to_{target}", a), a.astype(NUMPY[target]), a)


@pytest.mark.parametrize("target", (*INTEGERS, *FLOATS, "i1"))
def test_casts_of_bools(casts: Shim, target: str) -> None:
    a = np.array([False, True])
    assert_same(casts(f"i1_to_{target}", a), a.astype(NUMPY[target]), a)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_to_integers_truncate_and_saturate(casts: Shim, source: str, target: str) -> None:
    info = np.iinfo(NUMPY[target])
    edges = [float(info.min), float(info.max), info.max + 1.0, info.min - 1.0, info.max - 0.5, info.min - 0.5]
    near = np.array(edges, NUMPY[source])
    down, up = np.nextafter(near, -np.inf, dtype=near.dtype), np.nextafter(near, np.inf, dtype=near.dtype)
    a = np.concatenate([float_values(source), near, down, up])
    want = [0 if math.isnan(x) else _saturated(x, info) for x in a.tolist()]
    assert_same(casts(f"{source}_to_{target}", a), np.array(want, NUMPY[target]), a)


def _saturated(x: float, info: np.iinfo) -> int:
    if math.isinf(x):
        return int(info.max if x > 0 else info.min)
    return min(max(math.trunc(x), int(info.min)), int(info.max))


def test_casts_between_floats_and_to_bool(casts: Shim) -> None:
    for source, target in itertools.product(FLOATS, (*FLOATS, "i1")):
        a = float_values(source)
        with np.errstate(over="ignore", under="ignore"):
            assert_same(casts(f"{source}_to_{target}", a), a.astype(NUMPY[target]), a)
