# SPDX-License-Identifier: Apache-2.0
"""Which registers of a vector program share a buffer: a linear scan over its instructions.

An input that is dead serves as a temporary, and an output's buffer does until the output is written, so that most
chains of operations need no buffer besides those that are copied in and out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyasc.passes.analysis.tile_legalise import SCRATCHED
from pyasc.passes.analysis.tile_program import Instruction, Program, Register

SCRATCH_BYTES = 8 * 1024
"""What an advanced call, such as Tanh, gets to work in."""


@dataclass(eq=False)
class Slot:
    """One buffer: `kind` is `"in"`, `"out"`, `"temp"` or `"mask"`, `width` the bytes an element, `cover` its shape."""

    kind: str
    width: int
    cover: str
    name: str = ""
    owner: Register | None = None
    free_at: int = -1

    @property
    def bytes(self) -> float:
        """Bytes an element takes: a mask is a bit."""
        return 1 / 8 if self.kind == "mask" else self.width


@dataclass
class Assignment:
    """The slot of each register."""

    slots: list[Slot] = field(default_factory=lambda: list[Slot]())
    of: dict[Register, Slot] = field(default_factory=lambda: dict[Register, Slot]())


def assign(program: Program, fixed: Mapping[Register, Slot] | None = None) -> Assignment:
    """Give each register a slot, so that no two that live at once share one; `fixed` ones have theirs."""
    scan = _Scan(program, fixed or {})
    for number in range(len(program.instructions)):
        scan.place(number)
    return scan.made


class _Scan:
    def __init__(self, program: Program, fixed: Mapping[Register, Slot]) -> None:
        self.program = program
        self.made = Assignment(of=dict(fixed))
        self.last = program.last_uses()
        self.defined = {i.target: number for number, i in enumerate(program.instructions)}
        for register in program.inputs:
            slot = Slot(
                "in", register.dtype.bytes, register.cover, register.name, register, self.last[register]
            )
            self._hold(register, slot)
        self.outputs = {
            register: Slot("out", register.dtype.bytes, register.cover, register.name, register)
            for register in program.outputs
        }
        self.made.slots += self.outputs.values()

    def _hold(self, register: Register, slot: Slot) -> None:
        if slot not in self.made.slots:
            self.made.slots.append(slot)
        slot.free_at = self.last[register]
        self.made.of[register] = slot

    def place(self, number: int) -> None:
        """Choose the slot of an instruction's target: its own if it is an output, a free one, or a new one."""
        scratch = self.program.instructions[number].scratch
        if scratch is not None:
            free = (each for each in self.made.slots if self._holds_scratch(each, number, scratch))
            self._hold(scratch, next(free, None) or _fresh(scratch))
        target = self.program.instructions[number].target
        if target in self.made.of:
            return
        slot = self.outputs.get(target)
        if slot is None:
            free = (each for each in self.made.slots if self._usable(each, number))
            slot = next(free, None) or _fresh(target)
        slot.name = slot.name or target.name
        self._hold(target, slot)

    def _holds_scratch(self, slot: Slot, number: int, scratch: Register) -> bool:
        if slot.kind == "mask" or slot.cover != scratch.cover or slot.width != scratch.dtype.bytes:
            return False
        return slot.free_at <= number and (
            slot.kind != "out" or self._free_until_written(slot, number, scratch)
        )

    def _usable(self, slot: Slot, number: int) -> bool:
        instruction = self.program.instructions[number]
        target = instruction.target
        if (slot.kind == "mask") != target.is_mask or slot.cover != target.cover:
            return False
        if not target.is_mask and slot.width != target.dtype.bytes:
            return False
        if slot.free_at > number or (slot.free_at == number and not self._in_place(slot, instruction)):
            return False
        return slot.kind != "out" or self._free_until_written(slot, number, target)

    def _free_until_written(self, slot: Slot, number: int, target: Register) -> bool:
        """Whether the target dies before the buffer's own output is computed, or as it is."""
        assert slot.owner is not None
        written = self.defined[slot.owner]
        if number >= written or self.last[target] > written:
            return False
        return self.last[target] < written or can_overwrite(self.program.instructions[written])

    def _in_place(self, slot: Slot, instruction: Instruction) -> bool:
        """Whether the instruction may write the bytes it reads: element for element, of one width."""
        return can_overwrite(instruction) and all(
            source.dtype.bytes == instruction.target.dtype.bytes
            and source.is_mask == instruction.target.is_mask
            and source.cover == instruction.target.cover
            for source in instruction.sources
            if self.made.of[source] is slot
        )


def _fresh(target: Register) -> Slot:
    return Slot(
        "mask" if target.is_mask else "temp", 0 if target.is_mask else target.dtype.bytes, target.cover
    )


def can_overwrite(instruction: Instruction) -> bool:
    """Whether the target of an instruction may be one of its sources, byte for byte."""
    return instruction.fn not in (*SCRATCHED, "reduce", "pick", "weave", "gather", "scan", "turn")


def scratch_bytes(instructions: Iterable[Instruction]) -> int:
    """The bytes that advanced calls need beside the registers of a program."""
    return SCRATCH_BYTES if any(each.fn in SCRATCHED for each in instructions) else 0
