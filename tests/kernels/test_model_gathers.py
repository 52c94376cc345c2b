# SPDX-License-Identifier: Apache-2.0
"""Elements at places that other arrays say, on the vector unit of the model: right, and checked as on the cpu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from tests.compilers import needs_compiler
from tests.kernels.test_model_strided import gives, numbers

pytestmark = [
    needs_compiler,
    pytest.mark.usefixtures("model_library"),
]

SIZES = (0, 1, 7, 8, 9, 31, 33, 63, 65, 255, 257, 1000, 5001)


def slow_lines(kernel: Any, arrays: Any = ()) -> list[str]:
    """What is left to the scalar unit."""
    remarks = kernel.specialise(kernel.types_of(arrays)).lowered("ascend").remarks
    slow = [each.message for each in remarks if "scalar unit" in each.message]
    return [message for message in slow if "mem.store outside of a parallel loop" not in message]


def places(n: int, extent: int, dtype: Any = np.int32) -> Any:
    """Indices into an axis, from its end too."""
    return np.random.default_rng(n).integers(-extent, extent, n).astype(dtype)


def error_of(device: str, call: Callable[[], Any]) -> str:
    """The message of an index that is out of range, without the core that found it."""
    with asc.device(device), pytest.raises(IndexError) as caught:
        call()
    return str(caught.value).replace(" on core 0", "")


@asc.kernel
def gathered(t: asc.tensor, idx: asc.tensor, y: asc.tensor):
    for i in asc.parallel_for(idx.shape[0]):
        y[i] = t[idx[i]] + t[idx[i]]


@asc.kernel
def taken(t: asc.float32[V], idx: asc.int64[N]):
    return asc.take(t, idx) * 2.0


TABLES_ALONE = ["elements of a table that do not fit on chip run on the scalar unit"]


def test_elements_of_a_table() -> None:
    for dtype in (np.float32, np.float16, np.int32, np.int16):
        t, kinds = numbers(dtype, 300), (np.int32, np.int64) if dtype is np.float32 else (np.int32,)
        for kind in kinds:
            for n in SIZES:
                idx = places(n, 300, kind)
                gives(gathered, [t, idx, np.zeros(n, dtype)], [t[idx] + t[idx]])
        assert slow_lines(gathered, [t, idx, t]) == TABLES_ALONE


def test_tables_of_any_size() -> None:
    idx = places(1000, 1)
    for extent in (1, 2, 29001, 29057, 50000):
        t = numbers(np.float32, extent)
        idx = places(1000, extent, np.int64)
        with asc.device("model"):
            np.testing.assert_array_equal(taken(t, idx), t[idx] * 2)
    assert slow_lines(taken) == TABLES_ALONE


@asc.kernel
def of_two_tables(t: asc.float32[V], u: asc.float32[W], idx: asc.int32[N], y: asc.float32[N]):
    y[:] = t[idx] + asc.take(u, idx) * asc.exp(t[idx])


@pytest.mark.parametrize("extents", [(10, 10), (10, 60000), (60000, 10), (60000, 60000)])
def test_two_tables_of_any_size(extents: tuple[int, int]) -> None:
    t, u = (numbers(np.float32, extent) / 8 for extent in extents)
    idx = places(100, min(extents))
    y = np.zeros(100, np.float32)
    with asc.device("model"):
        of_two_tables(t, u, idx, y)
    np.testing.assert_allclose(y, t[idx] + u[idx] * np.exp(t[idx]), rtol=1e-5)


@asc.kernel
def by_turns(t: asc.float32[V, W], idx: asc.int32[N], at: asc.int32[N], y: asc.float32[N]):
    for i in range(N):
        y[i] = t[-1, at[idx[i - 1]]]


def test_a_large_table_from_which_nothing_is_taken() -> None:
    t, none = numbers(np.float32, 65 * 255).reshape(65, 255), np.zeros(0, np.int32)
    with asc.device("model"):
        by_turns(t, none, none, np.zeros(0, np.float32))


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_an_index_out_of_range(kind: Any) -> None:
    t, y = numbers(np.float32, 40), np.zeros(300, np.float32)
    far = np.iinfo(kind)
    for bad in (40, -41, far.max, far.min, (1 << 32 if kind is np.int64 else 41)):
        for at in (0, 299):
            idx = places(300, 40, kind)
            idx[at], idx[150] = bad, 77

            def loop(idx: Any = idx) -> None:
                gathered(t, idx, y)

            def whole(idx: Any = idx) -> None:
                taken(t, idx.astype(np.int64))

            for call in (loop, whole):
                assert error_of("model", call) == error_of("cpu", call)


@asc.kernel
def beside_a_loop(
    t: asc.float32[V], first: asc.int32[N], idx: asc.int32[N], w: asc.float32[M], y: asc.float32[N]
):
    for i in range(N):
        y[i] = 0.0
        for j in range(M):
            y[i] += t[first[i]] * w[j]
        y[i] += t[idx[i]]


def test_an_index_beside_a_loop_without_iterations() -> None:
    """A loop inside that never runs excuses its own checks alone."""
    t, good = places(8, 4).astype(np.float32), places(5, 8)
    wrong = good.copy()
    wrong[3] = 8
    for first, idx, m, fails in ((good, wrong, 0, True), (wrong, good, 0, False), (wrong, good, 2, True)):
        for device in ("cpu", "model"):
            arrays = (t, first, idx, np.ones(m, np.float32), np.zeros(5, np.float32))
            if fails:
                text = error_of(device, lambda arrays=arrays: beside_a_loop(*arrays))
                assert "index 8 is out of range" in text
                continue
            with asc.device(device):
                beside_a_loop(*arrays)
            assert np.array_equal(arrays[-1], t[good])


@asc.kernel
def places_by_turns(y: asc.int32[N, M], at: asc.int32[N], rounds: asc.int32[K]):
    for k in range(K):
        for i in range(N):
            y[i, at[k % N]] += rounds[k]


def test_places_of_an_empty_array_are_not_asked_about() -> None:
    for n, m in ((0, 0), (0, 3), (4, 3)):
        results = []
        for device in ("cpu", "model"):
            y, at = np.zeros((n, m), np.int32), np.arange(n, dtype=np.int32) % max(m, 1)
            with asc.device(device):
                places_by_turns(y, at, np.arange(5, dtype=np.int32))
            results.append(y)
        assert np.array_equal(*results)


@asc.kernel(unchecked=True)
def two_tables(a: asc.float32[V], b: asc.float32[64], i: asc.int32[N], j: asc.uint8[N], y: asc.float32[N]):
    for k in range(N):
        y[k] = a[i[k]] * b[j[k] + 3]


@asc.kernel(unchecked=True)
def of_a_matrix(m: asc.float32[R, 5], i: asc.int32[N], j: asc.int32[N], y: asc.float32[N]):
    for k in asc.parallel_for(N):
        if i[k] > 0:
            y[k] = m[i[k], j[k]] - y[k]


def test_unchecked() -> None:
    for n in SIZES:
        a, b, i, j = numbers(np.float32, 70), numbers(np.float32, 64), places(n, 70), places(n, 60)
        j = np.abs(j).astype(np.uint8)
        gives(two_tables, [a, b, i, j, np.zeros(n, np.float32)], [a[i] * b[j + 3]])
        m, row, column = numbers(np.float32, 9, 5), places(n, 9), places(n, 5)
        y = numbers(np.float32, n)
        gives(of_a_matrix, [m, row, column, y], [np.where(row > 0, m[row, column] - y, y)])
    assert slow_lines(two_tables) == slow_lines(of_a_matrix) == TABLES_ALONE


@asc.kernel
def any_large(x: asc.float32[N]):
    return asc.any(x > 3.0), asc.all(x < 3.0)


def test_bools_are_reduced_as_numbers() -> None:
    assert not slow_lines(any_large)
    for n in SIZES:
        x = numbers(np.float32, n)
        for value in (x, np.where(np.arange(n) == n - 1, np.float32(4), x).astype(np.float32)):
            with asc.device("model"):
                assert tuple(map(bool, any_large(value))) == (
                    bool((value > 3).any()),
                    bool((value < 3).all()),
                )


@asc.kernel
def embedded(table: asc.float32[V, D], idx: asc.int32[N], y: asc.float32[N, D]):
    for i in asc.parallel_for(N):
        for j in range(D):
            y[i, j] = table[idx[i], j]


@asc.kernel
def embedded_halves(table: asc.float16[V, D], idx: asc.int64[N], position: asc.float16[N, D]):
    return table[idx] * 2.0 + position


@asc.kernel
def rows_by_slices(table: asc.int32[V, D], idx: asc.int32[N], y: asc.int32[N, D]):
    for i in asc.parallel_for(N):
        y[i, :] = table[idx[i], :]


@asc.kernel
def normalised_rows(table: asc.float32[V, D], idx: asc.int32[N]):
    return asc.softmax(asc.take(table, idx, axis=0))


@asc.kernel(unchecked=True)
def edges(
    x: asc.float32[V, D], source: asc.int32[N], target: asc.int32[N], w: asc.float32[N], y: asc.float32[N, D]
):
    for e in asc.parallel_for(N):
        for j in range(D):
            y[e, j] = (x[source[e], j] - x[target[e], j]) * w[e]


@asc.kernel(unchecked=True)
def pages(cache: asc.float16[V, 4, D], block: asc.int32[B, K], y: asc.float16[B, N, D]):
    for b in asc.parallel_for(B):
        for i in asc.parallel_for(N):
            for j in range(D):
                y[b, i, j] = cache[block[b, i // 4], i % 4, j]


ROWS = (
    (1, 1, 1),
    (3, 0, 8),
    (3, 7, 9),
    (40, 31, 33),
    (7, 257, 65),
    (9, 300, 8),
    (5, 40, 1000),
    (2, 3, 30011),
)


def test_rows_of_a_table() -> None:
    for v, n, d in ROWS:
        table, idx = numbers(np.float32, v, d), places(n, v)
        gives(embedded, [table, idx, np.zeros((n, d), np.float32)], [table[idx]])
        whole = table.astype(np.int32)
        gives(rows_by_slices, [whole, idx, np.zeros((n, d), np.int32)], [whole[idx]])
        halves, position = table.astype(np.float16), numbers(np.float16, n, d)
        with asc.device("model"):
            made = embedded_halves(halves, idx.astype(np.int64), position)
        np.testing.assert_allclose(made, halves[idx] * np.float16(2) + position, rtol=2e-3, atol=2e-3)
        other, w = idx[::-1].copy(), numbers(np.float32, n)
        difference = (table[idx] - table[other]) * w[:, None]
        gives(edges, [table, idx, other, w, np.zeros((n, d), np.float32)], [difference])
    for kernel in (embedded, rows_by_slices, embedded_halves, edges):
        assert not slow_lines(kernel)


def test_rows_are_checked() -> None:
    table = numbers(np.float32, 40, 9)
    for bad in (40, -41):
        idx = places(30, 40)
        idx[7], idx[20] = bad, 99

        def loop(idx: Any = idx) -> None:
            embedded(table, idx, np.zeros((30, 9), np.float32))

        def whole(idx: Any = idx) -> None:
            embedded_halves(table.astype(np.float16), idx.astype(np.int64), np.zeros((30, 9), np.float16))

        for call in (loop, whole):
            assert error_of("model", call) == error_of("cpu", call)
        # Nothing is read where rows have no element.
        embedded(table[:, :0], idx, np.zeros((30, 0), np.float32))


def test_what_is_done_with_rows() -> None:
    for v, n, d in ROWS[2:5]:
        table, idx = numbers(np.float32, v, d), places(n, v)
        rows = np.exp(table[idx] - table[idx].max(axis=1, keepdims=True))
        with asc.device("model"):
            made = normalised_rows(table, idx)
        np.testing.assert_allclose(made, rows / rows.sum(axis=1, keepdims=True), rtol=2e-5)
        cache, block = numbers(np.float16, v, 4, d), places(6, v).reshape(2, 3)
        i = np.arange(9)
        expected = cache[block[:, i // 4], i % 4]
        gives(pages, [cache, block, np.zeros((2, 9, d), np.float16)], [expected])
    assert not slow_lines(pages)
