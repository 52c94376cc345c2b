# SPDX-License-Identifier: Apache-2.0
"""Checks that an operation and all it contains keep the rules of their declarations and of the structure.

All problems are collected, so that one run shows everything a pass broke. The walk keeps its own stack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import cast

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.declare import ANY, AttributeField, OpSpec
from pyasc.ir.levels import LEVELS, Level
from pyasc.ir.printer import print_attribute, print_op
from pyasc.ir.sizes import SizeExpr
from pyasc.ir.traits import ISOLATED, NO_TERMINATOR, SINGLE_BLOCK, TERMINATOR
from pyasc.ir.types import Type


@dataclass(frozen=True)
class Problem:
    """One broken rule and the operation that breaks it."""

    op: Operation
    message: str

    def __str__(self) -> str:
        where = f"{self.op.loc}: " if self.op.loc.known else ""
        return f"{where}{self.op.name}: {self.message}"


class VerifyError(ValueError):
    """The IR is broken. The text shows it with each problem below its operation."""

    def __init__(self, root: Operation, problems: list[Problem], after: str = "") -> None:
        self.problems = problems
        notes: dict[Operation, list[str]] = {}
        for problem in problems:
            notes.setdefault(problem.op, []).append(problem.message)
        count = "one problem" if len(problems) == 1 else f"{len(problems)} problems"
        heading = f"the IR has {count}{after and f' after {after}'}:"
        listed = "\n".join(f"  {problem}" for problem in problems)
        super().__init__(f"{heading}\n{listed}\n\n{print_op(root, notes=notes)}")


def verify(root: Operation, level: str | None = None) -> list[Problem]:
    """Every problem of `root` and what it contains, in the order of the text; none when the IR is valid.

    With a `level` (a name of `pyasc.ir.levels.LEVELS`), operations and values foreign to it are problems too.
    """
    return list(_Verifier(LEVELS[level] if level else None).run(root))


def check(root: Operation, level: str | None = None, after: str = "") -> None:
    """Raises VerifyError when `verify` finds a problem; `after` names what ran before, for the message."""
    problems = verify(root, level)
    if problems:
        raise VerifyError(root, problems, after)


@cache
def _constrained(spec: OpSpec) -> tuple[bool, bool]:
    """Whether any operand and any result has a constraint or an inferred type."""
    return (
        any(part.constraint is not ANY for part in spec.operands),
        any(part.constraint is not ANY or part.infer is not None for part in spec.results),
    )


@dataclass
class _Scope:
    """A block being walked: what is left of it, what it defines, and what is visible in it."""

    op: Operation | None
    rest: Iterator[Operation]
    defined: list[Value]
    visible: set[Value]


class _Verifier:
    def __init__(self, level: Level | None) -> None:
        self.level = level
        self.used: dict[Value, int] = {}
        self.defined: list[Value] = []

    def run(self, root: Operation) -> Iterator[Problem]:
        """All problems."""
        outside = {value for op in (root, *root.ancestors()) for value in _visible_at(op)}
        stack = [_Scope(None, iter((root,)), [], outside)]
        while stack:
            scope = stack[-1]
            op = next(scope.rest, None)
            if op is None:
                scope.visible.difference_update(scope.defined)
                stack.pop()
                continue
            for message in self._operation(op, scope.visible):
                yield Problem(op, message)
            scope.visible.update(op.results)
            scope.defined.extend(op.results)
            self.defined.extend(op.results)
            if op.regions:
                stack.extend(reversed(list(self._scopes(op, scope.visible))))
        yield from self._stale_uses()

    def _scopes(self, op: Operation, visible: set[Value]) -> Iterator[_Scope]:
        isolated = ISOLATED in op.spec.traits
        for region in op.regions:
            for block in region.blocks:
                inner = set[Value]() if isolated else visible
                self.defined.extend(block.args)
                yield _Scope(op, _entering(block, inner), list(block.args), inner)

    def _operation(self, op: Operation, visible: set[Value]) -> Iterator[str]:
        broken = False
        for message in self._generic(op, visible):
            broken = True
            yield message
        if broken:
            return
        try:
            yield from op.verify_op()
        except ValueError as error:
            yield str(error)

    def _generic(self, op: Operation, visible: set[Value]) -> Iterator[str]:
        spec = op.spec
        if self.level is not None:
            yield from _fits_level(op, self.level)
        for value in op.operands:
            if value not in visible:
                yield f"operand {_words(value)} is not visible here"
            self.used[value] = self.used.get(value, 0) + 1
            if value.uses.get(op) != (1 if len(op.operands) == 1 else op.operands.count(value)):
                yield f"the use list of operand {_words(value)} does not count this operation"
        if sum(op.segments) != len(op.operands) or len(op.segments) != len(spec.operands):
            yield f"operand segments {list(op.segments)} for {len(op.operands)} operands"
            return
        operands_constrained, results_constrained = _constrained(spec)
        if operands_constrained:
            yield from _operand_types(op)
        if spec.attributes:
            yield from _attributes(op)
        if op.regions or spec.regions:
            yield from _structure(op)
        if results_constrained:
            yield from _result_types(op)

    def _stale_uses(self) -> Iterator[Problem]:
        for value in self.defined:
            if value.uses and sum(value.uses.values()) != self.used.get(value, 0):
                op = value.op or (value.block and value.block.parent_op)
                if op is not None:
                    yield Problem(op, f"the use list of {_words(value)} names an operation that is gone")


def _entering(block: Block, visible: set[Value]) -> Iterator[Operation]:
    # Arguments come into sight when the walk reaches the block, not when it is queued.
    visible.update(block.args)
    yield from block


def _visible_at(op: Operation) -> set[Value]:
    """Values of the block that holds `op` which stand before it."""
    found: set[Value] = set()
    if op.parent is not None:
        found.update(op.parent.args)
    before = op.prev
    while before is not None:
        found.update(before.results)
        before = before.prev
    return found


def _words(value: Value) -> str:
    owner = value.owner
    number = owner.operands if isinstance(owner, Operation) else None
    of = (
        f"result {value.index} of {owner.name}" if number is not None and isinstance(owner, Operation) else ""
    )
    return (f"%{value.name}" if value.name else of or f"block argument {value.index}") + f" ({value.type})"


def _fits_level(op: Operation, level: Level) -> Iterable[str]:
    if not level.allows(op.spec):
        yield f"is not an operation of the {level.name} level"
    for value in op.results:
        if not isinstance(value.type, level.types):
            yield f"the {level.name} level has no values of type {value.type}"


def _operand_types(op: Operation) -> Iterator[str]:
    start = 0
    for part, count in zip(op.spec.operands, op.segments, strict=True):
        if not part.variadic and count != 1:
            yield f"operand {part.name!r} is one value, got {count}"
        for value in op.operands[start : start + count]:
            if not part.constraint.accepts(value.type):
                yield f"operand {part.name!r} must be {part.constraint.words}, got {value.type}"
        start += count


def _result_types(op: Operation) -> Iterator[str]:
    fields = op.spec.results
    if fields and fields[-1].variadic:
        fields = (*fields[:-1], *(fields[-1],) * (len(op.results) - len(fields) + 1))
    if len(fields) != len(op.results):
        yield f"{len(op.results)} results for {len(fields)} declared ones"
        return
    for part, value in zip(fields, op.results, strict=True):
        if not part.constraint.accepts(value.type):
            yield f"result {part.name!r} must be {part.constraint.words}, got {value.type}"
        if part.infer is not None and (expected := part.infer(op)) != value.type:
            yield f"result {part.name!r} has type {value.type}, not {expected}"


def _attributes(op: Operation) -> Iterator[str]:
    for part in op.spec.attributes:
        if part.name not in op.attrs:
            yield f"attribute {part.name!r} is missing"
            continue
        value = op.attrs[part.name]
        if value is part.default:
            continue
        if not _attribute_test(part)(value):
            yield f"attribute {part.name!r} must be {part.annotation}, got {print_attribute(value)}"
        elif part.choices and value not in part.choices:
            yield f"attribute {part.name!r} must be one of {', '.join(part.choices)}, got {value}"


def _structure(op: Operation) -> Iterator[str]:
    traits = op.spec.traits
    for number, region in enumerate(op.regions):
        name = op.spec.regions[number].name if number < len(op.spec.regions) else str(number)
        if region.parent is not op:
            yield f"region {name!r} does not know its operation"
        if SINGLE_BLOCK in traits and len(region.blocks) != 1:
            yield f"region {name!r} has {len(region.blocks)} blocks, not one"
        for block in region.blocks:
            if block.parent is not region:
                yield f"a block of region {name!r} does not know its region"
            yield from _block(block, name, NO_TERMINATOR not in traits)


def _block(block: Block, region: str, terminated: bool) -> Iterator[str]:
    previous: Operation | None = None
    for op in block:
        if op.parent is not block or op.prev is not previous:
            yield f"the links of {op.name} in region {region!r} are broken"
        if TERMINATOR in op.spec.traits and op is not block.last:
            yield f"{op.name} stands before the end of region {region!r}"
        previous = op
    if block.last is not previous:
        yield f"the links at the end of region {region!r} are broken"
    if terminated and (previous is None or TERMINATOR not in previous.spec.traits):
        yield f"region {region!r} does not end in a terminator"


_SIMPLE: dict[str, Callable[[object], bool]] = {
    "None": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": lambda value: isinstance(value, float),
    "str": lambda value: isinstance(value, str),
    "Type": lambda value: isinstance(value, Type),
    "AffineExpr": lambda value: isinstance(value, AffineExpr),
    "AffineMap": lambda value: isinstance(value, AffineMap),
    "SizeExpr": lambda value: isinstance(value, SizeExpr),
    "Attr": lambda _: True,
}


@cache
def _attribute_test(part: AttributeField) -> Callable[[object], bool]:
    """The test that the declared Python type of an attribute stands for."""
    return _type_test(part.annotation)


def _type_test(annotation: str) -> Callable[[object], bool]:
    if annotation.startswith("tuple[") and annotation.endswith(", ...]"):
        item = _type_test(annotation[len("tuple[") : -len(", ...]")])
        return lambda value: isinstance(value, tuple) and all(map(item, cast("tuple[object, ...]", value)))
    tests = [_SIMPLE[name] for name in annotation.split(" | ")]
    return lambda value: any(test(value) for test in tests)
