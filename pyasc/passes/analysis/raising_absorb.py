# SPDX-License-Identifier: Apache-2.0
"""A loop around one structured op becomes one more iterator of it.

    %s = scf.for %0, %m, %1, [%a] : f32 {          // a sum carried through an outer loop
    ^(%c: i64, %acc: f32):
      %cell = mem.alloc : ref<f32, local>
      st.apply [%c, %n], [%x], [%acc], [%cell] {iterators = ["reduction"], input_maps = [affine<s0, d0>], ...}
      %next = mem.load %cell, []
      scf.yield %next
    }

becomes

    %cell = mem.alloc : ref<f32, local>
    st.apply [%m, %n], [%x], [%a], [%cell] {iterators = ["reduction", "reduction"], input_maps = [affine<d0, d1>], ...}
    %s = mem.load %cell, []

The new iterator is parallel where the loop is, or where no iteration touches what another one writes; it is a
reduction where the loop carries the op's running values, or where every iteration adds to the same elements.
A loop over tiles around a loop over the elements of a tile becomes one iterator over all elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir import affine
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith, mem, scf, st
from pyasc.ir.dtypes import i64
from pyasc.ir.record import Record
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.affine import Nest, index, integer_of, materialise
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.raising import (
    Access,
    CannotRaise,
    Domain,
    Proofs,
    captured,
    conflict,
    copy_into,
    extend,
    extend_map,
    is_costly,
    is_plain,
    limits_of,
    reads_of,
    slice_of,
    sweep,
    without,
    writes_of,
)
from pyasc.passes.analysis.raising_accumulate import accumulate
from pyasc.passes.analysis.raising_order import map_each
from pyasc.passes.analysis.raising_settle import Running, cast, settle
from pyasc.passes.analysis.structured import loads_to_inputs

I64 = ScalarType(i64)


class Maps(Record):
    """The bounds and maps of the op over the loop's counter (d0) and its own iterators; None is not affine."""

    lower: list[AffineExpr | None]
    upper: list[AffineExpr | None]
    inputs: list[AffineMap | None]
    outputs: list[AffineMap | None]


