# SPDX-License-Identifier: Apache-2.0
"""Random affine loop nests compute the same before raising, after it, and after lowering what was raised."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence

import numpy as np
import pytest

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, func, mem, scf, st
from pyasc.ir.interpreter import interpret
from pyasc.ir.parser import parse
from pyasc.ir.sizes import size
from pyasc.ir.types import RefType, ScalarType
from pyasc.ir.verifier import check
from pyasc.passes.base import Context, run_passes
from pyasc.passes.pipeline_parser import parse_pipeline

I64, I1 = ScalarType(dtypes.i64), ScalarType(dtypes.i1)
SEEDS = int(os.environ.get("RAISE_SEEDS", "160"))
EXTENT = 40
"""Extents of the arrays: more than any index that the generator makes."""
ARRAYS = {"x": 1, "y": 1, "a": 2, "b": 2, "c": 3}
FUNCTIONS = ("add", "add", "mul", "minimum", "maximum", "pymax", "pymin", "sub")


class Generator:
    """Builds one kernel at the loop level from nests of small sequential loops over i64 arrays.

    Integers make every reassociation exact, so results have to be equal to the bit.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        types = [RefType((EXTENT,) * rank, dtypes.i64) for rank in ARRAYS.values()]
        self.block = Block([*types, RefType((size("N"),), dtypes.i64)], [*ARRAYS, "n"])
        self.refs = dict(zip(ARRAYS, self.block.args, strict=False))
        self.at = Builder(self.block)

    def module(self) -> func.Module:
        self.size = self.emit(func.Size(symbol="N"))
        self.numbers = [self.constant(n) for n in range(5)]
        for _ in range(self.random.randint(1, 2)):
            self.loop([], self.random.randint(1, 4))
        self.at.insert(func.Return())
        kernel = func.Func(symbol="k", sizes=("N",), written=tuple(range(len(ARRAYS))), body=block_of())
        kernel.regions[0].blocks = []
        kernel.regions[0].add(self.block)
        module = func.Module(body=block_of())
        kernel.attach(module.body.block)
        return parse(str(module))  # names and uses as a file would have them

    def emit(self, op: Operation) -> Value:
        return self.at.value(op)

    def call(self, fn: str, *args: Value) -> Value:
        return self.emit(arith.Elementwise(fn=fn, args=args))

    def constant(self, number: int) -> Value:
        return self.emit(arith.Constant.of(number, dtypes.i64))

    def loop(self, counters: Sequence[Value], depth: int) -> None:
        """A loop with something inside, maybe around an accumulator, maybe one over tiles."""
        pick = self.random.random()
        if pick < 0.2 and depth > 1:
            self.tiles(counters, depth)
            return
        if pick < 0.3 and depth > 1:
            self.product(counters)
            return
        lower, upper, step = self.bounds(counters)
        carries = pick > 0.7
        inits = [self.value(counters)] if carries else []
        op = scf.For(
            lower=lower,
            upper=upper,
            step=step,
            inits=inits,
            types=[I64] * len(inits),
            body=block_of([I64, *[I64] * len(inits)]),
        )
        self.at.insert(op)
        outer, self.at = self.at, Builder(op.body.block)
        if carries:
            self.carried_body([*counters, op.counter], op.carried[0], depth)
        else:
            self.statements([*counters, op.counter], depth - 1)
            self.at.insert(scf.Yield())
        self.at = outer
        if carries and self.random.random() < 0.8:
            self.store(counters, op.values[0])

    def bounds(self, counters: Sequence[Value]) -> tuple[Value, Value, Value]:
        lower = self.random.choice([self.numbers[0], self.numbers[1], *counters[-1:]])
        upper = self.random.choice([self.size, self.numbers[3], self.numbers[4], *counters[:1]])
        step = self.random.choice([self.numbers[1]] * 6 + [self.numbers[2]])
        return lower, upper, step

    def tiles(self, counters: Sequence[Value], depth: int) -> None:
        """A loop over tiles around a loop over a tile, perhaps with another loop between."""
        tile = scf.For(
            lower=self.numbers[0], upper=self.size, step=self.numbers[2], types=[], body=block_of([I64])
        )
        self.at.insert(tile)
        outer, self.at = self.at, Builder(tile.body.block)
        end = self.call("pymin", self.call("add", tile.counter, self.numbers[2]), self.size)
        inner = list(counters)
        loops: list[tuple[Value, Value]] = [(tile.counter, end)]
        if self.random.random() < 0.6:
            loops.insert(0, (self.numbers[0], self.numbers[3]))
        outers: list[Builder] = []
        for lower, upper in loops:
            loop = scf.For(lower=lower, upper=upper, step=self.numbers[1], types=[], body=block_of([I64]))
            self.at.insert(loop)
            outers.append(self.at)
            self.at = Builder(loop.body.block)
            inner.append(loop.counter)
        self.statements(inner, min(depth - 2, 1))
        for each in reversed(outers):
            self.at.insert(scf.Yield())
            self.at = each
        self.at.insert(scf.Yield())
        self.at = outer

    def open(self, upper: Value, inits: Sequence[Value] = ()) -> tuple[scf.For, Builder]:
        """Start a loop from 0; returns it and the builder to go back to."""
        types = [I64] * len(inits)
        op = scf.For(
            lower=self.numbers[0],
            upper=upper,
            step=self.numbers[1],
            inits=inits,
            types=types,
            body=block_of([I64, *types]),
        )
        self.at.insert(op)
        outer, self.at = self.at, Builder(op.body.block)
        return op, outer

    def product(self, counters: Sequence[Value]) -> None:
        """A product-sum over two loops, often with something before and after it."""
        outer_loop, first = self.open(self.numbers[4])
        inner_loop, second = self.open(self.numbers[3])
        inside = [*counters, outer_loop.counter, inner_loop.counter]
        start = self.value(inside) if self.random.random() < 0.5 else self.numbers[0]
        sum_, third = self.open(self.size, [start])
        i, j, k = outer_loop.counter, inner_loop.counter, sum_.counter
        a = self.emit(mem.Load(ref=self.refs[self.random.choice("ab")], indices=[i, k]))
        b = self.emit(mem.Load(ref=self.refs[self.random.choice("ab")], indices=[k, j]))
        following = self.call("add", sum_.carried[0], self.call("mul", a, b))
        self.at.insert(scf.Yield(values=[following]))
        self.at = third
        result = sum_.values[0]
        if self.random.random() < 0.6:
            result = self.call(self.random.choice(("add", "mul", "maximum")), result, self.value(inside))
        if self.random.random() < 0.8:
            self.at.insert(
                mem.Store(value=result, ref=self.refs["c"], indices=[self.random.choice(self.numbers), i, j])
            )
        else:
            self.store(inside, result)
        if self.random.random() < 0.2:
            self.statement(inside)
        self.at.insert(scf.Yield())
        self.at = second
        if self.random.random() < 0.2:
            self.statement([*counters, outer_loop.counter])
        self.at.insert(scf.Yield())
        self.at = first

    def carried_body(self, counters: Sequence[Value], acc: Value, depth: int) -> None:
        if depth > 1 and self.random.random() < 0.5:
            op = scf.For(
                lower=self.numbers[0],
                upper=self.size,
                step=self.numbers[1],
                inits=[acc],
                types=[I64],
                body=block_of([I64, I64]),
            )
            self.at.insert(op)
            outer, self.at = self.at, Builder(op.body.block)
            self.carried_body([*counters, op.counter], op.carried[0], depth - 1)
            self.at = outer
            self.at.insert(scf.Yield(values=[op.values[0]]))
            return
        new = self.value(counters)
        following = self.call(self.random.choice(FUNCTIONS), acc, new)
        if self.random.random() < 0.3:
            condition = self.call(
                self.random.choice(("gt", "lt", "ne")), self.value(counters), self.numbers[1]
            )
            following = self.call("select", condition, following, acc)
        if self.random.random() < 0.3:
            self.store(counters, self.random.choice([following, new]))
        self.at.insert(scf.Yield(values=[following]))

    def statements(self, counters: Sequence[Value], depth: int) -> None:
        if depth > 0 and self.random.random() < 0.8:
            if self.random.random() < 0.2:
                self.store(counters, self.value(counters))
            self.loop(counters, depth)
            if self.random.random() < 0.3:
                self.store(counters, self.value(counters))
            return
        for _ in range(self.random.choice((1, 1, 1, 2))):
            self.statement(counters)

    def statement(self, counters: Sequence[Value]) -> None:
        pick = self.random.random()
        if pick < 0.4:
            self.accumulate(counters)
        elif pick < 0.6:
            self.branch(counters)
        else:
            self.store(counters, self.value(counters))

    def accumulate(self, counters: Sequence[Value]) -> None:
        name, indices = self.element(counters)
        old = self.emit(mem.Load(ref=self.refs[name], indices=indices))
        new = self.call(self.random.choice(FUNCTIONS), old, self.value(counters))
        self.at.insert(mem.Store(value=new, ref=self.refs[name], indices=indices))

    def branch(self, counters: Sequence[Value], depth: int = 2) -> None:
        condition = self.call("gt", self.value(counters), self.numbers[1])
        op = scf.If(condition=condition, types=[], then=block_of(), otherwise=block_of())
        self.at.insert(op)
        for region in op.regions:
            outer, self.at = self.at, Builder(region.block)
            if region is op.then or self.random.random() < 0.5:
                for _ in range(self.random.choice((1, 1, 2))):
                    self.in_branch(counters, depth)
            self.at.insert(scf.Yield())
            self.at = outer

    def in_branch(self, counters: Sequence[Value], depth: int) -> None:
        """Often the same element in all branches, so that its value is chosen."""
        pick = self.random.random()
        if pick < 0.2 and depth:
            self.branch(counters, depth - 1)
        elif pick < 0.5:
            self.statement(counters)
        elif pick < 0.8:
            self.at.insert(mem.Store(value=self.value(counters), ref=self.refs["y"], indices=counters[-1:]))
        else:
            self.store(counters, self.value(counters))

    def store(self, counters: Sequence[Value], value: Value) -> None:
        name, indices = self.element(counters)
        self.at.insert(mem.Store(value=value, ref=self.refs[name], indices=indices))

    def value(self, counters: Sequence[Value]) -> Value:
        def operand() -> Value:
            if self.random.random() < 0.15:
                return self.random.choice([*self.numbers, *counters])
            name, indices = self.element(counters)
            return self.emit(mem.Load(ref=self.refs[name], indices=indices))

        if self.random.random() < 0.4:
            return operand()
        return self.call(self.random.choice(("add", "mul", "sub", "maximum")), operand(), operand())

    def element(self, counters: Sequence[Value]) -> tuple[str, list[Value]]:
        name = self.random.choice(list(ARRAYS))
        return name, [self.index(counters) for _ in range(ARRAYS[name])]

    def index(self, counters: Sequence[Value]) -> Value:
        pick = self.random.random()
        if not counters or pick < 0.1:
            return self.random.choice(self.numbers)
        first = self.random.choice(counters)
        if pick < 0.7:
            return first
        if pick < 0.85:
            return self.call("add", first, self.random.choice([*counters, *self.numbers]))
        return self.call(
            "add", self.call("mul", first, self.numbers[2]), self.random.choice([*counters, *self.numbers])
        )


