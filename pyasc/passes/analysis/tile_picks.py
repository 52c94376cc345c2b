# SPDX-License-Identifier: Apache-2.0
"""Elements of a run that are used in turn, each kind in a register of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.passes.analysis.tile_legalise import Legaliser
from pyasc.passes.analysis.tile_program import Instruction, Register

_WIDE = "wide "
TURNED = "turned"
"""What a register covers that holds all of a tile with its rows and columns exchanged."""


def wide(stride: int) -> str:
    """What a register covers that holds all elements of a run, so many for each that is used."""
    return f"{_WIDE}{abs(stride)}"


def width_of(cover: str) -> int:
    """How many elements a register holds for each that is used."""
    return int(cover.removeprefix(_WIDE)) if cover.startswith(_WIDE) else 1


@dataclass
class Picks:
    """Picks out of registers. Bytes travel as halves, since the unit moves 16 and 32 bits: `halves` says as which."""

    legaliser: Legaliser
    halves: dict[Register, Register] = field(default_factory=lambda: dict[Register, Register]())

    def picked(self, held: Register, stride: int, phase: int) -> Register:
        """One element of each step."""
        dtype = held.dtype
        through = dtypes.f16 if dtype.bits == 8 else dtype
        source = held if through is dtype else self.cast(held, through)
        made = self.pick(source, stride, phase)
        if through is dtype:
            return made
        byte = self.cast(made, dtype)
        self.halves[byte] = made
        return byte

    def turned(self, held: Register) -> Register:
        """Rows and columns exchanged."""
        dtype = held.dtype
        through = dtypes.f16 if dtype.bits == 8 else dtype
        source = held if through is dtype else self.cast(held, through)
        target = Register(through, held.name)
        made = Instruction("turn", target, (source,), loc=self.legaliser.loc)
        known = next(
            (e for e in self.legaliser.program.instructions if e.fn == "turn" and e.args == (source,)), None
        )
        if known is None:
            self.legaliser.program.instructions.append(made)
        done = target if known is None else known.target
        return done if through is dtype else self.cast(done, dtype)

    def cast(self, source: Register, dtype: DType) -> Register:
        """Between bytes and halves, which hold all of them."""
        mode = "none" if dtype is dtypes.f16 else "rint"
        return self.legaliser.emit("cast", dtype, source, mode=mode, name=source.name)

    def pick(self, source: Register, stride: int, phase: int = 0) -> Register:
        """The same of elements of 16 and 32 bits."""
        instructions = self.legaliser.program.instructions
        for each in instructions:
            if each.fn == "pick" and each.args == (source,) and each.mode == f"{stride} {phase}":
                return each.target
        target = Register(source.dtype, source.name)
        instructions.append(Instruction("pick", target, (source,), f"{stride} {phase}", self.legaliser.loc))
        return target
