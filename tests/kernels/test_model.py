# SPDX-License-Identifier: Apache-2.0
"""Kernels on the model device, checks on, at awkward sizes: right, and without a finding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000, 20011)


@asc.kernel
def fused_chain(x: asc.float32[N], y: asc.float32[N], o: asc.float32[N]):
    for i in asc.parallel_for(N):
        o[i] = max(x[i] * y[i] + 2.5 * x[i], 0.0) * (x[i] - y[i])


@asc.kernel
def where_mask(x: asc.float32[N], y: asc.float32[N], o: asc.float32[N], t: float):
    for i in asc.parallel_for(N):
        o[i] = asc.exp(x[i]) if x[i] > t else y[i]


@asc.kernel
def half_axpy(x: asc.float16[N], y: asc.float16[N]):
    return x * 2 + y


@asc.kernel
def guarded(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0.0:
            y[i] = asc.sqrt(x[i])


@asc.kernel
def divided(x: asc.float32[N], y: asc.float32[N], s: asc.float32):
    return x / y + s / x - y / 4


@asc.kernel
def python_max(x: asc.float32[N], y: asc.float32[N], o: asc.float32[N]):
    for i in asc.parallel_for(N):
        o[i] = max(x[i], y[i])


@asc.kernel
def to_int(x: asc.float32[N]):
    return x.astype(asc.int32)


@asc.kernel
def cast_half(x: asc.float16[N], y: asc.float32[N]):
    return x.astype(asc.float32) + y, y.astype(asc.float16)


@asc.kernel
def integers(x: asc.int32[N], y: asc.int32[N]):
    return asc.maximum(x + y, x * y) - y


@asc.kernel
def ordered(x: asc.int32[N], y: asc.int32[N]):
    return asc.where(x < y, x, y + 1)


@asc.kernel
def copied(x: asc.int16[N]):
    return x.copy()


@asc.kernel
def rounded(x: asc.float32[N]):
    return asc.floor(x) + asc.ceil(x)


@asc.kernel
def both_hold(x: asc.float32[N], y: asc.float32[N]):
    return (x < y) & ~(x > 0.5)


def f32(rng: np.random.Generator, n: int) -> Any:
    return rng.standard_normal(n).astype(np.float32)


def i32(rng: np.random.Generator, n: int) -> Any:
    return rng.integers(-50, 50, n).astype(np.int32)


def f16(rng: np.random.Generator, n: int) -> Any:
    return rng.standard_normal(n).astype(np.float16)


Maker = Callable[[np.random.Generator, int], Any]

CASES: list[tuple[Any, tuple[Maker, ...], tuple[Any, ...]]] = [
    (fused_chain, (f32, f32, f32), ()),
    (where_mask, (f32, f32, f32), (0.25,)),
    (half_axpy, (f16, f16), ()),
    (guarded, (f32, f32), ()),
    (divided, (f32, f32), (1.5,)),
    (python_max, (f32, f32, f32), ()),
    (to_int, (f32,), ()),
    (cast_half, (f16, f32), ()),
    (integers, (i32, i32), ()),
    (ordered, (i32, i32), ()),
    (copied, (lambda rng, n: i32(rng, n).astype(np.int16),), ()),
    (rounded, (f32,), ()),
    (both_hold, (f32, f32), ()),
]


def both(kernel: Any, arrays: list[Any], scalars: tuple[Any, ...] = ()) -> tuple[list[Any], list[Any]]:
    """All arrays after a run on the model, and after one on the cpu; results come last."""
    outcomes: list[list[Any]] = []
    for device in ("model", "cpu"):
        copies = [array.copy() for array in arrays]
        with asc.device(device):
            result = kernel(*copies, *scalars)
        results = [] if result is None else list(result) if isinstance(result, tuple) else [result]
        outcomes.append([*copies, *results])
    return outcomes[0], outcomes[1]


def agree(kernel: Any, arrays: list[Any], scalars: tuple[Any, ...] = (), bound: float = 3e-7) -> None:
    """The model gives what the cpu gives: to a few units in the last place, or within `bound` where sums reorder."""
    on_model, on_cpu = both(kernel, arrays, scalars)
    for got, expected in zip(on_model, on_cpu, strict=True):
        assert got.dtype == expected.dtype
        if got.dtype.kind == "f":
            allowed = bound if got.dtype == np.float32 else 1e-3
            np.testing.assert_allclose(got, expected, rtol=allowed, atol=allowed)
        else:
            np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kernel, makers, scalars", CASES, ids=[case[0].__name__ for case in CASES])
def test_elementwise(kernel: Any, makers: tuple[Maker, ...], scalars: tuple[Any, ...]) -> None:
    rng = np.random.default_rng(0)
    for n in SIZES:
        agree(kernel, [make(rng, n) for make in makers], scalars)


def test_nan_follows_python() -> None:
    x = np.array([np.nan, 1.0, np.nan, 2.0, -1.0] * 5, np.float32)
    y = np.array([1.0, np.nan, np.nan, 1.0, 3.0] * 5, np.float32)
    agree(python_max, [x, y, np.empty_like(x)])


@asc.kernel
def softmax(x: asc.float32[R, C]):
    return asc.softmax(x)


@asc.kernel
def layer_norm(x: asc.float32[R, C], g: asc.float32[C], b: asc.float32[C]):
    return asc.layer_norm(x, g, b)


@asc.kernel
def row_sum(x: asc.float32[R, C]):
    return x.sum(axis=1)


@asc.kernel
def bias_relu(x: asc.float32[R, C], b: asc.float32[C]):
    return asc.relu(x + b)


@asc.kernel
def stencil(x: asc.float32[R, C], o: asc.float32[R, C]):
    for i, j in asc.parallel_for_grid(R - 2, C - 2):
        o[i + 1, j + 1] = 0.2 * (
            x[i + 1, j + 1] + x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]
        )


SHAPES = (
    (1, 1),
    (3, 7),
    (5, 8),
    (2, 9),
    (9, 31),
    (1, 33),
    (7, 63),
    (300, 65),
    (3, 255),
    (50, 257),
    (4, 1000),
    (0, 5),
)


@asc.kernel
def softmax_loops(x: asc.float32[R, C], o: asc.float32[R, C]):
    for r in asc.parallel_for(R):
        top = x[r, 0]
        for c in range(C):
            top = max(top, x[r, c])
        total = 0.0
        for c in range(C):
            total += asc.exp(x[r, c] - top)
        for c in range(C):
            o[r, c] = asc.exp(x[r, c] - top) / total


def test_rows_written_as_loops() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in SHAPES:
        x = rng.standard_normal((rows, columns)).astype(np.float32)
        agree(softmax_loops, [x, np.zeros_like(x)], bound=2e-5)
    agree(
        softmax_loops, [np.array([[np.nan, 1, 2], [1, np.nan, 3]], np.float32), np.zeros((2, 3), np.float32)]
    )


@pytest.mark.parametrize("kernel", [softmax, layer_norm, row_sum, bias_relu], ids=lambda each: each.__name__)
def test_rows(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    for rows, columns in SHAPES:
        x = rng.standard_normal((rows, columns)).astype(np.float32)
        vectors = [f32(rng, columns) for _ in range(len(kernel.signature.parameters) - 1)]
        agree(kernel, [x, *vectors], bound=2e-5)


def test_stencil() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in SHAPES:
        if rows >= 2 and columns >= 2:
            x = rng.standard_normal((rows, columns)).astype(np.float32)
            agree(stencil, [x, np.zeros_like(x)])


def test_rows_longer_than_a_tile() -> None:
    rng = np.random.default_rng(0)
    for kernel in (row_sum, softmax):
        agree(kernel, [rng.standard_normal((2, 2100)).astype(np.float32)], bound=2e-4)


@asc.kernel
def nearest(x: asc.float32[N], o: asc.float32[N]):
    for i in range(1, N):
        o[i] = asc.rint(x[i] * 4.0) + asc.floor(o[i - 1])


def test_rounding_on_the_scalar_unit() -> None:
    rng = np.random.default_rng(0)
    agree(nearest, [f32(rng, 100), np.zeros(100, np.float32)])


@asc.kernel
def total(x: asc.float32[N]):
    return x.sum()


@asc.kernel
def norm(x: asc.float32[N]):
    return x / x.max()


@asc.kernel
def colsum(x: asc.float32[R, C]):
    return x.sum(axis=0)


@asc.kernel
def prefix(x: asc.float32[N], y: asc.float32[N]):
    s = 0.0
    for i in range(N):
        s += x[i]
        y[i] = s


@asc.kernel
def collatz(x: asc.int32[N], y: asc.int32[N]):
    for i in asc.parallel_for(N):
        n = x[i]
        c = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            c += 1
        y[i] = c


@asc.kernel
def seqexp(x: asc.float32[N], y: asc.float32[N]):
    for i in range(1, N):
        y[i] = asc.exp(y[i - 1]) * x[i] * 0.1


@asc.kernel
def halfrec(x: asc.float16[N], y: asc.float16[N]):
    for i in range(1, N):
        y[i] = y[i - 1] * 0.5 + x[i]


@pytest.mark.parametrize(
    "kernel", [total, norm, prefix, collatz, seqexp, halfrec], ids=lambda each: each.__name__
)
def test_scalar_unit(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    made = {"collatz": lambda n: rng.integers(1, 50, n).astype(np.int32), "halfrec": lambda n: f16(rng, n)}
    for n in SIZES[1:-1]:
        make = made.get(kernel.__name__, lambda n: f32(rng, n))
        agree(kernel, [make(n) for _ in kernel.signature.parameters], bound=2e-5)


@asc.kernel
def column_squares(x: asc.float32[R, C]):
    return (x * x + asc.exp(x)).sum(axis=0)


@asc.kernel
def column_max(x: asc.float32[R, C]):
    return x.max(axis=0)


@pytest.mark.parametrize("kernel", [colsum, column_squares, column_max], ids=lambda each: each.__name__)
def test_columns(kernel: Any) -> None:
    rng = np.random.default_rng(0)
    for rows, columns in (*SHAPES[:-1], (3, 100_000)):
        agree(kernel, [rng.standard_normal((rows, columns)).astype(np.float32)], bound=2e-5)


def test_remarks_name_the_line_and_the_reason() -> None:
    with asc.device("model"):
        collatz(np.zeros(3, np.int32), np.zeros(3, np.int32))
    (remark,) = (each for each in collatz.remarks if "runs on the scalar unit" in each.message)
    assert remark.loc.line == collatz.py_func.__code__.co_firstlineno + 5
    assert remark.message.endswith("a loop that carries integers of 64 bits without a bound") and remark.hint


@asc.kernel
def gather(x: asc.float32[M], idx: asc.int32[N]):
    return x[idx]


@asc.kernel
def histogram(x: asc.int32[N], bins: asc.int32[B]):
    for i in range(N):
        bins[x[i]] += 1


def test_checks_of_data_raise_what_python_raises() -> None:
    table, good, bad = (
        np.arange(10, dtype=np.float32),
        np.array([1, 3, -1], np.int32),
        np.array([1, 30], np.int32),
    )
    with asc.device("model"):
        np.testing.assert_array_equal(gather(table, good), table[good])
        with pytest.raises(IndexError, match="out of range for an axis of size 10"):
            gather(table, bad)
        bins = np.zeros(5, np.int32)
        histogram(np.array([1, 1, -1], np.int32), bins)
        assert bins.tolist() == [0, 2, 0, 0, 1]
        with pytest.raises(IndexError, match="index 7 is out of range"):
            histogram(np.array([7], np.int32), bins)


@asc.kernel
def bytes_wrap(x: asc.tensor, y: asc.tensor):
    return x * y + x - y


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_integers_wrap(dtype: str) -> None:
    rng = np.random.default_rng(0)
    limits = np.iinfo(dtype)
    for n in SIZES:
        agree(
            bytes_wrap,
            [rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True) for _ in range(2)],
        )


def test_costs_are_predicted_and_grow() -> None:
    x, y, o = (np.ones(100_000, np.float32) for _ in range(3))
    small = fused_chain.cost(x[:1000], y[:1000], o[:1000])
    assert 0 < small < fused_chain.cost(x, y, o)
    assert (o == 1).all()


@asc.kernel
def result_used_later(x: asc.float32[N], y: asc.float32[N], z: asc.float32[N], w: asc.float32[N]):
    total = 0.0
    for i in range(1, N):
        x[i] = x[i] + x[i - 1] * 0.5
        total = total * 0.5 + x[i]
    for i in asc.parallel_for(N):
        y[i] = z[i] * 2.0
    for i in range(1, N):
        w[i] = w[i] * total + w[i - 1] * w[i - 1]
    for i in asc.parallel_for(N):
        z[i] = y[i] - total


@asc.kernel
def result_used_in_steps(x: asc.float32[N], y: asc.float32[N], steps: int):
    for t in range(steps):
        total = 0.0
        for i in range(1, N):
            x[i] = x[i] + x[i - 1] * 0.25
            total = total * 0.5 + x[i]
        for i in asc.parallel_for(N):
            y[i] = y[i] * 0.5 + total


@pytest.mark.parametrize("n", [1, 2, 33])
def test_work_whose_result_another_phase_uses_runs_once(n: int) -> None:
    """Its effects would happen again where a later phase computed the result for itself."""
    given = [np.linspace(0.5, 1.5, n).astype(np.float32) * (k + 1) / 8 for k in range(4)]
    on_cpu, on_model = ([each.copy() for each in given] for _ in range(2))
    for device, arrays in (("cpu", on_cpu), ("model", on_model)):
        with asc.device(device):
            result_used_later(*arrays)
            result_used_in_steps(arrays[0], arrays[1], 3)
    for left, right in zip(on_cpu, on_model, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-6)


@asc.kernel
def place_from_a_loop(x: asc.float32[N], o: asc.float32[N]):
    place = 0
    for i in range(N):
        place = (place * 3 + int(x[i])) % N
    o[place + 1] = 1.0


def test_a_check_of_what_a_loop_results_in_is_made_by_the_cores() -> None:
    """No host can know it: the loop reads memory."""
    inside, outside = np.array([1, 2, 3, 0], np.float32), np.array([0, 0, 0, 3], np.float32)
    for device in ("cpu", "model"):
        with asc.device(device):
            o = np.zeros(4, np.float32)
            place_from_a_loop(inside, o)
            np.testing.assert_array_equal(o, [0, 0, 0, 1])
            with pytest.raises(IndexError, match="4"):
                place_from_a_loop(outside, o)
