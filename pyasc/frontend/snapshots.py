# SPDX-License-Identifier: Apache-2.0
"""Arrays that are copies here and views in NumPy: `reshape`, `ravel`, `broadcast_to`.

A copy cannot be told from a view unless one of the two is stored to and the other read behind that. So each such copy
is noted while a kernel is visited, and when the kernel is complete, those whose memory or whose copy is stored to
are followed through the IR; a store that NumPy would show through the other name is refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyasc.frontend.numeric import operand
from pyasc.frontend.sharing import buffer_of
from pyasc.frontend.values import Array, Row, Tensor, Val
from pyasc.frontend.visitor import Snapshot, Visitor
from pyasc.ir.core import Operation, Value
from pyasc.ir.diagnostics import Diagnostic, Related
from pyasc.ir.dialects import mem, py, scf, tensor

_VIEWS = (tensor.View, tensor.Reshape, tensor.Broadcast)
_STORES = (py.Store, py.Atomic, mem.Store, mem.Copy, tensor.Write)
_NO_ACCESS = (mem.Dim, tensor.Dim)


def note(v: Visitor, source: Val, made: Tensor, what: str) -> Tensor:
    """Note that `made` is a copy of `source`, of which NumPy's function `what` gives a view."""
    if isinstance(source, (Array, Row)):
        ref = source.ref if isinstance(source, Array) else source.array.ref
        v.snapshots[made.value] = Snapshot(buffer_of(ref), what, v.emit.builder.loc)
    return made


def detached(v: Visitor, value: Val) -> Val:
    """The elements of an array at this moment, which are a copy in NumPy too."""
    found = operand(v, value)
    if isinstance(found, Tensor) and v.snapshots and _is_followed(v, found.value):
        sizes = [
            v.emit.value(tensor.Dim(tensor=found.value, axis=axis))
            for axis, extent in enumerate(found.shape)
            if extent is None
        ]
        made = v.emit.value(tensor.Reshape(value=found.value, sizes=sizes, types=[found.value.type]))
        v.detached.add(made)
        return Tensor(made)
    return found


def _is_followed(v: Visitor, value: Value) -> bool:
    while value not in v.snapshots:
        if not isinstance(value.op, _VIEWS) or value in v.detached:
            return False
        value = value.op.value
    return True


class _Copy:
    """One array of those that share memory in NumPy: a buffer, or a copy that was made by `op` of `parent`."""

    def __init__(
        self,
        parent: _Copy | None,
        op: Operation | None,
        noted: Snapshot | None = None,
        buffer: Value | None = None,
    ) -> None:
        self.parent = parent
        self.op = op
        self.noted = noted
        self.buffer = buffer
        self.stores: list[Operation] = []
        self.reads: list[Operation] = []

    def path(self) -> list[_Copy]:
        """This array and what it is a copy of, the buffer that all began with last."""
        return [self, *(self.parent.path() if self.parent is not None else ())]


def refuse_lost_stores(v: Visitor) -> None:
    """Report stores that would be seen through another array in NumPy and are not here."""
    inside = [value for value in v.snapshots if _stands_in(value, v)]
    seen: set[Value] = set()
    for value in inside:
        root = v.snapshots[value].root
        if root not in seen:
            group = _Group(v, seen).follow(root)
            if any(each.stores for each in group):
                v.diagnostics += _lost(v, group)


def _stands_in(value: Value, v: Visitor) -> bool:
    """Whether a value is in the function, not in a part that was visited again."""
    block = value.op.parent if value.op is not None else None
    while block is not None and block is not v.emit.entry:
        block = block.parent_op.parent if block.parent_op is not None else None
    return block is not None


