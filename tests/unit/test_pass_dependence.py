# SPDX-License-Identifier: Apache-2.0
"""Dependence tests: which loops have independent iterations, and at which distance accesses meet."""

from __future__ import annotations

import pytest

from pyasc.ir.dialects import mem, scf
from pyasc.ir.dialects.func import Func
from pyasc.ir.parser import parse
from pyasc.passes.analysis.dependence import accesses_inside, compare, distance, find_conflict
from pyasc.passes.analysis.ranges import Ranges


def kernel(body: str) -> Func:
    text = f"""func.module {{
      func.func {{symbol = "k", sizes = ["N", "M"], written = [0, 1]}} {{
      ^(%y: ref<N x f32>, %x: ref<N x M x f32>, %f: ref<(N*M) x f32>, %idx: ref<N x i64>, %v: f32, %k: i64):
        %n = func.size {{symbol = "N"}}
        %m = func.size {{symbol = "M"}}
        %c0 = arith.constant {{value = 0}} : i64
        %c1 = arith.constant {{value = 1}} : i64
        %c2 = arith.constant {{value = 2}} : i64
        %c4 = arith.constant {{value = 4}} : i64
        {body}
        func.return
      }}
    }}"""
    (func,) = parse(text).functions
    return func


def loops(func: Func) -> list[scf.For]:
    return [op for op in func.walk() if isinstance(op, scf.For)]


def over(counter: str, upper: str, body: str, step: str = "%c1") -> str:
    return f"scf.for %c0, {upper}, {step}, [] {{\n^(%{counter}: i64):\n{body}\nscf.yield\n}}\n"


