# SPDX-License-Identifier: Apache-2.0
"""Sorting, padding, windows, random numbers and mixed indices, against NumPy, on the cpu and on the model.

A function of pyasc in plain Python is NumPy's own code, apart from what kernels become.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc

CASES: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = []
RANDOM = np.random.default_rng(0)
SQUARE = RANDOM.standard_normal((4, 6)).astype(np.float32)
TIES = RANDOM.integers(0, 4, (5, 7)).astype(np.float32)
TIES[0, 3] = TIES[0, 5] = np.nan
TIES[1, 1], TIES[2, 2] = -0.0, -np.inf
INTEGERS = RANDOM.integers(-9, 9, 8).astype(np.int32)
IMAGES = RANDOM.standard_normal((2, 3, 7, 8)).astype(np.float32)
WEIGHTS = RANDOM.standard_normal((5, 3, 3, 3)).astype(np.float32)
CUBE = RANDOM.standard_normal((3, 4, 5)).astype(np.float32)
LINE, GRID = np.array([2, 0, -1, 1]), np.array([[0, 2], [1, 1]])


def on(*arguments: Any, close: float = 0.0) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function with its arguments and how far results may be from NumPy's."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments, close))
        return function

    return register


@on(TIES)
def sorts(x: asc.float32[R, C]):
    return asc.sort(x), asc.sort(x, axis=0), asc.sort(x, axis=None), asc.argsort(x), asc.argsort(x, axis=0)


@on(TIES)
def largest(x: asc.float32[R, C]):
    return *asc.topk(x, 3), *asc.topk(x, 2, axis=0)


@on(INTEGERS, INTEGERS.astype(np.uint8), INTEGERS > 0, INTEGERS.astype(np.float16))
def sorts_of_other_types(a: asc.int32[R], b: asc.uint8[R], c: asc.bool_[R], d: asc.float16[R]):
    return asc.sort(a), asc.sort(b), asc.sort(c), asc.argsort(d), asc.topk(c, 3)[1]


@on(np.zeros((3, 0), np.float32), np.zeros((2, 1), np.float32))
def sorts_of_little(a: asc.float32[R, C], b: asc.float32[P, Q]):
    return asc.sort(a), asc.argsort(b), asc.sort(b, axis=0)


@on(RANDOM.standard_normal(1000).astype(np.float32))
def sorts_of_much(a: asc.float32[R]):
    return asc.sort(a), asc.argsort(a)


@on(SQUARE)
def pads(x: asc.float32[R, C]):
    return asc.pad(x, 1), asc.pad(x, ((0, 1), (2, 3)), constant_values=7), asc.pad(x, (1, 2), mode="edge")


@on(SQUARE, SQUARE[:1], SQUARE[:, :2].astype(np.float16))
def pads_by_elements_of_the_axis(x: asc.float32[R, C], y: asc.float32[P, Q], z: asc.float16[R, 2]):
    reflected = asc.pad(x, 2, mode="reflect"), asc.pad(y, ((3, 1), (8, 15)), mode="reflect")
    doubled = asc.pad(x, ((1, 2), (0, 3)), mode="symmetric"), asc.pad(z, 5, mode="symmetric")
    return *reflected, *doubled, asc.pad(x, (7, 1), mode="wrap"), asc.pad(y, 2, mode="wrap")


@on(SQUARE, np.float32(0.5), close=1e-6)
def ranges_of_floats(x: asc.float32[R, C], step: asc.float32):
    known = (
        asc.arange(0.0, 1.0, 0.1),
        asc.arange(5.0),
        asc.arange(1, -2, -0.25),
        asc.arange(0, 2, 0.5, dtype=asc.float16),
    )
    return *known, asc.arange(x[0, 0], x[0, 0] + 3, step).sum(), asc.arange(1.0, 0.0).sum()


@on(INTEGERS > 0, INTEGERS, SQUARE)
def rectified(a: asc.bool_[R], b: asc.int32[R], c: asc.float32[P, Q]):
    return asc.relu(a), asc.relu(b), asc.relu(c)


@on(INTEGERS)
def grid_of_one_size(x: asc.int32[R]):
    y = asc.zeros_like(x)
    for i in asc.parallel_for_grid(x.shape[0]):
        y[i] = x[i] + i
    for (i,) in asc.parallel_for_grid(x.shape):
        y[i] += 2 * i
    return y


@on(IMAGES, WEIGHTS, close=1e-5)
def convolutions(x: asc.float32[2, 3, 7, 8], w: asc.float32[5, 3, 3, 3]):
    strided = asc.conv2d(x, w, stride=(2, 1), padding=(1, 0), dilation=(1, 2))
    return asc.conv2d(x, w), asc.conv2d(x, w, stride=2, padding=1), strided


@on(IMAGES.astype(np.float16), WEIGHTS.astype(np.float16), np.ones(5, np.float16), close=1e-2)
def convolution_with_bias(x: asc.float16[2, 3, 7, 8], w: asc.float16[5, 3, 3, 3], b: asc.float16[5]):
    return asc.conv2d(x, w, b)


@on(IMAGES, RANDOM.standard_normal((6, 1, 3, 3)).astype(np.float32), close=1e-5)
def convolution_by_groups(x: asc.float32[2, 3, 7, 8], w: asc.float32[6, 1, 3, 3]):
    return asc.conv2d(x, w, groups=3)


@on((IMAGES * 5).astype(np.int8), (WEIGHTS * 5).astype(np.int8))
def convolution_of_integers(x: asc.int8[2, 3, 7, 8], w: asc.int8[5, 3, 3, 3]):
    return asc.conv2d(x, w)


@on(IMAGES, close=1e-6)
def pools(x: asc.float32[2, 3, 7, 8]):
    return (
        asc.max_pool2d(x, 2),
        asc.avg_pool2d(x, (2, 3)),
        asc.max_pool2d(x, 3, 1, 1),
        asc.avg_pool2d(x, 3, 2, 1),
    )


@on((IMAGES[0] * 5).astype(np.int32), close=1e-6)
def pools_of_integers(x: asc.int32[3, 7, 8]):
    return asc.max_pool2d(x, 3, 2, 1), asc.avg_pool2d(x, 3, 2, 1)


@on(7, close=1e-5)
def random_numbers(seed: int):
    first, second, third = asc.random.split(asc.random.key(seed), 3)
    a = asc.random.uniform(first, (5, 3)), asc.random.uniform(second, (4,), -2.0, 3.0)
    return *a, asc.random.normal(third, (7,), 1.0, 2.0)


@on(-1)
def random_integers(seed: int):
    key = asc.random.key(seed)
    return (
        asc.random.bits(key, (5,)),
        asc.random.randint(key, (100,), -3, 4),
        asc.random.randint(key, (3,), 0, 2**32),
    )


@on(CUBE, LINE, GRID)
def gathers(x: asc.float32[3, 4, 5], j: asc.int64[4], k: asc.int64[2, 2]):
    return (
        x[:, j],
        x[..., j],
        x[0, :, j],
        x[:, 1, k],
        x[:, None, k],
        x[k, :, k],
        x[1:, k, ::2],
        x[:, j, j],
        x[k[0], None],
    )


@on(CUBE, GRID, np.arange(8, dtype=np.float32).reshape(4, 2))
def scatters(x: asc.float32[3, 4, 5], k: asc.int64[2, 2], y: asc.float32[4, 2]):
    x[:, k[0]] = 7.0
    x[k[1]] = x[k[0]] * 2
    x[0, :, k[0]] = y.T + 1
    x[..., k] = 3
    x[1:, k[0], ::2] = y[:2, :1, None]


@on(SQUARE)
def masks_of_rows(x: asc.float32[R, C]):
    x[x[:, 0] > 0] = 5.0
    x[x > 1] = 0


KERNELS = [(asc.kernel(function), function, arguments, close) for function, arguments, close in CASES]
NAMES = [function.__name__ for function, _, _ in CASES]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    asc.compile([kernel for kernel, *_ in KERNELS])


def check(kernel: asc.Kernel, function: Any, arguments: tuple[Any, ...], close: float) -> None:
    """Results and changed arrays are NumPy's."""
    mine, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    found, wanted = kernel(*mine), function(*theirs)
    results = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for a, b in [*(results if wanted is not None else ()), *zip(mine, theirs, strict=True)]:
        b = np.asarray(b)
        assert np.shape(a) == b.shape and np.asarray(a).dtype == b.dtype, (a, b)
        np.testing.assert_allclose(a, b, rtol=close, atol=close)


