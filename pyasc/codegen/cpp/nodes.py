# SPDX-License-Identifier: Apache-2.0
"""The C++-shaped last form of a kernel: statements as data, expressions as text with a precedence.

Every decision has been taken when these exist; `render` prints each through the template of its name.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir.record import Record

PRIMARY, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY = 17, 16, 14, 13, 12, 10, 9
BIT_AND, BIT_XOR, BIT_OR, TERNARY = 8, 7, 6, 3


# Made by the thousand, and a frozen dataclass takes three times as long to make.
@dataclass(slots=True)
class Expr:
    """An expression: its text and how tightly its outermost operator binds. Never changed."""

    text: str
    precedence: int = PRIMARY

    def inside(self, precedence: int) -> str:
        """The text, in parentheses where an operator of `precedence` would tear it apart."""
        return self.text if self.precedence >= precedence else f"({self.text})"

    def __str__(self) -> str:
        return self.text


class Node(Record, frozen=False):
    """A statement. `comment` names the source line it came from, or is empty."""

    comment = ""


class Declare(Node, frozen=False):
    """`type name = value;`"""

    type: str
    name: str
    value: str
    const: bool


class Assign(Node, frozen=False):
    """`target = value;`"""

    target: str
    value: str


class Call(Node, frozen=False):
    """An expression evaluated for its effect."""

    text: str


class Pragma(Node, frozen=False):
    """A directive that stands between statements."""

    text: str


class For(Node, frozen=False):
    """A counted loop; `pragmas` stand before it."""

    counter: str
    lower: str
    test: str
    advance: str
    body: list[Node]
    pragmas: tuple[str, ...] = ()


class While(Node, frozen=False):
    """A loop while `condition` holds; `true` loops until a `Break`."""

    condition: str
    body: list[Node]


class Break(Node, frozen=False):
    """Leaves the loop if `condition` holds."""

    condition: str


class If(Node, frozen=False):
    """A branch; an empty `otherwise` is left out."""

    condition: str
    then: list[Node]
    otherwise: list[Node]


class StackArray(Node, frozen=False):
    """A small buffer on the stack."""

    type: str
    name: str
    count: str
    alignment: int


class HeapArray(Node, frozen=False):
    """A buffer of run-time size, released at the end of its scope; `failed` is what follows a lack of memory."""

    type: str
    name: str
    count: str
    alignment: int
    restrict: bool
    failed: str


class Check(Node, frozen=False):
    """Leaves the function through `failed` unless `condition` holds."""

    condition: str
    failed: str


class Fork(Node, frozen=False):
    """Runs an outlined loop body over `[0, count)` in chunks of `grain`, on the pool."""

    function: str
    context: str
    captures: tuple[str, ...]
    count: str
    grain: str
    failed: str


class Return(Node, frozen=False):
    """Leaves the function with a value, or with none."""

    value: str


class Variable(Record):
    """A typed name: a parameter or a captured value. `restrict` promises that nothing else names its memory."""

    type: str
    name: str
    restrict: bool = False

    @property
    def declaration(self) -> str:
        """The text `type name`."""
        return f"{self.type}{' __restrict' if self.restrict else ''} {self.name}"


class Outlined(Node, frozen=False):
    """The body of a threaded loop: a struct of what it captures and a function over a chunk."""

    context: str
    function: str
    fields: tuple[Variable, ...]
    body: list[Node]


class Function(Node, frozen=False):
    """An exported kernel, with the loop bodies outlined from it standing before it."""

    name: str
    params: tuple[Variable, ...]
    body: list[Node]
    outlined: list[Outlined]
    title: str


class Unit(Node, frozen=False):
    """A translation unit."""

    source: str
    functions: list[Function]
