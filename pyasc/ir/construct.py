# SPDX-License-Identifier: Apache-2.0
"""Writes the constructor of an operation from its declaration, as `dataclasses` writes one from fields.

Passes construct thousands of operations, and a constructor that reads the declaration each time takes twice as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyasc.ir.location import UNKNOWN

if TYPE_CHECKING:
    from pyasc.ir.declare import OperandField, OpSpec, ResultField
    from pyasc.ir.types import Type

MISSING = object()
"""The default of an attribute that has none."""


def constructor(spec: OpSpec, value_class: Any, region_class: Any) -> Callable[..., None]:
    """`__init__` of the class that `spec` describes, with every field as a keyword.

    It raises TypeError for a field that is missing or unknown, and where result types are neither given nor inferred.
    """
    known: dict[str, Any] = {"UNKNOWN": UNKNOWN, "Value": value_class, "Region": region_class, "spec": spec}
    known["infer"] = _infer
    lines = [
        f"def __init__(self, *, {', '.join(_parameters(spec, known))}):",
        "self.loc = loc",
        f"self.attrs = {{{', '.join(f'{part.name!r}: {part.name}' for part in spec.attributes)}}}",
        f"self._operands = [{', '.join(_operands(spec.operands))}]",
        f"self.segments = ({''.join(_counts(spec.operands))})",
        f"self.regions = [{', '.join(part.name for part in spec.regions)}]",
        *_adopt(spec),
        *_USES,
        *_results(spec.results, known),
    ]
    exec("\n    ".join(lines), known)
    made = known["__init__"]
    made.__qualname__ = spec.name
    return made


def _parameters(spec: OpSpec, known: dict[str, Any]) -> Iterable[str]:
    for part in spec.attributes:
        if part.default is MISSING:
            yield part.name
        else:
            known[f"default_{part.name}"] = part.default
            yield f"{part.name}=default_{part.name}"
    for part in spec.operands:
        yield f"{part.name}=()" if part.variadic else part.name
    for part in spec.regions:
        yield f"{part.name}=None"
    yield "loc=UNKNOWN"
    yield "types=None"


def _operands(parts: Sequence[OperandField]) -> Iterable[str]:
    return (f"*{part.name}" if part.variadic else part.name for part in parts)


def _counts(parts: Sequence[OperandField]) -> Iterable[str]:
    return (f"len({part.name}), " if part.variadic else "1, " for part in parts)


def _adopt(spec: OpSpec) -> Iterable[str]:
    for number, part in enumerate(spec.regions):
        yield f"if {part.name} is None: self.regions[{number}] = {part.name} = Region()"
        yield f"{part.name}.parent = self"


_USES = (
    "for value in self._operands:",
    "    uses = value.uses",
    "    uses[self] = uses[self] + 1 if self in uses else 1",
)


def _results(parts: Sequence[ResultField], known: dict[str, Any]) -> Iterable[str]:
    yield "if types is not None:"
    yield "    self.results = tuple([Value(each, self, i) for i, each in enumerate(types)])"
    if len(parts) == 1 and parts[0].infer is not None:
        known["only"] = parts[0].infer
        yield "else:"
        yield "    self.results = (Value(only(self), self, 0),)"
    elif parts:
        yield "else:"
        yield "    self.results = tuple([Value(each, self, i) for i, each in enumerate(infer(spec, self))])"


def _infer(spec: OpSpec, op: Any) -> list[Type]:
    types: list[Type] = []
    for part in spec.results:
        if part.infer is not None:
            types.append(part.infer(op))
        elif not part.variadic:
            raise TypeError(f"{spec.name} needs types= for its result {part.name!r}")
    return types
