# SPDX-License-Identifier: Apache-2.0
"""Names that stand for one array, where an update through one has to be seen through the others.

A computed array is a value, which nothing changes. Where one is updated in place and something else may hold it, or a
view of it, the kernel is compiled again with a buffer behind every name (`NeedsBuffers`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from pyasc.frontend.frames import RESULT, Frame
from pyasc.frontend.values import Array, Function, Method, Row, Tensor, Tuple, Val, is_iterator
from pyasc.frontend.visitor import NeedsBuffers, Visitor
from pyasc.ir.core import Value
from pyasc.ir.dialects import mem, tensor


def bound(v: Visitor, name: str, value: Val) -> Val:
    """A value as a name holds it: computed arrays in buffers where elements of named arrays are assigned."""
    if isinstance(value, (Tensor, Tuple)):
        note_binding(v, v.frame, name, value)
        if v.mutates:
            return in_buffers(v, value)
    return value


def refuse_iterator(v: Visitor, value: Val, node: ast.AST) -> None:
    """Refuse a name for what Python uses up at its first use, which a second one would not see here."""
    if is_iterator(value) or (isinstance(value, Tuple) and any(map(is_iterator, value.items))):
        hint = "loop over it where it stands, or keep its items: list(...)"
        raise v.error(node, "PA0306", "an iterator that has a name", "its first use uses it up", hint)


def in_buffers(v: Visitor, value: Val) -> Val:
    """A value whose computed arrays stand in buffers of their own."""
    from pyasc.frontend.memory import new_array

    match value:
        case Tensor():
            return new_array(v, value)
        case Tuple(items=items, is_list=is_list):
            made = tuple(in_buffers(v, item) for item in items)
            return value if all(a is b for a, b in zip(items, made, strict=True)) else Tuple(made, is_list)
        case _:
            return value


def bind_parameters(v: Visitor, frame: Frame) -> None:
    """Note which arguments of a call are arrays that the caller has names for."""
    for name, value in frame.env.values.items():
        if name[0] != "%" and isinstance(value, (Tensor, Tuple)):
            if v.buffers:
                frame.env.values[name] = in_buffers(v, value)
            else:
                note_binding(v, frame, name, value)


def note_binding(v: Visitor, frame: Frame, name: str, value: Val) -> None:
    """Note that a name is about to hold a value. Raises NeedsBuffers when an update would not be seen elsewhere."""
    roots = set() if v.buffers else set(_computed(v, value))
    if not roots:
        return
    others = [
        (each, other)
        for each in _frames(frame)
        for other, held in each.env.values.items()
        if isinstance(held, (Tensor, Tuple)) and other[0] != "%" and (each is not frame or other != name)
        if not roots.isdisjoint(_computed(v, held))
    ]
    if others and v.mutates:
        raise NeedsBuffers
    if others or not roots.isdisjoint(v.snapshots):
        names = [(frame, name), *others]
        if not v.updated.isdisjoint(names):
            raise NeedsBuffers
        v.shared.update(names)


def need_buffers(v: Visitor, value: Val) -> None:
    """Raises NeedsBuffers when a computed array is about to be changed: its name may then stand for a buffer."""
    if isinstance(value, Tensor) and not v.buffers:
        raise NeedsBuffers


def note_update(v: Visitor, name: str) -> None:
    """Note that a name's computed array is updated in place. Raises NeedsBuffers where others may hold it."""
    if (v.frame, name) in v.shared:
        raise NeedsBuffers
    v.updated.add((v.frame, name))


def _frames(frame: Frame) -> Iterator[Frame]:
    """A function and those that it is inlined into."""
    found: Frame | None = frame
    while found is not None:
        yield found
        found = found.caller


def _computed(v: Visitor, value: Val) -> Iterator[Value]:
    """The computed arrays that a value is, holds or is a view of."""
    if isinstance(value, Tuple):
        for item in value.items:
            yield from _computed(v, item)
    elif isinstance(value, Tensor):
        found = value.value
        while found not in v.snapshots and found not in v.detached and _is_view(found):
            found = found.op.operands[0]  # pyright: ignore[reportOptionalMemberAccess]
        yield found


def _is_view(value: Value) -> bool:
    """Whether NumPy gives a view where this value is computed."""
    return isinstance(value.op, (tensor.View, tensor.Reshape, tensor.Broadcast))


def has_other_name(v: Visitor, name: str, array: Array, changes: Mapping[str, Val]) -> bool:
    """Whether the buffer behind an array has a name besides `name`, with changes that are not in place yet."""
    root = buffer_of(array.ref)
    callers = [frame.env.values for frame in _frames(v.frame)][1:]
    # When a function returns, its own names are gone.
    own = {} if name.startswith(RESULT) else {**v.frame.env.values, **changes}
    return any(_is_held(scope, root) for scope in callers) or _is_held(own, root, name)


def _is_held(scope: Mapping[str, Val], root: Value, but: str = "") -> bool:
    """Whether a name other than `but` holds the buffer or a view of it."""
    return any(name != but and name[0] != "%" and _holds(held, root) for name, held in scope.items())


def _holds(value: Val, root: Value) -> bool:
    match value:
        case Array(ref=ref):
            return buffer_of(ref) is root
        case Row(array=array):
            return buffer_of(array.ref) is root
        case Tuple(items=items):
            return any(_holds(item, root) for item in items)
        case Function(defaults=defaults):
            return any(_holds(default, root) for _, default in defaults)
        case Method(owner=owner):
            return _holds(owner, root)
        case _:
            return False


def only_named(v: Visitor, names: Mapping[str, Array]) -> bool:
    """Whether these names hold buffers that the kernel makes, and no other name holds one of them or a view of it."""
    roots = {name: array.ref for name, array in names.items()}
    return all(isinstance(root.op, mem.Alloc) for root in roots.values()) and not any(
        _is_held(frame.env.values, root, name if frame is v.frame else "")
        for name, root in roots.items()
        for frame in _frames(v.frame)
    )


def buffer_of(ref: Value) -> Value:
    """The parameter or allocation that a ref is a view of."""
    while isinstance(ref.op, mem.View):
        ref = ref.op.ref
    return ref