class _Group:
    """The arrays that share the memory of one buffer in NumPy, found by following the uses of values."""

    def __init__(self, v: Visitor, seen: set[Value]) -> None:
        self.v = v
        self.seen = seen
        self.found: list[_Copy] = []

    def follow(self, root: Value) -> list[_Copy]:
        """All arrays of the group, the buffer first."""
        self._buffer(_Copy(None, None, buffer=root), root)
        return self.found

    def _buffer(self, array: _Copy, ref: Value) -> None:
        if ref in self.seen:
            return
        self.seen.add(ref)
        self.found.append(array)
        pending = [ref]
        while pending:
            ref = pending.pop()
            for op in list(ref.uses):
                if isinstance(op, mem.View):
                    pending.append(op.view)
                elif isinstance(op, _STORES) and _target(op) is ref:
                    self._store(array, op)
                elif not isinstance(op, _NO_ACCESS):
                    array.reads.append(op)
                    if isinstance(op, tensor.Read):
                        self._contents(array, op.value)

    def _store(self, array: _Copy, op: Operation) -> None:
        if not isinstance(op, tensor.Write) or op in self.v.stores:
            array.stores.append(op)
        if isinstance(op, (py.Atomic, mem.Copy)):
            array.reads.append(op)

    def _contents(self, array: _Copy, value: Value) -> None:
        """The uses of the contents of a buffer: copies that are views in NumPy, and buffers that carry it on."""
        for op in list(value.uses):
            if isinstance(op, _VIEWS) and op.result in self.v.snapshots:
                made = _Copy(array, op, self.v.snapshots[op.result])
                self.found.append(made)
                self._value(made, op.result)
            elif isinstance(op, tensor.Write) and op not in self.v.stores and op not in self.v.copies:
                self._buffer(_Copy(array, op, buffer=op.ref), op.ref)

    def _value(self, array: _Copy, value: Value) -> None:
        for op in list(value.uses):
            if isinstance(op, _VIEWS) and op.result not in self.v.detached:
                self._value(array, op.result)
            elif isinstance(op, tensor.Write) and op not in self.v.stores:
                self._buffer(_Copy(array, op, array.noted, op.ref), op.ref)
            elif not isinstance(op, _NO_ACCESS):
                array.reads.append(op)


def _target(op: Operation) -> Value | None:
    return op.target if isinstance(op, mem.Copy) else op.ref  # pyright: ignore[reportAttributeAccessIssue]


def _lost(v: Visitor, group: list[_Copy]) -> Iterator[Diagnostic]:
    """The first store that is not seen by some other array, for each array that is stored to."""
    order = {op: k for k, op in enumerate(_operations(v))}
    for array in group:
        found = next(
            (
                (store, other, read)
                for store in array.stores
                for other in group
                if other is not array
                for read in _not_seen(array, store, other, order)
            ),
            None,
        )
        if found is not None:
            yield _diagnostic(array, *found)


def _operations(v: Visitor) -> Iterator[Operation]:
    for op in v.emit.entry:
        yield from op.walk()


def _not_seen(
    array: _Copy, store: Operation, other: _Copy, order: dict[Operation, int]
) -> Iterator[Operation | None]:
    """Operations that read another array of the group behind a store; None stands for the caller of the kernel."""
    if array in other.path():
        down = other.path()
        copy = down[down.index(array) - 1].op
        assert copy is not None
        if order[store] < order[copy]:
            return
        yield from (read for read in other.reads if _follows(read, store, order, copy))
        return
    if other.buffer is not None and other.buffer.op is None:
        yield None
    yield from (read for read in other.reads if _follows(read, store, order, None))


def _follows(read: Operation, store: Operation, order: dict[Operation, int], copy: Operation | None) -> bool:
    """Whether a read may come after a store, without the copy being made anew between them."""
    around = list(read.ancestors())
    common = [op for op in store.ancestors() if op in around]
    inside = set(copy.ancestors()) if copy is not None else set[Operation]()
    if any(isinstance(op, (scf.For, scf.While)) and op not in inside for op in common):
        return True
    return order[store] < order[read] and not _exclude_each_other(store, read, common)


def _exclude_each_other(a: Operation, b: Operation, common: list[Operation]) -> bool:
    """Whether two operations stand on the two sides of one `if`."""
    if not common or not isinstance(common[0], scf.If):
        return False
    return _region_below(a, common[0]) is not _region_below(b, common[0])


def _region_below(op: Operation, ancestor: Operation) -> object:
    while op.parent_op is not ancestor:
        assert op.parent_op is not None
        op = op.parent_op
    return op.parent


def _diagnostic(array: _Copy, store: Operation, other: _Copy, read: Operation | None) -> Diagnostic:
    noted = next(each.noted for each in (*array.path(), *other.path()) if each.noted is not None)
    name = f"`{noted.root.name}`" if noted.root.name else "an array"
    related = [Related(noted.loc, f"`{noted.what}` gives a copy of {name} here, in NumPy a view")]
    if read is not None:
        related.append(Related(read.loc, "read here"))
    what = (
        f"is also stored in {name}"
        if array.parent is not None
        else f"is also seen in what `{noted.what}` gave"
    )
    return Diagnostic(
        "PA0513",
        f"in NumPy this {what}, and here it is not",
        store.loc,
        label="stored here",
        related=tuple(related),
        hint=f"index the original array, or make a copy of it: {noted.what}(...).copy()",
    )
