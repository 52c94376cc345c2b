# SPDX-License-Identifier: Apache-2.0
"""Random kernels mean the same before and after each pass: same arrays, and an IndexError in the same cases."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value, block_of
from pyasc.ir.dialects import arith, func, mem, py, scf
from pyasc.ir.interpreter import interpret
from pyasc.ir.location import Location
from pyasc.ir.parser import parse
from pyasc.ir.sizes import size
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.base import run_passes
from pyasc.passes.instrument import Instrument
from pyasc.passes.pipeline_parser import parse_pipeline

I64, F32, I1 = (ScalarType(dtype) for dtype in (dtypes.i64, dtypes.f32, dtypes.i1))
PARAMS = {
    "y": RefType((size("N"),), dtypes.f32),
    "x": RefType((size("N"), size("M")), dtypes.f32),
    "idx": RefType((size("N"),), dtypes.i64),
    "k": I64,
    "s": F32,
    "b": I1,
}


class Generator:
    """Builds one random kernel at the py level; loops are short, so that the interpreter is quick."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.line = 0
        self.block = Block(list(PARAMS.values()), list(PARAMS))
        self.params = dict(zip(PARAMS, self.block.args, strict=True))
        self.ints: list[Value] = [self.params["k"]]
        self.floats: list[Value] = [self.params["s"]]
        self.bools: list[Value] = [self.params["b"]]
        self.at = Builder(self.block)

    def module(self) -> func.Module:
        self.ints += [self.emit(func.Size(symbol=name)) for name in ("N", "M")]
        self.ints += [self.emit(arith.Constant.of(n, dtypes.i64)) for n in (0, 1, 2, 3, -1)]
        self.floats += [self.emit(arith.Constant.of(n, dtypes.f32)) for n in (0.0, 1.0, -0.0, 2.5)]
        self.buffer = self.emit(mem.Alloc(types=[RefType((4,), dtypes.f32, "local")]))
        for i in range(4):
            at = self.emit(arith.Constant.of(i, dtypes.i64))
            self.at.insert(mem.Store(value=self.floats[i], ref=self.buffer, indices=[at]))
        self.statements(self.random.randint(2, 6), 3)
        self.at.insert(func.Return())
        kernel = func.Func(symbol="k", sizes=("N", "M"), written=(0, 1), body=region_of(self.block))
        module = func.Module(body=block_of())
        kernel.attach(module.body.block)
        return module

    def emit(self, op: Operation) -> Value:
        self.line += 1
        op.loc = Location("random.py", self.line)
        return self.at.value(op)

    def elementwise(self, fn: str, *args: Value) -> Value:
        return self.emit(arith.Elementwise(fn=fn, args=args))

    def integer(self) -> Value:
        pick = self.random.choice
        fn = pick(
            ("add", "sub", "mul", "pymin", "pymax", "minimum", "mod", "floordiv", "neg", "old", "old", "old")
        )
        if fn == "old":
            return pick(self.ints)
        if fn == "neg":
            return self.remember(self.ints, self.elementwise(fn, pick(self.ints)))
        return self.remember(self.ints, self.elementwise(fn, pick(self.ints), pick(self.ints)))

    def floating(self) -> Value:
        pick = self.random.choice
        fn = pick(
            ("add", "sub", "mul", "div", "neg", "abs", "select", "load", "load", "buffer", "cast", "old")
        )
        match fn:
            case "old":
                made = pick(self.floats)
            case "load":
                made = self.load()
            case "buffer":
                at = self.emit(arith.Constant.of(self.random.randrange(4), dtypes.i64))
                made = self.emit(mem.Load(ref=self.buffer, indices=[at]))
            case "cast":
                made = self.emit(arith.Cast.to(pick(self.ints), dtypes.f32))
            case "select":
                made = self.elementwise(fn, self.truth(), pick(self.floats), pick(self.floats))
            case "neg" | "abs":
                made = self.elementwise(fn, pick(self.floats))
            case _:
                made = self.elementwise(fn, pick(self.floats), pick(self.floats))
        return self.remember(self.floats, made)

    def truth(self) -> Value:
        pick = self.random.choice
        fn = pick(("lt", "le", "eq", "ge", "flt", "and", "or", "not", "old"))
        match fn:
            case "old":
                made = pick(self.bools)
            case "not":
                made = self.elementwise(fn, pick(self.bools))
            case "and" | "or":
                made = self.elementwise(fn, pick(self.bools), pick(self.bools))
            case "flt":
                made = self.elementwise("lt", pick(self.floats), pick(self.floats))
            case _:
                made = self.elementwise(fn, self.integer(), pick(self.ints))
        return self.remember(self.bools, made)

    def remember(self, pool: list[Value], value: Value) -> Value:
        pool.append(value)
        return value

    def index(self) -> Value:
        """An index that is in range more often than not."""
        recent = self.ints[-3:]
        return self.integer() if self.random.random() < 0.3 else self.random.choice(recent)

    def load(self) -> Value:
        if self.random.random() < 0.5:
            return self.emit(py.Load(ref=self.params["y"], indices=[self.index()]))
        return self.emit(py.Load(ref=self.params["x"], indices=[self.index(), self.index()]))

    def statements(self, count: int, depth: int) -> None:
        for _ in range(count):
            kinds = ["store", "store", "compute", "gather", "buffer"]
            kinds += ["for", "for", "if", "while"] if depth else []
            getattr(self, f"_{self.random.choice(kinds)}")(depth)

    def _compute(self, _: int) -> None:
        self.integer()
        self.floating()

    def _gather(self, _: int) -> None:
        self.remember(self.ints, self.emit(py.Load(ref=self.params["idx"], indices=[self.index()])))

    def _buffer(self, _: int) -> None:
        at = self.emit(arith.Constant.of(self.random.randrange(4), dtypes.i64))
        self.at.insert(mem.Store(value=self.floating(), ref=self.buffer, indices=[at]))

    def _store(self, _: int) -> None:
        value = self.floating()
        self.line += 1
        loc = Location("random.py", self.line)
        if self.random.random() < 0.5:
            self.at.insert(py.Store(value=value, ref=self.params["y"], indices=[self.index()], loc=loc))
        else:
            indices = [self.index(), self.index()]
            self.at.insert(py.Store(value=value, ref=self.params["x"], indices=indices, loc=loc))

    def nested(self, block: Block, fill: Callable[[], None]) -> None:
        """Fill a block; what it defines is forgotten afterwards."""
        at, pools = self.at, [list(pool) for pool in (self.ints, self.floats, self.bools)]
        self.at = Builder(block)
        fill()
        self.at = at
        self.ints, self.floats, self.bools = pools

    def _for(self, depth: int) -> None:
        pick, rng = self.random.choice, self.random
        lower = pick(self.ints) if rng.random() < 0.4 else self.emit(arith.Constant.of(0, dtypes.i64))
        lower = self.elementwise("pymax", lower, self.emit(arith.Constant.of(-3, dtypes.i64)))
        six = self.emit(arith.Constant.of(6, dtypes.i64))
        upper = self.elementwise("pymin", pick(self.ints), six) if rng.random() < 0.6 else self.ints[1]
        step = self.emit(arith.Constant.of(pick((1, 1, 1, 2, -1)), dtypes.i64))
        inits = [pick(self.floats), pick(self.ints)] if rng.random() < 0.5 else []
        types = [value.type for value in inits]
        body = block_of([I64, *types])
        loop = scf.For(lower=lower, upper=upper, step=step, inits=inits, body=body, types=types)

        def fill() -> None:
            counter, *carried = body.block.args
            self.ints.append(counter)
            if carried:
                self.floats.append(carried[0])
                self.ints.append(carried[1])
                self.ints.append(counter)
            self.statements(rng.randint(1, 3), depth - 1)
            self.at.insert(scf.Yield(values=[self.floating(), self.small(carried[1])] if carried else []))

        self.nested(body.block, fill)
        self.at.insert(loop)
        if loop.results:
            self.floats.append(loop.results[0])
            self.ints.append(loop.results[1])

    def small(self, carried: Value) -> Value:
        """A next value for a carried integer that stays small over all loops."""
        one = self.emit(arith.Constant.of(self.random.choice((0, 1, -1)), dtypes.i64))
        return self.random.choice((self.elementwise("add", carried, one), self.ints[1], carried))

    def _if(self, depth: int) -> None:
        condition = self.truth()
        results = self.random.random() < 0.5
        branch = scf.If(
            condition=condition, then=block_of(), otherwise=block_of(), types=[F32, I64] if results else []
        )
        for region in branch.regions:

            def fill() -> None:
                self.statements(self.random.randint(0, 2), depth - 1)
                self.at.insert(scf.Yield(values=[self.floating(), self.integer()] if results else []))

            self.nested(region.block, fill)
        self.at.insert(branch)
        if results:
            self.floats.append(branch.results[0])
            self.ints.append(branch.results[1])

    def _while(self, depth: int) -> None:
        """`while n < 3: ...; n += 1`, with a float carried along."""
        start = self.emit(arith.Constant.of(self.random.choice((0, 1, 5)), dtypes.i64))
        inits = [start, self.random.choice(self.floats)]
        types = [I64, F32]
        loop = scf.While(inits=inits, before=block_of(types), after=block_of(types), types=types)

        def test() -> None:
            three = self.emit(arith.Constant.of(3, dtypes.i64))
            condition = self.elementwise("lt", loop.before.block.args[0], three)
            self.at.insert(scf.Condition(condition=condition, forwarded=loop.before.block.args))

        def fill() -> None:
            number, value = loop.after.block.args
            self.ints.append(number)
            self.floats.append(value)
            self.statements(self.random.randint(1, 2), depth - 1)
            one = self.emit(arith.Constant.of(1, dtypes.i64))
            self.at.insert(scf.Yield(values=[self.elementwise("add", number, one), self.floating()]))

        self.nested(loop.before.block, test)
        self.nested(loop.after.block, fill)
        self.at.insert(loop)
        self.ints.append(loop.results[0])
        self.floats.append(loop.results[1])


