# SPDX-License-Identifier: Apache-2.0
"""A parallel loop as structured ops over all of its iterations, one after the other.

    scf.for %0, %n, %1, [] {kind = "parallel"} {
    ^(%j: i64):
      %total = mem.alloc : ref<f32, local>
      st.apply [%m, %j], [%a], [%zero], [%total] {iterators = ["reduction"], input_maps = [affine<d0, s1>], ...}
      %sum = mem.load %total, []
      %mean = arith.div %sum, %count
      mem.store %mean, %y, [%j]
    }

becomes a reduction over `parallel, reduction` into an array `%total` of `%n` numbers, and an elementwise division.
What one iteration keeps for itself becomes an array with an element for each; iterations of a parallel loop do not see
each other, so that they may run side by side, statement by statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineExpr, AffineMap, dim
from pyasc.ir.core import Builder, Operation, Region, Value, block_of
from pyasc.ir.dialects import arith, func, mem, scf, st
from pyasc.ir.types import RefType, ScalarType
from pyasc.passes.analysis.affine import Nest, Polynomials, constant_of
from pyasc.passes.analysis.phases import written_operands
from pyasc.passes.analysis.structured import computing, loads_to_inputs

_SCALARS = (arith.Constant, arith.Elementwise, arith.Cast, func.Size, mem.Dim, mem.Load)


class Undistributed(Exception):
    """A loop that stays as it is."""


def distribute(loop: scf.For) -> list[Operation]:
    """Insert before a parallel loop what does the same; the loop stays. Empty where that cannot be done."""
    work = _Distribution(loop)
    try:
        work.run()
    except Undistributed:
        work.undo()
        return []
    return work.made


def distribute_nest(loop: scf.For) -> list[Operation]:
    """As `distribute`, with the parallel loops inside distributed in the loop itself, also where it cannot be."""
    for inner in [op for op in loop.body.block if isinstance(op, scf.For)]:
        if not distribute_nest(inner):
            return []
        inner.erase()
    return distribute(loop)


@dataclass(frozen=True)
class _Lift:
    """From the iterators and symbols of an op to those of the loop around it, whose counter comes first.

    `symbols` are what the op's symbols are to the loop.
    """

    symbols: Sequence[AffineExpr]

    def all(self, exprs: Sequence[AffineExpr]) -> tuple[AffineExpr, ...]:
        """Expressions of the op as ones of the loop."""
        return tuple(map(self._lifted, exprs))

    def _lifted(self, expr: AffineExpr) -> AffineExpr:
        made = AffineExpr((0, *expr.dims), (), expr.constant)
        for symbol, coefficient in zip(self.symbols, expr.symbols, strict=False):
            made = made + symbol * coefficient
        return made


@dataclass
class _Distribution:
    loop: scf.For
    made: list[Operation] = field(default_factory=lambda: list[Operation]())
    arrays: dict[Value, Value] = field(default_factory=lambda: dict[Value, Value]())

    def run(self) -> None:
        """One op for each statement with an effect, in order."""
        if self.loop.kind != "parallel" or constant_of(self.loop.step) != 1:
            raise Undistributed
        self.at = Builder.before(self.loop)
        self.nest = Nest([self.loop.counter], self.loop)
        self.bounds = (self._expr(self.loop.lower), self._expr(self.loop.upper))
        for op in self.loop.body.block:
            self.at.loc = op.loc
            match op:
                case mem.Alloc():
                    self._array(op)
                case st.Apply():
                    self._apply(op)
                case mem.Store():
                    self._store(op)
                case scf.Yield():
                    pass
                case mem.View() if not op.view.uses:
                    pass
                case _:
                    if not isinstance(op, _SCALARS):
                        raise Undistributed

    def undo(self) -> None:
        """Take out what was inserted."""
        for op in reversed(self.made):
            op.erase()

    def _array(self, op: mem.Alloc) -> None:
        """A buffer of one iteration as a row of an array."""
        count = Polynomials().of(self.loop.upper)
        inner = op.ref.type
        assert isinstance(inner, RefType)
        open_ = None in inner.shape or any(name.startswith("%") for name in count.names)
        if open_ or not _counts_up(self.loop.lower):
            raise Undistributed
        made = mem.Alloc(types=[RefType((count, *inner.shape), inner.dtype)])
        self.arrays[op.ref] = self.at.value(made, op.ref.name)
        self.made.append(made)

    def _expr(self, value: Value) -> AffineExpr:
        found = self.nest.expr(value)
        if found is None:
            raise Undistributed
        return found

    def _access(self, ref: Value, indices: Sequence[AffineExpr]) -> tuple[Value, AffineMap]:
        """Where an access goes, in terms of all iterations."""
        if ref in self.arrays:
            return self.arrays[ref], AffineMap((dim(0), *indices))
        if not self.nest.is_invariant(ref):
            raise Undistributed
        return ref, AffineMap(tuple(indices))

    def _accesses(
        self, refs: Sequence[Value], maps: Sequence[AffineMap], lift: _Lift
    ) -> tuple[list[Value], tuple[AffineMap, ...]]:
        """Where the accesses of an op go, in terms of all iterations."""
        made = [self._access(ref, lift.all(map_.results)) for ref, map_ in zip(refs, maps, strict=True)]
        return [ref for ref, _ in made], tuple(map_ for _, map_ in made)

    def _apply(self, op: st.Apply) -> None:
        """The op with the loop's counter as one more parallel iterator."""
        if not all(self.nest.is_invariant(init) for init in op.inits):
            raise Undistributed
        lift = _Lift([self._expr(value) for value in op.symbols])
        inputs, input_maps = self._accesses(op.inputs, op.input_maps, lift)
        outputs, output_maps = self._accesses(op.outputs, op.output_maps, lift)
        first, last = self.bounds
        made = st.Apply(
            symbols=[],
            inputs=inputs,
            inits=op.inits,
            outputs=outputs,
            iterators=("parallel", *op.iterators),
            lower=(first, *lift.all(op.lower)),
            upper=(last, *lift.all(op.upper)),
            input_maps=input_maps,
            output_maps=output_maps,
            roles=op.roles,
            guarded=op.guarded,
            strict=op.strict,
            body=self._body(op, op.body.block.args, [arg for each in op.walk() for arg in each.operands]),
            combine=_copied(op.combine),
        )
        self._finish(made, op)

    def _store(self, op: mem.Store) -> None:
        ref, map_ = self._access(op.ref, [self._expr(index) for index in op.indices])
        first, last = self.bounds
        made = st.Apply(
            symbols=[],
            inputs=(),
            outputs=[ref],
            iterators=("parallel",),
            lower=(first,),
            upper=(last,),
            input_maps=(),
            output_maps=(map_,),
            roles=("write",),
            body=self._body(op, [], [op.value]),
            combine=Region(),
        )
        self._finish(made, op)

    def _finish(self, made: st.Apply, op: Operation) -> None:
        made.set_operands("symbols", self.nest.symbols)
        self.at.insert(made)
        self.made.append(made)
        loads_to_inputs(made)
        if any(isinstance(inner, mem.Load) for inner in made.walk()):
            raise Undistributed

    def _body(self, op: Operation, args: Sequence[Value], used: Sequence[Value]) -> Region:
        """What an op computes, behind a copy of the loop's scalars that it uses."""
        region = block_of(
            [ScalarType(dtypes.i64), *(arg.type for arg in args)],
            [self.loop.counter.name, *(arg.name for arg in args)],
        )
        mapping: dict[Value, Value] = dict(
            zip([self.loop.counter, *args], region.block.args, strict=True)
        ) | dict(self.arrays)
        inner = Builder(region.block, loc=op.loc)
        for scalar in self._scalars(op, used):
            self._copy(scalar, mapping, inner)
        if isinstance(op, st.Apply):
            for each in op.body.block:
                inner.insert(each.clone(mapping))
        else:
            inner.insert(st.Yield(values=[mapping.get(value, value) for value in used]))
        return region

    def _copy(self, op: Operation, mapping: dict[Value, Value], at: Builder) -> None:
        if isinstance(op, mem.Load) and op.ref in self.arrays:
            indices = [self.loop.counter, *op.indices]
            load = mem.Load(ref=self.arrays[op.ref], indices=[mapping.get(each, each) for each in indices])
            mapping[op.value] = at.value(load, op.value.name)
        else:
            at.insert(op.clone(mapping))

    def _scalars(self, user: Operation, roots: Sequence[Value]) -> list[Operation]:
        """The loop's own scalar operations behind some values, in order. Raises for a load that is out of date."""
        made = [op for op in computing(roots, self.loop.body.block) if not isinstance(op, mem.Alloc)]
        if any(isinstance(op, mem.Load) and _overwritten(op, user) for op in made):
            raise Undistributed
        return made


def _overwritten(load: mem.Load, user: Operation) -> bool:
    """Whether the array is written between a load and its user, or while the user, which has many points, runs."""
    if isinstance(user, st.Apply) and load.ref in user.outputs:
        return True
    op = load.next
    while op is not None and op is not user:
        if any(load.ref in written_operands(each) for each in op.walk()):
            return True
        op = op.next
    return False


def _counts_up(value: Value) -> bool:
    """Whether a bound is told to be no less than zero."""
    match value.owner:
        case arith.Constant(value=int(number)):
            return number >= 0
        case func.Size():
            return True
        case arith.Elementwise(fn="add") as op:
            return all(_counts_up(arg) for arg in op.operands)
        case _:
            loop = value.block.parent_op if value.op is None and value.block is not None else None
            return isinstance(loop, scf.For) and value is loop.counter and _counts_up(loop.lower)


def _copied(region: Region) -> Region:
    copy = Region()
    region.clone_into(copy, {})
    return copy
