# SPDX-License-Identifier: Apache-2.0
"""What moves, chooses and orders elements, on every dtype: Ascend C with calls that exist, as NumPy does it."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.ir.verifier import verify
from tests.compilers import needs_compiler

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

DTYPES = "float16 bfloat16 float32 int8 uint8 int16 uint16 int32 uint32 int64 bool_".split()
SHAPES = ((1, 2), (33, 70), (3, 300))


@cache
def kernels(dtype: str) -> dict[str, Any]:
    """The kernels of `dtype_cases` for one dtype, by name."""
    spec = spec_from_file_location(f"dtype_cases_{dtype}", Path(__file__).with_name("dtype_cases.py"))
    assert spec is not None and spec.loader is not None
    module: Any = module_from_spec(spec)
    module.T = getattr(asc, dtype)
    spec.loader.exec_module(module)
    return {name: each for name, each in vars(module).items() if isinstance(each, asc.Kernel)}


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_call_takes_the_dtype(dtype: str) -> None:
    for name, kernel in kernels(dtype).items():
        lowered = kernel.specialise(kernel.types_of()).lowered("ascend")
        assert not [str(problem) for problem in verify(lowered.module, "ascend")], name


def numbers(dtype: str, *shape: int) -> Any:
    """Numbers of a dtype, those of bfloat16 as float32."""
    rng = np.random.default_rng(sum(shape))
    if dtype == "bool_":
        return rng.integers(0, 2, shape).astype(bool)
    if "float" in dtype:
        return rng.integers(-200, 200, shape).astype(np.float32 if dtype == "bfloat16" else dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def stored(values: Any, dtype: str) -> Any:
    """The numbers as an array of memory, those of bfloat16 as their bits."""
    return (values.view(np.uint32) >> 16).astype(np.uint16) if dtype == "bfloat16" else values.copy()


CASES: dict[str, Any] = {
    "spread_columns": (("R",), ("R", "C"), lambda x, y: np.broadcast_to(x[:, None], y.shape)),
    "spread_rows": (("C",), ("R", "C"), lambda x, y: np.broadcast_to(x, y.shape)),
    "far_apart": (("R", "C"), ("R",), lambda x, y: x[:, 1]),
    "diagonal": (("R",), ("R", "R"), lambda x, y: np.where(np.eye(len(x), dtype=bool), x, y)),
    "largest": (("R", "C"), ("R",), lambda x, y: x.max(axis=1)),
    "least": (("R", "C"), ("C",), lambda x, y: x.min(axis=0)),
    "repeated": (("C",), ("2C",), lambda x, y: np.repeat(x, 2)),
}
"""Extents of the source and of the result, and what NumPy makes of both."""


@pytest.mark.parametrize("dtype", ["bfloat16", "uint16", "int8"])
def test_as_numpy_does(dtype: str) -> None:
    with asc.device("model"):
        asc.compile([kernels(dtype)[name] for name in CASES])
        for name, (given, result, expected) in CASES.items():
            for rows, columns in SHAPES:
                extents = {"R": rows, "C": columns, "2C": 2 * columns}
                x = numbers(dtype, *(extents[each] for each in given))
                y = numbers(dtype, *(extents[each] for each in result))
                out = stored(y, dtype)
                kernels(dtype)[name](stored(x, dtype), out)
                wanted = stored(np.ascontiguousarray(expected(x, y)), dtype)
                np.testing.assert_array_equal(out, wanted, err_msg=name)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "uint8"])
def test_masks_and_truths(dtype: str) -> None:
    made = kernels(dtype)
    with asc.device("model"):
        asc.compile([made["masked"], made["any_large"], made["ones"]])
        for rows, columns in SHAPES:
            x, mask = numbers(dtype, rows, columns), numbers("bool_", rows, columns)
            x = np.where(numbers("bool_", rows, 1), x, np.minimum(x, 1)).astype(x.dtype)
            out, found, line = stored(x, dtype), np.zeros(rows, bool), stored(x[0], dtype)
            made["masked"](mask, stored(x, dtype), out)
            made["any_large"](stored(x, dtype), found)
            made["ones"](line)
            np.testing.assert_array_equal(out, stored(np.where(mask, x, 1).astype(x.dtype), dtype))
            np.testing.assert_array_equal(found, (x > 1).any(axis=1))
            np.testing.assert_array_equal(line, stored(np.ones_like(x[0]), dtype))


ON_VECTOR = "spread_rows turned backwards largest masked any_large ones".split()


@pytest.mark.parametrize("dtype", "float16 bfloat16 float32 int8 uint8 int16 int32".split())
def test_nothing_is_left_to_the_scalar_unit(dtype: str) -> None:
    for name in ON_VECTOR + ([] if dtype in ("int8", "uint8") else ["far_apart", "diagonal"]):
        kernel = kernels(dtype)[name]
        remarks = kernel.specialise(kernel.types_of()).lowered("ascend").remarks
        assert not [each.message for each in remarks if "scalar unit" in each.message], name


def test_bfloat16_on_the_scalar_unit_and_by_value() -> None:
    made = kernels("bfloat16")
    # Whole numbers so small that their sums are exact too.
    x, places = np.floor(numbers("bfloat16", 33) / 8), np.arange(33, dtype=np.int32) // 3
    y, out = stored(np.zeros(33, np.float32), "bfloat16"), np.zeros(33, np.uint16)
    found = np.zeros(3, np.int64)
    with asc.device("model"):
        made["added"](stored(x, "bfloat16"), places, y)
        made["filled"](-2.5, out)
        made["place"](stored(x.reshape(3, 11), "bfloat16"), found)
    np.testing.assert_array_equal(y[:11], stored(x.reshape(11, 3).sum(axis=1), "bfloat16"))
    assert not y[11:].any()
    assert set(out) == {0xC020}
    np.testing.assert_array_equal(found, x.reshape(3, 11).argmax(axis=1))
