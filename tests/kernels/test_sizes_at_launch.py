# SPDX-License-Identifier: Apache-2.0
"""Slices that reach beyond an axis, and extents that turn out to be 1: NumPy's result for every size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.cli import main
from pyasc.ir.diagnostics import Diagnostic, UnsupportedError
from pyasc.runtime.specialise import Specialisation

pytestmark = pytest.mark.usefixtures("model_library")

N, M = asc.dims("N M")


@asc.kernel
def cut(x: asc.float32[N]):
    return x[100:], x[1:], x[:100], x[-100:], x[5:2], x[:-3], x[-3:], x[1:-1] + x[2:], x[7::-1].sum()


@asc.kernel
def written(x: asc.float32[N], y: asc.float32[N]):
    y[1:] = x[:-1]
    y[:3] = 7
    y[100:] += x[100:]
    y[2:] = x[:1]


@asc.kernel
def added(x: asc.float32[N], y: asc.float32[M]):
    return x + y


@asc.kernel
def two_axes(x: asc.float32[N, M]):
    return x[1:, :4].sum(axis=0), x[:, 10:].sum(axis=1), x[::2, 3::2].sum()


@asc.kernel
def steps(x: asc.float32[N]):
    return x[2:9:2].sum(), x[:2:-1].sum(), x[100::-2].sum(), x[-1:-100:-1].sum(), x[-100:100:7].sum()


@asc.kernel
def at_run_time(x: asc.float32[N], k: int, j: int):
    return x[k:j].sum(), x[k:].sum(), x[:j].sum(), x[j:k:2].sum(), x[k:j:-1].sum()


@asc.kernel
def first_of_the_rest(x: asc.float32[N], y: asc.float32[N]):
    y[:] = 1
    rest = x[2:]
    return rest[0]


@asc.kernel
def in_a_branch(x: asc.float32[N], far: bool):
    total = x.sum()
    if far:
        total += x[50:][0]
    return total


def numbers(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def agree(kernel: asc.Kernel, *arguments: Any) -> None:
    """Whether a kernel gives what its Python function does: results and the arrays afterwards, or the exception."""
    ours, theirs = ([each.copy() if hasattr(each, "copy") else each for each in arguments] for _ in range(2))
    assert kernel.py_func is not None
    try:
        expected = kernel.py_func(*theirs)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            kernel(*ours)
        return
    found = kernel(*ours)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for got, wanted in [*pairs, *zip(ours, theirs, strict=True)]:
        if wanted is not None:
            assert np.shape(got) == np.shape(wanted)
            np.testing.assert_allclose(got, wanted, rtol=1e-6)


@pytest.mark.parametrize(("device", "sizes"), [("cpu", (0, 1, 5, 101)), ("model", (0, 3))])
def test_every_size_gives_what_numpy_gives(device: str, sizes: tuple[int, ...]) -> None:
    with asc.device(device):
        asc.compile([cut, steps, written])
        for n in sizes:
            x = numbers(n)
            agree(cut, x)
            agree(steps, x)
            agree(written, x, x * 3)


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_two_sizes(device: str) -> None:
    with asc.device(device):
        asc.compile([added, two_axes])
        for n, m in ((1, 3), (3, 1), (0, 1), (3, 2)):
            agree(added, numbers(n), numbers(m))
        for n, m in ((0, 3), (12, 11)):
            agree(two_axes, numbers(n, m))


def test_bounds_that_only_the_run_time_knows() -> None:
    for n in (1, 2, 5):
        for k, j in ((0, 2), (1, -1), (-100, 100), (3, 1), (100, -100)):
            agree(at_run_time, numbers(n), k, j)


def test_sizes_that_no_kernel_is_made_for_run_as_far_as_they_go() -> None:
    """`x[50:][0]` has no meaning for 3 elements; where it is not reached, it does no harm."""
    x = numbers(3)
    assert in_a_branch(x, False) == 6
    with pytest.raises(IndexError, match="index 0 is out of range for axis 0 of the array with extent 0"):
        in_a_branch(x, True)
    assert in_a_branch(numbers(60), True) == numbers(60).sum() + 51


def test_odd_sizes_are_compiled_for_once() -> None:
    before = cut.cache_info()
    for _ in range(3):
        cut(numbers(77))
        cut(numbers(150))
    assert cut.cache_info().compilations == before.compilations + 1


def test_an_object_refuses_other_sizes(tmp_path: Path) -> None:
    source, output = tmp_path / "kernels.py", tmp_path / "kernels.o"
    source.write_text(
        "import pyasc as asc\nN, M = asc.dims('N M')\n@asc.kernel\n"
        "def tail(x: asc.float32[N], y: asc.float32[N]):\n    y[:] = 0\n    y[2:] = x[2:]\n"
    )
    assert main(["compile", str(source), "-o", str(output)]) == 0
    tail = asc.load(output).tail
    for n in (2, 5):
        x, y = numbers(n), numbers(n)
        tail(x, y)
        assert y.tolist() == [0, 0, *x[2:]]
    with pytest.raises(IndexError, match="a slice reaches 1 beyond the axis"):
        tail(numbers(1), numbers(1))


def test_a_failed_launch_leaves_arrays_untouched() -> None:
    x, y = numbers(1), numbers(1) * 5
    with pytest.raises(IndexError):
        first_of_the_rest(x, y)
    assert y.tolist() == [5]


@asc.kernel
def moved_and_read(x: asc.int32[N], y: asc.int32[M, N]):
    x[1:] = x[:-1]
    for i in range(N):
        y[0, i] = -x[0]
        x[i] = y[-1, i]


@asc.kernel
def moved_and_first(x: asc.int32[N], y: asc.int32[1]):
    x[1:] = x[:-1]
    y[0] = x[0]


@asc.kernel
def moved_with_computed(x: asc.int32[N], y: asc.int32[M, N]):
    made = asc.zeros((2, N), dtype=asc.int32) + 3
    x[1:] = x[:-1]
    for i in range(N):
        y[0, i] = made[1, -1] + made[0, 0] - x[0]
        x[i] = (y * made)[-1, i]


@pytest.mark.parametrize("n", [0, 1, 3])
def test_an_index_in_a_loop_without_iterations_is_none(n: int) -> None:
    x, y = np.arange(n, dtype=np.int32), np.ones((2, n), np.int32)
    given = x.copy(), y.copy()
    a, b = x.copy(), y.copy()
    a[1:] = x[:-1]
    for i in range(n):
        b[0, i] = -a[0]
        a[i] = b[-1, i]
    with asc.device("cpu"):
        moved_and_read(x, y)
    assert np.array_equal(x, a) and np.array_equal(y, b)
    x, y = given
    a, b = x.copy(), y.copy()
    a[1:] = x[:-1]
    for i in range(n):
        b[0, i] = 6 - a[0]
        a[i] = b[-1, i] * 3
    with asc.device("cpu"):
        moved_with_computed(x, y)
    assert np.array_equal(x, a) and np.array_equal(y, b)


def test_an_index_of_an_empty_axis_is_an_error_where_it_runs() -> None:
    y = np.ones(1, np.int32)
    with asc.device("cpu"), pytest.raises(IndexError, match="index 0 is out of range"):
        moved_and_first(np.zeros(0, np.int32), y)
    assert y.tolist() == [1]


@asc.kernel
def for_each_size(a: asc.float32[N, 4], order: asc.int64[M]):
    b = a[::-2, order] + 1
    return b.sum()


def refusing_unknown_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a device run only kernels whose sizes are known."""
    lowered = Specialisation.lowered

    def refused(self: Specialisation, *args: Any, **options: Any) -> Any:
        if not self.known:
            raise UnsupportedError(Diagnostic("PA0290", "not lowered for all sizes"))
        return lowered(self, *args, **options)

    monkeypatch.setattr(Specialisation, "lowered", refused)


