# SPDX-License-Identifier: Apache-2.0
"""Nests that `time-loops` rewrites give the same bits, whatever they depend on; nests that have to stay do."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field

import numpy as np
import pytest

from pyasc.ir.affine import const, dim, symbol
from pyasc.ir.dialects import scf, st
from pyasc.ir.dialects.func import Module
from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.ir.verifier import check
from pyasc.passes.analysis.polyhedron import implies, is_empty, project, without_redundant
from pyasc.passes.base import Context
from pyasc.passes.time_loops import TimeLoops

SIZE = 6
EXTENT = SIZE + 4
"""Indices are counters, their sums with -2..2 and constants, moved by 2 into the arrays."""


@dataclass
class _Writer:
    """Random nests of one to three loops as text. Integers wrap, so that any other order of dependent work shows."""

    random: random.Random
    lines: list[str] = field(default_factory=lambda: list[str]())
    names: int = 0

    def text(self) -> str:
        self._loop([], self.random.randint(2, 3))
        body = "\n".join(self.lines)
        numbers = "\n".join(f"%c{n} = arith.constant {{value = {n}}} : i64" for n in range(3))
        return f"""func.module {{
  func.func {{symbol = "k", sizes = ["N"], written = [0, 1]}} {{
  ^(%a: ref<{EXTENT} x {EXTENT} x i32>, %b: ref<{EXTENT} x i32>):
    %N = func.size {{symbol = "N"}}
    %m2 = arith.constant {{value = -2}} : i64
    %m1 = arith.constant {{value = -1}} : i64
{numbers}
    %three = arith.constant {{value = 3}} : i32
    %last = arith.sub %N, %c1
{body}
    func.return
  }}
}}"""

    def _name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def _emit(self, text: str) -> str:
        name = self._name()
        self.lines.append(f"{name} = {text}")
        return name

    def _loop(self, counters: list[str], depth: int) -> None:
        lower = self.random.choice(["%c0", "%c1", *counters])
        upper = self.random.choice(["%N", "%last", *counters, "%N"])
        counter = f"%i{len(counters)}_{self.names}"
        if self.random.random() < 0.25:
            start = self._emit(f"arith.sub {upper}, %c1")
            end = self._emit(f"arith.sub {lower}, %c1")
            self.lines.append(f"scf.for {start}, {end}, %m1, [] {{")
        else:
            self.lines.append(f"scf.for {lower}, {upper}, %c1, [] {{")
        self.lines.append(f"^({counter}: i64):")
        inside = [*counters, counter]
        count = self.random.choice([1, 1, 1, 2])
        for _ in range(count if depth == 1 else self.random.choice([0, 0, 1])):
            self._statement(inside)
        if depth > 1:
            self._loop(inside, depth - 1)
        if self.random.random() < 0.3:
            self._statement(inside)
        self.lines += ["scf.yield", "}"]

    def _index(self, counters: list[str]) -> str:
        base = self.random.choice([*counters, *counters, "%c1"])
        moved = self._emit(f"arith.add {base}, %c2")
        return self._emit(f"arith.add {moved}, %{self.random.choice(['m2', 'm1', 'c0', 'c0', 'c0', 'c1'])}")

    def _access(self, counters: list[str]) -> tuple[str, str]:
        if self.random.random() < 0.75:
            return "%a", f"[{self._index(counters)}, {self._index(counters)}]"
        return "%b", f"[{self._index(counters)}]"

    def _statement(self, counters: list[str]) -> None:
        target, where = self._access(counters)
        value = self._emit(f"mem.load {target}, {where}")
        for _ in range(self.random.randint(1, 2)):
            ref, indices = self._access(counters)
            other = self._emit(f"mem.load {ref}, {indices}")
            tripled = self._emit(f"arith.mul {value}, %three")
            value = self._emit(f"arith.add {tripled}, {other}")
        self.lines.append(f"mem.store {value}, {target}, {where}")


def _run(module: Module, size: int) -> list[np.ndarray]:
    generator = np.random.default_rng(1)
    arrays = [
        generator.integers(-(2**31), 2**31, shape, dtype=np.int32) for shape in ((EXTENT, EXTENT), (EXTENT,))
    ]
    interpret(module, "k", arrays, {"N": size})
    return arrays


@pytest.mark.parametrize("part", range(2))
def test_random_nests_give_the_same_bits(part: int) -> None:
    """Seeds are drawn so that `TIME_LOOPS_SEEDS` of them are a campaign."""
    seeds = int(os.environ.get("TIME_LOOPS_SEEDS", "30"))
    rewritten = 0
    for seed in range(part * seeds, (part + 1) * seeds):
        text = _Writer(random.Random(seed)).text()
        before, after = parse(text), parse(text)
        for sums in (True, False):
            rewritten += TimeLoops(sums=sums).apply(after, Context(current="time-loops"))
            check(after)
        for size in (0, 1, 2, SIZE):
            for expected, found in zip(_run(before, size), _run(after, size), strict=True):
                np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}, N = {size}\n{text}")
    assert rewritten > seeds // 4


NEST = """func.module {{
  func.func {{symbol = "k", sizes = ["N"], written = [0]}} {{
  ^(%a: ref<N x N x i32>, %b: ref<N x N x i32>):
    %0 = arith.constant {{value = 0}} : i64
    %1 = arith.constant {{value = 1}} : i64
    %N = func.size {{symbol = "N"}}
    %two = arith.constant {{value = 2}} : i64
    %last = arith.sub %N, %1
    scf.for %0, %last, %1, [] {{
    ^(%i: i64):
      %up = arith.add %i, %1
      scf.for %0, %last, %1, [] {{
      ^(%j: i64):
        %right = arith.add %j, %1
        %2 = mem.load {source}
        {more}
        mem.store %2, %a, [%i, %j]
        scf.yield
      }}
      scf.yield
    }}
    func.return
  }}
}}
"""


def _rewritten(source: str, more: str = "", aliases: bool = False) -> Module | None:
    module = parse(NEST.format(source=source, more=more))
    if aliases:
        module.functions[0].attrs["aliases"] = ((0, 1),)
    changed = TimeLoops().apply(module, Context(current="time-loops"))
    return module if changed else None


def _iterators(module: Module | None) -> list[int]:
    assert module is not None
    return [len(op.iterators) for op in module.walk() if isinstance(op, st.Apply)]


def test_what_does_not_depend_on_itself_is_one_op() -> None:
    assert _iterators(_rewritten("%b, [%up, %right]")) == [2]
    # What is read is only written later, so that it may not be one op, but a row is.
    module = _rewritten("%a, [%up, %j]")
    assert _iterators(module) == [1]
    assert module is not None
    assert sum(isinstance(op, scf.For) for op in module.walk()) == 1


def test_a_nest_stays_where_an_order_is_not_proved() -> None:
    assert _rewritten("%b, [%up, %right]", aliases=True) is None
    # The element before, and the row before three to the right: a time would have to be `4 i + j`.
    before = "%left = arith.sub %j, %1\n%above = arith.sub %i, %1\n%far = arith.add %right, %two\n"
    before += "%3 = mem.load %a, [%above, %far]\n"
    both = before + "%4 = mem.load %a, [%i, %left]\n%5 = arith.add %3, %4\nmem.store %5, %a, [%i, %j]"
    assert _rewritten("%b, [%i, %j]", more=both) is None


def test_a_check_or_a_call_in_a_nest_keeps_it() -> None:
    check_it = '%in = arith.lt %i, %j\npy.check %in, [] {error = "IndexError", message = "no"}'
    assert _rewritten("%b, [%i, %j]", more=check_it) is None


def test_empty_systems_are_proved_and_others_are_not() -> None:
    i, j, n = dim(0), dim(1), symbol(0)
    assert is_empty([i, n - i - 1, i - n])
    assert not is_empty([i, n - i - 1])
    # 2 i = 2 j + 1 has no whole numbers.
    assert is_empty([i * 2 - j * 2 - 1, j * 2 - i * 2 + 1])
    # 2 i + 1 = 3 j has.
    assert not is_empty([i * 2 - j * 3 + 1, j * 3 - i * 2 - 1])
    assert is_empty([const(-1)])


def test_what_follows_from_constraints() -> None:
    i, j, n = dim(0), dim(1), symbol(0)
    triangle = [j, i - j - 1, n - i - 1]
    assert implies(triangle, i - 1)
    assert not implies(triangle, i - 2)
    assert project(triangle, 1) == [n - i - 1, i - 1]
    assert without_redundant([i, i - 1, i + 1], []) == [i - 1]
