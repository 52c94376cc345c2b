# SPDX-License-Identifier: Apache-2.0
"""The declaration language of operations: fields, from which constructor, accessors, verifier and text follow.

    class Load(Operation, name="mem.load", traits=[READS]):
        \"\"\"Reads one element.\"\"\"

        ref: Value = operand(ANY_REF)
        indices: Sequence[Value] = operands(I64)
        value: Value = result(lambda op: ScalarType(dtype_of(op.ref.type)))

Operands, results, attributes and regions keep the order in which they are declared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.construct import MISSING
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.types import Type

if TYPE_CHECKING:
    from pyasc.ir.core import Operation, Value

Attr = None | bool | int | float | str | Type | AffineExpr | AffineMap | SizeExpr | tuple["Attr", ...]
"""What an attribute may hold: immutable values whose text form can be read back."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A test of a type, with the words that say what was expected."""

    words: str
    accepts: Callable[[Type], bool]


ANY = Constraint("any type", lambda _: True)


class Field(ABC):
    """One declared part of an operation. `position` counts the fields of the same kind."""

    name: str
    position: int
    doc: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @abstractmethod
    def accessor(self) -> property:
        """What the class has under the field's name: read all the time, so it does no more than it must."""


@dataclass(eq=False)
class OperandField(Field):
    """One operand, or (variadic) any number of them in a row.

    `fixed` says that no variadic operand stands before, so that `position` is the index of the first value, and
    `last` that no operand stands behind.
    """

    constraint: Constraint
    variadic: bool
    written: bool
    doc: str
    fixed: bool = True
    last: bool = False

    def accessor(self) -> property:
        """One value, or a tuple; setting replaces it."""
        position = self.position
        if self.fixed and not self.variadic:
            return property(lambda op: op._operands[position], self._set)
        if self.fixed and self.last:
            return property(lambda op: tuple(op._operands[position:]), self._set)
        return property(self._get, self._set)

    def _get(self, op: Any) -> Any:
        start = sum(op.segments[: self.position])
        if self.variadic:
            return tuple(op._operands[start : start + op.segments[self.position]])
        return op._operands[start]

    def _set(self, op: Any, value: Any) -> None:
        op.spec.replace_segment(op, self.name, value if self.variadic else [value])


@dataclass(eq=False)
class ResultField(Field):
    """One result, or (variadic, last) any number of them."""

    infer: Callable[[Any], Type] | None
    constraint: Constraint
    variadic: bool
    doc: str

    def accessor(self) -> property:
        """One result, or a tuple."""
        position = self.position
        if self.variadic:
            return property(lambda op: op.results[position:])
        return property(lambda op: op.results[position])


@dataclass(eq=False)
class AttributeField(Field):
    """A compile-time value; optional when it has a default, and then left out of the text when equal to it.

    `in_name` says that the text form has it in place of the operation's own name; `annotation` is the declared
    Python type as text, which the verifier checks.
    """

    default: Any
    choices: tuple[str, ...]
    doc: str
    in_name: bool = False
    annotation: str = "Attr"

    def accessor(self) -> property:
        """The value, which may be set."""
        name = self.name
        return property(lambda op: op.attrs[name], self._set)

    def _set(self, op: Any, value: Any) -> None:
        op.attrs[self.name] = value


@dataclass(eq=False)
class RegionField(Field):
    """A nested region."""

    doc: str

    def accessor(self) -> property:
        """The region."""
        position = self.position
        return property(lambda op: op.regions[position])


def operand(constraint: Constraint = ANY, *, written: bool = False, doc: str = "") -> Any:
    """Declare one operand; `written` says that the operation writes the memory it names."""
    return OperandField(constraint, False, written, doc)


def operands(constraint: Constraint = ANY, *, written: bool = False, default: Any = (), doc: str = "") -> Any:
    """Declare a variadic operand: an attribute access gives a tuple, the constructor takes any sequence."""
    assert default == ()
    return OperandField(constraint, True, written, doc)