def test_what_a_device_does_not_run_for_all_sizes_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []
    specialise = asc.Kernel.specialise

    def counted(self: asc.Kernel, types: Any, sizes: Any = None, known: Any = (), same: Any = ()) -> Any:
        tried.append(known)
        return specialise(self, types, sizes, known, same)

    monkeypatch.setattr(asc.Kernel, "specialise", counted)
    refusing_unknown_sizes(monkeypatch)
    order = np.array([1, 0])
    with asc.device("model"):
        for n in (8, 10, 8):
            a = numbers(n, 4)
            assert for_each_size(a, order) == (a[::-2, order] + 1).sum()
    assert tried == [(), (), (("N", 8), ("M", 2)), (("N", 10), ("M", 2))]


@asc.kernel
def for_given_sizes(a: asc.float32[N, 4]):
    return a[::-2].sum()


def test_compiling_for_arguments_compiles_what_a_call_would(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing_unknown_sizes(monkeypatch)
    with asc.device("model"):
        asc.compile([(for_given_sizes, numbers(6, 4))])
        for_given_sizes.compile(numbers(8, 4))
        with pytest.raises(UnsupportedError, match="not lowered for all sizes"):
            for_given_sizes.compile(asc.float32[asc.dims("N"), 4])
        compiled = for_given_sizes.cache_info().compilations
        for n in (6, 8):
            a = numbers(n, 4)
            assert for_given_sizes(a) == a[::-2].sum()
        assert for_given_sizes.cache_info().compilations == compiled == 2
