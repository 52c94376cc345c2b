# SPDX-License-Identifier: Apache-2.0
"""The shape of an Ascend C file: a class for each phase of a kernel, its methods, their statements."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Node:
    """A statement. `comment` names the source line it came from, or is empty."""

    comment: str = field(default="", kw_only=True, compare=False)


@dataclass(slots=True)
class Statement(Node):
    """One statement as text, without its semicolon."""

    text: str


@dataclass(slots=True)
class For(Node):
    """A counted loop."""

    type: str
    counter: str
    lower: str
    test: str
    advance: str
    body: list[Node]


@dataclass(slots=True)
class If(Node):
    """A branch; an empty `otherwise` is left out."""

    condition: str
    then: list[Node]
    otherwise: list[Node]


@dataclass(slots=True)
class While(Node):
    """A loop that a `break` ends."""

    body: list[Node]


@dataclass(frozen=True, slots=True)
class Variable:
    """A typed name: a parameter, a member or a constant, which may have an initial value, and what it is."""

    type: str
    name: str
    value: str = ""
    meaning: str = ""

    @property
    def declaration(self) -> str:
        """The text `type name`."""
        return f"{self.type} {self.name}"


@dataclass(slots=True)
class Method(Node):
    """A method of the kernel class. `base` is its name without a number."""

    name: str
    params: tuple[Variable, ...]
    body: list[Node]
    base: str = ""


@dataclass(slots=True)
class Kernel(Node):
    """The class of one phase and, unless it is a `part` of another kernel, its entry function.

    `arguments` are those that the entry gives to Init.
    """

    entry: str
    name: str
    params: tuple[Variable, ...]
    arguments: tuple[str, ...]
    public: list[Method]
    private: list[Method]
    members: tuple[Variable, ...]
    type: str = ""
    part: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A part of a mixed kernel: its class, the macro that is true on its cores, how many of them, and its arguments.

    `again` says that another part has used the memory of these cores before.
    """

    name: str
    side: str
    cores: str
    args: str
    again: bool


@dataclass(slots=True)
class Mixed(Node):
    """The entry of a kernel that runs parts on both kinds of cores; None stands for a barrier of all.

    `sync` is the parameter with the address where cores keep their flags, if the launch passes it.
    """

    entry: str
    params: tuple[Variable, ...]
    runs: tuple[Run | None, ...]
    type: str
    sync: str = ""


@dataclass(slots=True)
class Unit(Node):
    """A file. `header` is the text of its first comment, line by line; lines with `constants` precede the classes."""

    header: tuple[str, ...]
    constants: tuple[str, ...]
    helpers: tuple[str, ...]
    kernels: list[Kernel | Mixed]
