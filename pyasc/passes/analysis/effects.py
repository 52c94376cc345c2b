# SPDX-License-Identifier: Apache-2.0
"""What operations do to memory, from traits and operand declarations alone, and which refs may overlap."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import mem, st
from pyasc.ir.dialects.func import Func
from pyasc.ir.traits import (
    ALLOCATES,
    BRANCH,
    CHECKS,
    COMMUTATIVE,
    CONSTANT,
    EFFECT,
    ISOLATED,
    LOOP,
    NO_TERMINATOR,
    PURE,
    READS,
    SINGLE_BLOCK,
    TERMINATOR,
    VIEW,
    WRITES,
)
from pyasc.ir.types import RefType

_HARMLESS = frozenset((PURE, READS, ALLOCATES, LOOP, BRANCH))
_INERT = frozenset(
    (PURE, TERMINATOR, CONSTANT, COMMUTATIVE, LOOP, BRANCH, SINGLE_BLOCK, NO_TERMINATOR, ISOLATED)
)
_KNOWN = frozenset((PURE, READS, WRITES, ALLOCATES, CHECKS, TERMINATOR, LOOP, BRANCH))


def root_of(ref: Value) -> Value:
    """The ref that a chain of views was made from."""
    op = ref.op
    while op is not None and VIEW in op.spec.traits:
        ref = op.operands[0]
        op = ref.op
    return ref


def is_local(root: Value) -> bool:
    """Whether a root is a buffer that the function allocates itself."""
    return root.op is not None and ALLOCATES in root.op.spec.traits


def may_alias(left: Value, right: Value) -> bool:
    """Whether two refs may name overlapping memory.

    Buffers made by different allocations never do, nor do different parameters that the function does not
    list together in `aliases`. A ref that is neither (carried by a loop) may name anything.
    """
    a, b = root_of(left), root_of(right)
    if a is b:
        return True
    if is_local(a):
        return not (is_local(b) or _is_parameter(b))
    if is_local(b):
        return not _is_parameter(a)
    return not (_is_parameter(a) and _is_parameter(b)) or _listed_together(a, b)


def _is_parameter(root: Value) -> bool:
    return root.op is None and root.block is not None and isinstance(root.block.parent_op, Func)


def _listed_together(a: Value, b: Value) -> bool:
    assert a.block is not None and a.block.parent_op is not None
    groups = a.block.parent_op.attrs.get("aliases")
    if not isinstance(groups, tuple):
        return False
    return any(isinstance(group, tuple) and a.index in group and b.index in group for group in groups)


def refs(values: Iterable[Value]) -> list[Value]:
    """The values that are refs."""
    return [value for value in values if isinstance(value.type, RefType)]


def written_refs(op: Operation) -> list[Value]:
    """The refs that the operation itself (not its regions) may write."""
    traits = op.spec.traits
    if WRITES in traits:
        found: list[Value] = []
        for position in op.spec.written:
            start, stop = op.spec.segment(op, position)
            found += op.operands[start:stop]
        return found
    if EFFECT in traits and READS not in traits:
        return refs(op.operands)
    return []


def read_refs(op: Operation) -> list[Value]:
    """The refs that the operation itself may read.

    Of an operation that reads and writes, the written ones count as well, unless it is known to overwrite them.
    """
    traits = op.spec.traits
    if READS not in traits and EFFECT not in traits:
        return []
    match op:
        case mem.Copy():
            return [op.source]
        case st.Apply():
            outputs = () if op.inits else op.outputs
            return [*op.inputs, *outputs]
        case _:
            return refs(op.operands)


@dataclass(slots=True)
class Effects:
    """What an operation with all it nests may do: roots of the memory it reads and writes, and the rest.

    `opaque` is set for an operation that declares nothing: it may touch any memory.
    """

    reads: dict[Value, None]
    writes: dict[Value, None]
    checks: bool = False
    effect: bool = False
    allocates: bool = False
    opaque: bool = False

    def may_write(self, ref: Value) -> bool:
        """Whether memory that `ref` names may change."""
        return self.opaque or any(may_alias(ref, root) for root in self.writes)

    def may_read(self, ref: Value) -> bool:
        """Whether memory that `ref` names may be looked at."""
        return self.opaque or any(may_alias(ref, root) for root in self.reads)

    @property
    def pure(self) -> bool:
        """Whether results depend on operands alone and nothing else happens."""
        return self.silent and not (self.reads or self.allocates)

    @property
    def silent(self) -> bool:
        """Whether nothing but results comes out, so that an unused operation may go."""
        return not (self.writes or self.checks or self.effect or self.opaque)


class EffectTable:
    """The effects of operations with their regions, each computed once."""

    def __init__(self) -> None:
        self._known: dict[Operation, Effects] = {}

    def of(self, op: Operation) -> Effects:
        """The effects of the operation and everything in its regions."""
        found = self._known.get(op)
        if found is None:
            found = self._known[op] = self._compute(op)
        return found

    def forget(self, op: Operation) -> None:
        """Compute the effects of the operation again when they are asked for: it has lost some."""
        self._known.pop(op, None)

    def _compute(self, op: Operation) -> Effects:
        made = Effects({}, {})
        if not _is_inert(op.spec.traits):
            _add_own(made, op)
        for region in op.regions:
            for block in region.blocks:
                for inner in block:
                    if inner.regions:
                        _merge(made, self.of(inner))
                    elif not _is_inert(inner.spec.traits):
                        _add_own(made, inner)
        return made


@lru_cache(maxsize=256)
def _is_inert(traits: frozenset[str]) -> bool:
    """Whether an operation with these traits, its regions apart, neither touches memory nor acts otherwise."""
    return traits <= _INERT and bool(traits & _KNOWN)


def _add_own(into: Effects, op: Operation) -> None:
    """Add what the operation itself does, its regions apart."""
    traits = op.spec.traits
    for ref in read_refs(op):
        into.reads[root_of(ref)] = None
    for ref in written_refs(op):
        into.writes[root_of(ref)] = None
    into.checks |= CHECKS in traits
    into.effect |= EFFECT in traits
    into.allocates |= ALLOCATES in traits
    into.opaque |= not traits & _KNOWN and EFFECT not in traits


def _merge(into: Effects, other: Effects) -> None:
    into.reads.update(other.reads)
    into.writes.update(other.writes)
    into.checks |= other.checks
    into.effect |= other.effect
    into.allocates |= other.allocates
    into.opaque |= other.opaque


def has_own_effect(op: Operation) -> bool:
    """Whether the operation itself, its regions apart, does more than give results (terminators do not count)."""
    traits = op.spec.traits
    if WRITES in traits or CHECKS in traits or EFFECT in traits:
        return True
    return not traits & _KNOWN


def is_silent(op: Operation) -> bool:
    """Whether nothing but results comes out of the operation and what it nests."""
    traits = op.spec.traits
    if not traits & _HARMLESS or WRITES in traits or CHECKS in traits or EFFECT in traits:
        return False
    for region in op.regions:
        for block in region.blocks:
            for inner in block:
                if not (is_silent(inner) or (inner is block.last and TERMINATOR in inner.spec.traits)):
                    return False
    return True
