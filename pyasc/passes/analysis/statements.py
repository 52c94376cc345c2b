# SPDX-License-Identifier: Apache-2.0
"""An affine loop nest as statements: each store with what it is computed from, the loops around it, and its accesses.

    for i: for j < i:                    statement 0 in loops (i, j): writes A[i, j], reads A[i, j], A[j, j]
        A[i, j] = A[i, j] / A[j, j]      statement 1 in loop (i):     writes A[i, i], reads A[i, i]
        A[i, i] = sqrt(A[i, i])

Before that everything that flows from one iteration to another flows through memory: values that loops carry are
kept in buffers, structured ops become loops, and a buffer that an iteration has for itself becomes an array with a
place for each iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pyasc.ir.affine import AffineExpr, AffineMap, dim
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import func, mem, scf, st
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.analysis.affine import Nest, Polynomials, integer_of
from pyasc.passes.analysis.apply_loops import lower_apply
from pyasc.passes.analysis.polyhedron import implies, project
from pyasc.passes.analysis.raising import is_plain

Constraints = tuple[AffineExpr, ...]


class NotAffine(Exception):
    """A nest that is not made of statements of this form."""


@dataclass(frozen=True, eq=False)
class Access:
    """A load or store: its memory, where, the loops around it by number, and its place in the body of each."""

    ref: Value
    map: AffineMap
    loops: tuple[int, ...]
    path: tuple[int, ...]
    writes: bool


@dataclass(frozen=True, eq=False)
class Statement:
    """A store, for the iterations of its loops that satisfy `domain`. The write is the last access."""

    store: mem.Store
    loops: tuple[int, ...]
    domain: Constraints
    accesses: tuple[Access, ...]

    @property
    def target(self) -> Access:
        """The write."""
        return self.accesses[-1]

    def within(self, *more: AffineExpr) -> Statement:
        """The statement for some of its iterations."""
        return replace(self, domain=(*self.domain, *more))


class AffineNest:
    """A loop with everything in it. Iterator number n of all expressions is the counter of `loops[n]`."""

    def __init__(self, root: scf.For) -> None:
        self.root = root
        self.loops = [op for op in root.walk() if isinstance(op, scf.For)]
        self.number = {loop: number for number, loop in enumerate(self.loops)}
        self.nest = Nest([loop.counter for loop in self.loops], root)
        self.ranges = [self._range(loop) for loop in self.loops]

    @property
    def symbols(self) -> list[Value]:
        """What the symbols of all expressions stand for."""
        return self.nest.symbols

    def facts(self) -> Constraints:
        """What is known of the symbols: sizes are not negative."""
        return tuple(
            AffineExpr(symbols=(0,) * number + (1,))
            for number, value in enumerate(self.symbols)
            if isinstance(value.op, func.Size)
        )

    def descends(self, loop: int) -> bool:
        """Whether a loop counts down."""
        return integer_of(self.loops[loop].step) == -1

    def statements(self) -> list[Statement]:
        """All statements in the order of the text. Raises NotAffine."""
        self._place: dict[Operation, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self._note(self.root.body.block, (0,), ())
        return [self._statement(op) for op in self._place if isinstance(op, mem.Store)]

    def _range(self, loop: scf.For) -> Constraints:
        """That a counter lies in the range of its loop."""
        step = integer_of(loop.step)
        lower, upper = self.nest.expr(loop.lower), self.nest.expr(loop.upper)
        if step not in (1, -1) or lower is None or upper is None or loop.inits:
            raise NotAffine
        counter = dim(self.number[loop])
        if step == 1:
            return counter - lower, upper - counter - 1
        return lower - counter, counter - upper - 1

    def _note(self, block: Block, loops: tuple[int, ...], above: tuple[int, ...]) -> None:
        for position, op in enumerate(block):
            path = (*above, position)
            match op:
                case scf.For():
                    self._note(op.body.block, (*loops, self.number[op]), path)
                case mem.Store() | mem.Load():
                    self._place[op] = loops, path
                case scf.Yield():
                    pass
                case _:
                    if not is_plain(op):
                        raise NotAffine

    def _statement(self, store: mem.Store) -> Statement:
        loops, _ = self._place[store]
        loads = [op for op in self.computing(store) if isinstance(op, mem.Load)]
        return Statement(
            store,
            loops,
            tuple(expr for loop in loops for expr in self.ranges[loop]),
            (*(self._access(load) for load in loads), self._access(store)),
        )

    def computing(self, store: mem.Store) -> list[Operation]:
        """The operations of the nest behind what a store writes and where, in order."""
        found: set[Operation] = set()
        pending = list(store.operands)
        while pending:
            value = pending.pop()
            op = value.op
            if op is None or op in found or self.nest.is_invariant(value):
                continue
            found.add(op)
            pending += op.operands
        return [op for op in self.root.walk() if op in found]

    def _access(self, op: mem.Load | mem.Store) -> Access:
        map_ = self.nest.map(op.indices)
        if map_ is None or not self.nest.is_invariant(op.ref):
            raise NotAffine
        loops, path = self._place[op]
        return Access(op.ref, map_, loops, path, isinstance(op, mem.Store))


def through_memory(root: scf.For) -> None:
    """Let everything that iterations of a nest hand on go through memory. Raises NotAffine, the nest half changed."""
    for op in [each for each in root.walk() if isinstance(each, st.Apply)]:
        if op.strict or op.guarded:
            raise NotAffine
        lower_apply(op)
    for loop in [each for each in root.walk() if isinstance(each, scf.For)]:
        if loop.inits:
            _keep_carried(loop, root)
    allocs = [each for each in root.walk() if isinstance(each, mem.Alloc)]
    if allocs:
        model = AffineNest(root)
        for alloc in allocs:
            _expand(alloc, model)


def _keep_carried(loop: scf.For, root: scf.For) -> None:
    """Keep what a loop carries in buffers in front of it."""
    if loop is root or not all(isinstance(value.type, ScalarType) for value in loop.carried):
        raise NotAffine
    block = loop.body.block
    before, after = Builder.before(loop), Builder.after(loop)
    start, end = Builder(block, block.first, loop.loc), Builder.before(block.terminator)
    cells: list[Value] = []
    for init, carried in zip(loop.inits, loop.carried, strict=True):
        assert isinstance(carried.type, ScalarType)
        cells.append(before.value(mem.Alloc(types=[RefType((), carried.type.dtype, "local")]), carried.name))
        before.insert(mem.Store(value=init, ref=cells[-1], indices=[]))
        carried.replace_uses(start.value(mem.Load(ref=cells[-1], indices=[]), carried.name))
    for cell, result, value in zip(cells, loop.values, block.terminator.operands, strict=True):
        end.insert(mem.Store(value=value, ref=cell, indices=[]))
        if result.uses:
            result.replace_uses(after.value(mem.Load(ref=cell, indices=[]), result.name))
    block.terminator.set_operands("values", [])
    for index in range(len(block.args) - 1, 0, -1):
        block.remove_arg(index)
    loop.set_operands("inits", [])
    loop.results = ()


def _expand(alloc: mem.Alloc, model: AffineNest) -> None:
    """An array in front of the nest with a place for each iteration of the loops around a buffer."""
    type_ = alloc.ref.type
    assert isinstance(type_, RefType)
    if not all(isinstance(user, (mem.Load, mem.Store)) for user in alloc.ref.uses):
        raise NotAffine
    around = [each for each in reversed(list(alloc.ancestors())) if each in model.number]
    loops = [each for each in around if isinstance(each, scf.For)]
    numbers = [model.number[loop] for loop in loops]
    domain = [expr for number in numbers for expr in model.ranges[number]]
    if not all(implies([*domain, *model.facts()], dim(number)) for number in numbers):
        raise NotAffine
    given = iter(alloc.sizes)
    wanted = [dim(number) + 1 for number in numbers]
    ranks = [len(op.indices) for op in model.root.walk() if isinstance(op, mem.Store)]
    if len(numbers) + len(type_.shape) > max(ranks):
        # It would take more memory than any array of the nest.
        raise NotAffine
    shape = (
        *(greatest(expr, numbers, domain, model) for expr in wanted),
        *(_extent(next(given), numbers, domain, model) if e is None else e for e in type_.shape),
    )
    whole = Builder.before(model.root).value(mem.Alloc(types=[RefType(shape, type_.dtype)]), alloc.ref.name)
    counters = [loop.counter for loop in loops]
    for user in list(alloc.ref.uses):
        assert isinstance(user, (mem.Load, mem.Store))
        indices = [*counters, *user.indices]
        if isinstance(user, mem.Load):
            user.replace_with(
                [Builder.before(user).value(mem.Load(ref=whole, indices=indices), user.value.name)]
            )
        else:
            Builder.before(user).insert(mem.Store(value=user.value, ref=whole, indices=indices))
            user.erase()
    alloc.erase()


def _extent(value: Value, loops: Sequence[int], domain: Sequence[AffineExpr], model: AffineNest) -> SizeExpr:
    expr = model.nest.expr(value)
    if expr is None:
        raise NotAffine
    return greatest(expr, loops, domain, model)


def greatest(
    expr: AffineExpr, loops: Sequence[int], domain: Sequence[AffineExpr], model: AffineNest
) -> SizeExpr:
    """A number that an expression does not exceed in any iteration, in terms of the sizes of the kernel."""
    bound = dim(len(model.loops))
    known: list[AffineExpr] | None = [*domain, expr - bound, bound - expr]
    for loop in loops:
        known = None if known is None else project(known, loop)
    for each in known or ():
        if each.coefficient(len(model.loops)) == -1:
            made = _size(each + bound, model.symbols)
            if made is not None:
                return made
    raise NotAffine


def _size(expr: AffineExpr, symbols: Sequence[Value]) -> SizeExpr | None:
    """An expression of symbols as one of sizes, or one that is greater but never negative."""
    if expr.dims or any(factor < 0 for factor in expr.symbols):
        return None
    polynomials = Polynomials()
    total = constant(max(expr.constant, 0))
    for number, factor in enumerate(expr.symbols):
        if factor:
            total = total + polynomials.of(symbols[number]) * factor
    opaque = any(name.startswith("%") for name in total.names)
    return None if opaque or any(factor < 0 for _, factor in total.terms) else total
