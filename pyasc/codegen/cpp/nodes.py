# SPDX-License-Identifier: Apache-2.0
"""The C++-shaped last form of a kernel: statements as data, expressions as text with a precedence.

Every decision has been taken when these exist; `render` prints each through the template of its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field

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


@dataclass(slots=True)
class Node:
    """A statement. `comment` names the source line it came from, or is empty."""

    comment: str = field(default="", kw_only=True)


@dataclass(slots=True)
class Declare(Node):
    """`type name = value;`, const unless it is assigned again."""

    type: str
    name: str
    value: str
    const: bool = True


@dataclass(slots=True)
class Assign(Node):
    """`target = value;`"""

    target: str
    value: str


@dataclass(slots=True)
class Call(Node):
    """An expression evaluated for its effect."""

    text: str


@dataclass(slots=True)
class Pragma(Node):
    """A directive that stands between statements."""

    text: str


@dataclass(slots=True)
class For(Node):
    """A counted loop; `pragmas` stand before it."""

    counter: str
    lower: str
    test: str
    advance: str
    body: list[Node]
    pragmas: tuple[str, ...] = ()


@dataclass(slots=True)
class While(Node):
    """A loop while `condition` holds; `true` loops until a `Break`."""

    condition: str
    body: list[Node]


@dataclass(slots=True)
class Break(Node):
    """Leaves the loop unless `condition` holds."""

    condition: str


@dataclass(slots=True)
class If(Node):
    """A branch; an empty `otherwise` is left out."""

    condition: str
    then: list[Node]
    otherwise: list[Node]


@dataclass(slots=True)
class StackArray(Node):
    """A small buffer on the stack."""

    type: str
    name: str
    count: str
    alignment: int


@dataclass(slots=True)
class HeapArray(Node):
    """A buffer of run-time size, released at the end of its scope; `failed` is what follows a lack of memory."""

    type: str
    name: str
    count: str
    alignment: int
    failed: str


@dataclass(slots=True)
class Check(Node):
    """Leaves the function through `failed` unless `condition` holds."""

    condition: str
    failed: str


@dataclass(slots=True)
class Fork(Node):
    """Runs an outlined loop body over `[0, count)` in chunks of `grain`, on the pool."""

    function: str
    context: str
    captures: tuple[str, ...]
    count: str
    grain: str
    failed: str


@dataclass(slots=True)
class Return(Node):
    """Leaves the function with a value, or with none."""

    value: str


@dataclass(frozen=True, slots=True)
class Variable:
    """A typed name: a parameter or a captured value. `restrict` promises that nothing else names its memory."""

    type: str
    name: str
    restrict: bool = False

    @property
    def declaration(self) -> str:
        """The text `type name`."""
        return f"{self.type}{' __restrict' if self.restrict else ''} {self.name}"


@dataclass(slots=True)
class Outlined(Node):
    """The body of a threaded loop: a struct of what it captures and a function over a chunk."""

    context: str
    function: str
    fields: tuple[Variable, ...]
    body: list[Node]


@dataclass(slots=True)
class Function(Node):
    """An exported kernel, with the loop bodies outlined from it standing before it."""

    name: str
    params: tuple[Variable, ...]
    body: list[Node]
    outlined: list[Outlined]
    title: str


@dataclass(slots=True)
class Unit(Node):
    """A translation unit."""

    source: str
    functions: list[Function]
