# SPDX-License-Identifier: Apache-2.0
"""Columns of rows that do not lie side by side: the run between them is copied, and they are picked out of it.

Rows of pixels are taken with all axes from the pixels on as one, so that each channel is every third element.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import tile
from pyasc.ir.sizes import Dim, lift, simplify
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.tile_body import BodyBuilder
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_picks import TURNED, Picks, wide
from pyasc.passes.analysis.tile_program import Register
from pyasc.passes.analysis.walks import MAX_STRIDE


@dataclass(frozen=True)
class _Place:
    """An access with the axes from the one that the column walks on as one: `stride` elements a column."""

    ref: Value
    map: AffineMap
    stride: int


@dataclass
class RowWindows:
    """The runs that are read for one piece of work, by the register that holds each: its stride, and the last phase."""

    builder: BodyBuilder
    at: Builder
    column: int
    strides: dict[Register, int] = field(default_factory=lambda: dict[Register, int]())
    last: dict[Register, int] = field(default_factory=lambda: dict[Register, int]())
    merged: dict[tuple[Value, int], Value] = field(default_factory=lambda: dict[tuple[Value, int], Value]())

    def __post_init__(self) -> None:
        self.picks = Picks(self.builder.legaliser)

    def read(self, ref: Value, map_: AffineMap, lines: bool) -> Register | None:
        """The register of an access whose columns are not side by side.

        Where lines are taken one by one, they may run backwards. Raises NotVector for rows that are none of a tile.
        """
        row = self.column - 1
        rows = [e for e in map_.results if row >= 0 and e.coefficient(row)]
        if not lines and self._is_turned(ref, map_):
            register = self.builder.read(ref, map_, ref.name, TURNED)
            return self.picks.turned(register)
        made = self._in_a_run(ref, map_, backwards=lines)
        if made is not None and not lines and (len(rows) != 1 or rows[0].coefficient(row) < 0):
            raise refuse(f"rows of `{ref.name}` that are no rows of a tile", self.builder.legaliser.loc)
        return made

    def _is_turned(self, ref: Value, map_: AffineMap) -> bool:
        """Whether the rows of a tile lie side by side, and columns are rows of the array."""
        assert isinstance(ref.type, RefType)
        row, last = self.column - 1, len(map_.results) - 1
        if row < 0 or ref.type.layout != "row" or dtype_of(ref.type).bits > 32:
            return False
        columns = [i for i, e in enumerate(map_.results) if e.coefficient(self.column)]
        rows = [i for i, e in enumerate(map_.results) if e.coefficient(row)]
        return (
            rows == [last]
            and len(columns) == 1
            and columns[0] != last
            and map_.results[last].coefficient(row) == 1
            and map_.results[columns[0]].coefficient(self.column) == 1
        )

    def _in_a_run(self, ref: Value, map_: AffineMap, backwards: bool) -> Register | None:
        """The register of an access whose columns are some elements apart, or run backwards where that may be."""
        place = self._place(ref, map_)
        if place is None or place.stride in (0, 1) or abs(place.stride) > MAX_STRIDE:
            return None
        if (place.stride < 0 and not backwards) or dtype_of(ref.type).bits > 32:
            return None
        phase, start = self._phase(place)
        register = self.builder.read(place.ref, start, ref.name, wide(place.stride))
        known = self.strides.setdefault(register, place.stride)
        if known != place.stride:
            return None
        self.last[register] = max(self.last.get(register, 0), phase)
        return self.picks.picked(register, place.stride, phase)

    def _place(self, ref: Value, map_: AffineMap) -> _Place | None:
        assert isinstance(ref.type, RefType)
        walked = [i for i, e in enumerate(map_.results) if e.coefficient(self.column)]
        if len(walked) != 1 or ref.type.layout != "row":
            return None
        (axis,) = walked
        behind, size, total = (
            list(zip(ref.type.shape, map_.results, strict=True))[axis + 1 :],
            1,
            AffineExpr(),
        )
        for extent, expr in behind[::-1]:
            if not isinstance(extent, int) or not expr.is_constant:
                return None
            total, size = total + expr.constant * size, size * extent
        total = total + map_.results[axis] * size
        stride = total.coefficient(self.column)
        merged = ref if not behind else self._merged(ref, axis, size)
        return _Place(merged, AffineMap((*map_.results[:axis], total)), stride)

    def _merged(self, ref: Value, axis: int, size: int) -> Value:
        if (ref, axis) not in self.merged:
            assert isinstance(ref.type, RefType)
            extent = ref.type.shape[axis]
            assert extent is not None
            shape: tuple[Dim, ...] = (*ref.type.shape[:axis], simplify(lift(extent) * size))
            op = tile.Merge(ref=ref, axis=axis, types=[RefType(shape, ref.type.dtype, ref.type.space)])
            self.merged[ref, axis] = self.at.value(op, ref.name)
        return self.merged[ref, axis]

    def _phase(self, place: _Place) -> tuple[int, AffineMap]:
        """Which element of a step an access uses, and where steps start, which no step before the first one may."""
        *outer, last = place.map.results
        alone = last.dims == (0,) * self.column + (place.stride,) and not last.symbols
        if place.stride < 0 or not alone:
            return 0, place.map
        phase = last.constant % place.stride
        return phase, AffineMap((*outer, last + -phase))

    def span(self, at: Builder, register: Register, count: Value) -> Value:
        """How many elements a run of so many columns has."""
        stride = self.strides.get(register)
        if stride is None:
            return count
        unused = abs(stride) - 1 - self.last[register]
        return binary(at, "sub", binary(at, "mul", count, abs(stride), "span"), unused, "used")

    def first(self, at: Builder, register: Register, dims: Sequence[Value], count: Value) -> Sequence[Value]:
        """The point at which a run starts: at its last column where it runs backwards."""
        if self.strides.get(register, 1) > 0:
            return dims
        last = binary(at, "sub", binary(at, "add", dims[-1], count), 1)
        return [*dims[:-1], last]