def result(
    infer: Callable[[Any], Type] | None = None,
    constraint: Constraint = ANY,
    *,
    init: Literal[False] = False,
    doc: str = "",
) -> Any:
    """Declare one result; `infer` computes its type from the operation, else the constructor's `types` gives it."""
    return ResultField(infer, constraint, init, doc)


def results(constraint: Constraint = ANY, *, init: Literal[False] = False, doc: str = "") -> Any:
    """Declare a variadic result; the constructor's `types` gives the types."""
    return ResultField(None, constraint, not init, doc)


def attribute(
    *, default: Any = MISSING, choices: tuple[str, ...] = (), doc: str = "", in_name: bool = False
) -> Any:
    """Declare an attribute, of the `choices` when these are given.

    One that is `in_name` is printed as the operation's name behind the dialect, and must have choices.
    """
    return AttributeField(default, choices, doc, in_name)


def region(*, default: Any = None, doc: str = "") -> Any:
    """Declare a region; without one, the constructor makes an empty region."""
    assert default is None
    return RegionField(doc)


@dataclass(frozen=True, eq=False)
class OpSpec:
    """What a declaration says, in the form that constructor, printer, parser, verifier and documentation read."""

    name: str
    traits: frozenset[str]
    operands: tuple[OperandField, ...]
    results: tuple[ResultField, ...]
    attributes: tuple[AttributeField, ...]
    regions: tuple[RegionField, ...]
    doc: str
    cls: type[Operation]
    named_by: str = ""
    """The attribute that is printed as the operation's name, or empty."""

    @cached_property
    def dialect(self) -> str:
        """The part of the name before the point."""
        return self.name.partition(".")[0]

    @cached_property
    def written(self) -> tuple[int, ...]:
        """The positions of operands whose memory is written."""
        return tuple(part.position for part in self.operands if part.written)

    @cached_property
    def has_exact_attributes(self) -> bool:
        """Whether equal attributes are the same, as text and integers are, unlike `0.0`, `-0.0` and `False`."""
        return all(part.annotation in ("str", "int") for part in self.attributes)

    @cached_property
    def infers_all(self) -> bool:
        """Whether result types never need to be written."""
        return all(part.infer is not None for part in self.results)

    def segment(self, op: Any, position: int) -> tuple[int, int]:
        """First and last-plus-one index of an operand field in `op.operands`."""
        start = sum(op.segments[:position]) if position else 0
        return start, start + op.segments[position]

    def replace_segment(self, op: Any, name: str, values: Sequence[Value]) -> None:
        """Give one operand field new values."""
        part = next(p for p in self.operands if p.name == name)
        if not part.variadic and len(values) != 1:
            raise ValueError(f"{self.name}: operand {name!r} takes one value, got {len(values)}")
        start, stop = self.segment(op, part.position)
        segments = list(op.segments)
        segments[part.position] = len(values)
        op.operands = [*op.operands[:start], *values, *op.operands[stop:]]
        op.segments = tuple(segments)


def build_spec(cls: type[Any], name: str, traits: frozenset[str]) -> OpSpec:
    """Collect the declared fields of a class, numbering each kind in order."""
    by_kind: dict[type[Field], list[Any]] = {
        OperandField: [],
        ResultField: [],
        AttributeField: [],
        RegionField: [],
    }
    members: Mapping[str, Any] = dict(vars(cls))
    for member in members.values():
        if isinstance(member, Field):
            group = by_kind[type(member)]
            member.position = len(group)
            group.append(member)
    for part in by_kind[OperandField]:
        part.fixed = not any(other.variadic for other in by_kind[OperandField][: part.position])
        part.last = part is by_kind[OperandField][-1]
    for part in by_kind[AttributeField]:
        part.annotation = cls.__annotations__[part.name]
    for part in (part for group in by_kind.values() for part in group):
        setattr(cls, part.name, part.accessor())
    return OpSpec(
        name=name,
        traits=traits,
        operands=tuple(by_kind[OperandField]),
        results=tuple(by_kind[ResultField]),
        attributes=tuple(by_kind[AttributeField]),
        regions=tuple(by_kind[RegionField]),
        doc=cls.__doc__ or "",
        cls=cls,
        named_by=next((part.name for part in by_kind[AttributeField] if part.in_name), ""),
    )
