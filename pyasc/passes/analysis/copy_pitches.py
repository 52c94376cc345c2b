# SPDX-License-Identifier: Apache-2.0
"""How far apart rows may lie that one copy takes: the fields of the instructions for it have 32 bits.

DataCopyPad says in bytes how much of global memory lies between two rows, Fixpipe in elements from where to where a
row is. A larger number would lose its high bits on the way into the instruction, and no core could tell. So the host
asks before it launches anything:

    %bytes = arith.mul %C, 4
    %reached = arith.le %bytes, 4294967295
    py.check (%reached or %R <= 1), [%C], "rows that start {} elements apart ..."
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import arith, mem, py, tile
from pyasc.ir.dialects.func import Func
from pyasc.ir.sizes import SizeExpr, constant, lift
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.structured import size_value
from pyasc.passes.analysis.tile_emit import binary

MOST = (1 << 32) - 1
"""What a field of 32 bits holds."""

Known = Callable[[Value], Value]
"""The host's value for one of a phase."""

_Rows = tuple[SizeExpr, SizeExpr, int]
"""The elements from one row to the next without its step, the rows that there are, and the units of an element."""


def check_pitches(at: Builder, phases: Iterable[Func], known: Known) -> None:
    """Insert a check for each distance between rows of a copy that sizes decide."""
    seen: set[tuple[_Rows, object]] = set()
    for phase in phases:
        for rows, step in _copied_rows(phase):
            number = integer_of(step)
            key = (rows, step if number is None else number)
            if key not in seen and not _fits(rows, number):
                seen.add(key)
                at.loc = phase.loc
                _check(at, rows, known(step))


def _copied_rows(phase: Func) -> Iterator[tuple[_Rows, Value]]:
    """The rows of all copies of boxes, and how many rows of the array it is from one of them to the next."""
    for op in phase.walk():
        if not isinstance(op, tile.Copy):
            continue
        on_cube = isinstance(op.source.type, RefType) and op.source.type.space == "l0c"
        for side in (op.source, op.target):
            view = side.owner
            # What the cube unit reads comes in by copies that go row by row where rows lie far apart.
            if not isinstance(view, mem.View) or len(view.axes) < 2 or view.axes[0] < 0:
                continue
            if on_cube or "ub" in (_space(op.source), _space(op.target)):
                unit = 1 if on_cube else dtype_of(side.type).bytes
                yield (*_extents(view), unit), view.steps[view.axes[0]]


def _space(value: Value) -> str:
    assert isinstance(value.type, RefType)
    return value.type.space


def _extents(view: mem.View) -> tuple[SizeExpr, SizeExpr]:
    """The elements of a row of the array, all axes behind the one that numbers rows, and the extent of that one."""
    assert isinstance(view.ref.type, RefType)
    axis = view.axes[0]
    pitch = constant(1)
    for extent in view.ref.type.shape[axis + 1 :]:
        assert extent is not None
        pitch = pitch * lift(extent)
    # A diagonal walks the array as one line, of which nothing says how many rows it has.
    rows = view.ref.type.shape[axis]
    return pitch, constant(MOST) if rows is None else lift(rows)


def _fits(rows: _Rows, step: int | None) -> bool:
    """Whether the distance is known, and small enough."""
    pitch, _, unit = rows
    return step is not None and pitch.as_constant is not None and pitch.as_constant * abs(step) * unit <= MOST


def _check(at: Builder, rows: _Rows, step: Value) -> None:
    pitch, count, unit = rows
    apart = binary(at, "mul", size_value(at, pitch), step)
    reached = at.value(arith.Elementwise(fn="le", args=[binary(at, "mul", apart, unit), index(at, MOST)]))
    if count.as_constant is None:
        single = at.value(arith.Elementwise(fn="le", args=[size_value(at, count), index(at, 1)]))
        reached = at.value(arith.Elementwise(fn="or", args=[single, reached]))
    what = "bytes" if unit > 1 else "elements"
    message = f"rows that start {{}} elements apart are copied together, over at most {MOST} {what} so far"
    at.insert(py.Check(condition=reached, values=[apart], error="LaunchError", message=message, launch=True))
