# SPDX-License-Identifier: Apache-2.0
"""Random programs of numbers: expressions, branches and loops over a few ints, floats and bools.

The text is Python, but for calls of `_real`, which mark the places where the language turns an int into a float
because a float comes there on another path. A reference executes them; `kernel_text` takes them out.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.property.generate.writer import Rule, Writer

INTS, FLOATS, BOOLS = ("a", "b", "c"), ("x", "y", "z"), ("p", "q")
MODES = {"float64": "asc.float64", "float32": "asc.float32"}
MARK = "_real"
RESULT = "a, b, c, x, y, z, p, q, float(m)"

_EDGE_INTS = (0, 1, -1, 2, -2, 3, 7, -7, 13, 100, -100, 255, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63))
_EDGE_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 3.75, -7.25, 1e-310, 1e-42, 1e30, -1e30, 9.3e18, 1e300)
_SPECIAL_FLOATS = (float("inf"), float("-inf"), float("nan"))


@dataclass(frozen=True)
class ScalarProgram:
    """One program: its marked text, the inputs to try it on, and the type of its floats."""

    seed: int
    mode: str
    text: str
    inputs: tuple[tuple[Any, ...], ...]
    features: frozenset[str]

    @property
    def kernel(self) -> str:
        """The text of the kernel."""
        return kernel_text(self.text)


class _Unmark(ast.NodeTransformer):
    """Takes the calls of `_real` out of a program."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == MARK else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        value = node.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == MARK:
            target, inner = node.targets[0], value.args[0]
            if isinstance(target, ast.Name) and isinstance(inner, ast.Name) and target.id == inner.id:
                return None
        return self.generic_visit(node)


def kernel_text(marked: str) -> str:
    """A program as the language has it, without marks."""
    return ast.unparse(ast.fix_missing_locations(_Unmark().visit(ast.parse(marked)))) + "\n"


def scalar_program(seed: int) -> ScalarProgram:
    """The program of a seed."""
    return _Scalars(seed).program(seed)


