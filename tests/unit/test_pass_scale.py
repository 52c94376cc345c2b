# SPDX-License-Identifier: Apache-2.0
"""The scalar passes do work in proportion to the kernel: counted in calls, not by the clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from pyasc.ir.parser import parse
from pyasc.passes.base import run_passes
from pyasc.passes.pipeline_parser import parse_pipeline

PIPELINE = "py,licm,resolve-indices,prove,cleanup,forward,unroll,if-convert,cleanup,licm"


def in_a_loop(count: int) -> str:
    lines = [f"%t{k + 1} = arith.add %t{k}, %s\n%u{k} = py.load %x, [%i]" for k in range(count // 2)]
    body = "\n".join(["%t0 = py.load %x, [%i]", *lines, f"py.store %t{count // 2}, %y, [%i]"])
    return f"scf.for %0, %n, %1, [] {{\n^(%i: i64):\n{body}\nscf.yield\n}}"


def one_after_the_other(count: int) -> str:
    return "\n".join(
        f"%c{k} = arith.constant {{value = {k}}} : i64\n%u{k} = py.load %x, [%c{k}]\npy.store %u{k}, %y, [%c{k}]"
        for k in range(count // 3)
    )


def many_loops(count: int) -> str:
    return "\n".join(in_a_loop(2) for _ in range(count // 5))


def many_branches(count: int) -> str:
    lines = [
        f"%c{k} = arith.lt %f{k}, %s\n%f{k + 1} = scf.if %c{k} : f32 {{\n%q = arith.exp %f{k}\n"
        f"scf.yield %q\n}} {{\nscf.yield %s\n}}"
        for k in range(count // 4)
    ]
    first = "%f0 = arith.constant {value = 0.0} : f32"
    return "\n".join([first, *lines, f"py.store %f{count // 4}, %y, [%0]"])


def index_chain(count: int) -> str:
    lines = [f"%i{k + 1} = arith.add %i{k}, %k" for k in range(count)]
    return "\n".join(["%i0 = arith.add %k, %1", *lines, f"py.store %s, %y, [%i{count}]"])


def calls_of_passes(body: str) -> int:
    """How many functions, Python's own among them, the passes call on a kernel with that body."""
    module = parse(
        f"""func.module {{
          func.func {{symbol = "k", sizes = ["N"], written = [1]}} {{
          ^(%x: ref<N x f32>, %y: ref<N x f32>, %s: f32, %k: i64):
            %n = func.size {{symbol = "N"}}
            %0 = arith.constant {{value = 0}} : i64
            %1 = arith.constant {{value = 1}} : i64
            {body}
            func.return
          }}
        }}"""
    )
    passes = parse_pipeline(PIPELINE)
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(watch)
    try:
        run_passes(module, passes)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("make", [in_a_loop, one_after_the_other, many_loops, many_branches, index_chain])
def test_work_grows_with_the_kernel_alone(make: Callable[[int], str]) -> None:
    calls_of_passes(make(30))  # imports
    assert calls_of_passes(make(3000)) < 12 * calls_of_passes(make(300))


def test_a_small_kernel_takes_little_work() -> None:
    calls_of_passes(in_a_loop(2))  # imports
    assert calls_of_passes(in_a_loop(2)) < 5_000