def run(module: func.Module, seed: int, extent: int, reverse: bool = False) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(-3, 4, (EXTENT,) * rank) for rank in ARRAYS.values()]
    interpret(module, "k", [*arrays, np.zeros(extent, np.int64)], reverse_parallel=reverse)
    return arrays


def passes(module: func.Module, names: str) -> Context:
    context = run_passes(module, parse_pipeline(names))
    check(module)
    return context


@pytest.mark.parametrize("block", range(SEEDS // 40))
def test_raising_changes_no_result(block: int) -> None:
    raised = 0
    for seed in range(block * 40, block * 40 + 40):
        module = Generator(seed).module()
        extents = (0, 1, 5)
        before = [run(module, seed, extent) for extent in extents]
        passes(module, "raise-loops")
        raised += any(isinstance(op, st.Apply) for op in module.walk())
        for extent, expected in zip(extents, before, strict=True):
            for reverse in (False, True):
                for a, b in zip(run(module, seed, extent, reverse), expected, strict=True):
                    np.testing.assert_array_equal(a, b, f"seed {seed}, N = {extent}, reverse = {reverse}")
        passes(module, "lower-structured")
        for extent, expected in zip(extents, before, strict=True):
            for a, b in zip(run(module, seed, extent), expected, strict=True):
                np.testing.assert_array_equal(a, b, f"seed {seed}, N = {extent}, lowered")
    assert raised > 20, "the generator makes too few nests that can be raised"


def guarded_kernel(seed: int) -> func.Module:
    """A nest that reads neighbours only where a condition says that they exist; arrays end where the loops do."""
    pick = random.Random(seed)
    offsets = [(pick.randint(-2, 2), pick.randint(-2, 2)) for _ in range(pick.randint(1, 3))]
    guards: dict[str, None] = {}
    loads: list[str] = []
    for k, (di, dj) in enumerate(offsets):
        loads += [f"%p{k} = arith.add %i, %c{di + 2}", f"%q{k} = arith.add %j, %c{dj + 2}"]
        loads.append(f"%e{k} = mem.load %x, [%p{k}, %q{k}]")
        for name, shift, end in (("i", di, "m"), ("j", dj, "n")):
            guards[f"%a{name}{shift + 2} = arith.add %{name}, %c{shift + 2}"] = None
            test = f"ge %a{name}{shift + 2}, %c2" if shift < 0 else f"lt %a{name}{shift + 2}, %{end}"
            guards[f"%g{name}{shift + 2} = arith.{test}"] = None
    names = [line.split()[0] for line in guards if line.startswith("%g")]
    chain = [f"%t0 = arith.and {names[0]}, {names[-1]}"]
    chain += [f"%t{k + 1} = arith.and %t{k}, {name}" for k, name in enumerate(names)]
    total = [f"%s{k + 1} = arith.{pick.choice(('add', 'maximum'))} %s{k}, %e{k}" for k in range(len(offsets))]
    accumulates = pick.random() < 0.4
    carried = pick.random() < 0.5
    target = "%zero" if pick.random() < 0.3 else "%j"
    body = [*guards, *chain]
    if carried:
        inner = [*loads, *total, f"%u = arith.add %acc, %s{len(offsets)}", "scf.yield %u"]
        body += [f"%r = scf.if %t{len(names)} : i64 {{", *inner, "} {", "scf.yield %acc", "}", "scf.yield %r"]
        header = "%sum = scf.for %zero, %n, %one, [%zero] : i64 {\n^(%j: i64, %acc: i64):"
        footer = "}\nmem.store %sum, %y, [%i, %zero]"
    else:
        store = ["%s0_ = mem.load %y, [%i, TARGET]", "%v = arith.add %s0_, LAST"] if accumulates else []
        store = [line.replace("LAST", f"%s{len(offsets)}") for line in store]
        store.append(f"mem.store {'%v' if accumulates else f'%s{len(offsets)}'}, %y, [%i, TARGET]")
        body += [f"scf.if %t{len(names)} {{", *loads, *total]
        body += [line.replace("TARGET", target) for line in store]
        body += ["scf.yield", "} {", "scf.yield", "}", "scf.yield"]
        header, footer = "scf.for %zero, %n, %one, [] {\n^(%j: i64):", "}"
    constants = "\n".join(f"%c{k} = arith.constant {{value = {k - 2}}} : i64" for k in range(5))
    lines = "\n".join(body).replace("%s0,", "%one,")
    return parse(
        f"""
func.module {{
  func.func {{symbol = "k", sizes = ["M", "N"], written = [1]}} {{
  ^(%x: ref<M x N x i64>, %y: ref<M x (N + 1) x i64>):
    %m = func.size {{symbol = "M"}}
    %n = func.size {{symbol = "N"}}
    %zero = arith.constant {{value = 0}} : i64
    %one = arith.constant {{value = 1}} : i64
    {constants}
    scf.for %zero, %m, %one, [] {{
    ^(%i: i64):
      {header}
      {lines}
      {footer}
      scf.yield
    }}
    func.return
  }}
}}"""
    )


def test_no_element_is_read_that_was_not_read_before() -> None:
    raised = 0
    for seed in range(60):
        module = guarded_kernel(seed)
        for extents in ((0, 0), (1, 1), (2, 5), (6, 4)):
            rng = np.random.default_rng(seed)
            x, y = rng.integers(-3, 4, extents), rng.integers(-3, 4, (extents[0], extents[1] + 1))
            expected = y.copy()
            interpret(module, "k", [x, expected])
            after = parse(str(module))
            passes(after, "raise-loops")
            raised += any(isinstance(op, st.Apply) for op in after.walk())
            interpret(after, "k", [x, y])
            np.testing.assert_array_equal(y, expected, f"seed {seed}, extents {extents}")
    assert raised > 120
