# SPDX-License-Identifier: Apache-2.0
"""Random programs of statements that change control flow: the interpreter and Python agree on every one."""

from __future__ import annotations

import ast
import random
from typing import Any

import pytest

from pyasc.frontend import KernelSource
from tests.unit.frontend_support import lower, run_module

NAMES = "abcd"
PROGRAMS = 150


class Writer:
    """Writes one random function of four ints; every loop ends."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops = 0
        self.size = 0

    def function(self) -> str:
        self.lines = ["def k(a: int, b: int, c: int, d: int):"]
        self.body(1, 5, False)
        self.put(1, "return a, b, c, d")
        return "\n".join(self.lines) + "\n"

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)
        self.size += 1

    def body(self, depth: int, count: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, count)):
            self.statement(depth, in_loop)

    def statement(self, depth: int, in_loop: bool) -> None:
        kinds = ["assign"] * 4 + ["augment"] * 3 + ["swap", "choice"]
        if depth < 5 and self.size < 60:
            kinds += ["if"] * 4 + ["for"] * 2 + ["while"] * 2
        if in_loop:
            kinds += ["break", "continue"] * 2
        if depth > 1:
            kinds.append("return")
        getattr(self, f"write_{self.random.choice(kinds)}")(depth, in_loop)

    def write_assign(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"{self.name()} = ({self.value()}) % 97")

    def write_augment(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"{self.name()} {self.random.choice(['+=', '-=', '^='])} {self.value()}")
        self.put(depth, f"{self.name()} %= 89")

    def write_swap(self, depth: int, in_loop: bool) -> None:
        first, second = self.random.sample(NAMES, 2)
        self.put(depth, f"{first}, {second} = {second}, {first} + 1")

    def write_choice(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"{self.name()} = {self.value()} if {self.test()} else {self.value()}")

    def write_break(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"if {self.test()}:")
        self.put(depth + 1, "break")

    def write_continue(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"if {self.test()}:")
        self.put(depth + 1, "continue")

    def write_return(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"if {self.test()}:")
        self.put(depth + 1, f"return {self.value()}, b, c, {self.value()}")

    def write_if(self, depth: int, in_loop: bool) -> None:
        self.put(depth, f"if {self.test()}:")
        self.body(depth + 1, 3, in_loop)
        if self.random.random() < 0.3:
            self.put(depth, f"elif {self.test()}:")
            self.body(depth + 1, 2, in_loop)
        if self.random.random() < 0.5:
            self.put(depth, "else:")
            self.body(depth + 1, 2, in_loop)

    def write_for(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        counter = self.random.choice([f"i{self.loops}", self.name()])
        bounds = self.random.choice(["4", "a % 5", "1, b % 6", "6, 0, -2", "0, c % 7, 2"])
        self.put(depth, f"for {counter} in range({bounds}):")
        self.body(depth + 1, 3, True)
        self.maybe_else(depth, in_loop)

    def write_while(self, depth: int, in_loop: bool) -> None:
        self.loops += 1
        fuel = f"n{self.loops}"
        self.put(depth, f"{fuel} = 5")
        self.put(depth, f"while {fuel} > 0 and ({self.test()}):")
        self.put(depth + 1, f"{fuel} -= 1")
        self.body(depth + 1, 3, True)
        self.maybe_else(depth, in_loop)

    def maybe_else(self, depth: int, in_loop: bool) -> None:
        if self.random.random() < 0.25:
            self.put(depth, "else:")
            self.body(depth + 1, 2, in_loop)

    def name(self) -> str:
        return self.random.choice(NAMES)

    def value(self) -> str:
        first, second = self.name(), self.random.choice([*NAMES, "3", "7"])
        return self.random.choice(
            [
                first,
                f"{first} + {second}",
                f"{first} - {second}",
                f"{first} * 3",
                f"{first} // 5",
                f"min({first}, {second})",
            ]
        )

    def test(self) -> str:
        first, second = self.name(), self.random.choice([*NAMES, "20", "40"])
        simple = self.random.choice(
            [f"{first} < {second}", f"{first} % 3 == 1", f"{first} != {second}", f"{first}"]
        )
        other = f"{self.name()} > {self.random.randint(0, 60)}"
        return self.random.choice(
            [simple, f"{simple} and {other}", f"{simple} or {other}", f"not {simple}", f"0 <= {first} < 50"]
        )


def python_result(text: str, args: tuple[int, ...]) -> Any:
    names: dict[str, Any] = {}
    exec(compile(ast.parse(text), "<random>", "exec"), names)
    return names["k"](*args)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_as_python(seed: int) -> None:
    text = Writer(seed).function()
    module = lower(KernelSource.from_text(text)).module
    for args in ((1, 2, 3, 4), (50, 0, 13, 7), (96, 41, 88, 60)):
        assert tuple(run_module(module, args)) == python_result(text, args), text