class _Scalars(Writer):
    """Writes one function of three ints, three floats and two bools; every loop ends."""

    def __init__(self, seed: int) -> None:
        super().__init__("scalars", seed)
        self.mode = self.pick(list(MODES))
        self.size = 0
        self.frozen: list[str] = []
        self.readable_ints: list[str] = list(INTS)
        self.helpers: list[str] = []

    def program(self, seed: int) -> ScalarProgram:
        """Write all of it."""
        float_type = MODES[self.mode]
        params = [*(f"{n}: int" for n in INTS), *(f"{n}: {float_type}" for n in FLOATS), "p: bool, q: bool"]
        self.put(0, "import math")
        self.put(0, "import pyasc as asc")
        self.put(0, f"def k({', '.join(params)}):")
        self.put(1, "m = 0")
        if self.chance(0.15):
            self.helper()
        self.body(1, 5, False)
        self.put(1, f"return {RESULT}")
        inputs = tuple(self.arguments(k) for k in range(12))
        features = frozenset({*self.features, self.mode})
        return ScalarProgram(seed, self.mode, "\n".join(self.lines) + "\n", inputs, features)

    def arguments(self, number: int) -> tuple[Any, ...]:
        """Small numbers first, then the edges of their types."""
        wild = number >= 5
        ints = [self.pick(_EDGE_INTS) if wild else self.random.randint(-9, 40) for _ in INTS]
        pool = (*_EDGE_FLOATS, *_SPECIAL_FLOATS) if wild else _EDGE_FLOATS[:9]
        floats = [self.pick(pool) if self.chance(0.7) else self.random.uniform(-20, 20) for _ in FLOATS]
        return (*ints, *floats, self.chance(0.5), self.chance(0.5))

    def weak_bool(self) -> str:
        """A bool to calculate with.

        One that compared float64 is NumPy's, and what NumPy computes from its int in float64, a kernel does in float32.
        """
        return f"int({self.name('bool')})" if self.mode == "float64" else self.name("bool")

    def helper(self) -> None:
        """A nested function of one int and one float."""
        self.helpers.append("h")
        self.features["nested function"] += 1
        if self.chance(0.4):
            self.put(1, f"h = lambda u, v: {self.pick(('u + v', 'u * 2.0 - v', 'v if u > v else -v'))}")
            return
        self.put(1, "def h(u, v):")
        if self.chance(0.6):
            self.put(2, "if v < 1.0:")
            self.put(3, f"return {self.pick(('v', 'v * 2.0', 'v - 1.0'))}")
        self.put(2, f"return {self.pick(('u + v', 'u * v - 1.0', 'max(v, 3.0) + u'))}")

    def body(self, depth: int, most: int, in_loop: bool) -> None:
        """Some statements."""
        for _ in range(self.random.randint(1, most)):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        """One statement, compound ones while there is room."""
        self.size += 1
        simple = {"assign": 6, "augment": 4, "tuple": 2, "chain": 1, "mixed if": 1, "walrus": 1}
        nested = {"if": 4, "for": 3, "while": 2, "for over tuple": 1}
        jumps = {"break": 2, "continue": 2}
        weights = dict(simple)
        if depth < 5 and self.size < 30:
            weights |= nested
        if in_loop:
            weights |= jumps
        if depth > 1:
            weights["return"] = 1
        (kind,) = self.random.choices(list(weights), list(weights.values()))
        self.features[kind] += 1
        getattr(self, "write_" + kind.replace(" ", "_"))(depth, in_loop)

    def target(self) -> tuple[str, str]:
        """A name that may be set here, and its type."""
        kind = self.random.choices(("int", "float", "bool"), (4, 4, 1))[0]
        names = {"int": INTS, "float": FLOATS, "bool": BOOLS}[kind]
        return self.pick([n for n in names if n not in self.frozen] or ["m"]), kind

    def write_assign(self, depth: int, in_loop: bool) -> None:
        name, kind = self.target()
        if name == "m":
            kind = "float"
        self.put(depth, f"{name} = {self.value(kind, 3)}")

    def write_augment(self, depth: int, in_loop: bool) -> None:
        name, kind = self.target()
        if kind == "bool" or name == "m":
            return self.write_assign(depth, in_loop)
        if kind == "float":
            operator = self.pick(("+=", "-=", "*=", "/=", "//=", "%="))
            value = self.value(self.pick(("int", "float")), 2)
        else:
            operator, value = (
                self.pick(("+=", "-=", "*=", "//=", "%=", "^=", "|=", "&=")),
                self.value("int", 2),
            )
        self.put(depth, f"{name} {operator} {value}")
        return None

    def write_tuple(self, depth: int, in_loop: bool) -> None:
        names = INTS if self.chance(0.6) else FLOATS
        kind = "int" if names is INTS else "float"
        free = [n for n in names if n not in self.frozen]
        if len(free) < 2:
            return self.write_assign(depth, in_loop)
        first, second = self.random.sample(free, 2)
        right = f"{second}, {first}" if self.chance(0.4) else f"{self.value(kind, 2)}, {self.value(kind, 2)}"
        if kind == "int" and self.chance(0.2):
            right = f"divmod({self.value('int', 2)}, {self.value('int', 1)})"
        self.put(depth, f"{first}, {second} = {right}")
        return None

    def write_chain(self, depth: int, in_loop: bool) -> None:
        free = [n for n in FLOATS if n not in self.frozen]
        self.put(depth, f"{' = '.join(self.random.sample(free, 2))} = {self.value('float', 2)}")

    def write_walrus(self, depth: int, in_loop: bool) -> None:
        free = [n for n in INTS if n not in self.frozen]
        if not free:
            return self.write_assign(depth, in_loop)
        name = self.pick(free)
        self.put(depth, f"if ({name} := {self.value('int', 2)}) > {self.random.randint(-3, 9)}:")
        self.put(depth + 1, f"{self.pick(FLOATS)} = {self.value('float', 1)}")
        return None

    def write_mixed_if(self, depth: int, in_loop: bool) -> None:
        """`m` becomes an int on one path and a float on the other: a float after them."""
        self.put(depth, f"if {self.condition(1)}:")
        self.put(depth + 1, f"m = {self.value('int', 1)}")
        if self.chance(0.6):
            self.put(depth, "else:")
            self.put(depth + 1, f"m = {self.value('float', 1)}")
        self.put(depth, f"m = {MARK}(m)")

    def write_if(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"if {self.condition(2)}:")
        self.body(depth + 1, 3, in_loop)
        if self.chance(0.3):
            self.put(depth, f"elif {self.condition(2)}:")
            self.body(depth + 1, 2, in_loop)
        if self.chance(0.5):
            self.put(depth, "else:")
            self.body(depth + 1, 2, in_loop)

    def bounds(self) -> str:
        """Arguments of a range with at most eight numbers."""
        name = self.pick(INTS)
        few = f"{name} % {self.random.randint(2, 6)}"
        return self.pick(
            (
                str(self.random.randint(0, 5)),
                few,
                f"1, {few}",
                f"{few}, -2, -1",
                "6, 0, -2",
                f"0, {few}, 2",
                f"-{self.random.randint(1, 4)}, {few}",
                f"{few}, {self.pick(INTS)} % 7",
            )
        )

    def iterable(self) -> tuple[str, str]:
        """Targets and what a loop goes over."""
        free = [n for n in INTS if n not in self.frozen]
        counter = self.pick(free) if free and self.chance(0.3) else self.fresh("i")
        how = self.pick(("range",) * 5 + ("reversed", "enumerate", "zip"))
        self.features[how] += 1
        if how == "reversed":
            return counter, f"reversed(range({self.bounds()}))"
        if how == "enumerate":
            return (
                f"{counter}, {self.fresh('j')}",
                f"enumerate(range({self.bounds()}), {self.random.randint(0, 3)})",
            )
        if how == "zip":
            return f"{counter}, {self.fresh('j')}", f"zip(range({self.bounds()}), range({self.bounds()}))"
        return counter, f"range({self.bounds()})"

    def write_for(self, depth: int, in_loop: bool) -> None:
        targets, over = self.iterable()
        names = [n.strip() for n in targets.split(",")]
        if self.chance(0.35):
            for name in names:
                if name not in INTS:
                    self.put(depth, f"{name} = {self.value('int', 1)}")
        after = [
            n
            for n in names
            if n not in INTS and any(line.strip().startswith(f"{n} = ") for line in self.lines[-2:])
        ]
        self.put(depth, f"m = {MARK}(m)")
        self.put(depth, f"for {targets} in {over}:")
        self.inside(depth, names)
        self.maybe_else(depth, in_loop)
        self.put(depth, f"m = {MARK}(m)")
        for name in after:
            self.features["loop variable after the loop"] += 1
            self.put(
                depth, f"{self.pick(INTS) if not self.frozen else 'm'} = {self.value('int', 1)} - {name}"
            )
        self.put(depth, f"m = {MARK}(m)")

    def inside(self, depth: int, names: Sequence[str]) -> None:
        """The body of a loop over these names, some of which may be set again inside."""
        new = [n for n in names if n not in INTS]
        self.readable_ints += new
        self.body(depth + 1, 3, True)
        for name in new:
            if self.chance(0.15):
                self.features["loop variable set in the loop"] += 1
                self.put(depth + 1, f"{name} = {name} * 2 + {self.value('int', 1)}")
                self.put(depth + 1, f"z = z + {name}")
        self.put(depth + 1, f"m = {MARK}(m)")
        self.readable_ints = [n for n in self.readable_ints if n not in new]

    def write_while(self, depth: int, in_loop: bool) -> None:
        fuel = self.fresh("n")
        self.put(depth, f"{fuel} = {self.random.randint(2, 6)}")
        self.put(depth, f"m = {MARK}(m)")
        self.put(depth, f"while {fuel} > 0 and {self.condition(1)}:")
        self.put(depth + 1, f"{fuel} -= 1")
        self.inside(depth, [])
        self.maybe_else(depth, in_loop)
        self.put(depth, f"m = {MARK}(m)")

    def write_for_over_tuple(self, depth: int, in_loop: bool) -> None:
        name = self.fresh("t")
        items = ", ".join(str(self.random.randint(-4, 12)) for _ in range(self.random.randint(2, 4)))
        self.put(depth, f"m = {MARK}(m)")
        self.put(depth, f"for {name} in ({items}):")
        self.inside(depth, [name])
        self.put(depth, f"m = {MARK}(m)")

    def maybe_else(self, depth: int, in_loop: bool) -> None:
        if self.chance(0.25):
            self.features["else of a loop"] += 1
            self.put(depth, "else:")
            self.body(depth + 1, 2, in_loop)

    def write_break(self, depth: int, in_loop: bool) -> None:
        self.jump(depth, "break")

    def write_continue(self, depth: int, in_loop: bool) -> None:
        self.jump(depth, "continue")

    def write_return(self, depth: int, in_loop: bool) -> None:
        self.jump(depth, f"return {RESULT}")

    def jump(self, depth: int, statement: str) -> None:
        """A jump, mostly under a condition."""
        if self.chance(0.9):
            self.put(depth, f"if {self.condition(2)}:")
            depth += 1
        self.put(depth, f"m = {MARK}(m)")
        self.put(depth, statement)

    def value(self, kind: str, room: int) -> str:
        """An expression of a type; `room` bounds how deep it is."""
        return {"int": self.int_, "float": self.float_, "bool": self.condition}[kind](room)

    def leaf_int(self) -> str:
        literal = self.pick((0, 1, 2, 3, 5, 7, 10, -1, -3, 97, 1000, 65537))
        return (
            self.pick(self.readable_ints)
            if self.chance(0.75)
            else f"({literal})"
            if literal < 0
            else str(literal)
        )

    def leaf_float(self) -> str:
        literal = self.pick((0.5, 0.25, 1.5, 2.0, -0.75, 3.0, 8.0, 0.0))
        names = [*FLOATS, "float(m)"]
        return self.pick(names) if self.chance(0.8) else f"({literal})" if literal < 0 else str(literal)

    def name(self, kind: str) -> str:
        """A name of a type, so that what it is part of is no constant."""
        return self.pick({"int": INTS, "float": FLOATS, "bool": BOOLS}[kind])

    def int_(self, room: int) -> str:
        if room <= 0:
            return self.leaf_int()

        def some() -> str:
            return self.int_(room - 1 - self.random.randint(0, 1))

        def infix(*signs: str) -> Rule:
            return lambda: f"({some()} {self.pick(signs)} {self.name('int')})"

        def flipped(*signs: str) -> Rule:
            return lambda: f"({self.name('int')} {self.pick(signs)} {some()})"

        return self.grow(
            {
                "leaf": (3, self.leaf_int),
                "int + - *": (5, infix("+", "-", "*")),
                "int // %": (3, self.pick((infix, flipped))("//", "%")),
                "bits": (2, infix("&", "|", "^")),
                "shift": (2, lambda: f"({some()} {self.pick(('<<', '>>'))} ({self.name('int')} % 11))"),
                "wild shift": (1, flipped("<<", ">>")),
                "int ** n": (1, lambda: f"({self.name('int')} ** {self.random.randint(0, 5)})"),
                "int ** int": (1, lambda: f"({some()} ** ({self.name('int')} & 7))"),
                "pow": (1, lambda: f"pow({some()}, {self.random.randint(0, 3)})"),
                "-int ~int": (2, lambda: f"({self.pick(('-', '~', '+'))}{self.name('int')})"),
                "abs": (1, lambda: f"abs({some()})"),
                "min max int": (2, lambda: f"{self.pick(('min', 'max'))}({some()}, {self.name('int')})"),
                "min of three": (
                    1,
                    lambda: f"min({some()}, {self.name('int')}, {self.random.randint(-5, 50)})",
                ),
                "int(float)": (
                    2,
                    lambda: (
                        f"int({self.name('float')} * 1.5)"
                        if self.chance(0.3)
                        else f"int({self.float_(room - 1)})"
                    ),
                ),
                "round": (1, lambda: f"round({self.float_(room - 1)})"),
                "floor ceil": (
                    1,
                    lambda: f"math.{self.pick(('floor', 'ceil', 'trunc'))}({self.name('float')})",
                ),
                "int(bool)": (1, lambda: f"int({self.condition(room - 1)})"),
                "bool as int": (1, lambda: f"({self.weak_bool()} + {some()})"),
                "int choice": (2, lambda: f"({some()} if {self.condition(room - 1)} else {some()})"),
                "int and or": (2, lambda: f"({self.name('int')} {self.pick(('and', 'or'))} {some()})"),
                "sum": (1, lambda: f"sum(({some()}, {self.name('int')}, {some()}))"),
                "divmod": (1, lambda: f"divmod({some()}, {self.name('int')})[{self.random.randint(0, 1)}]"),
                "tuple item": (1, lambda: f"({self.name('int')}, {some()})[{self.pick((0, 1, -1))}]"),
            }
        )

    def float_(self, room: int) -> str:
        if room <= 0:
            return self.leaf_float()

        def some() -> str:
            return self.float_(room - 1 - self.random.randint(0, 1))

        def infix(*signs: str) -> Rule:
            def rule() -> str:
                left, right = some(), self.name("float")
                if self.chance(0.4):
                    left, right = right, left
                return f"({left} {self.pick(signs)} {right})"

            return rule

        rules: dict[str, tuple[int, Rule]] = {
            "leaf": (3, self.leaf_float),
            "float + - *": (6, infix("+", "-", "*")),
            "float /": (3, infix("/")),
            "float // %": (2, infix("//", "%")),
            "float and int": (3, lambda: f"({self.name('float')} {self.pick('+-*/')} {self.int_(room - 1)})"),
            "int and float": (
                2,
                lambda: (
                    f"({self.int_(room - 1)} {self.pick(('+', '-', '*', '/', '//', '%'))} {self.name('float')})"
                ),
            ),
            "int / int": (2, lambda: f"({self.int_(room - 1)} / {self.name('int')})"),
            "int and literal": (
                1,
                lambda: f"({self.name('int')} {self.pick('+-*/')} {self.pick((0.5, 1.5, 2.0))})",
            ),
            "-float": (2, lambda: f"(-{self.name('float')})"),
            "abs": (1, lambda: f"abs({some()})"),
            "fabs copysign": (
                1,
                lambda: f"{self.pick(('math.copysign', 'asc.copysign'))}({some()}, {self.name('float')})",
            ),
            "min max float": (
                2,
                lambda: (
                    f"{self.pick(('min', 'max', 'asc.minimum', 'asc.maximum'))}({some()}, {self.name('float')})"
                ),
            ),
            "float min int": (1, lambda: f"min({MARK}({self.name('int')}), {some()})"),
            "float(int)": (1, lambda: f"float({self.int_(room - 1)})"),
            "float ** 2": (1, lambda: f"({self.name('float')} ** 2)"),
            "sqrt": (1, lambda: f"{self.pick(('math.sqrt', 'asc.sqrt'))}({some()})"),
            "rounding": (1, lambda: f"asc.{self.pick(('floor', 'ceil', 'rint', 'trunc'))}({some()})"),
            "float choice": (
                2,
                lambda: f"({some()} if {self.condition(room - 1)} else {self.name('float')})",
            ),
            "mixed choice": (
                1,
                lambda: f"({some()} if {self.condition(room - 1)} else {MARK}({self.name('int')}))",
            ),
            "float and or": (1, lambda: f"({self.name('float')} {self.pick(('and', 'or'))} {some()})"),
            "bool as float": (1, lambda: f"({self.weak_bool()} * {some()})"),
            "where": (1, lambda: f"asc.where({self.name('bool')}, {some()}, {self.name('float')})"),
        }
        if self.helpers:
            rules["call"] = (3, lambda: f"h({self.name('float')}, {some()})")
        return self.grow(rules)

    def condition(self, room: int) -> str:
        if room <= 0:
            return self.name("bool")

        def numbers() -> tuple[str, str]:
            kinds = self.pick(
                (("int", "int"), ("int", "int"), ("float", "float"), ("int", "float"), ("float", "int"))
            )
            return self.value(kinds[0], room - 1), self.name(kinds[1])

        def compare() -> str:
            left, right = numbers()
            return f"({left} {self.pick(('<', '<=', '>', '>=', '==', '!='))} {right})"

        def chain() -> str:
            left, right = numbers()
            signs = [self.pick(("<", "<=", ">", ">=", "!=")) for _ in range(2)]
            return f"({self.random.randint(-9, 9)} {signs[0]} {left} {signs[1]} {right})"

        def some() -> str:
            return self.condition(room - 1)

        return self.grow(
            {
                "bool name": (2, lambda: self.name("bool")),
                "compare": (7, compare),
                "compare with literal": (
                    3,
                    lambda: (
                        f"({self.name('int')} {self.pick(('<', '>', '=='))} {self.random.randint(-5, 20)})"
                    ),
                ),
                "modulo test": (
                    2,
                    lambda: (
                        f"({self.name('int')} % {self.random.randint(2, 5)} == {self.random.randint(0, 2)})"
                    ),
                ),
                "chain": (2, chain),
                "not": (2, lambda: f"(not {some()})"),
                "and or": (4, lambda: f"({some()} {self.pick(('and', 'or'))} {some()})"),
                "bool(int)": (1, lambda: f"bool({self.int_(room - 1)})"),
                "bool(float)": (1, lambda: f"bool({self.name('float')})"),
                "bool bits": (
                    1,
                    lambda: f"({self.name('bool')} {self.pick(('&', '|', '^', '!=', '=='))} {some()})",
                ),
                "isnan": (
                    1,
                    lambda: f"math.{self.pick(('isnan', 'isinf', 'isfinite'))}({self.name('float')})",
                ),
                "in": (
                    1,
                    lambda: f"({self.name('int')} in ({self.random.randint(-3, 3)}, {self.name('int')}, 7))",
                ),
            }
        )
