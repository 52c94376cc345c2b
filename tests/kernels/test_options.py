# SPDX-License-Identifier: Apache-2.0
"""What options of a kernel change on the cpu and on the model, and what remarks say of the units that run it."""

from __future__ import annotations

import numpy as np
import pytest

import pyasc as asc
from pyasc.runtime.model import build_runner

pytestmark = pytest.mark.usefixtures("model_library")

N, M, K = asc.dims("N M K")


def doubled(x: asc.float32[N], y: asc.float32[N]):
    y[:] = x * 2


def layer(a: asc.float16[N, K], b: asc.float16[K, M], bias: asc.float32[M]):
    c = asc.matmul(a, b, dtype=asc.float32)
    for i in asc.parallel_for(M):
        bias[i] = max(bias[i], 0.0)
    return c


def messages(kernel: asc.Kernel) -> list[tuple[str, str]]:
    """What the remarks of a compilation for the model say, and their hints."""
    found = kernel.specialise(kernel.types_of()).lowered("ascend").remarks
    return [(each.message, each.hint) for each in found]


@pytest.mark.parametrize(("grid", "blocks"), [(None, 48), (2, 4), (24, 48), (1000, 48)])
def test_grid_is_the_number_of_cores(grid: int | None, blocks: int) -> None:
    """A core has one cube unit and two vector units, each of which is a block."""
    kernel = asc.kernel(grid=grid)(doubled)
    runner = build_runner(kernel.specialise(kernel.types_of()).lowered("ascend"))
    assert [each.blocks for each in runner.kernel.launches({}, {"N": 1_000_000})] == [blocks]


def test_fewer_cores_give_the_same() -> None:
    x, y = np.arange(70_000, dtype=np.float32), np.zeros(70_000, np.float32)
    with asc.device("model"):
        asc.kernel(grid=3)(doubled)(x, y)
    assert np.array_equal(y, x * 2)


def test_remarks_name_the_unit_of_a_line() -> None:
    found = messages(asc.kernel(layer))
    assert ("runs on the cube unit", "") in found and ("runs on the vector unit", "") in found
    (hint,) = [hint for message, hint in found if message.startswith("`max` keeps Python's rule for NaN")]
    assert hint == "asc.maximum is one instruction; it propagates NaN"


def test_a_target_is_what_the_model_runs() -> None:
    x = np.ones(4, np.float32)
    with asc.device("model"):
        for target in ("ascend910b3", "cpu"):
            y = np.zeros(4, np.float32)
            asc.kernel(target=target)(doubled)(x, y)
            assert y.tolist() == [2] * 4
        with pytest.raises(asc.UnsupportedError, match="architecture 2002"):
            asc.kernel(target="ascend310p3")(doubled)(x, x.copy())


@asc.kernel
def doubled_wide(x: asc.float64[N]):
    return x * 2


@asc.kernel
def copied_wide(x: asc.float64[N]):
    return x.copy()


@pytest.mark.parametrize(("kernel", "factor"), [(doubled_wide, 2), (copied_wide, 1)])
def test_float64_is_for_the_cpu(kernel: asc.Kernel, factor: int) -> None:
    assert kernel(np.ones(2)).tolist() == [factor, factor]
    with asc.device("model"), pytest.raises(asc.UnsupportedError, match="float64 elements"):
        kernel(np.ones(2))


@asc.kernel
def unread(x: asc.float32[N], i: int):
    t = asc.zeros((4, 4))
    t[i, 0] = x[0]
    t[i] = 1
    return x[0]


@asc.kernel
def unused(x: asc.float32[N], i: int):
    x[i]
    return x[0]


@asc.kernel(unchecked=True)
def unchecked(x: asc.float32[N], i: int):
    t = asc.zeros(4)
    t[i] = x[0]
    return x[0]


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_indices_are_checked_where_nobody_uses_the_element(device: str) -> None:
    x = np.ones(4, np.float32)
    with asc.device(device):
        for kernel in (unread, unused):
            assert kernel(x, 3) == kernel(x, -4) == 1
            for index in (4, -5):
                with pytest.raises(IndexError):
                    kernel(x, index)
        assert unchecked(x, 4) == 1


@asc.kernel
def ahead(x: asc.float32[N], y: asc.float32[N]):
    for i in range(N):
        y[i] = 1
    for i in range(N):
        y[i + 1] = x[i]


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_affine_indices_are_checked_before_anything_runs(device: str) -> None:
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    with asc.device(device), pytest.raises(IndexError, match="indices 1 to 4 are out of range"):
        ahead(x, y)
    assert not y.any()


def test_a_buffer_that_only_holds_a_copy_is_a_hint() -> None:
    def copied(x: asc.float32[N, 64], y: asc.float32[N, 64]):
        for i in asc.parallel_for(N):
            row = asc.shared_memory((64,), asc.float32)
            asc.copy(x[i], row)
            for j in range(64):
                y[i, j] = row[j] * 2

    assert any(
        "'row' only holds a copy: 'x' is read instead" in text for text, _ in messages(asc.kernel(copied))
    )


def test_buffers_that_do_not_fit_say_how_many_bytes_there_are() -> None:
    def running(x: asc.float32[N], y: asc.float32[N]):
        for i in asc.parallel_for(N):
            table = asc.shared_memory((50000,), asc.float32)
            table[0] = x[i]
            for j in range(1, 50000):
                table[j] = table[j - 1] * x[i] + j
            y[i] = table[(i * 7919) % 50000]

    with pytest.raises(asc.ResourceError, match=r"200000 bytes .* a core has 131072") as caught:
        asc.kernel(running).source("ascend910b1")
    assert "`table` takes 200000 bytes" in str(caught.value)
