# SPDX-License-Identifier: Apache-2.0
"""Random programs of second names, views, stores and updates in place: NumPy's result, or a refusal."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from pyasc.frontend import KernelSource
from pyasc.ir.diagnostics import CompileError
from tests.kernels.view_cases import HEAD
from tests.unit.frontend_support import lower, run_module

VIEWS = (
    "{m}", "{m}", "x", "y", "{m}.T", "{m}[1:]", "{m}[::-1]", "{m}[:, ::2]", "{m}[...]", "{m}[-1]", "{m}[None]",
    "{m}.reshape(-1)", "{m}.ravel()", "flat({m})", "same({m})", "({m}, {o})[0]", "[{m}, {o}][1]",
    "(lambda t: t.T)({m})", "({m} if c > 0 else {o})", "asc.split({m}, 1)[0]",
    "{m}.copy()", "{m}.flatten()", "+{m}", "{m} * 2", "{m} + {o}", "asc.zeros((3, 4))",
)  # fmt: skip

BINDINGS = ("{t} = {v}", "{t} = {v}", "{t}, _ = {v}, 1", "{t} = {o} = {v}", "asc.sum({t} := {v})")

STORES = (
    "{m}[...] = {k}", "{m}[0] = {k}", "{m} += {k}", "{m} *= 2", "{m}[-1:] -= {k}", "{m}[{m} > 3] = {k}",
    "put({m}, {k})", "put({v}, {k})", "put_by_another_name({m}, {k})", "add_one({m})",
    "add_one_by_another_name({m})", "{m}.fill({k})", "asc.copy({o} * 1, {m})", "for r in {m}:\n    r += {k}",
)  # fmt: skip

STARTS = (
    ("a = x", "a = x * 2", "a = asc.zeros((3, 4))", "a = x[1:]"),
    ("b = y", "b = a", "b = y + 1", "b = asc.empty((3, 4))\nb[...] = y"),
    ("d = b", "d = a.T", "d = x * y", "d = a[::-1]"),
)

PROGRAMS = 60
"""A test; the seeds of a test follow from its number."""


def program(seed: int) -> str:
    """A function of two arrays and a number that is 1."""
    r = random.Random(seed)
    lines = [line for start in STARTS for line in r.choice(start).splitlines()]
    for _ in range(r.randint(2, 7)):
        lines += statement(r, 0)
    lines.append("return a + 0, b + 0, d + 0")
    head = "def k(x: asc.float32[3, 4], y: asc.float32[3, 4], c: int):\n"
    return HEAD + head + "".join(f"    {line}\n" for line in lines)


def statement(r: random.Random, depth: int) -> list[str]:
    """The lines of one statement."""
    names = {role: r.choice("abd") for role in "mot"}
    if depth < 2 and r.random() < 0.12:
        head = r.choice(("if c > 0:", "if c < 0:", "for i in range(2):", "for i in range(c):"))
        return [head, *(f"    {line}" for _ in range(r.randint(1, 3)) for line in statement(r, depth + 1))]
    if r.random() < 0.05:
        return ["{m}, {o} = {o}, {m}".format(**names)]
    names["v"] = r.choice(VIEWS).format(**names)
    shape = r.choice(BINDINGS if r.random() < 0.4 else STORES)
    return shape.format(**names, k=r.randint(1, 9)).splitlines()


def arguments() -> tuple[Any, ...]:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    return x, x - 20, 1


def outcome(text: str) -> str:
    """What came of a program: `same`, `different`, `refused`, or `invalid` where Python raises."""
    names: dict[str, Any] = {}
    exec(text, names)
    given, numpys = arguments(), arguments()
    try:
        expected = names["k"](*numpys)
    except (ValueError, IndexError, TypeError):
        return "invalid"
    try:
        module = lower(KernelSource.from_text(text, "k"), *given).module
    except CompileError:
        return "refused"
    results = run_module(module, given)
    pairs = zip((*results, *given[:2]), (*expected, *numpys[:2]), strict=True)
    return "same" if all(np.array_equal(a, b) for a, b in pairs) else "different"


@pytest.mark.parametrize("number", range(4))
def test_random_programs(number: int) -> None:
    seeds = range(number * PROGRAMS, (number + 1) * PROGRAMS)
    found = {seed: outcome(program(seed)) for seed in seeds}
    different = [program(seed) for seed, what in found.items() if what == "different"]
    assert not different, different[0]
    assert Counter(found.values())["same"] > PROGRAMS // 3
