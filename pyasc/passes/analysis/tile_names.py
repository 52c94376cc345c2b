# SPDX-License-Identifier: Apache-2.0
"""Names for what a loop reads of one array in several places: `x`, `xLeft` and `xRight` rather than numbers.

    o[i + 1, j + 1] = x[i, j + 1] + x[i + 2, j + 1] + x[i + 1, j] + x[i + 1, j + 2]

reads xAbove, xBelow, xLeft and xRight. What covers less of a tile than the others is a row or a column of its array.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW, SPACED

_DIRECTIONS = (("Above", "Below"), ("Left", "Right"))
_LINE = (("Before", "After"),)
_PARTS = {ROW: "Row", COLUMN: "Column", SPACED: "Column"}


def names_of_reads(array: str, reads: Sequence[tuple[AffineMap, str]]) -> list[str]:
    """A name for each access of an array, given by its map and by what it covers of a tile."""
    if len(reads) < 2:
        return [array] * len(reads)
    shifts = _shifts([map_ for map_, _ in reads])
    if shifts is not None:
        return [extended(array, shift) for shift in shifts]
    if all(cover == FULL for _, cover in reads):
        return [array] * len(reads)
    return [extended(array, _PARTS.get(cover, "")) for _, cover in reads]


def extended(name: str, word: str) -> str:
    """A name with a word behind it; one of a single capital letter starts with a small one then."""
    return f"{name[:1].lower()}{name[1:]}{word}" if word else name


def _shifts(maps: Sequence[AffineMap]) -> list[str] | None:
    """Where each of some maps that differ by constants is from their middle; None if they differ otherwise."""
    axes = list(zip(*(map_.results for map_ in maps), strict=True))
    if any(len({_slope(expr) for expr in axis}) > 1 for axis in axes):
        return None
    moving = [[expr.constant for expr in axis] for axis in axes if len(set(axis)) > 1]
    if not moving or len(moving) > 2:
        return None
    along = moving[-1] if len(moving) == 1 and axes[-1] and len(set(axes[-1])) > 1 else None
    words = _LINE if len(axes) == 1 else _DIRECTIONS[1:] if along is not None else _DIRECTIONS
    parts = [_steps(offsets, pair) for offsets, pair in zip(moving, words, strict=False)]
    return ["".join(each) for each in zip(*parts, strict=True)]


def _slope(expr: AffineExpr) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return expr.dims, expr.symbols


def _steps(offsets: Sequence[int], words: tuple[str, str]) -> list[str]:
    """How far each offset is from the middle one, or from 0 where that is between them."""
    low, high = min(offsets), max(offsets)
    middle = (low + high) // 2 if low >= 0 and (low + high) % 2 == 0 else max(low, 0)
    return [_step(offset - middle, words) for offset in offsets]


def _step(distance: int, words: tuple[str, str]) -> str:
    if distance == 0:
        return ""
    far = str(abs(distance)) if abs(distance) > 1 else ""
    return f"{words[0] if distance < 0 else words[1]}{far}"
