# SPDX-License-Identifier: Apache-2.0
"""Shadows of arrays: buffers of the same shape in which debug builds note what has happened to each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyasc.ir import dtypes
from pyasc.ir.core import Value
from pyasc.ir.dialects import mem
from pyasc.ir.types import RefType
from pyasc.passes.analysis.emit import Emitter

SHADOW = "shadow_"
"""What the names of shadows start with."""


def shadow_of(at: Emitter, root: Value, name: str) -> Value:
    """An i64 buffer of the shape of an array, all zero."""
    assert isinstance(root.type, RefType)
    shape = root.type.shape
    sizes = [at.value(mem.Dim(ref=root, axis=axis)) for axis, extent in enumerate(shape) if extent is None]
    made = mem.Alloc(sizes=sizes, types=[RefType(shape, dtypes.i64, "local")])
    shadow = at.value(made, f"{SHADOW}{name}_{root.name}")
    fill(at, shadow, 0)
    return shadow


def _extents(at: Emitter, ref: Value) -> list[Value | int]:
    assert isinstance(ref.type, RefType)
    return [
        extent if isinstance(extent, int) else at.value(mem.Dim(ref=ref, axis=axis))
        for axis, extent in enumerate(ref.type.shape)
    ]


def fill(at: Emitter, ref: Value, number: int) -> None:
    """Store a number into every element of an i64 buffer."""
    over_elements(at, ref, lambda inner, indices: inner.store(inner.index(number), ref, indices))


def over_elements(at: Emitter, ref: Value, body: Callable[[Emitter, Sequence[Value]], None]) -> None:
    """Loops over all elements of an array; `body` is given their indices."""
    _nest(at, _extents(at, ref), [], body)


def _nest(
    at: Emitter,
    extents: Sequence[Value | int],
    indices: list[Value],
    body: Callable[[Emitter, Sequence[Value]], None],
) -> None:
    if len(indices) == len(extents):
        body(at, indices)
        return

    def inside(inner: Emitter, counter: Value, _: list[Value]) -> None:
        _nest(inner, extents, [*indices, counter], body)

    at.loop(0, extents[len(indices)], inside)


def view_of(at: Emitter, ref: Value, root: Value, shadow: Value) -> Value:
    """The same part of a shadow that a ref is of its array."""
    if ref is root:
        return shadow
    op = ref.op
    assert isinstance(op, mem.View) and isinstance(ref.type, RefType)
    source = view_of(at, op.ref, root, shadow)
    type_ = RefType(ref.type.shape, dtypes.i64, "local", ref.type.layout)
    return at.value(
        mem.View(ref=source, offsets=op.offsets, sizes=op.sizes, steps=op.steps, axes=op.axes, types=[type_])
    )