@pytest.mark.parametrize("case", KERNELS, ids=NAMES)
def test_on_cpu(case: Any) -> None:
    check(*case)


@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("name", ["largest", "convolution_by_groups", "random_integers", "scatters"])
def test_on_the_model(name: str) -> None:
    with asc.device("model"):
        check(*KERNELS[NAMES.index(name)])


@pytest.mark.fuzz
@pytest.mark.usefixtures("model_library")
@pytest.mark.parametrize("case", KERNELS, ids=NAMES)
def test_all_on_the_model(case: Any) -> None:
    with asc.device("model"):
        check(*case)


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ],
)
def test_threefry_has_its_published_answers(key: Any, counter: Any, expected: Any) -> None:
    """The known answers of Threefry-2x32 with 20 rounds."""
    words = asc.random._hashed(tuple(map(np.uint32, key)), *map(np.uint32, counter))
    assert tuple(map(int, words)) == expected


def test_random_numbers_are_spread_evenly() -> None:
    @asc.kernel
    def many(seed: int):
        first, second = asc.random.split(asc.random.key(seed))
        shape = (20000,)
        return (
            asc.random.uniform(first, shape),
            asc.random.normal(second, shape),
            asc.random.randint(first, shape, 0, 10),
        )

    uniform, normal, integers = many(3)
    assert 0 <= uniform.min() and uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.01 and abs(uniform.var() - 1 / 12) < 0.005
    assert abs(normal.mean()) < 0.03 and abs(normal.std() - 1) < 0.03
    assert abs(np.bincount(integers, minlength=10) - 2000).max() < 200
    assert not np.array_equal(uniform, many(4)[0])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("asc.topk(x, 9)", "more elements than the axis has"),
        ("asc.pad(x, ((1, 2), (3, 4)))", "do not fit the array"),
        ("asc.pad(x, 1, mode='mean')", "has the modes"),
        ("asc.pad(x, -1)", "cannot be negative"),
        ("asc.max_pool2d(x, 2)", "at least 2 dimensions"),
        ("asc.conv2d(x, x)", "4 dimensions"),
        ("asc.max_pool2d(x.reshape(2, 4), 3)", "larger than the padded array"),
        ("asc.max_pool2d(x.reshape(2, 4), 0)", "at least 1"),
        ("asc.sort(x, axis=1)", "axis 1"),
    ],
)
def test_mistakes(line: str, message: str) -> None:
    kernel = asc.kernel_from_source(
        f"import pyasc as asc\n@asc.kernel\ndef k(x: asc.float32[8]):\n    return {line}\n"
    )
    with pytest.raises(asc.CompileError, match=message) as caught:
        kernel.lower()
    (found,) = caught.value.diagnostics
    assert (found.loc.line, found.loc.file) == (4, kernel.source_code.file)
    assert found.hint


def test_errors_at_run_time() -> None:
    @asc.kernel
    def several(x: asc.float32[R], k: int):
        return asc.topk(x, k)[0][0]

    @asc.kernel
    def gathered(x: asc.float32[P, Q], j: asc.int64[R]):
        return x[:, j]

    with pytest.raises(ValueError, match="9 of 8"):
        several(INTEGERS.astype(np.float32), 9)
    with pytest.raises(IndexError):
        gathered(SQUARE, np.array([6]))


def test_what_is_composed_stands_at_the_call() -> None:
    """No message and no IR shows the inside of pyasc."""
    source = asc.kernel_from_source(
        "import pyasc as asc\n@asc.kernel\ndef k(x: asc.float32[8]):\n    return asc.sort(x)\n"
    )
    result = source.specialise(source.types_of()).result
    places = {op.loc.file for op in result.module.functions[0].walk() if op.loc.known}
    assert places == {source.source_code.file}
    assert isinstance(asc.random, types.ModuleType)
