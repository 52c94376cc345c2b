# SPDX-License-Identifier: Apache-2.0
"""Symbolic bounds: what can be proved about indices, and what must not be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyasc.ir.core import Block, Value
from pyasc.ir.dialects.func import Func
from pyasc.ir.parser import parse
from pyasc.ir.sizes import parse_size
from pyasc.passes.analysis.ranges import Ranges


class Probe:
    """A function around `body`, in which `%i` marks the value in question and where it is asked about."""

    def __init__(self, body: str, sizes: str = '"N", "M"') -> None:
        text = f"""func.module {{
          func.func {{symbol = "k", sizes = [{sizes}], written = [0]}} {{
          ^(%y: ref<N x f32>, %k: i64, %j: i32, %idx: ref<N x i64>, %b: i1):
            %n = func.size {{symbol = "N"}}
            %m = func.size {{symbol = "M"}}
            %c0 = arith.constant {{value = 0}} : i64
            %c1 = arith.constant {{value = 1}} : i64
            %c2 = arith.constant {{value = 2}} : i64
            %c4 = arith.constant {{value = 4}} : i64
            {body}
            func.return
          }}
        }}"""
        self.func = parse(text).functions[0]
        assert isinstance(self.func, Func)
        self.ranges = Ranges(self.func)

    def find(self, name: str = "i") -> tuple[Value, Block]:
        """The last value of that name, and the block in which it stands."""
        found: list[tuple[Value, Block]] = []
        for op in self.func.walk():
            found += [(value, op.parent) for value in op.results if value.name == name and op.parent]
            for region in op.regions:
                found += [(arg, block) for block in region.blocks for arg in block.args if arg.name == name]
        return found[-1]

    def holds(self, relation: str, bound: str, name: str = "i") -> bool:
        value, block = self.find(name)
        return self.ranges.proves(value, relation, parse_size(bound), block)


RELATIONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def cases() -> Iterator[object]:
    """The questions of ranges.txt."""
    text = Path(__file__).with_name("ranges.txt").read_text(encoding="utf-8")
    for block in text.split("\n== ")[1:]:
        heading, _, body = block.partition("\n")
        answer, question, name = re.findall(r"(\w+): %i (.*) -- (.*)", heading)[0]
        relation, _, bound = question.partition(" ")
        yield pytest.param(body, RELATIONS[relation], bound, answer == "proved", id=name.replace(" ", "-"))


@pytest.mark.parametrize(("body", "relation", "bound", "proved"), list(cases()))
def test_question(body: str, relation: str, bound: str, proved: bool) -> None:
    assert Probe(body).holds(relation, bound) == proved


def test_proofs_end() -> None:
    sums = "".join(
        f"%v{i} = arith.pymin %v{i - 1}, %w{i - 1}\n%w{i} = arith.pymax %v{i - 1}, %w{i - 1}\n"
        for i in range(1, 200)
    )
    assert not Probe(f"%v0 = arith.add %k, %c1\n%w0 = arith.sub %k, %c1\n{sums}").holds("lt", "N", "v199")


def test_long_chains_do_not_recurse() -> None:
    chain = "".join(f"%v{i} = arith.add %v{i - 1}, %n\n" for i in range(1, 3000))
    probe = Probe(f"%v0 = arith.mul %n, %c2\n{chain}")
    assert probe.holds("le", "3001*N", "v2999")
