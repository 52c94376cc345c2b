# SPDX-License-Identifier: Apache-2.0
"""Predicted cycles against the published measurements of cost.md, and the overlap of pipes.

What the model is built from is met closely; what it simplifies is bounded. Nothing here was measured by us.
"""

from __future__ import annotations

import numpy as np
import pytest

from pyasc.model.driver import Result, Scalar, run
from tests.compilers import needs_compiler
from tests.unit.model_support import REFERENCE, built, clean, poisoned, reference, source

pytestmark = needs_compiler
DATA = np.zeros(16384, np.float32)


def _timed(entry: str, blocks: int, *numbers: int) -> Result:
    kernel = built(REFERENCE / "ops" / "timing.cpp")
    return run(kernel, [source(DATA), *(Scalar(np.uint32(v)) for v in numbers)], entry=entry, blocks=blocks)


def _each(entry: str, blocks: int, *numbers: int) -> float:
    """Cycles of one instruction of many, free of what stands around the loop."""
    few, many = (clean(_timed(entry, blocks, count, *numbers)).predicted_cycles for count in (10, 110))
    return (many - few) / 100


@pytest.mark.parametrize(("conflict", "measured"), [(0, 88.4), (1, 154.2)])
def test_add_of_4096_floats(conflict: int, measured: float) -> None:
    assert _each("time_add", 1, conflict) == pytest.approx(measured, rel=0.05)


@pytest.mark.parametrize(
    ("blocks", "size", "measured"), [(1, 8192, 350.5), (48, 8192, 584), (48, 32768, 1998.5)]
)
def test_copy_in(blocks: int, size: int, measured: float) -> None:
    assert _each("time_copy_in", blocks, size) == pytest.approx(measured, rel=0.03)


def test_small_copies_are_bound_by_issue() -> None:
    assert _each("time_copy_in", 48, 128) == pytest.approx(20.6, rel=0.5)


@pytest.mark.parametrize(("shape", "measured"), [((64, 64, 64), 125), ((128, 256, 64), 521.9)])
def test_mmad(shape: tuple[int, int, int], measured: float) -> None:
    assert _each("time_mmad", 1, *shape) == pytest.approx(measured, rel=0.35)


def test_double_buffering_hides_the_copies() -> None:
    n = 4 * 14336
    x = np.ones(n, np.float16)
    result = clean(
        run(reference("add_half"), [source(x), source(x), poisoned(n, np.float16), Scalar(np.uint64(n))])
    )
    core = result.cores[0]
    assert core.end < 0.9 * sum(core.busy.values())
    assert core.end >= max(core.busy.values())


def test_more_blocks_take_less_time_and_waves_add_up() -> None:
    n = 1 << 20
    x = np.ones(n, np.float16)
    arguments = [source(x), source(x), poisoned(n, np.float16), Scalar(np.uint64(n))]
    one, all_cores = (run(reference("add_half"), arguments, blocks=b).predicted_cycles for b in (1, 48))
    assert all_cores < one / 10
    assert run(reference("add_half"), arguments, blocks=96).predicted_cycles > all_cores * 0.8


def test_the_clock_of_the_soc_sets_the_time() -> None:
    slow = run(reference("add_half"), _small(), soc="Ascend910B4")
    fast = run(reference("add_half"), _small(), soc="Ascend910B1")
    assert slow.predicted_cycles == fast.predicted_cycles
    assert slow.predicted_us == pytest.approx(fast.predicted_us * 1850 / 1500)


def _small() -> list:
    x = np.ones(1000, np.float16)
    return [source(x), source(x), poisoned(1000, np.float16), Scalar(np.uint64(1000))]
