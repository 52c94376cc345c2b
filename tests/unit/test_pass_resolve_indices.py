# SPDX-License-Identifier: Apache-2.0
"""Index rules after resolution: the same errors as Python, said with names and numbers, and no wrapping tricks."""

from __future__ import annotations

import numpy as np
import pytest

from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.passes.base import run_passes
from pyasc.passes.instrument import Instrument
from pyasc.passes.pipeline_parser import parse_pipeline

BIG = 2**63 - 1


def compiled(body: str, pipeline: str = "resolve-indices") -> object:
    module = parse(
        f"""func.module {{
          func.func {{symbol = "k", sizes = ["N"], written = [0]}} {{
          ^(%y: ref<N x f32>, %idx: ref<N x i64>, %n: i64, %m: i64):
            %size = func.size {{symbol = "N"}}
            %one = arith.constant {{value = 1.0}} : f32
            %c0 = arith.constant {{value = 0}} : i64
            %c1 = arith.constant {{value = 1}} : i64
            %c3 = arith.constant {{value = 3}} : i64
            %cm1 = arith.constant {{value = -1}} : i64
            {body}
            func.return
          }}
        }}"""
    )
    run_passes(module, parse_pipeline(pipeline), Instrument(verify=True))
    return module


def run(module: object, n: int, m: int = 0, size: int = 4, idx: list[int] | None = None) -> np.ndarray:
    y = np.zeros(size, np.float32)
    interpret(module, "k", [y, np.array(idx or [0] * size, np.int64), n, m])  # type: ignore[arg-type]
    return y


def over(body: str, upper: str = "%n", step: str = "%c1", lower: str = "%c0") -> str:
    return f"scf.for {lower}, {upper}, {step}, [] {{\n^(%i: i64):\n{body}\nscf.yield\n}}"


SHIFTED = over("%j = arith.add %i, %m\npy.store %one, %y, [%j]")


@pytest.mark.parametrize("n", [-5, 0, 1, 4])
def test_loop_that_ends_in_range_runs(n: int) -> None:
    module = compiled(over("py.store %one, %y, [%i]"))
    assert run(module, n).sum() == max(n, 0)


@pytest.mark.parametrize("n", [5, 100, BIG])
def test_loop_that_leaves_the_range_is_refused_before_it_starts(n: int) -> None:
    module = compiled(over("py.store %one, %y, [%i]"))
    y = np.zeros(4, np.float32)
    with pytest.raises(
        IndexError, match=rf"indices 0 to {n - 1} are out of range for axis 0 of y with extent 4"
    ):
        interpret(module, "k", [y, np.zeros(4, np.int64), n, 0])  # type: ignore[arg-type]
    assert not y.any()


@pytest.mark.parametrize(
    ("n", "m"), [(2, BIG), (2, -BIG), (2, BIG - 1), (BIG, BIG), (7, -2), (1, 4), (1, -5)]
)
def test_sums_that_wrap_or_leave_are_refused(n: int, m: int) -> None:
    with pytest.raises(IndexError):
        run(compiled(SHIFTED), n, m)


@pytest.mark.parametrize(
    ("n", "m", "touched"), [(2, 1, {1, 2}), (3, -1, {3, 0, 1}), (0, BIG, set()), (-3, -BIG, set())]
)
def test_sums_in_range_count_from_the_end_where_negative(n: int, m: int, touched: set[int]) -> None:
    assert set(np.flatnonzero(run(compiled(SHIFTED), n, m))) == touched


@pytest.mark.parametrize("factor", [2**62, 2**61, 2**63 - 1, -(2**62)])
def test_products_that_wrap_are_refused(factor: int) -> None:
    body = over("%j = arith.mul %i, %m\npy.store %one, %y, [%j]")
    with pytest.raises(IndexError):
        run(compiled(body), 5, factor)


