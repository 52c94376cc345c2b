# SPDX-License-Identifier: Apache-2.0
"""SSA data structures: values, operations, blocks and regions, with use lists and in-place editing.

Operations are subclasses of `Operation` declared through `pyasc.ir.declare`; nothing here knows any of them.
A block is a doubly linked list, so insertion and removal cost the same at any length.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:
    from typing_extensions import dataclass_transform

from pyasc.ir.construct import constructor
from pyasc.ir.declare import OpSpec, attribute, build_spec, operand, operands, region, result, results
from pyasc.ir.location import UNKNOWN, Location
from pyasc.ir.types import Type

if TYPE_CHECKING:
    from pyasc.ir.declare import Attr

OpT = TypeVar("OpT", bound="Operation")


class Value:
    """One SSA value: an operation's result or a block's argument.

    `owner` is what defines it, `op` the same where that is an operation, else None. `name` is the Python name it came
    from, or empty; the printer makes it unique. `uses` counts how often each operation has the value among its
    operands, in the order in which they first used it.
    """

    __slots__ = ("index", "name", "op", "owner", "type", "uses")

    def __init__(self, type_: Type, owner: Operation | Block, index: int, name: str = "") -> None:
        self.type = type_
        self.owner = owner
        self.op: Operation | None = None if isinstance(owner, Block) else owner
        self.index = index
        self.name = name
        self.uses: dict[Operation, int] = {}

    @property
    def block(self) -> Block | None:
        """The block whose argument this is, or in which the defining operation stands."""
        owner = self.owner
        return owner if isinstance(owner, Block) else owner.parent

    def replace_uses(self, new: Value, where: Callable[[Operation], bool] | None = None) -> None:
        """Make every user (or those for which `where` holds) use `new` instead."""
        if new is self:
            return
        for user in list(self.uses):
            if where is None or where(user):
                user.operands = [new if value is self else value for value in user.operands]


@dataclass_transform(
    eq_default=False,
    kw_only_default=True,
    field_specifiers=(operand, operands, result, results, attribute, region),
)
class _Declared:
    """Turns the annotated fields of a subclass into a constructor, accessors and an `OpSpec`."""

    parent: Block | None = None
    prev: Operation | None = None
    next: Operation | None = None
    results: tuple[Value, ...] = ()
    regions: list[Region]
    attrs: dict[str, Attr]
    segments: tuple[int, ...]
    spec: ClassVar[OpSpec]


class Operation(_Declared):
    """Base of all operations.

    Every field of a declaration is a keyword of the constructor; `types` gives the result types where the
    declaration does not infer them; `loc` is the source location and survives every pass.
    """

    loc: Location = UNKNOWN
    types: Sequence[Type] | None = None

    if not TYPE_CHECKING:

        def __init_subclass__(cls, *, name: str = "", traits: Iterable[str] = (), **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            if name:
                cls.spec = build_spec(cls, name, frozenset(traits))

        def __init__(self, **fields):
            cls = type(self)
            cls.__init__ = constructor(cls.spec, Value, Region)
            cls.__init__(self, **fields)
    else:

        def __init_subclass__(cls, *, name: str = "", traits: Iterable[str] = ()) -> None: ...

    @property
    def name(self) -> str:
        """The full name, `dialect.operation`, as it is printed."""
        spec = self.spec
        return f"{spec.dialect}.{self.attrs[spec.named_by]}" if spec.named_by else spec.name

    @property
    def operands(self) -> list[Value]:
        """All operands in declaration order. Assign a new list to change them; never edit it in place."""
        return self._operands  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]

    @operands.setter
    def operands(self, values: Sequence[Value]) -> None:
        self._drop_uses()
        self._operands = list(values)
        self._add_uses()

    def _add_uses(self) -> None:
        for value in self._operands:
            uses = value.uses
            uses[self] = uses[self] + 1 if self in uses else 1

    def _drop_uses(self) -> None:
        for value in self._operands:
            count = value.uses[self] - 1
            if count:
                value.uses[self] = count
            else:
                del value.uses[self]

    def has(self, trait: str) -> bool:
        """Whether the declaration carries the trait (see `pyasc.ir.traits`)."""
        return trait in self.spec.traits

    def set_operands(self, field: str, values: Sequence[Value]) -> None:
        """Replace the operands of one declared field, of any length where the field is variadic."""
        self.spec.replace_segment(self, field, values)

    def attach(self, block: Block) -> None:
        """Append to `block`."""
        block.insert_before(None, self)

    def unlink(self) -> None:
        """Take out of the block, keeping operands and uses."""
        if self.parent is not None:
            self.parent.remove(self)

    def erase(self) -> None:
        """Remove for good. Raises ValueError while a result is still used."""
        for value in self.results:
            if value.uses:
                raise ValueError(f"{self.name} at {self.loc} is still used by {next(iter(value.uses)).name}")
        self.unlink()
        self.drop()

    def drop(self) -> None:
        """Forget the operands here and in every nested operation, so that what they use can go."""
        for op in self.walk() if self.regions else (self,):
            op._drop_uses()
            op._operands = []

    def replace_with(self, values: Sequence[Value]) -> None:
        """Replace all results by `values` and erase the operation."""
        for old, new in zip(self.results, values, strict=True):
            if old.name and not new.name:
                new.name = old.name
            old.replace_uses(new)
        self.erase()

    def walk(self) -> Iterator[Operation]:
        """This operation and all nested ones, parents before children.

        The visited one may be erased, and then what it contained is not visited.
        """
        yield self
        stack = self._starts()
        while stack:
            op = stack.pop()
            while op is not None:
                # Read before yielding, so that the caller may erase or move the operation it is given.
                following = op.next
                yield op
                if op.regions and op.parent is not None:
                    stack.append(following)
                    stack += op._starts()
                    break
                op = following

    def nested(self) -> list[Operation]:
        """This operation and all nested ones as they stand now, parents before children."""
        found: list[Operation] = [self]
        stack = self._starts()
        while stack:
            op = stack.pop()
            while op is not None:
                found.append(op)
                if op.regions:
                    stack.append(op.next)
                    stack += op._starts()
                    break
                op = op.next
        return found

    def nests(self) -> list[Operation]:
        """Those of this operation and all nested ones that have regions, as they stand now, parents first."""
        found: list[Operation] = []
        stack: list[Operation] = [self]
        while stack:
            found.append(op := stack.pop())
            stack += op._inner_nests()[::-1]
        return found

    def nests_inner_first(self) -> list[Operation]:
        """The same, children before parents."""
        found: list[Operation] = []
        stack: list[Operation] = [self]
        while stack:
            found.append(op := stack.pop())
            stack += op._inner_nests()
        return found[::-1]

    def _inner_nests(self) -> list[Operation]:
        """The operations with regions that stand directly in this one's."""
        found: list[Operation] = []
        for held in self.regions:
            for block in held.blocks:
                op = block.first
                while op is not None:
                    if op.regions:
                        found.append(op)
                    op = op.next
        return found

    def _starts(self) -> list[Operation | None]:
        """The first operation of each block, that of the last block first."""
        return [block.first for region in reversed(self.regions) for block in reversed(region.blocks)]

    def ancestors(self) -> Iterator[Operation]:
        """The enclosing operations, innermost first."""
        op = self.parent_op
        while op is not None:
            yield op
            op = op.parent_op

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds this one."""
        return (
            self.parent.parent.parent if self.parent is not None and self.parent.parent is not None else None
        )

    def clone(self, mapping: dict[Value, Value] | None = None) -> Operation:
        """A detached deep copy; operands are looked up in `mapping`, which gains the copied values."""
        mapping = {} if mapping is None else mapping
        copy = self.clone_without_regions(mapping)
        for old_region, new_region in zip(self.regions, copy.regions, strict=True):
            old_region.clone_into(new_region, mapping)
        return copy

    def clone_without_regions(self, mapping: dict[Value, Value]) -> Operation:
        """A detached copy whose regions are empty; `mapping` gains its results."""
        copy = type(self).__new__(type(self))
        copy.loc = self.loc
        copy._operands = [mapping.get(value, value) for value in self.operands]
        copy.segments = self.segments
        copy.attrs = dict(self.attrs)
        copy.regions = [Region() for _ in self.regions]
        for made in copy.regions:
            made.parent = copy
        copy._add_uses()
        copy.results = tuple([Value(old.type, copy, i, old.name) for i, old in enumerate(self.results)])
        mapping.update(zip(self.results, copy.results, strict=True))
        return copy

    def __str__(self) -> str:
        from pyasc.ir.printer import print_op

        return print_op(self)

    def verify_op(self) -> Iterable[str]:
        """Messages for what the declaration alone cannot say; overridden by operations that need it."""
        return ()


class Block:
    """A straight-line list of operations with arguments; the last one is a terminator where the op asks for it."""

    __slots__ = ("args", "first", "last", "parent")

    def __init__(self, arg_types: Sequence[Type] = (), arg_names: Sequence[str] = ()) -> None:
        names = list(arg_names) + [""] * (len(arg_types) - len(arg_names))
        self.args = [Value(t, self, i, names[i]) for i, t in enumerate(arg_types)]
        self.parent: Region | None = None
        self.first: Operation | None = None
        self.last: Operation | None = None

    def __iter__(self) -> Iterator[Operation]:
        op = self.first
        while op is not None:
            # Read before yielding, so that the caller may erase or move the operation it is given.
            following = op.next
            yield op
            op = following

    def __reversed__(self) -> Iterator[Operation]:
        op = self.last
        while op is not None:
            preceding = op.prev
            yield op
            op = preceding

    @property
    def parent_op(self) -> Operation | None:
        """The operation that holds this block."""
        return self.parent.parent if self.parent is not None else None

    @property
    def terminator(self) -> Operation:
        """The last operation. Raises ValueError when the block is empty."""
        if self.last is None:
            raise ValueError("the block is empty")
        return self.last

    def add_arg(self, type_: Type, name: str = "") -> Value:
        """Append one more argument."""
        self.args.append(Value(type_, self, len(self.args), name))
        return self.args[-1]

    def remove_arg(self, index: int) -> None:
        """Drop an argument that nothing uses."""
        if self.args[index].uses:
            raise ValueError("the block argument is still used")
        del self.args[index]
        for i, arg in enumerate(self.args):
            arg.index = i

    def insert_before(self, anchor: Operation | None, op: Operation) -> None:
        """Insert before `anchor`, or at the end when it is None."""
        if op.parent is not None:
            op.unlink()
        op.parent = self
        op.next = anchor
        op.prev = self.last if anchor is None else anchor.prev
        if op.prev is None:
            self.first = op
        else:
            op.prev.next = op
        if anchor is None:
            self.last = op
        else:
            anchor.prev = op

    def remove(self, op: Operation) -> None:
        """Take an operation of this block out of it."""
        if op.prev is None:
            self.first = op.next
        else:
            op.prev.next = op.next
        if op.next is None:
            self.last = op.prev
        else:
            op.next.prev = op.prev
        op.parent = op.prev = op.next = None


class Region:
    """A list of blocks owned by an operation. All our control flow is structured, so most have exactly one."""

    __slots__ = ("blocks", "parent")

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        self.blocks: list[Block] = []
        self.parent: Operation | None = None
        for block in blocks:
            self.add(block)

    def add(self, block: Block) -> Block:
        """Append a block and return it."""
        block.parent = self
        self.blocks.append(block)
        return block

    @property
    def block(self) -> Block:
        """The only block. Raises ValueError unless there is exactly one."""
        if len(self.blocks) != 1:
            raise ValueError(f"the region has {len(self.blocks)} blocks, not one")
        return self.blocks[0]

    def clone_into(self, target: Region, mapping: dict[Value, Value]) -> None:
        """Append deep copies of all blocks to `target`."""
        pending: list[tuple[Region, Region]] = [(self, target)]
        while pending:
            # Nothing outside a region uses what it defines, so whole blocks are copied before what they nest.
            source, destination = pending.pop()
            for block in source.blocks:
                copy = destination.add(Block([a.type for a in block.args], [a.name for a in block.args]))
                mapping.update(zip(block.args, copy.args, strict=True))
                for op in block:
                    made = op.clone_without_regions(mapping)
                    made.attach(copy)
                    pending.extend(zip(op.regions, made.regions, strict=True))


def block_of(arg_types: Sequence[Type] = (), arg_names: Sequence[str] = ()) -> Region:
    """A region with one empty block."""
    return Region([Block(arg_types, arg_names)])


class Builder:
    """Inserts operations at a moving point and stamps them with a current location."""

    __slots__ = ("anchor", "block", "loc")

    def __init__(self, block: Block, anchor: Operation | None = None, loc: Location = UNKNOWN) -> None:
        self.block = block
        self.anchor = anchor
        self.loc = loc

    @staticmethod
    def before(op: Operation) -> Builder:
        """A builder that inserts before `op` with its location."""
        assert op.parent is not None
        return Builder(op.parent, op, op.loc)

    @staticmethod
    def after(op: Operation) -> Builder:
        """A builder that inserts after `op` with its location."""
        assert op.parent is not None
        return Builder(op.parent, op.next, op.loc)

    def insert(self, op: OpT) -> OpT:
        """Insert and return the operation; one without a location takes the builder's."""
        if op.loc is UNKNOWN:
            op.loc = self.loc
        self.block.insert_before(self.anchor, op)
        return op

    def value(self, op: Operation, name: str = "") -> Value:
        """Insert an operation with one result and return that result."""
        (value,) = self.insert(op).results
        if name:
            value.name = name
        return value
