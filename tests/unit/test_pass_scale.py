# SPDX-License-Identifier: Apache-2.0
"""The scalar passes take time in proportion to the kernel: 3,000 statements in less than two seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

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


def processor_seconds(body: str) -> float:
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
    start = time.process_time()
    run_passes(module, passes)
    return time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("make", [in_a_loop, one_after_the_other, many_loops, many_branches, index_chain])
def test_time_grows_with_the_kernel_alone(make: Callable[[int], str]) -> None:
    processor_seconds(make(30))  # imports
    short, long = min(processor_seconds(make(300)) for _ in range(3)), processor_seconds(make(3000))
    assert long < 2.0
    assert long < 30 * short


def test_a_small_kernel_takes_milliseconds() -> None:
    assert min(processor_seconds(in_a_loop(2)) for _ in range(5)) < 0.02
