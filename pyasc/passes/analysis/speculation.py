# SPDX-License-Identifier: Apache-2.0
"""Which loads may happen where they did not before: earlier, or although a condition says no."""

from __future__ import annotations

from pyasc.ir.core import Block
from pyasc.ir.dialects import mem
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.effects import is_local, root_of
from pyasc.passes.analysis.ranges import Ranges
from pyasc.passes.analysis.structure import encloses


class SafeAccesses:
    """Answers for one function; bounds are computed when they are first asked for and taken to stay valid, as they
    do while operations are only moved."""

    def __init__(self, func: Func) -> None:
        self._func = func
        self._ranges: Ranges | None = None

    @property
    def ranges(self) -> Ranges:
        """The ranges of the function as it was when they were first asked for."""
        if self._ranges is None:
            self._ranges = Ranges(self._func)
        return self._ranges

    def may_read_at(self, op: mem.Load, at: Block | None) -> bool:
        """Whether the element exists whenever control is in the block, whatever leads from there to the load."""
        root = root_of(op.ref)
        if at is None or (is_local(root) and (root.block is None or not encloses(root.block, at))):
            return False
        for axis, index in enumerate(op.indices):
            extent = self.ranges.polynomials.extent(op.ref, axis)
            expr = self.ranges.polynomials.of(index)
            if extent is None or not self.ranges.nonnegative(expr, at):
                return False
            if not self.ranges.nonnegative(extent - expr - 1, at):
                return False
        return True