class Absorption:
    """One loop with one structured op in it. `run` raises CannotRaise, having changed the loop, if it cannot."""

    def __init__(self, loop: scf.For, op: st.Apply, proofs: Proofs) -> None:
        self.loop = loop
        self.op = op
        self.proofs = proofs
        self.nest = Nest([loop.counter], loop)
        self.block = loop.body.block
        self.running: list[Running] = []

    def run(self) -> list[Value]:
        """Move the op out of the loop; returns what takes the place of the loop's results."""
        step = integer_of(self.loop.step)
        if step is None:
            raise CannotRaise(self.loop.loc, "the step of the loop is not a constant")
        self.running = settle(self.loop, self.op, self.nest)
        self._check_rest()
        maps = self._maps()
        tile = self._tile(maps, step)
        if tile is None:
            kind = self._kind(maps)
            self._demote_inputs(maps)
            self._sink()
            self._add_iterator(maps, kind, step)
        else:
            self._check_tile(maps, tile)
            self._demote_inputs(maps)
            self._sink()
            self._widen_tile(maps, tile)
        return self._finish()

    def _check_rest(self) -> None:
        """Nothing may be left in the loop that is not part of the op or computed for it."""
        for op in self.block:
            if op is self.op or op is self.block.last or is_plain(op) or isinstance(op, mem.Load):
                continue
            if isinstance(op, mem.Alloc) and self._is_private(op.ref):
                continue
            raise CannotRaise(op.loc, "other statements stand beside the inner loop", quiet=True)

        for ref, _ in (*reads_of(self.op), *writes_of(self.op)):
            if not self.nest.is_invariant(ref) and not isinstance(ref.op, mem.Alloc):
                raise CannotRaise(
                    self.op.loc, "the inner loop works on a view made in each iteration", quiet=True
                )

    def _is_private(self, ref: Value) -> bool:
        """Whether a buffer is only there for the op's results."""
        return all(user is self.op or isinstance(user, mem.Load) for user in ref.uses) and not any(
            read is ref for read, _ in reads_of(self.op)
        )

    def _maps(self) -> Maps:
        op = self.op
        maps = Maps(
            [extend(op, expr, self.nest) for expr in op.lower],
            [extend(op, expr, self.nest) for expr in op.upper],
            [extend_map(op, map_, self.nest) for map_ in op.input_maps],
            [extend_map(op, map_, self.nest) for map_ in op.output_maps],
        )
        if None in maps.outputs:
            raise CannotRaise(
                op.loc,
                "it writes at an index that is not a sum of multiples of loop counters",
                "a computed index is written by a loop; gather (read at a computed index) instead of scattering",
            )
        return maps

    def _accesses(self, maps: Maps) -> tuple[list[Access], list[Access]]:
        """What the op writes and reads, over the counter and the iterators."""
        inputs = [*zip(self.op.inputs, maps.inputs, strict=True)]
        body = list(reads_of(self.op))[len(inputs) :]
        return [*zip(self.op.outputs, maps.outputs, strict=True)], [*inputs, *body]

    def _kind(self, maps: Maps) -> str:
        """What the loop is as an iterator."""
        for side in (maps.lower, maps.upper):
            if None in side:
                raise CannotRaise(
                    self.op.loc, "the range of an inner loop is not a sum of multiples of loop counters"
                )
        writes, reads = self._accesses(maps)
        limits = [None, *limits_of(maps.lower, maps.upper)]
        if self.running:
            self._check_running(conflict(0, self._plain_writes(writes), [*writes, *reads], limits))
            return "scan" if "scan" in self.op.roles else "reduction"
        own = all(self.nest.is_invariant(ref) and not self._is_fixed((ref, map_)) for ref, map_ in writes)
        free = conflict(0, writes, [*writes, *reads], limits) is None
        if free or (self.loop.kind == "parallel" and own):
            return "parallel"
        self._accumulate(maps)
        return "reduction"

    def _plain_writes(self, writes: Sequence[Access]) -> list[Access]:
        return [each for each, role in zip(writes, self.op.roles, strict=True) if role != "reduce"]

    def _check_running(self, met: Access | None) -> None:
        """Running values pass through the loop; everything else must be written once."""
        if sum(len(each.numbers) for each in self.running) != len(self.op.combined):
            raise CannotRaise(
                self.op.loc, "only some of the reduced values pass through the loop", quiet=True
            )
        if met is not None:
            raise self._dependence(met)
        if "scan" in self.op.roles and self.op.rank:
            raise CannotRaise(self.op.loc, "a running value is stored after each inner loop", quiet=True)

    def _dependence(self, met: Access) -> CannotRaise:
        name = met[0].name or "a buffer"
        return CannotRaise(
            self.op.loc,
            f"an iteration may touch an element of {name!r} that another one writes",
            "use parallel_for if the iterations are independent",
            quiet=not self.nest.is_invariant(met[0]),
            meets=self._is_fixed(met),
        )

    def _is_fixed(self, access: Access) -> bool:
        """Whether every iteration surely touches the same elements, of memory that all iterations share."""
        ref, map_ = access
        bounds = [extend(self.op, expr, self.nest) for expr in (*self.op.lower, *self.op.upper)]
        moving = map_ is None or map_.uses(0) or any(expr is None or expr.coefficient(0) for expr in bounds)
        return not moving and self.nest.is_invariant(ref)

    def _accumulate(self, maps: Maps) -> None:
        """Every iteration combines into the same elements, or the loop stays."""
        writes, reads = self._accesses(maps)
        met = conflict(0, writes, [*writes, *reads])
        assert met is not None
        if any(map_ is None or map_.uses(0) for _, map_ in writes) or self.op.inits:
            raise self._dependence(met)
        kept = accumulate(self.op)
        if kept is None or any(
            may_alias(ref, out) for ref, _ in reads_of(self.op) for out in self.op.outputs
        ):
            raise self._dependence(met)
        maps.inputs[:] = [extend_map(self.op, map_, self.nest) for map_ in self.op.input_maps]

    def _tile(self, maps: Maps, step: int) -> int | None:
        """The iterator that walks one tile of this loop, when the loop does nothing else than to go over tiles."""
        counter = affine.dim(0)
        found = [i for i, expr in enumerate(maps.lower) if expr == counter and self._ends_tile(maps, i, step)]
        if len(found) != 1 or step <= 1:
            return None
        others = [
            expr for i in range(self.op.rank) if i != found[0] for expr in (maps.lower[i], maps.upper[i])
        ]
        for map_ in (*maps.inputs, *maps.outputs):
            others += map_.results if map_ is not None else [None]
        if any(expr is None or expr.coefficient(0) for expr in others) or self._body_uses_counter():
            return None
        return found[0]

    def _ends_tile(self, maps: Maps, iterator: int, step: int) -> bool:
        """Whether the tile ends `step` elements on, or at the end of the whole range."""
        end = affine.dim(0) + step
        polynomials = self.proofs.polynomials
        if maps.upper[iterator] == end:
            distance = polynomials.of(self.loop.upper) - polynomials.of(self.loop.lower)
            return all(factor % step == 0 for _, factor in distance.terms)
        bound = self.op.upper[iterator]
        if bound.dims or bound.constant or sum(map(bool, bound.symbols)) != 1 or bound.symbols[-1] != 1:
            return False
        least = self.op.symbols[len(bound.symbols) - 1].op
        if not isinstance(least, arith.Elementwise) or least.fn not in ("minimum", "pymin"):
            return False
        for a, b in (least.args, least.args[::-1]):
            if self.nest.expr(a) == end and self.proofs.same_value(b, self.loop.upper):
                return True
        return False

    def _body_uses_counter(self) -> bool:
        values = captured(self.op)
        ops = slice_of(values, self.block)
        return self.loop.counter in values or any(self.loop.counter in op.operands for op in ops)

    def _check_tile(self, maps: Maps, tile: int) -> None:
        """The tiles may be run as one range in the order of the op's iterators."""
        kind = self.op.iterators[tile]
        writes, reads = self._accesses(maps)
        if kind == "parallel" and not self.running:
            met = conflict(tile + 1, writes, [*writes, *reads])
            if self.loop.kind != "parallel" and met is not None:
                raise self._dependence(met)
            return
        earlier = [i for i in range(tile) if self.op.iterators[i] != "parallel"]
        if kind != "reduction" or (self.op.strict and earlier):
            raise CannotRaise(self.op.loc, "the loop over tiles changes the order of a sum", quiet=True)
        if self.running:
            self._check_running(conflict(tile + 1, self._plain_writes(writes), [*writes, *reads]))
        elif self.op.inits or "write" in self.op.roles:
            raise CannotRaise(self.op.loc, "each tile overwrites what the one before it reduced")

    def _demote_inputs(self, maps: Maps) -> None:
        """Inputs at indices that are not affine any more are read in the body."""
        op, block = self.op, self.op.body.block
        at = Builder(block, block.first, op.loc)
        for k in reversed(range(len(op.inputs))):
            if maps.inputs[k] is None:
                arg = block.args[op.rank + k]
                indices = [
                    materialise(expr, block.args[: op.rank], op.symbols, at)
                    for expr in op.input_maps[k].results
                ]
                arg.replace_uses(at.value(mem.Load(ref=op.inputs[k], indices=indices), arg.name))
                block.remove_arg(op.rank + k)
                op.set_operands("inputs", [*op.inputs[:k], *op.inputs[k + 1 :]])
                op.input_maps = op.input_maps[:k] + op.input_maps[k + 1 :]
                del maps.inputs[k]

    def _sink(self) -> None:
        """Copy what the body uses of the loop into it."""
        values = [value for value in captured(self.op) if value.block is self.block]
        ops = slice_of(values, self.block)
        for op in ops:
            if self.op.rank and is_costly(op):
                raise CannotRaise(op.loc, "a costly value is computed once for each inner loop", quiet=True)
            if isinstance(op, mem.Load) and self._may_change(op.ref):
                raise CannotRaise(op.loc, "an element is read that the inner loop may write", quiet=True)
            if any(value in self.loop.carried for value in op.operands):
                raise CannotRaise(op.loc, "the body depends on a running value")
        block = self.op.body.block
        mapping: dict[Value, Value] = {}
        copy_into(ops, Builder(block, block.first, self.op.loc), mapping)
        inside = {inner for inner in self.op.nested() if inner is not self.op}
        for value in values:
            if value in self.loop.carried:
                raise CannotRaise(self.op.loc, "the body depends on a running value")
            value.replace_uses(mapping.get(value, value), lambda user: user in inside)

    def _may_change(self, ref: Value) -> bool:
        """Whether what a load in the loop gives is not surely the same inside of the op."""
        return ref.block is self.block or any(may_alias(ref, out) for out in self.op.outputs)

    def _add_iterator(self, maps: Maps, kind: str, step: int) -> None:
        """The loop's counter becomes the first iterator."""
        op, loop = self.op, self.loop
        first = self.nest.expr(loop.lower)
        last = self.nest.expr(loop.upper)
        assert first is not None and last is not None
        counter = affine.dim(0)
        if step != 1:
            last = self.nest.symbol(self._trips(step))
            counter, first = affine.dim(0) * step + first, AffineExpr()
        block = op.body.block
        arg = Value(I64, block, 0, loop.counter.name)
        block.args = [arg, *block.args]
        for i, each in enumerate(block.args):
            each.index = i
        inside = {inner for inner in op.nested() if inner is not op}
        if any(user in inside for user in loop.counter.uses):
            at = Builder(block, block.first, op.loc)
            now = arg if step == 1 else materialise(counter, [arg], self.nest.symbols, at)
            loop.counter.replace_uses(now, lambda user: user in inside)

        def bind(expr: AffineExpr | None) -> AffineExpr:
            assert expr is not None
            return expr if step == 1 else without(expr, 0) + counter * expr.coefficient(0)

        op.iterators = (kind, *op.iterators)
        op.lower = (first, *(bind(expr) for expr in maps.lower))
        op.upper = (last, *(bind(expr) for expr in maps.upper))
        op.input_maps = tuple(_map_each(map_, bind) for map_ in maps.inputs)
        op.output_maps = tuple(_map_each(map_, bind) for map_ in maps.outputs)
        op.set_operands("symbols", self.nest.symbols)
        if kind == "reduction" and not self.running:
            self._check_outputs()

    def _trips(self, step: int) -> Value:
        """The number of iterations (or less than one when there are none), computed before the loop."""
        at = Builder.before(self.loop)
        low, high = (self.loop.lower, self.loop.upper) if step > 0 else (self.loop.upper, self.loop.lower)
        distance = at.value(arith.Elementwise(fn="sub", args=[high, low]))
        rounded = at.value(arith.Elementwise(fn="add", args=[distance, index(at, abs(step) - 1)]))
        return at.value(arith.Elementwise(fn="floordiv", args=[rounded, index(at, abs(step))]))

    def _widen_tile(self, maps: Maps, tile: int) -> None:
        """The iterator over a tile gets the range of the loop."""
        first, last = self.nest.expr(self.loop.lower), self.nest.expr(self.loop.upper)
        assert first is not None and last is not None
        op = self.op

        def drop(expr: AffineExpr | None) -> AffineExpr:
            assert expr is not None
            return AffineExpr(expr.dims[1:], expr.symbols, expr.constant)

        def replaced(exprs: Sequence[AffineExpr | None], new: AffineExpr) -> tuple[AffineExpr, ...]:
            return tuple(new if i == tile else drop(expr) for i, expr in enumerate(exprs))

        op.lower = replaced(maps.lower, drop(first))
        op.upper = replaced(maps.upper, drop(last))
        op.input_maps = tuple(_map_each(map_, drop) for map_ in maps.inputs)
        op.output_maps = tuple(_map_each(map_, drop) for map_ in maps.outputs)
        op.set_operands("symbols", self.nest.symbols)
        if op.iterators[tile] == "reduction" and not self.running:
            self._check_outputs()

    def _check_outputs(self) -> None:
        """Running values that start from memory are read even where a reduction has no point."""
        op = self.op
        assert self.loop.parent is not None
        outside = self.loop.parent
        domain = Domain(op, self.proofs)
        reductions = [i for i, kind in enumerate(op.iterators) if kind == "reduction"]
        if all(domain.nonempty(i, outside) for i in reductions):
            return
        for k in op.combined:
            if not domain.in_range(op.outputs[k], op.output_maps[k], outside):
                raise CannotRaise(
                    op.loc,
                    "it would touch elements even when the loop over what is summed has no iteration",
                    "loop over the output's own size",
                )

    def _finish(self) -> list[Value]:
        """Move the op and its cells before the loop; returns the final carried values."""
        before = Builder.before(self.loop)
        for ref in self.op.outputs:
            if ref.op is not None and ref.op.parent is self.block:
                before.insert(ref.op)
        results: list[Value] = [*self.loop.inits]
        for each in self.running:
            self._start(each, before)
        before.insert(self.op)
        for each in self.running:
            if each.cell is not None:
                last = before.value(mem.Load(ref=each.cell, indices=()), self.loop.carried[each.slot].name)
                results[each.slot] = cast(last, dtype_of(self.loop.values[each.slot].type), before)
        if any(isinstance(inner, mem.Load) for inner in self.op.body.block):
            loads_to_inputs(self.op)
        sweep(self.op.body.block)
        return results

    def _start(self, each: Running, at: Builder) -> None:
        """Running values start from what the loop started from."""
        inits = list(self.op.inits)
        for number in each.numbers:
            start = self.loop.inits[each.slot]
            inits[number] = cast(start, dtype_of(inits[number].type), at)
        self.op.set_operands("inits", inits)


def _map_each(map_: AffineMap | None, change: Callable[[AffineExpr], AffineExpr]) -> AffineMap:
    assert map_ is not None
    return map_each(map_, change)
