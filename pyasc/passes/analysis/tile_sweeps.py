# SPDX-License-Identifier: Apache-2.0
"""The program of one row, cut into sweeps over its columns.

A row that does not fit on chip passes through it in pieces, once for each number that all of it has to give before
work can go on: a softmax sweeps for the maximum, for the sum, and to write. What a sweep needs is computed again from
the arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.tile_body import Access, Elements
from pyasc.passes.analysis.tile_program import COLUMN, SPACED, Instruction, Program, Register


@dataclass
class Sweep:
    """One walk along a row: its program on pieces, and the reductions that take a part of every piece."""

    program: Program
    reads: list[Access]
    writes: list[Access]
    folds: list[Instruction]


@dataclass
class RowProgram:
    """Sweeps, and before the first and behind each of them instructions on numbers of the row."""

    sweeps: list[Sweep]
    numbers: list[list[Instruction]]
    reads: list[Access] = field(default_factory=lambda: list[Access]())
    writes: list[Access] = field(default_factory=lambda: list[Access]())


def cut_in_sweeps(elements: Elements) -> RowProgram:
    """Cut a program, whose full registers stand for a piece of the row and its columns for one number."""
    program = elements.program
    if program.loops:
        return _one_sweep(elements)
    level = _levels(program)
    whole = [access for access in elements.writes if access.register.cover != COLUMN]
    last = max([level[access.register] + 1 for access in whole], default=0)
    count = max([last, *level.values()], default=0)
    folds = [each for each in program.instructions if is_fold(each)]
    numbers = [each for each in program.instructions if each.target.cover == COLUMN and not is_fold(each)]
    sweeps = [
        _sweep(
            elements,
            whole if number == count else (),
            [each for each in folds if level[each.target] == number],
        )
        for number in range(1, count + 1)
    ]
    by_level = [[each for each in numbers if level[each.target] == k] for k in range(count + 1)]
    return RowProgram(
        sweeps,
        by_level,
        [access for access in elements.reads if of_row(access.register)],
        [access for access in elements.writes if of_row(access.register)],
    )


def _one_sweep(elements: Elements) -> RowProgram:
    """A program with loops, which no reduction may follow."""
    instructions = elements.program.instructions
    if any(is_fold(each) for each in instructions):
        raise refuse("a reduction beside a loop that every element runs for itself")
    lines = [each for each in instructions if not of_row(each.target)]
    numbers = [each for each in instructions if of_row(each.target)]
    reads = [access for access in elements.reads if not of_row(access.register)]
    writes = [access for access in elements.writes if not of_row(access.register)]
    program = Program([a.register for a in reads], lines, [a.register for a in writes])
    sweep = Sweep(program, reads, writes, [])
    return RowProgram(
        [sweep],
        [numbers, []],
        [access for access in elements.reads if of_row(access.register)],
        [access for access in elements.writes if of_row(access.register)],
    )


def is_fold(each: Instruction) -> bool:
    """Whether an instruction makes one number of a whole row."""
    return each.fn == "reduce" and not any(of_row(source) for source in each.sources)


def of_row(register: Register) -> bool:
    """Whether a register holds one number of a row."""
    return register.cover in (COLUMN, SPACED)


def _levels(program: Program) -> dict[Register, int]:
    """How many sweeps have to end before a register can be computed."""
    level = dict.fromkeys(program.inputs, 0)
    for each in program.instructions:
        known = max((level[source] for source in each.sources), default=0)
        level[each.target] = known + is_fold(each)
    return level


def _sweep(elements: Elements, writes: Sequence[Access], folds: Sequence[Instruction]) -> Sweep:
    folded = [source for each in folds for source in each.sources]
    wanted = set(folded) | {access.register for access in writes}
    made: list[Instruction] = []
    for each in reversed(elements.program.instructions):
        if each.target in wanted and not of_row(each.target):
            wanted.update(each.sources)
            made.append(each)
    reads = [a for a in elements.reads if a.register in wanted and not of_row(a.register)]
    program = Program(
        [access.register for access in reads],
        made[::-1],
        [access.register for access in writes],
        list(dict.fromkeys(folded)),
    )
    return Sweep(program, reads, list(writes), list(folds))


def numbers_used(sweeps: Iterable[Sweep]) -> int:
    """How many times an instruction of a sweep takes a number of the row."""
    return sum(
        of_row(source) for sweep in sweeps for each in sweep.program.instructions for source in each.sources
    )
