# SPDX-License-Identifier: Apache-2.0
"""Elements of a run that are used in turn, each kind in a register of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.passes.analysis.tile_legalise import Legaliser
from pyasc.passes.analysis.tile_names import extended
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


_TURNS = ("Even", "Odd")
"""What every second element is called, from the first or from the second on."""


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
        target = Register(through, extended(held.name, "Turned"))
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
        name = extended(source.name, "Half") if dtype is dtypes.f16 else source.name.removesuffix("Half")
        return self.legaliser.emit("cast", dtype, source, mode=mode, name=name)

    def pick(self, source: Register, stride: int, phase: int = 0) -> Register:
        """The same of elements of 16 and 32 bits."""
        instructions = self.legaliser.program.instructions
        for each in instructions:
            if each.fn == "pick" and each.args == (source,) and each.mode == f"{stride} {phase}":
                return each.target
        word = _TURNS[phase] if stride == len(_TURNS) else str(phase)
        target = Register(
            source.dtype, extended(source.name.removesuffix("Half"), word if stride > 0 else "Turned")
        )
        instructions.append(Instruction("pick", target, (source,), f"{stride} {phase}", self.legaliser.loc))
        return target
