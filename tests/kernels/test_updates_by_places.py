# SPDX-License-Identifier: Apache-2.0
"""Updates of elements that integer arrays and masks name, and slices that move with a counter, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc

N, M = asc.dims("N M")

PLACES = np.array([0, 2, 2, 4, -1])
MASK = np.array([True, False, True, False])
FLOATS = np.random.default_rng(2).standard_normal((4, 7)).astype(np.float32)
WHOLE = np.arange(7, dtype=np.int32)


def less_one(x, places):
    x[places] -= 1


def plus(x, places, term):
    x[places] += term


def halved_behind_the_first(x, places):
    x[1:][places] //= 2


def leaky(x):
    x[x < 0] *= 0.25


def rows_and_a_column(x, mask):
    x[mask] -= 8.0
    x[:, 1][mask] *= 2.0


def one_a_row(x, columns):
    x[asc.arange(x.shape[0]), columns] *= 3


def windows(x, out):
    for i in range(x.shape[0] - 2):
        out[i, :] = x[i : i + 3, 1] * x[i : i + 1, 0]
        out[i, :] += x[2 : 3 + i, 2][0]


def every_second(x, out):
    for i in range(2):
        out[i, :] = x[i, i : i + 6 : 2]


def beyond_the_end(x, out):
    for i in range(x.shape[0]):
        out[0, 0] += x[i : i + 3, 0].sum() * x[i : i + 5].shape[0]


Case = tuple[Callable[..., None], tuple[Any, ...]]
CASES: list[Case] = [
    (less_one, (FLOATS[0], PLACES)),
    (less_one, (WHOLE, PLACES)),
    (plus, (FLOATS[0], PLACES, FLOATS[1, :5])),
    (plus, (FLOATS.T, PLACES, FLOATS.T[:5])),
    (plus, (FLOATS.T, PLACES, FLOATS[:, 0])),
    (plus, (FLOATS, MASK, 2)),
    (halved_behind_the_first, (WHOLE, np.array([0, 2, 2]))),
    (leaky, (FLOATS,)),
    (rows_and_a_column, (FLOATS, MASK)),
    (one_a_row, (FLOATS, np.array([0, 6, 6, 1], np.int32))),
    (windows, (FLOATS, np.zeros((2, 3), np.float32))),
    (every_second, (FLOATS, np.zeros((2, 3), np.float32))),
    (beyond_the_end, (FLOATS, np.zeros((1, 1), np.float32))),
]
KERNELS = {function: asc.kernel(function) for function, _ in CASES}


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([(KERNELS[function], *arguments) for function, arguments in CASES])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
@pytest.mark.parametrize("device", ["cpu", "model"])
@pytest.mark.usefixtures("model_library")
def test_as_numpy(device: str, case: Case) -> None:
    function, arguments = case
    found, expected = ([np.copy(x) if isinstance(x, np.ndarray) else x for x in arguments] for _ in range(2))
    with asc.device(device):
        KERNELS[function](*found)
    (_one_a_row if function is one_a_row else function)(*expected)
    for got, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-6)


def _one_a_row(x: np.ndarray, columns: np.ndarray) -> None:
    x[np.arange(len(x)), columns] *= 3


def test_what_cannot_be_updated_so() -> None:
    with pytest.raises(asc.UnsupportedError, match="a mask selects"):
        asc.kernel(plus)(FLOATS.copy(), MASK, FLOATS[:2])
    with pytest.raises(asc.KernelTypeError, match="the result is float32"):
        asc.kernel(plus)(WHOLE.copy(), PLACES, 0.5)
    with pytest.raises(IndexError):
        asc.kernel(less_one)(FLOATS[0].copy(), np.array([9]))
