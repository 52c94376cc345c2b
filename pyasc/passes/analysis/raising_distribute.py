# SPDX-License-Identifier: Apache-2.0
"""Splitting a loop so that a product-sum in it can become one structured op over the loop as well.

    for j in parallel_for(n):                  for j in parallel_for(n):
        acc = bias[j]                              c[i, j] = bias[j]
        for k in range(m):                     for j in parallel_for(n):
            acc += a[i, k] * b[k, j]      =>       for k in range(m):
        c[i, j] = max(acc, 0.0)                        c[i, j] += a[i, k] * b[k, j]
                                               for j in parallel_for(n):
                                                   c[i, j] = max(c[i, j], 0.0)

The result in the making is kept where the loop stores what it makes of it. A loop is only split where that lets
the elements that a reduction reads be used for several of its results, or be read along memory; everything else
is left together, since what one inner loop wrote is in the cache for the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, scf, st
from pyasc.ir.record import Record
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import Nest
from pyasc.passes.analysis.effects import is_local, may_alias, root_of
from pyasc.passes.analysis.raising import (
    Access,
    captured,
    conflict,
    copy_into,
    extend_map,
    is_plain,
    is_same_each_time,
    reads_of,
    slice_of,
    sweep,
)
from pyasc.passes.analysis.raising_expand import expand, extent_of
from pyasc.passes.analysis.raising_settle import cell_type


class Split(Record):
    """The loops that take the place of one, in order; `main` holds the product-sum."""

    loops: list[scf.For]
    main: scf.For


def split(loop: scf.For) -> Split | None:
    """Put the parts of a loop before it as loops of their own; None, and nothing changed, when that is no use or
    not allowed. The loop itself is left to the caller."""
    main = _main_op(loop)
    if main is None:
        return None
    number = _position(loop, main)
    work = loop.clone()
    assert isinstance(work, scf.For)
    Builder.before(loop).insert(work)
    found = _Distribution(work, list(work.body.block)[number]).run()
    work.drop()
    work.unlink()
    return found


def _main_op(loop: scf.For) -> st.Apply | None:
    """The reduction in a loop that is worth a loop of its own."""
    nest = Nest([loop.counter], loop)
    for op in loop.body.block:
        if isinstance(op, st.Apply) and "reduce" in op.roles and _gains(op, nest):
            return op
    return None


def _gains(op: st.Apply, nest: Nest) -> bool:
    """Whether one more iterator lets elements be reused, or walks along memory."""
    maps = [extend_map(op, map_, nest) for map_ in op.input_maps]
    known = [map_ for map_ in maps if map_ is not None]
    moving = [map_.uses(0) for map_ in known]
    along = any(map_.results and map_.results[-1].coefficient(0) for map_ in known)
    along |= any(_walks_along(inner, nest) for inner in op.body.block)
    return along or (any(moving) and not all(moving))


def _walks_along(op: Operation, nest: Nest) -> bool:
    """Whether an element at a computed index is the neighbour of the one in the next iteration."""
    last = nest.expr(op.indices[-1]) if isinstance(op, mem.Load) and op.indices else None
    return last is not None and bool(last.coefficient(0))


def _position(loop: scf.For, op: Operation) -> int:
    return next(i for i, each in enumerate(loop.body.block) if each is op)


@dataclass
class _Part:
    """Operations with effects that stay in one loop, and everything that they touch, with places in the body.

    The last part passes on what the loop carries.
    """

    ops: list[Operation]
    carries: bool = False
    reads: list[tuple[int, Access]] = field(default_factory=lambda: list[tuple[int, Access]]())
    writes: list[tuple[int, Access]] = field(default_factory=lambda: list[tuple[int, Access]]())


class _Distribution:
    """One loop to be split around `main`; works on a loop that is thrown away."""

    def __init__(self, loop: scf.For, main: Operation) -> None:
        assert isinstance(main, st.Apply)
        self.loop = loop
        self.main = main
        self.block = loop.body.block
        self.nest = Nest([loop.counter], loop)

    def run(self) -> Split | None:
        """Keep the running value in the loop's result, then split."""
        known = (st.Apply, mem.Store, mem.Load, mem.Alloc)
        if not all(isinstance(op, known) or is_plain(op) for op in self.block if op is not self.block.last):
            return None
        if not self._spill():
            return None
        parts = self._parts()
        if len(parts) < 2 or not all(self._fill(part) for part in parts) or not _separable(parts):
            return None
        loops = [self._emit(part) for part in parts]
        main = next(i for i, part in enumerate(parts) if self.main in part.ops)
        return Split(loops, loops[main])

    def _spill(self) -> bool:
        """Let the op reduce into the element that its result, or what is made of it, is stored to."""
        op = self.main
        if op.roles != ("reduce",) or len(op.inits) > 1:
            return False
        cell = op.outputs[0]
        if not isinstance(cell.op, mem.Alloc) or cell.op.parent is not self.block:
            return True
        store = self._target(cell) if cell.type == cell_type(cell) and op.inits else None
        if store is None:
            return self._expand(cell)
        at = Builder(self.block, op, op.loc)
        mapping: dict[Value, Value] = {}
        copy_into(slice_of(store.indices, self.block), at, mapping)
        indices = [mapping.get(value, value) for value in store.indices]
        if not is_same_each_time(op.inits[0], self.block):
            at.insert(mem.Store(value=op.inits[0], ref=store.ref, indices=indices))
            op.set_operands("inits", ())
        after = Builder.after(op)
        back = after.value(mem.Load(ref=store.ref, indices=indices))
        for load in [user for user in cell.uses if isinstance(user, mem.Load)]:
            load.replace_with([back])
        self._reduce_into(store.ref, indices)
        if store.value is back:
            store.erase()
        return True

    def _expand(self, ref: Value) -> bool:
        """Give every iteration a place of its own for the result."""
        op = self.main
        whole = expand(ref, self.loop, self.nest) if self._may_grow(ref) else None
        if whole is None:
            return False
        if op.inits and not is_same_each_time(op.inits[0], self.block):
            if op.rank != sum(kind == "reduction" for kind in op.iterators):
                return False
            at = Builder.before(op)
            at.insert(mem.Store(value=op.inits[0], ref=whole, indices=[self.loop.counter]))
            op.set_operands("inits", ())
        return True

    def _may_grow(self, ref: Value) -> bool:
        """Whether a buffer with a place for each iteration takes no more memory than an array that the loop fills."""
        type_ = ref.type
        assert isinstance(type_, RefType)
        if not type_.shape:
            return True
        filled = [op.ref for op in self.block if isinstance(op, mem.Store)]
        filled += [out for op in self.block if isinstance(op, st.Apply) for out in op.outputs]
        shapes = [
            out.type.shape for out in filled if isinstance(out.type, RefType) and not is_local(root_of(out))
        ]
        return (extent_of(self.loop.upper), *type_.shape) in shapes

    def _reduce_into(self, ref: Value, indices: Sequence[Value]) -> None:
        op = self.main
        nest = Nest((), self.block.terminator)
        nest.adopt(op.symbols)
        map_ = nest.map(indices)
        assert map_ is not None
        op.set_operands("outputs", [ref])
        op.set_operands("symbols", nest.symbols)
        op.output_maps = (map_,)

    def _target(self, cell: Value) -> mem.Store | None:
        """The first store behind the op, if nothing else touches its memory before, and each iteration has one
        element of its own there."""
        place = _position(self.loop, self.main)
        behind = list(self.block)[place:]
        store = next((op for op in behind if isinstance(op, mem.Store)), None)
        if store is None or dtype_of(store.ref.type) is not dtype_of(cell.type):
            return None
        map_ = self.nest.map(store.indices)
        if map_ is None or not all(is_plain(op) for op in slice_of(store.indices, self.block)):
            return None
        access: Access = (store.ref, map_)
        if conflict(0, [access], [access]) is not None:
            return None
        others = [ref for ref, _ in self._touched(list(self.block), but=store)]
        return None if any(may_alias(store.ref, ref) for ref in others) else store

    def _touched(self, ops: Sequence[Operation], but: Operation | None = None) -> list[Access]:
        found: list[Access] = []
        for op in ops:
            if op is not but:
                found += self._reads(op) + self._writes(op)
        return found

    def _reads(self, op: Operation) -> list[Access]:
        match op:
            case mem.Load():
                return [(op.ref, self.nest.map(op.indices))]
            case st.Apply():
                found = self._extended(op, op.inputs, op.input_maps)
                found += [(ref, None) for ref, _ in list(reads_of(op))[len(op.inputs) :]]
                if op.combined and not op.inits:
                    found += self._writes(op)
                return found
            case _:
                return []

    def _writes(self, op: Operation) -> list[Access]:
        match op:
            case mem.Store():
                return [(op.ref, self.nest.map(op.indices))]
            case st.Apply():
                return self._extended(op, op.outputs, op.output_maps)
            case _:
                return []

    def _extended(self, op: st.Apply, refs: Sequence[Value], maps: Sequence[AffineMap]) -> list[Access]:
        return [(ref, extend_map(op, map_, self.nest)) for ref, map_ in zip(refs, maps, strict=True)]

    def _parts(self) -> list[_Part]:
        """What comes before the op, the op, and what comes after it."""
        parts = [_Part([]), _Part([self.main]), _Part([], carries=bool(self.loop.inits))]
        seen = False
        for op in self.block:
            seen |= op is self.main
            if isinstance(op, (mem.Store, st.Apply)) and op is not self.main:
                parts[2 if seen else 0].ops.append(op)
        return [part for part in parts if part.ops or part.carries]

    def _fill(self, part: _Part) -> bool:
        """Collect what a part touches; False when it needs what another part leaves in a buffer of the loop, or
        what only the last part carries."""
        places = {op: i for i, op in enumerate(self.block)}
        needed = dict.fromkeys(part.ops)
        for op in [*part.ops, *([self.block.terminator] if part.carries else [])]:
            needed.update(dict.fromkeys(slice_of([*op.operands, *captured(op)], self.block)))
        for op in needed:
            part.reads += [(places[op], access) for access in self._reads(op)]
            part.writes += [(places[op], access) for access in self._writes(op)]
        carried = set(self.loop.carried)
        if not part.carries and any(carried & {*op.operands, *captured(op)} for op in needed):
            return False
        own = {ref for _, (ref, _) in part.writes}
        return all(ref in own for _, (ref, _) in part.reads if ref.block is self.block)

    def _emit(self, part: _Part) -> scf.For:
        """A copy of the loop with one part alone."""
        mapping: dict[Value, Value] = {}
        made = self.loop.clone(mapping)
        assert isinstance(made, scf.For)
        Builder.before(self.loop).insert(made)
        kept = {i for i, op in enumerate(self.block) if op in part.ops}
        for i, op in reversed(list(enumerate(made.body.block))):
            if isinstance(op, (mem.Store, st.Apply)) and i not in kept:
                op.drop()
                op.unlink()
        if not part.carries:
            _carry_nothing(made)
        sweep(made.body.block)
        for op in list(made.body.block):
            if isinstance(op, mem.Alloc) and not op.ref.uses:
                op.erase()
        return made


def _carry_nothing(loop: scf.For) -> None:
    """Take the carried values out of a loop that does not use them."""
    block = loop.body.block
    block.terminator.set_operands("values", [])
    sweep(block)
    for index in range(len(block.args) - 1, 0, -1):
        block.remove_arg(index)
    loop.set_operands("inits", [])
    loop.results = ()


def _separable(parts: Sequence[_Part]) -> bool:
    """Whether all of each part may run before any of the next."""
    for i, first in enumerate(parts):
        for second in parts[i + 1 :]:
            pairs = [(a, b) for a in first.writes for b in (*second.writes, *second.reads)]
            pairs += [(a, b) for a in first.reads for b in second.writes]
            for (early, a), (late, b) in pairs:
                if may_alias(a[0], b[0]) and (early >= late or conflict(0, [a], [b]) is not None):
                    return False
    return True
