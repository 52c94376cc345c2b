# SPDX-License-Identifier: Apache-2.0
"""Private tables: which loops get them, and that nothing is counted twice or lost."""

from __future__ import annotations

import numpy as np
import pytest

from pyasc.ir.dialects.func import Module
from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import verify
from pyasc.passes.base import run_passes
from pyasc.passes.pipeline_parser import parse_pipeline

WRAPPED = """%k = arith.cast %v : i64
      %below = arith.lt %k, %0
      %added = arith.add %k, %size
      %place = arith.select %below, %added, %k"""


def kernel(update: str, bins: int = 8, dtype: str = "i32", kind: str = "sequential") -> Module:
    module = parse(f"""func.module {{
      func.func {{symbol = "count", sizes = ["N"], written = [1]}} {{
      ^(%x: ref<N x i32>, %table: ref<{bins} x {dtype}>):
        %n = func.size {{symbol = "N"}}
        %0 = arith.constant {{value = 0}} : i64
        %1 = arith.constant {{value = 1}} : i64
        %size = arith.constant {{value = {bins}}} : i64
        %one = arith.constant {{value = {1.0 if dtype[0] == "f" else 1}}} : {dtype}
        scf.for %0, %n, %1, [] {{kind = "{kind}"}} {{
        ^(%i: i64):
          %v = mem.load %x, [%i]
          {update}
          scf.yield
        }}
        func.return
      }}
    }}""")
    assert not verify(module)
    return module


def counted(fn: str, value: str = "%one") -> str:
    return f"""{WRAPPED}
      %old = mem.load %table, [%place]
      %new = arith.{fn} %old, {value}
      mem.store %new, %table, [%place]"""


def privatised(module: Module) -> str:
    run_passes(module, parse_pipeline("privatise{task=16,few=8,tables=4}"))
    assert not verify(module), verify(module)
    return str(module)


@pytest.mark.parametrize("bins", [8, 11])
@pytest.mark.parametrize("fn", ["add", "maximum", "pymin", "xor"])
@pytest.mark.parametrize("size", [0, 1, 7, 8, 15, 16, 17, 70])
def test_tables_add_up(fn: str, bins: int, size: int) -> None:
    update = counted(fn, "%one" if fn == "add" else "%v")
    module = kernel(update, bins)
    assert "mem.alloc" in privatised(module)
    x = np.random.default_rng(size).integers(-bins, bins, size).astype(np.int32)
    want, got = (np.arange(bins, dtype=np.int32) for _ in range(2))
    interpret(kernel(update, bins), "count", [x, want], {"N": size})
    interpret(module, "count", [x, got], {"N": size}, reverse_parallel=True)
    assert np.array_equal(got, want)


def test_atomic_updates_become_private_too() -> None:
    module = kernel(f'{WRAPPED}\n mem.atomic %one, %table, [%place] {{fn = "add"}}', kind="parallel")
    assert "mem.alloc" in privatised(module)


def test_a_negative_index_needs_no_choice_below_a_power_of_two() -> None:
    assert "arith.and" in privatised(kernel(counted("add"), 8))
    assert "arith.and" not in privatised(kernel(counted("add"), 11))


@pytest.mark.parametrize(
    ("update", "dtype", "bins"),
    [
        (counted("add"), "f32", 8),
        (counted("add"), "i32", 1 << 20),
        (counted("sub"), "i32", 8),
        (counted("add").replace("[%place]", "[%0]"), "i32", 8),
        (counted("add") + "\n mem.store %old, %table, [%0]", "i32", 8),
        (counted("add") + '\n py.check %below, [] {error = "IndexError", message = "no"}', "i32", 8),
    ],
)
def test_other_loops_stay(update: str, dtype: str, bins: int) -> None:
    assert "mem.alloc" not in privatised(kernel(update, bins, dtype))
