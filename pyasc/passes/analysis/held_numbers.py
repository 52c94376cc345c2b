# SPDX-License-Identifier: Apache-2.0
"""Numbers that are read from arrays in front of work: whether what is read is still there when work uses them.

    %x = mem.load %p, [%0]
    st.apply ... [%p] ...         // writes p
    st.apply ... arith.mul %v, %x

Each launch reads such numbers for itself, so the second one would read what the first one wrote; and cores of the
first, if it used %x, would read what others of them write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.dialects import mem, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.sizes import SizeExpr
from pyasc.passes.analysis.effects import may_alias, written_refs
from pyasc.passes.analysis.op_extremes import extreme
from pyasc.passes.analysis.phases import free_values, needed
from pyasc.passes.analysis.ranges import Ranges


@dataclass
class HeldNumbers:
    """What one kernel, as it stands, reads from arrays in front of its work."""

    kernel: Func

    @cached_property
    def ranges(self) -> Ranges:
        """What is known of its indices."""
        return Ranges(self.kernel)

    def lost(
        self, block: Block, loads: Sequence[mem.Load], is_work: Callable[[Operation], bool]
    ) -> mem.Load | None:
        """A load of a block whose array work writes before later work uses the number, itself or in an expression."""
        return next((load for load in loads if self._is_lost(block, load, is_work)), None)

    def _is_lost(self, block: Block, load: mem.Load, is_work: Callable[[Operation], bool]) -> bool:
        derived: set[Value] = {load.value}
        behind = written = False
        for op in block:
            behind |= op is load
            if not behind:
                continue
            if not derived.isdisjoint(free_values(op)):
                if is_work(op) and written:
                    return True
                derived.update(op.results)
            written = written or (is_work(op) and self.may_write(op, load))
        return False

    def changed_by(self, work: Operation) -> mem.Load | None:
        """A load in front of work that uses the number and may write the element it came from."""
        loads = [op for op in needed(free_values(work)) if isinstance(op, mem.Load)]
        return next((load for load in loads if self.may_write(work, load)), None)

    def may_write(self, work: Operation, load: mem.Load) -> bool:
        """Whether work, with all that it nests, may write the element that a load reads."""
        return any(
            may_alias(ref, load.ref) and not self._is_apart(op, ref, load)
            for op in work.walk()
            for ref in written_refs(op)
        )

    def _is_apart(self, op: Operation, ref: Value, load: mem.Load) -> bool:
        if ref is not load.ref or op.parent is None:
            return False
        at = op.parent
        places = [self.ranges.exact(index) for index in load.indices]
        match op:
            case mem.Store() | mem.Atomic():
                written = [self.ranges.exact(index) for index in op.indices]
                return any(
                    self._differ(low, low, place, at) for low, place in zip(written, places, strict=True)
                )
            case st.Apply():
                maps = [m.results for out, m in zip(op.outputs, op.output_maps, strict=True) if out is ref]
                return all(
                    any(
                        self._differ(
                            extreme(self.ranges, op, expr, -1), extreme(self.ranges, op, expr, 1), place, at
                        )
                        for expr, place in zip(exprs, places, strict=True)
                    )
                    for exprs in maps
                )
            case _:
                return False

    def _differ(self, low: SizeExpr, high: SizeExpr, place: SizeExpr, at: Block) -> bool:
        """Whether a place is in front of or behind a range."""
        return self.ranges.nonnegative(low - place - 1, at) or self.ranges.nonnegative(place - high - 1, at)