def test_constant_factor_that_wraps_is_refused() -> None:
    body = f"%f = arith.constant {{value = {2**62}}} : i64\n" + over(
        "%j = arith.mul %i, %f\npy.store %one, %y, [%j]"
    )
    with pytest.raises(IndexError):
        run(compiled(body), 5)


def test_many_loops_that_wrap_together_are_refused() -> None:
    lines = "%j = arith.mul %i, %f\n%l = arith.add %j, %m\n%k = arith.add %l, %m\npy.store %one, %y, [%k]"
    body = f"%f = arith.constant {{value = {2**40}}} : i64\n" + over(lines)
    with pytest.raises(IndexError):
        run(compiled(body), 2, -(2**39))


@pytest.mark.parametrize(
    ("n", "size", "raises"),
    [(4, 4, False), (5, 4, False), (5, 3, True), (7, 7, False), (0, 0, False), (7, 6, True)],
)
def test_last_counter_of_a_stepped_loop(n: int, size: int, raises: bool) -> None:
    module = compiled(over("py.store %one, %y, [%i]", step="%c3"))
    if raises:
        with pytest.raises(IndexError):
            run(module, n, size=size)
    else:
        assert set(np.flatnonzero(run(module, n, size=size))) == set(range(0, n, 3))


def test_counting_down_is_checked_at_its_start() -> None:
    module = compiled(over("py.store %one, %y, [%i]", lower="%n", upper="%cm1", step="%cm1"))
    assert run(module, 3).sum() == 4
    assert run(module, -1).sum() == 0
    with pytest.raises(IndexError, match="indices 0 to 4 are out of range"):
        run(module, 4)


@pytest.mark.parametrize("index", [-1, -4, 0, 3])
def test_index_from_memory_counts_from_the_end(index: int) -> None:
    module = compiled("%j = py.load %idx, [%c0]\npy.store %one, %y, [%j]")
    assert np.flatnonzero(run(module, 0, idx=[index] * 4)).tolist() == [index % 4]


@pytest.mark.parametrize("index", [-5, 4, BIG, -BIG - 1])
def test_index_from_memory_is_checked_in_place(index: int) -> None:
    module = compiled("%j = py.load %idx, [%c0]\npy.store %one, %y, [%j]")
    with pytest.raises(IndexError, match=f"index {index} is out of range for axis 0 of y with extent 4"):
        run(module, 0, idx=[index] * 4)


def test_sum_of_an_index_from_memory_may_wrap() -> None:
    module = compiled("%j = py.load %idx, [%c0]\n%q = arith.add %j, %m\npy.store %one, %y, [%q]")
    with pytest.raises(IndexError):
        run(module, 0, BIG, idx=[3] * 4)


def test_guard_on_a_sum_that_wraps_proves_nothing() -> None:
    guard = """%q = arith.add %n, %m
    %c = arith.lt %q, %size
    %d = arith.ge %n, %c0
    %e = arith.ge %m, %c0
    %de = arith.and %d, %e
    %cde = arith.and %c, %de
    scf.if %cde {
      py.store %one, %y, [%n]
      scf.yield
    } {
      scf.yield
    }"""
    with pytest.raises(IndexError):
        run(compiled(guard), BIG, BIG)
    assert run(compiled(guard), 1, 2).sum() == 1


def test_unchecked_access_still_counts_from_the_end() -> None:
    module = compiled("%j = py.load %idx, [%c0]\npy.store %one, %y, [%j]", "resolve-indices{unchecked=true}")
    assert "py.check" not in str(module).replace("idx", "")
    assert np.flatnonzero(run(module, 0, idx=[-1] * 4)).tolist() == [3]


def test_condition_decides_whether_an_access_happens() -> None:
    body = """%c = arith.lt %n, %c0
    scf.if %c {
      py.store %one, %y, [%c3]
      scf.yield
    } {
      scf.yield
    }"""
    module = compiled(body)
    assert run(module, 1, size=2).sum() == 0
    with pytest.raises(IndexError, match="index 3 is out of range"):
        run(module, -1, size=2)
