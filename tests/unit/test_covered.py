# SPDX-License-Identifier: Apache-2.0
"""Which elements of its arrays every launch of a kernel writes, and what the model says where a launch does not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.passes.analysis.covered import Covered
from pyasc.runtime import model
from pyasc.runtime.ascend import AscendKernel, ascend_kernel
from pyasc.runtime.compiler import LoweredKernel
from tests.unit.model_support import cache_folder

N, M, T = asc.dims("N M T")
Launch = Callable[..., Any]


@asc.kernel
def whole(x: asc.float32[N, M], y: asc.float32[N, M]):
    for i in asc.parallel_for(N):
        for j in range(M):
            y[i, j] = x[i, j] + 1.0


@asc.kernel
def interior(x: asc.float32[N, M], y: asc.float32[N, M], lines: int):
    for i in asc.parallel_for(1, lines):
        for j in range(2, M - 1):
            y[i, j] = x[i, j] + 1.0


@asc.kernel
def backwards(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N - 2, -1, -1):
        y[i] = x[i] + y[i + 1]


@asc.kernel
def tiled(x: asc.float32[128], y: asc.float32[128]):
    for t in asc.parallel_for(8):
        for k in range(16):
            y[t * 16 + k] = x[t * 16 + k] + 1.0


@asc.kernel
def pairs(x: asc.float32[N], y: asc.float32[N, 2]):
    for i in asc.parallel_for(N):
        y[i, 0] = x[i]
        y[i, 1] = x[i] * 2.0


@asc.kernel
def branches(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        if x[i] > 0.0:
            n = 0.0
            while n < x[i]:
                n += 1.0
            y[i] = n
        else:
            y[i] = 0.0


@asc.kernel
def merged(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0.0:
            y[i] = asc.sqrt(x[i])
        else:
            y[i] = x[i] * 2.0


@asc.kernel
def in_steps(u: asc.float32[N], v: asc.float32[N], steps: int):
    for _ in range(steps):
        for i in asc.parallel_for(1, N - 1):
            v[i] = u[i - 1] + u[i + 1]
        for i in asc.parallel_for(1, N - 1):
            u[i] = v[i - 1] + v[i + 1]


@asc.kernel
def summed(x: asc.float32[N, M], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        for j in range(M):
            y[i] += x[i, j]


@asc.kernel
def returned(x: asc.float32[N]) -> asc.float32[N]:
    return x + 1.0


@asc.kernel
def sliced(x: asc.float32[N, M], y: asc.float32[N, M]):
    y[1:, 0] = x[1:, 1] + 1.0


@pytest.mark.parametrize(
    "kernel, expected",
    [
        (whole, ["y[0:N, 0:M]"]),
        (interior, ["y[1:lines, 2:M - 1]"]),
        (backwards, ["y[0:N - 1]"]),
        (tiled, ["y[0:128]"]),
        (pairs, ["y[0:N, 0:1]", "y[0:N, 1:2]"]),
        (branches, ["y[0:N]"]),
        (merged, ["y[0:N]"]),
        (in_steps, ["v[1:N - 1] if steps > 0", "u[1:N - 1] if steps > 0"]),
        (summed, ["y[0:N] if M > 0"]),
        (returned, ["out[0:N]"]),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_boxes_that_every_launch_writes(kernel: asc.Kernel, expected: list[str]) -> None:
    assert boxes(kernel) == expected


def test_a_slice_is_a_box_of_the_array() -> None:
    (box,) = found(sliced)
    assert box.at({"N": 5, "M": 3}, (5, 3)) == (slice(1, 5), slice(0, 1))


@asc.kernel
def guarded(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        if x[i] > 0.0:
            y[i] = x[i]


@asc.kernel
def one_branch(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N - 1):
        if x[i] > 0.0:
            y[i] = x[i]
        else:
            y[i + 1] = x[i]


@asc.kernel
def triangle(x: asc.float32[N, N], y: asc.float32[N, N]):
    for i in asc.parallel_for(N):
        for j in range(i):
            y[i, j] = x[i, j] + 1.0


@asc.kernel
def diagonal(x: asc.float32[N], y: asc.float32[N, N]):
    for i in asc.parallel_for(N):
        y[i, i] = x[i] + 1.0


@asc.kernel
def every_other(x: asc.float32[N], y: asc.float32[N, 2]):
    for i in asc.parallel_for(N):
        y[i, i % 2] = x[i]


@asc.kernel
def spaced(x: asc.float32[64], y: asc.float32[128]):
    for i in asc.parallel_for(64):
        y[2 * i] = x[i] + 1.0


@asc.kernel
def scattered(x: asc.float32[N], place: asc.int32[N], y: asc.float32[N]):
    for i in range(N):
        y[place[i]] = x[i]


@asc.kernel
def in_a_while(x: asc.float32[N], y: asc.float32[N]):
    n = 0
    while x[n] > 0.0:
        for i in range(N):
            y[i] = 1.0
        n += 1


@asc.kernel
def until_found(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        if x[i] < 0.0:
            break
        y[i] = 1.0


@asc.kernel
def halves(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N // 2):
        y[i] = x[i] + 1.0


@asc.kernel
def where_it_is_kept(x: asc.float32[N], y: asc.float32[N]):
    for i in asc.parallel_for(N):
        y[i] = x[i] if x[i] > 0.0 else y[i]


@asc.kernel
def moved_through_a_buffer(y: asc.float32[N]):
    kept = y.copy()
    y[:] = kept


@pytest.mark.parametrize(
    "kernel",
    [
        guarded,
        one_branch,
        triangle,
        diagonal,
        every_other,
        spaced,
        scattered,
        in_a_while,
        until_found,
        halves,
        where_it_is_kept,
        moved_through_a_buffer,
    ],
    ids=lambda each: each.__name__,
)
def test_what_may_be_left_alone_is_in_no_box(kernel: asc.Kernel) -> None:
    assert boxes(kernel) == []


def test_a_box_of_no_elements_or_outside_the_array_is_none() -> None:
    (box,) = found(interior)
    assert box.at({"N": 5, "M": 6, "lines": 4}, (5, 6)) == (slice(1, 4), slice(2, 5))
    assert box.at({"N": 5, "M": 3, "lines": 4}, (5, 3)) is None
    assert box.at({"N": 5, "M": 6, "lines": 1}, (5, 6)) is None
    assert box.at({"N": 5, "M": 6, "lines": 7}, (5, 6)) is None
    (sums,) = found(summed)
    assert sums.at({"N": 5, "M": 0}, (5,)) is None


@pytest.fixture(autouse=True)
def _kept_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "model_cache", cache_folder)


def test_what_a_launch_leaves_unwritten_is_found_with_its_line() -> None:
    lowered = whole.specialise(whole.types_of()).lowered("ascend")
    made = ascend_kernel(lowered)
    broken = made.file.text.replace("offset < length", "offset + TILE < length")
    assert broken != made.file.text
    x, y = np.ones((40, 7), np.float32), np.full((40, 7), 5, np.float32)
    launched(lowered, made, made.file.text)(x, y)
    assert (y == 2).all()
    y[:] = 5
    with pytest.raises(model.ModelFindings) as caught:
        launched(lowered, made, broken)(x, y)
    (finding,) = caught.value.findings
    assert finding.kind == "unwritten" and finding.memory == "y" and finding.count == 1
    assert finding.message == "y[0, 0] to [39, 6] left unwritten, 280 of 280 elements"
    line = inspect.getsourcelines(inspect.unwrap(whole))[1] + 4
    assert finding.python == f"test_covered.py:{line}"
    assert str(finding).startswith(f"kernel from test_covered.py:{line}: unwritten: y[0, 0]")
    # The arrays of a launch that is not taken stay as they are.
    assert (y == 5).all()


def test_what_is_only_partly_written_keeps_the_rest() -> None:
    x = np.ones((6, 9), np.float32)
    y = np.full((6, 9), 5, np.float32)
    with asc.device("model"):
        interior(x, y, 4)
    expected = np.full((6, 9), 5, np.float32)
    expected[1:4, 2:8] = 2
    assert (y == expected).all()


def test_launches_that_write_nothing_are_no_mistake() -> None:
    u, v = np.ones(20, np.float32), np.ones(20, np.float32)
    sums = np.full(3, 4, np.float32)
    empty = np.ones((0, 5), np.float32)
    with asc.device("model"):
        in_steps(u, v, 0)
        summed(np.ones((3, 0), np.float32), sums)
        whole(empty, empty.copy())
        assert returned(np.ones(0, np.float32)).shape == (0,)
    assert (u == 1).all() and (v == 1).all() and (sums == 4).all()


@asc.kernel
def last_of_each_row(x: asc.float32[M, N], y: asc.float32[M, N], z: asc.float32[N]):
    for i, _ in enumerate(z):
        y[-1, -1] = x[i % M, i - 1]
        for j in range(M):
            if z[i] > x[j, i]:
                break
            z[i] = x[j, i]


def test_what_a_core_reads_before_it_writes_it_is_no_mistake() -> None:
    x = np.arange(35, dtype=np.float32).reshape(5, 7)
    y = np.zeros((5, 7), np.float32)
    assert boxes(last_of_each_row) == ["y[M - 1:M, N - 1:N] if N > 0"]
    with asc.device("model"):
        last_of_each_row(x, y, np.zeros(7, np.float32))
    assert y[4, 6] == x[6 % 5, 5] and not y[:4].any()


def test_arguments_that_share_memory_or_have_strides_are_written_whole() -> None:
    both = np.arange(12, dtype=np.float32).reshape(3, 4)
    wide = np.zeros((3, 8), np.float32)
    with asc.device("model"):
        whole(both, both)
        whole(both, wide[:, ::2])
    assert (both == np.arange(12, dtype=np.float32).reshape(3, 4) + 1).all()
    assert (wide[:, ::2] == both + 1).all() and (wide[:, 1::2] == 0).all()


def found(kernel: asc.Kernel) -> tuple[Covered, ...]:
    """What a kernel covers, as the pipeline finds it."""
    pipeline = "loop,split-checks,raised,find-covered"
    return kernel.specialise(kernel.types_of()).lowered(pipeline).covered


def boxes(kernel: asc.Kernel) -> list[str]:
    """What a kernel covers, as text."""
    return [_text(each) for each in found(kernel)]


def _text(box: Covered) -> str:
    spans = ", ".join(f"{low}:{high}" for low, high in zip(box.lower, box.upper, strict=True))
    conditions = " and ".join(f"{each} > 0" for each in box.positive)
    return f"{box.param}[{spans}]{' if ' if conditions else ''}{conditions}"


def launched(lowered: LoweredKernel, made: AscendKernel, text: str) -> Launch:
    """A launcher of a kernel with another text."""
    kernel = replace(made, file=replace(made.file, text=text))
    return model.launcher_of(
        lowered, model.ModelRunner(kernel, model.build_text(text, made.abi.symbol))
    ).launch