def region_of(block: Block):
    from pyasc.ir.core import Region

    return Region([block])


Outcome = tuple[str, list[bytes]]


def run(module: func.Module, seed: int) -> Outcome:
    """What a kernel does to arrays of a few sizes: the error's name, or all bytes afterwards."""
    rng = np.random.default_rng(seed)
    results: list[bytes] = []
    for n, m in ((4, 3), (1, 6), (0, 2), (6, 0)):
        arrays = [
            rng.standard_normal(n).astype(np.float32),
            rng.standard_normal((n, m)).astype(np.float32),
            rng.integers(-n if rng.random() < 0.5 else 0, max(n, 1), n),
        ]
        scalars = [int(rng.integers(-2, 5)), float(np.float32(rng.standard_normal())), bool(rng.integers(2))]
        try:
            interpret(module, "k", [*arrays, *scalars])
            results += [canonical(array) for array in arrays]
        except IndexError:
            results.append(b"IndexError")
    return "", results


def canonical(array: np.ndarray) -> bytes:
    """The bytes of an array with one NaN for all, since the sign of a NaN is not kept."""
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.float32(np.nan), array)
    return array.tobytes()


PIPELINES = [
    "canonicalize",
    "sccp",
    "cse",
    "dce",
    "licm",
    "if-convert",
    "unroll{factor=3}",
    "resolve-indices",
    "prove",
    "resolve-indices,prove,canonicalize",
    "resolve-indices,licm",
    "resolve-indices,cse,forward",
    "resolve-indices,canonicalize,licm,forward,unroll,cleanup",
    "py,licm,resolve-indices,prove,cleanup,forward,unroll,if-convert,cleanup,licm",
]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_passes_keep_the_meaning(pipeline: str) -> None:
    check_seeds(pipeline, range(40))


@pytest.mark.fuzz
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_passes_keep_the_meaning_of_many(pipeline: str) -> None:
    check_seeds(pipeline, range(40, 3000))


def check_seeds(pipeline: str, seeds: range) -> None:
    for seed in seeds:
        module = Generator(seed).module()
        text = str(module)
        expected = run(module, seed)
        run_passes(module, parse_pipeline(pipeline), Instrument(verify=True))
        assert run(module, seed) == expected, f"seed {seed}: {pipeline} changes what this does:\n{text}"


def test_random_kernels_have_a_text_form() -> None:
    for seed in range(20):
        module = Generator(seed).module()
        assert str(parse(str(module))) == str(module)


def test_random_kernels_raise_and_finish_about_as_often() -> None:
    outcomes = [each for seed in range(60) for each in run(Generator(seed).module(), seed)[1]]
    raised = sum(each == b"IndexError" for each in outcomes)
    assert 0.1 * len(outcomes) < raised
    assert len(outcomes) - raised > 60
