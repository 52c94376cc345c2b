# SPDX-License-Identifier: Apache-2.0
"""In debug builds, finds elements of local buffers that are read before anything was written to them.

Before:

    %t = mem.alloc : ref<4 x f32, local>
    mem.store %v, %t, [%0]
    %r = mem.load %t, [%i]

After, with the loop that clears the shadow left out:

    %t = mem.alloc : ref<4 x f32, local>
    %written = mem.alloc : ref<4 x i64, local>
    ...
    mem.store %1, %written, [%0]
    mem.store %v, %t, [%0]
    %known = mem.load %written, [%i]
    %fine = arith.ne %known, %0
    py.check %fine, [] {error = "RuntimeError", message = "an element of t is read before it is written"}
    %r = mem.load %t, [%i]
"""

from __future__ import annotations

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, py
from pyasc.ir.dialects.func import Func
from pyasc.ir.types import RefType
from pyasc.passes.analysis.effects import root_of
from pyasc.passes.analysis.emit import Emitter
from pyasc.passes.analysis.shadows import SHADOW, fill, shadow_of, view_of
from pyasc.passes.base import Context, FunctionPass


class WatchReads(FunctionPass):
    """Checks that what is read of a buffer was written."""

    name = "watch-reads"

    def run(self, func: Func, context: Context) -> bool:
        """Look at each buffer that single elements are read of."""
        accesses = [op for op in func.nested() if isinstance(op, (mem.Load, mem.Store, mem.Atomic, mem.Copy))]
        read = dict.fromkeys(root_of(op.ref) for op in accesses if isinstance(op, mem.Load))
        buffers = [root for root in read if _is_watched(root)]
        for buffer in buffers:
            _watch(buffer, [op for op in accesses if root_of(_written(op)) is buffer])
        context.count("buffers watched", len(buffers))
        return bool(buffers)


def _is_watched(root: Value) -> bool:
    return isinstance(root.op, mem.Alloc) and not root.name.startswith(SHADOW)


def _written(op: Operation) -> Value:
    """The ref that is written, or read by a load."""
    assert isinstance(op, (mem.Load, mem.Store, mem.Atomic, mem.Copy))
    return op.target if isinstance(op, mem.Copy) else op.ref


def _watch(buffer: Value, accesses: list[Operation]) -> None:
    assert buffer.op is not None
    shadow = shadow_of(Emitter(Builder.after(buffer.op)), buffer, "written")
    for op in accesses:
        at = Emitter(Builder.before(op))
        part = view_of(at, _written(op), buffer, shadow)
        if isinstance(op, mem.Copy):
            assert isinstance(part.type, RefType)
            fill(at, part, 1)
        elif isinstance(op, (mem.Store, mem.Atomic)):
            at.store(at.index(1), part, op.indices)
        elif isinstance(op, mem.Load):
            fine = at.call("ne", at.load(part, op.indices), at.index(0))
            message = f"an element of {buffer.name or 'a buffer'} is read before it is written"
            at.insert(py.Check(condition=fine, error="RuntimeError", message=message))