INDEPENDENT = {
    "one element each": over("i", "%n", "mem.store %v, %y, [%i]"),
    "read and write of one element": over("i", "%n", "%a = mem.load %y, [%i]\nmem.store %a, %y, [%i]"),
    "even and odd": over(
        "i",
        "%n",
        "%e = arith.mul %i, %c2\n%o = arith.add %e, %c1\n%a = mem.load %y, [%o]\nmem.store %a, %y, [%e]",
    ),
    "rows": over("i", "%n", over("j", "%m", "mem.store %v, %x, [%i, %j]")),
    "rows of a flat array": over(
        "i", "%n", over("j", "%m", "%r = arith.mul %i, %m\n%a = arith.add %r, %j\nmem.store %v, %f, [%a]")
    ),
    "beyond the end": over(
        "i", "%n", "%j = arith.add %i, %n\n%a = mem.load %f, [%j]\nmem.store %a, %f, [%i]"
    ),
    "tiles of four": over(
        "i", "%n", over("j", "%c4", "%a = arith.add %i, %j\nmem.store %v, %f, [%a]"), step="%c4"
    ),
    "atomic": over("i", "%n", '%j = mem.load %idx, [%i]\nmem.atomic %v, %y, [%j] {fn = "add"}'),
    "a buffer of its own": over(
        "i", "%n", "%b = mem.alloc : ref<4 x f32, local>\nmem.store %v, %b, [%c0]\n%a = mem.load %b, [%c1]"
    ),
    "reads alone": over("i", "%n", "%a = mem.load %y, [%c0]"),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent(name: str) -> None:
    func = kernel(INDEPENDENT[name])
    assert find_conflict(loops(func)[0], Ranges(func)) is None


DEPENDENT = {
    "one element for all": over("i", "%n", "mem.store %v, %y, [%c0]"),
    "the neighbour": over(
        "i", "%n", "%j = arith.sub %i, %c1\n%a = mem.load %y, [%j]\nmem.store %a, %y, [%i]"
    ),
    "scatter": over("i", "%n", "%j = mem.load %idx, [%i]\nmem.store %v, %y, [%j]"),
    "a row for each column": over("j", "%m", over("i", "%n", "mem.store %v, %y, [%i]")),
    "columns that overlap": over("i", "%n", over("j", "%m", "%a = arith.add %i, %j\nmem.store %v, %f, [%a]")),
    "half": over("i", "%n", "%h = arith.floordiv %i, %c2\nmem.store %v, %y, [%h]"),
    "an offset that may be anything": over(
        "i", "%n", "%j = arith.add %i, %k\n%a = mem.load %y, [%j]\nmem.store %a, %y, [%i]"
    ),
    "atomic and read": over("i", "%n", '%a = mem.load %y, [%c0]\nmem.atomic %v, %y, [%c0] {fn = "add"}'),
    "tiles that overlap": over(
        "i", "%n", over("j", "%c4", "%a = arith.add %i, %j\nmem.store %v, %f, [%a]"), step="%c2"
    ),
    "views": "%w = mem.view %y, [%c0], [%c4], [%c1] {axes = [0]} : ref<4 x f32>\n"
    + over("i", "%c4", "%a = mem.load %w, [%i]\nmem.store %a, %y, [%i]"),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent(name: str) -> None:
    func = kernel(DEPENDENT[name])
    conflict = find_conflict(loops(func)[0], Ranges(func))
    assert conflict is not None
    assert conflict.first.writes or conflict.second.writes
    assert conflict.reason


def test_inner_loop_of_rows_is_independent_too() -> None:
    func = kernel(INDEPENDENT["rows"])
    assert [find_conflict(loop, Ranges(func)) for loop in loops(func)] == [None, None]


def test_too_many_accesses_are_not_compared() -> None:
    lines = "".join(
        f"%q{i} = arith.constant {{value = {i}}} : i64\n%a{i} = arith.add %i, %q{i}\nmem.store %v, %y, [%a{i}]\n"
        for i in range(100)
    )
    func = kernel(over("i", "%n", lines))
    conflict = find_conflict(loops(func)[0], Ranges(func))
    assert conflict is not None
    assert "more than" in conflict.reason


@pytest.mark.parametrize(
    ("first", "second", "meeting"),
    [
        ("%y, [%c0]", "%y, [%c0]", "same"),
        ("%y, [%c0]", "%y, [%c1]", "distinct"),
        ("%y, [%c0]", "%y, [%k]", "unknown"),
        ("%y, [%k]", "%f, [%k]", "distinct"),
        ("%x, [%k, %c0]", "%x, [%k, %c1]", "distinct"),
        ("%x, [%k, %c0]", "%x, [%c1, %c0]", "unknown"),
    ],
)
def test_comparison_in_one_iteration(first: str, second: str, meeting: str) -> None:
    func = kernel(f"mem.store %v, {first}\nmem.store %v, {second}")
    a, b = accesses_inside(func)
    assert compare(a, b, Ranges(func)) == meeting


@pytest.mark.parametrize(
    ("store", "load", "expected"),
    [
        ("%i, %j", "%i, %j", (0, 0)),
        ("%i, %j", "%im, %j", (1, 0)),
        ("%i, %j", "%im, %jp", (1, -1)),
        ("%c0, %j", "%c0, %j", (None, 0)),
        ("%i, %j", "%j, %i", None),
        ("%i, %c0", "%i, %c1", ValueError),
        ("%i2, %j", "%im, %j", None),
    ],
)
def test_distance(store: str, load: str, expected: object) -> None:
    lines = "%im = arith.sub %i, %c1\n%jp = arith.add %j, %c1\n%i2 = arith.mul %i, %c2\n"
    body = over("i", "%n", over("j", "%m", f"{lines}mem.store %v, %x, [{store}]\n%a = mem.load %x, [{load}]"))
    func = kernel(body)
    write, read = accesses_inside(func)
    assert isinstance(write.op, mem.Store)
    if expected is ValueError:
        with pytest.raises(ValueError, match="never touch"):
            distance(write, read, loops(func), Ranges(func))
    else:
        assert distance(write, read, loops(func), Ranges(func)) == expected
