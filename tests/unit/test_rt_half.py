# SPDX-License-Identifier: Apache-2.0
"""float16 and bfloat16 conversions of pyasc_half.h: every half, dense floats, all rounding cases."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from rt_shim import Loop, Shim, assert_same

LOOPS = (
    Loop("f16_to_f32", "pa_cast<float>(a)", ("f16",), "f32"),
    Loop("f16_to_f32_portable", "pa_f16_to_f32_portable(a)", ("u16",), "f32"),
    Loop("f32_to_f16", "pa_cast<pyasc_f16>(a)", ("f32",), "f16"),
    Loop("f32_to_f16_portable", "pa_f32_to_f16_portable(a)", ("f32",), "u16"),
    Loop("f64_to_f16", "pa_cast<pyasc_f16>(a)", ("f64",), "f16"),
    Loop("bf16_to_f32", "pa_cast<float>(a)", ("bf16",), "f32"),
    Loop("f32_to_bf16", "pa_cast<pyasc_bf16>(a)", ("f32",), "bf16"),
    Loop("f64_to_bf16", "pa_cast<pyasc_bf16>(a)", ("f64",), "bf16"),
    Loop("f16_to_bf16", "pa_cast<pyasc_bf16>(a)", ("f16",), "bf16"),
    Loop("bf16_to_f16", "pa_cast<pyasc_f16>(a)", ("bf16",), "f16"),
    Loop("f16_to_i8", "pa_cast<int8_t>(a)", ("f16",), "i8"),
    Loop("f16_to_f64", "pa_cast<double>(a)", ("f16",), "f64"),
    Loop("f16_to_i1", "pa_cast<bool>(a)", ("f16",), "i1"),
    Loop("i1_to_f16", "pa_cast<pyasc_f16>(a)", ("i1",), "f16"),
    Loop("i16_to_f16", "pa_cast<pyasc_f16>(a)", ("i16",), "f16"),
    Loop("i32_to_f16", "pa_cast<pyasc_f16>(a)", ("i32",), "f16"),
    Loop("u64_to_f16", "pa_cast<pyasc_f16>(a)", ("u64",), "f16"),
    Loop("i32_to_bf16", "pa_cast<pyasc_bf16>(a)", ("i32",), "bf16"),
    Loop("i64_to_bf16", "pa_cast<pyasc_bf16>(a)", ("i64",), "bf16"),
    Loop("u64_to_bf16", "pa_cast<pyasc_bf16>(a)", ("u64",), "bf16"),
)
ALL_16_BITS = np.arange(65536, dtype=np.uint16)


@pytest.fixture(scope="module", params=[("-march=native",), ()], ids=["native", "baseline"])
def shim(request: pytest.FixtureRequest) -> Shim:
    return Shim(LOOPS, request.param)


def bf16_to_f32(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.fixture(autouse=True)
def signalling_nans_are_quiet() -> Iterator[None]:
    """NumPy warns of casts of signalling NaNs where the processor reports them, as ARM does."""
    with np.errstate(invalid="ignore"):
        yield


def nearest_bf16(values: list[int | float]) -> np.ndarray:
    """Round exact numbers to bfloat16, ties to even, by comparing fractions."""
    finite = bf16_to_f32(np.arange(0x7F80, dtype=np.uint16))
    exact = [Fraction(float(x)) for x in finite] + [Fraction(2) ** 128]
    table = np.append(finite.astype(np.float64), 2.0**128)
    out = []
    for value in values:
        magnitude = abs(Fraction(value))
        low = min(int(np.searchsorted(table, float(magnitude), side="right")) - 1, len(table) - 1)
        low -= exact[low] > magnitude
        high = min(low + 1, len(table) - 1)
        below, above = magnitude - exact[low], exact[high] - magnitude
        picked = low if below < above or (below == above and low % 2 == 0) else high
        out.append(picked | (0x8000 if value < 0 else 0))
    return np.array(out, np.uint16)


def dense_floats() -> np.ndarray:
    """Floats of all exponents, halfway points between neighbouring halves, and their neighbours."""
    halves = ALL_16_BITS.view(np.float16).astype(np.float32)
    brains = bf16_to_f32(ALL_16_BITS)
    with np.errstate(all="ignore"):
        ties = np.concatenate([(x[:-1].astype(np.float64) + x[1:]) / 2 for x in (halves, brains)])
        ties = ties.astype(np.float32)
        around = [np.nextafter(ties, np.float32(s * np.inf)) for s in (1, -1)]
    spread = np.arange(0, 2**32, 65537 // 8, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([ties, *around, spread])


def test_every_half_widens_exactly(shim: Shim) -> None:
    halves = ALL_16_BITS.view(np.float16)
    assert_same(shim("f16_to_f32", halves), halves.astype(np.float32), ALL_16_BITS)
    assert_same(shim("f16_to_f32_portable", ALL_16_BITS), halves.astype(np.float32), ALL_16_BITS)
    assert_same(shim("f16_to_f64", halves), halves.astype(np.float64), ALL_16_BITS)
    assert_same(shim("bf16_to_f32", ALL_16_BITS), bf16_to_f32(ALL_16_BITS), ALL_16_BITS)


def test_floats_round_to_the_nearest_even_half(shim: Shim) -> None:
    x = dense_floats()
    with np.errstate(over="ignore"):
        want = x.astype(np.float16)
    assert_same(shim("f32_to_f16", x), want, x)
    assert_same(shim("f32_to_f16_portable", x).view(np.float16), want, x)


def test_every_half_survives_the_round_trip(shim: Shim) -> None:
    for name in ("f16", "bf16"):
        bits = ALL_16_BITS if name == "bf16" else ALL_16_BITS.view(np.float16)
        back = shim(f"f32_to_{name}", shim(f"{name}_to_f32", bits)).view(np.uint16)
        wide = shim(f"{name}_to_f32", bits)
        assert np.array_equal(back[~np.isnan(wide)], ALL_16_BITS[~np.isnan(wide)])
        assert np.isnan(shim(f"{name}_to_f32", back.view(bits.dtype))[np.isnan(wide)]).all()


def test_floats_round_to_the_nearest_even_bfloat16(shim: Shim) -> None:
    x = dense_floats()
    finite = x[np.isfinite(x)]
    sample = finite[:: max(1, finite.size // 40_000)]
    assert_same(shim("f32_to_bf16", sample) & 0x7FFF, nearest_bf16(sample.tolist()) & 0x7FFF, sample)
    got = bf16_to_f32(shim("f32_to_bf16", x))
    assert np.array_equal(np.isnan(got), np.isnan(x))
    assert np.array_equal(np.signbit(got), np.signbit(x))
    assert np.array_equal(np.isinf(got[np.isinf(x)]), np.isinf(x[np.isinf(x)]))


def test_doubles_are_rounded_once(shim: Shim) -> None:
    halves = ALL_16_BITS[:0x7C00].view(np.float16).astype(np.float64)
    ties = (halves[:-1] + halves[1:]) / 2
    x = np.concatenate(
        [ties, ties * (1 + 2.0**-52), ties * (1 - 2.0**-52), [65520.0, 65519.999999, 1e300, np.inf]]
    )
    x = np.concatenate([x, -x, [np.nan, 5e-324, 2.0**-25, 2.0**-25 * (1 + 2.0**-50)]])
    with np.errstate(over="ignore"):
        assert_same(shim("f64_to_f16", x), x.astype(np.float16), x)
    brains = bf16_to_f32(ALL_16_BITS[:0x7F80:7]).astype(np.float64)
    ties = (brains[:-1] + np.roll(brains, -1)[:-1]) / 2
    y = np.concatenate([brains * (1 + 2.0**-8), brains * (1 + 2.0**-8 + 2.0**-40), -ties])
    assert_same(shim("f64_to_bf16", y) & 0x7FFF, nearest_bf16(y.tolist()) & 0x7FFF, y)


def test_integers_are_rounded_once(shim: Shim) -> None:
    for name, dtype in (("i16", np.int16), ("i32", np.int32), ("u64", np.uint64)):
        info = np.iinfo(dtype)
        small = np.arange(max(info.min, -70_000), min(info.max, 70_000) + 1).astype(dtype)
        x = np.concatenate([small, np.array([info.min, info.max], dtype)])
        with np.errstate(over="ignore"):
            assert_same(shim(f"{name}_to_f16", x), x.astype(np.float16), x)


@pytest.mark.parametrize("name", ["i32", "i64", "u64"])
def test_integers_near_ties_round_to_the_nearest_bfloat16(shim: Shim, name: str) -> None:
    bits = 31 if name == "i32" else 63
    values = [(257 << s) + d for s in range(bits - 8) for d in (-1, 0, 1)]
    if name != "u64":
        values += [-v for v in values] + [-(2**bits), 2**bits - 1]
    x = np.array(values, {"i32": np.int32, "i64": np.int64, "u64": np.uint64}[name])
    assert_same(shim(f"{name}_to_bf16", x), nearest_bf16(values), x)


def test_other_casts_of_halves(shim: Shim) -> None:
    halves = ALL_16_BITS.view(np.float16)
    wide = halves.astype(np.float32)
    saturated = np.nan_to_num(np.trunc(np.clip(np.nan_to_num(wide, nan=0.0), -128, 127))).astype(np.int8)
    assert_same(shim("f16_to_i8", halves), saturated, ALL_16_BITS)
    assert_same(shim("f16_to_i1", halves), wide != 0, ALL_16_BITS)
    assert_same(shim("i1_to_f16", np.array([False, True])), np.array([0, 1], np.float16))
    finite = np.isfinite(wide)
    got = shim("f16_to_bf16", halves[finite])
    assert_same(got & 0x7FFF, nearest_bf16(np.abs(wide[finite]).tolist()), ALL_16_BITS[finite])
    with np.errstate(over="ignore"):
        want = bf16_to_f32(ALL_16_BITS).astype(np.float16)
    assert_same(shim("bf16_to_f16", ALL_16_BITS), want, ALL_16_BITS)
