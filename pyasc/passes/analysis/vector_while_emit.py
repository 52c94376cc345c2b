# SPDX-License-Identifier: Apache-2.0
"""Writes the vector form of a while loop that `vector_while` has planned.

Whether a lane is left is asked at the end of an iteration, where one more iteration without lanes is cheap and
changes nothing that the loop leaves behind: a branch in the middle parts operations that a processor would mix.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from pyasc.ir.core import Block, Builder, Operation, Region, Value
from pyasc.ir.dialects import arith, scf, vec
from pyasc.ir.dtypes import DType, i1
from pyasc.ir.types import ScalarType, VectorType, dtype_of
from pyasc.passes.analysis.costs import SLOW, TRANSCENDENTAL
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.vector_emit import Part, VectorBody
from pyasc.passes.analysis.vector_while import WhilePlan


def write_while(body: VectorBody, e: Emitter, op: scf.While, parts: Sequence[Part]) -> None:
    """Write one while loop for all parts of a step."""
    WhileWriter(body, body.plan.whiles[op], parts).write(e)


class WhileWriter:
    """Writes one while loop for all parts of a step, whose chains of operations run side by side."""

    def __init__(self, body: VectorBody, plan: WhilePlan, parts: Sequence[Part]) -> None:
        self.body = body
        self.plan = plan
        self.parts = parts
        self.op = plan.op
        self.state: list[Value] = []

    def write(self, e: Emitter) -> None:
        """Write the loop and give each part the values it leaves behind."""
        inits, names = self._inits(e)
        self._invariants(e)
        outside = [(dict(part.scalars), dict(part.vectors)) for part in self.parts]
        asks_last = self._asks_last()
        if asks_last:
            inits.append(e.constant(True, ScalarType(i1)))
            names.append("left")
        before, after = Block([value.type for value in inits], names), Block()
        inner = Emitter(Builder(before, loc=self.op.loc))
        forwarded = self._tests(inner, before.args) if asks_last else self._before(inner, before.args)
        args = [after.add_arg(value.type, value.name) for value in forwarded]
        self._forget_all_but(outside)
        self._rebind(args)
        inner = Emitter(Builder(after, loc=self.op.loc))
        self._pass_on(inner)
        inner.insert(scf.Yield(values=self._whole(inner) if asks_last else self._after(inner)))
        types = [value.type for value in forwarded]
        loop = scf.While(inits=inits, types=types, before=Region([before]), after=Region([after]))
        e.insert(loop)
        self._forget_all_but(outside)
        self._results(loop.values)

    def _asks_last(self) -> bool:
        """Whether an iteration that no lane takes part in costs little and leaves nothing behind."""
        slow = SLOW | TRANSCENDENTAL
        cheap = not any(isinstance(op, arith.Elementwise) and op.fn in slow for op in self.op.after.block)
        return cheap and not self._computed_in_condition()

    def _before(self, e: Emitter, args: Sequence[Value]) -> list[Value]:
        """The first block of a loop that stops in its middle; what it passes on."""
        self._bind(args)
        self._arithmetic(e, self.op.before.block)
        live = [self._live(e, part, active) for part, active in zip(self.parts, self._active, strict=True)]
        self._stop_unless(
            e, self._any(e, live), passed := [*self._with_active(args, live), *self._computed()]
        )
        return passed

    def _after(self, e: Emitter) -> list[Value]:
        """The second block of a loop that stops in its middle, operation by operation; what follows."""
        self._arithmetic(e, self.op.after.block)
        groups = zip(self.parts, self._groups(self.state), strict=True)
        vectors = [value for part, group in groups for value in self._next_group(e, part, group)]
        return [*self._next_scalars(e), *vectors]

    def _tests(self, e: Emitter, args: Sequence[Value]) -> list[Value]:
        """The first block of a loop that asks for lanes last: what is the same in all of them."""
        *state, left = args
        self._bind(state)
        self._uniform(e, self.op.before.block)
        self._stop_unless(e, left, state)
        return state

    def _whole(self, e: Emitter) -> list[Value]:
        """The second block of a loop that asks for lanes last, part by part: what a processor waits for comes early."""
        blocks = (self.op.before.block, self.op.after.block)
        for block in blocks:
            self._uniform(e, block)
        live: list[Value] = []
        values = self._next_scalars(e)
        for part, (active, *group) in zip(self.parts, self._groups(self.state), strict=True):
            self._lanes(e, blocks[0], part)
            live.append(self._live(e, part, active))
            self._lanes(e, blocks[1], part)
            values += self._next_group(e, part, [live[-1], *group])
        return [*values, self._any(e, live)]

    def _stop_unless(self, e: Emitter, left: Value, passed: Sequence[Value]) -> None:
        """End the first block: the loop goes on while the tests hold and a lane is left."""
        tests = [self.body.scalar(e, self.parts[0], test) for test in self.plan.tests]
        condition = reduce(partial(e.call, "and"), [*tests, left])
        e.insert(scf.Condition(condition=condition, forwarded=passed))

    def _invariants(self, e: Emitter) -> None:
        """Make the lanes of what does not change in the loop once, before it."""
        for block in (self.op.before.block, self.op.after.block):
            for op in block:
                for value in op.operands if not set(op.results) & self.body.plan.uniform else ():
                    if isinstance(value.op, arith.Constant) or value is self.body.plan.loop.counter:
                        for part in self.parts:
                            self.body.vector(e, part, value)

    def _forget_all_but(self, outside: Sequence[tuple[dict[Value, Value], dict[Value, Value]]]) -> None:
        """What one region has computed is not there in the next."""
        for part, (scalars, vectors) in zip(self.parts, outside, strict=True):
            part.scalars.clear()
            part.scalars.update(scalars)
            part.vectors.clear()
            part.vectors.update(vectors)

    def _inits(self, e: Emitter) -> tuple[list[Value], list[str]]:
        """Scalars, then for each part its mask, its vectors and the last values it keeps."""
        op, lanes = self.op, self.body.plan.lanes
        args = op.before.block.args
        some = self.parts[0]
        values = [self.body.scalar(e, some, op.inits[k]) for k in sorted(self.plan.scalar)]
        names = [args[k].name for k in sorted(self.plan.scalar)]
        for part in self.parts:
            assert part.count is not None
            values.append(e.value(vec.First(count=part.count, types=[VectorType(lanes, i1)])))
            values += [self.body.vector(e, part, op.inits[k]) for k in self.plan.vectors()]
            for k, dtype in self.plan.latched.items():
                start = e.cast(self.body.scalar(e, part, op.inits[k]), dtype)
                values.append(e.splat(start, lanes))
            names += ["running", *(args[k].name for k in self.plan.vectors())]
            names += [args[k].name for k in self.plan.latched]
        return values, names

    @property
    def _width(self) -> int:
        """Values of one part in the state."""
        return 1 + len(self.plan.vectors()) + len(self.plan.latched)

    def _groups(self, state: Sequence[Value]) -> list[Sequence[Value]]:
        first = len(self.plan.scalar)
        return [state[first + p * self._width :][: self._width] for p in range(len(self.parts))]

    def _bind(self, state: Sequence[Value]) -> None:
        """Let the loop's own arguments stand for what the new loop carries."""
        args = self.op.before.block.args
        self.state = list(state)
        for part, group in zip(self.parts, self._groups(state), strict=True):
            part.scalars.update((args[k], v) for k, v in zip(sorted(self.plan.scalar), state, strict=False))
            part.vectors.update((args[k], v) for k, v in zip(self.plan.vectors(), group[1:], strict=False))
            for k in self.plan.scalar:
                part.vectors.pop(args[k], None)

    @property
    def _active(self) -> list[Value]:
        return [group[0] for group in self._groups(self.state)]

    def _arithmetic(self, e: Emitter, block: Block) -> None:
        """One operation after the other, for all parts."""
        for op in block:
            if self._is_uniform(op):
                self._once(e, op)
            elif op is not block.last:
                for part in self.parts:
                    self._in_lanes(e, op, part)

    def _uniform(self, e: Emitter, block: Block) -> None:
        """The operations that are the same for all lanes."""
        for op in filter(self._is_uniform, block):
            self._once(e, op)

    def _lanes(self, e: Emitter, block: Block, part: Part) -> None:
        """The other operations, for one part."""
        for op in block:
            if op is not block.last and not self._is_uniform(op):
                self._in_lanes(e, op, part)

    def _is_uniform(self, op: Operation) -> bool:
        return bool(op.results) and op.results[0] in self.body.plan.uniform

    def _in_lanes(self, e: Emitter, op: Operation, part: Part) -> None:
        assert isinstance(op, (arith.Elementwise, arith.Cast))
        if not self._is_test(op):
            part.vectors[op.result] = self.body.arithmetic(e, part, op)

    def _once(self, e: Emitter, op: Operation) -> None:
        made = e.value(op.clone({v: self.body.scalar(e, self.parts[0], v) for v in op.operands}))
        for part in self.parts:
            part.scalars[op.results[0]] = made
            part.vectors.pop(op.results[0], None)

    def _is_test(self, op: arith.Elementwise | arith.Cast) -> bool:
        """Whether the operation only joins parts of the condition, which `_live` and `_stop_unless` do."""
        joins = isinstance(op, arith.Elementwise) and op.fn == "and"
        return joins and op.result not in self.plan.masks and self._leads_to_condition(op.result)

    def _leads_to_condition(self, value: Value) -> bool:
        return dtype_of(value.type) is i1 and all(
            use is self.op.before.block.last
            or (isinstance(use, arith.Elementwise) and use.fn == "and" and self._is_test(use))
            for use in value.uses
        )

    def _live(self, e: Emitter, part: Part, active: Value) -> Value:
        live = active
        for mask in self.plan.masks:
            live = e.call("and", live, self.body.vector(e, part, mask))
        return live

    def _any(self, e: Emitter, live: Sequence[Value]) -> Value:
        """Whether a lane is left."""
        left = list(live)
        while len(left) > 1:
            joined = [e.call("or", a, b) for a, b in zip(left[::2], left[1::2], strict=False)]
            left = joined + left[2 * len(joined) :]
        return e.value(vec.AnyLane(mask=left[0]))

    def _with_active(self, state: Sequence[Value], live: Sequence[Value]) -> list[Value]:
        changed = list(state)
        for p, mask in enumerate(live):
            changed[len(self.plan.scalar) + p * self._width] = mask
        return changed

    def _computed_in_condition(self) -> list[Value]:
        """What the old condition passes on that is no carried value."""
        args = self.op.before.block.args
        return [value for value in self.op.before.block.terminator.operands[1:] if value not in args]

    def _computed(self) -> list[Value]:
        found: list[Value] = []
        for value in self._computed_in_condition():
            if value in self.body.plan.uniform:
                found.append(self.parts[0].scalars[value])
            else:
                found += [part.vectors[value] for part in self.parts]
        return found

    def _rebind(self, values: Sequence[Value]) -> None:
        """As `_bind`, for everything that a condition passes on."""
        total = len(self.plan.scalar) + len(self.parts) * self._width
        self._bind(values[:total])
        rest = iter(values[total:])
        for value in self._computed_in_condition():
            if value in self.body.plan.uniform:
                passed = next(rest)
                for part in self.parts:
                    part.scalars[value] = passed
            else:
                for part in self.parts:
                    part.vectors[value] = next(rest)

    def _pass_on(self, e: Emitter) -> None:
        """Let the second block's arguments stand for what the first passes on."""
        forwarded = self.op.before.block.terminator.operands[1:]
        for old, new in zip(forwarded, self.op.after.block.args, strict=True):
            for part in self.parts:
                if old in self.body.plan.uniform:
                    part.scalars[new] = part.scalars.get(old, old)
                else:
                    part.vectors[new] = self.body.vector(e, part, old)

    def _next_scalars(self, e: Emitter) -> list[Value]:
        following = self.op.after.block.terminator.operands
        return [self.body.scalar(e, self.parts[0], following[k]) for k in sorted(self.plan.scalar)]

    def _next_group(self, e: Emitter, part: Part, group: Sequence[Value]) -> list[Value]:
        following = self.op.after.block.terminator.operands
        active, vectors = group[0], group[1 : 1 + len(self.plan.vectors())]
        made = [active]
        for k, before in zip(self.plan.vectors(), vectors, strict=True):
            value = self.body.vector(e, part, following[k])
            made.append(e.call("select", active, value, before) if k in self.plan.frozen else value)
        for (k, dtype), before in zip(self.plan.latched.items(), group[1 + len(vectors) :], strict=True):
            made.append(e.call("select", active, self._last(e, part, k, dtype, before), before))
        return made

    def _last(self, e: Emitter, part: Part, number: int, dtype: DType, before: Value) -> Value:
        """The next value of a carried scalar in every lane; where it counts up, by counting in the lanes."""
        lanes, value = self.body.plan.lanes, self.op.after.block.terminator.operands[number]
        op, carried = value.op, self._passed(number)
        if (
            isinstance(op, arith.Elementwise)
            and op.fn == "add"
            and op.args.count(carried) == 1
            and dtype.is_integer
        ):
            step = next((arg for arg in op.args if arg is not carried), value)
            return e.call("add", before, e.splat(e.cast(self.body.scalar(e, part, step), dtype), lanes))
        return e.splat(e.cast(self.body.scalar(e, part, value), dtype), lanes)

    def _passed(self, number: int) -> Value | None:
        """A carried value as the second block sees it."""
        arg, forwarded = self.op.before.block.args[number], self.op.before.block.terminator.operands[1:]
        return next(
            (new for old, new in zip(forwarded, self.op.after.block.args, strict=True) if old is arg), None
        )

    def _results(self, values: Sequence[Value]) -> None:
        args = self.op.before.block.args
        self._rebind(values)
        latched = list(self.plan.latched)
        forwarded = self.op.before.block.terminator.operands[1:]
        for part, group in zip(self.parts, self._groups(self.state), strict=True):
            for old, result in zip(forwarded, self.op.values, strict=True):
                if not result.uses:
                    continue
                if old in args and args.index(old) in self.plan.scalar:
                    last = len(self.plan.vectors()) + 1 + latched.index(args.index(old))
                    part.vectors[result] = group[last]
                else:
                    part.vectors[result] = part.vectors[old]
