# SPDX-License-Identifier: Apache-2.0
"""A scalar body as a straight list of vector instructions on registers that stand for whole tiles.

Every instruction is one that arch 2201 has, for dtypes that it takes; what the vector unit lacks is spelt out in
instructions that it has. Registers are assigned to buffers by liveness afterwards (`tile_buffers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Value
from pyasc.ir.dtypes import DType, i1
from pyasc.ir.location import UNKNOWN, Location

FULL, ROW, COLUMN, SPACED = "full", "row", "column", "spaced"
"""What a register covers of a tile of rows: all of it, one row for all, one value a row; or the same with each value
in a block of 32 bytes of its own, as values that are rows apart in global memory arrive."""


@dataclass(eq=False)
class Register:
    """A value for every element of a tile (`i1`: a bit each)."""

    dtype: DType
    name: str = ""
    cover: str = FULL

    @property
    def is_mask(self) -> bool:
        """Whether it holds bits."""
        return self.dtype is i1


Operand = Register | Value
"""A register, or a scalar that stands outside of the loop over tiles."""


@dataclass(eq=False)
class Instruction:
    """`fn` is a function of the number table, or `"cast"`, `"fill"`, `"move"`, `"index"`, `"reduce"`; `"pick"` (`mode`
    is the stride and the phase) and `"weave"` of elements that change places, `"gather"` (a table and byte offsets);
    `"turn"` for rows and columns that change
    places, `"scan"` for running values (`mode` is what combines them);
    or what stands around instructions that are run again: `"repeat"` (a mask and what is all ones, or what is all ones;
    how often) and `"end"`.

    `mode` is the rounding of a cast, the function that a reduction combines by, or for a loop counter `"walk"` or
    `"fill"` and its number in the nest; `scratch` is written too, and may
    be the source where that is not read again.
    """

    fn: str
    target: Register
    args: tuple[Operand, ...]
    mode: str = ""
    loc: Location = UNKNOWN
    scratch: Register | None = None

    @property
    def sources(self) -> list[Register]:
        """The registers it reads."""
        return [arg for arg in self.args if isinstance(arg, Register)]


@dataclass
class Program:
    """Instructions in order. `inputs` hold values when it starts, `outputs` are what it is run for; `kept` are read
    behind the last instruction, but not copied out."""

    inputs: list[Register] = field(default_factory=lambda: list[Register]())
    instructions: list[Instruction] = field(default_factory=lambda: list[Instruction]())
    outputs: list[Register] = field(default_factory=lambda: list[Register]())
    kept: list[Register] = field(default_factory=lambda: list[Register]())

    def last_uses(self) -> dict[Register, int]:
        """The number of the last instruction that reads each register; outputs live on past the end."""
        last: dict[Register, int] = dict.fromkeys(self.inputs, -1)
        for number, instruction in enumerate(self.instructions):
            last[instruction.target] = max(last.get(instruction.target, number), number)
            last.update((source, number) for source in instruction.sources)
            if instruction.scratch is not None:
                last[instruction.scratch] = number
        self._keep_through_loops(last)
        last.update((output, len(self.instructions)) for output in self.outputs)
        last.update((kept, len(self.instructions)) for kept in self.kept)
        return last

    @property
    def loops(self) -> bool:
        """Whether some instructions are run again and again."""
        return any(each.fn == "repeat" for each in self.instructions)

    def _keep_through_loops(self, last: dict[Register, int]) -> None:
        """What is there before a loop and read inside is read again in the next round."""
        defined: dict[Register, int] = dict.fromkeys(self.inputs, -1)
        for number, instruction in enumerate(self.instructions):
            defined.setdefault(instruction.target, number)
        start = 0
        for number, instruction in enumerate(self.instructions):
            if instruction.fn == "repeat":
                start = number
            elif instruction.fn == "end":
                for register, use in last.items():
                    if defined.get(register, number) < start < use <= number:
                        last[register] = number + 1

    def prune(self) -> None:
        """Drop instructions whose result nothing uses."""
        wanted = set(self.outputs)
        kept: list[Instruction] = []
        for instruction in reversed(self.instructions):
            if instruction.target in wanted or instruction.fn in ("repeat", "end"):
                wanted.update(instruction.sources)
                kept.append(instruction)
        self.instructions = kept[::-1]


def covers(operands: Sequence[Operand]) -> str:
    """What the result of an elementwise function covers."""
    found = {operand.cover for operand in operands if isinstance(operand, Register)}
    return found.pop() if len(found) == 1 else FULL
