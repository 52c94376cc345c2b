# SPDX-License-Identifier: Apache-2.0
"""Running sums and extremes along the last axis: a line in pieces, each starting from what the one before came to.

    st.apply [%m, %n], [%x], [%zero], [%y] {iterators = ["parallel", "scan"], roles = ["scan"], ...}

becomes rows that are dealt to the cores, and for each of them

    %carry = tile.buffer : ref<128 x 1 x f32, ub>
    tile.fill %zero, %carry, [1, 1]
    scf.for %column = 0 to %n step TILE {
      tile.copy ..., %x, [1, %count]
      tile.scan %x, %carry, %y, [1, %count] {fn = "add"}
      tile.copy %y, ..., [1, %count]
    }

One line alone is dealt to the cores in runs. Before that, a phase gives each run's total, so that every core knows
what the runs before its own come to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, st, tile, tile_lanes
from pyasc.ir.dtypes import f32, i32
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.row_work import IDENTITIES, RowWork
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.structured import combining_functions
from pyasc.passes.analysis.tile_body import Access
from pyasc.passes.analysis.tile_emit import LINE_BYTES, binary, cores_for, deal
from pyasc.passes.analysis.tile_legalise import number_of
from pyasc.passes.analysis.tile_lines import LineRows, Lines
from pyasc.passes.analysis.tile_program import FULL, Instruction, Register
from pyasc.passes.analysis.tile_rows import of_apply
from pyasc.passes.analysis.tile_totals import function_of, lower_parts

_PYTHON = {"pymax": "maximum", "pymin": "minimum"}
_PARTS = 64
"""Room for the totals of all cores."""
_FIXED_BYTES = 4096
"""What those and their running values take on chip, and numbers beside the pieces of a line."""


def is_scan(op: st.Apply) -> bool:
    """Whether an op gives the running values of lines, and nothing else."""
    return bool(op.iterators) and op.iterators[-1] == "scan" and op.roles == ("scan",)


def lower_line_totals(op: st.Apply, soc: Soc, name: str) -> Value:
    """The first phase of a single line: what each core's run of it comes to, written to a workspace of that name."""
    _function(op)
    at = Builder.before(op)
    total = at.value(mem.Alloc(types=[RefType((), dtype_of(op.outputs[0].type), "local")]), "total")
    op.set_operands("outputs", [total])
    op.iterators, op.roles, op.output_maps = ("reduction",), ("reduce",), (AffineMap(()),)
    return lower_parts(op, soc, [name])


def lower_scan(op: st.Apply, soc: Soc, parts: str = "") -> Value:
    """Replace the op by tile operations; the number of cores that take part. A line alone has `parts`."""
    running = as_written(op)
    work = of_apply(op, Builder.before(op), lines=True)
    start = running.start(work)
    running.run_through(work)
    return _ScannedRows(op, work, soc, start, parts).lower()


def _function(op: st.Apply) -> str:
    """What combines the values. Raises NotVector for what no instruction does."""
    (fn,) = combining_functions(op)
    dtype = dtype_of(op.outputs[0].type)
    if fn is None or _PYTHON.get(fn, fn) not in IDENTITIES or op.guarded or len(op.inits) != 1:
        raise refuse(f"running values by `{fn or 'several functions'}`", op.loc)
    if op.strict and fn == "add" and dtype is f32:
        raise refuse("running sums in order", op.loc)
    if dtype not in (f32, i32):
        raise refuse(f"running values of {dtype} elements", op.loc)
    return fn


@dataclass(frozen=True)
class Running:
    """How an op combines what its body gives, and what it starts from."""

    fn: str
    init: Value

    def start(self, work: RowWork) -> Value:
        """The scalar that running values start from. Raises NotVector for an element of an array that is walked."""
        start = work.builder.legaliser.operand(self.init)
        if not isinstance(start, Value):
            raise refuse("running values that start from an element", work.builder.legaliser.loc)
        return start

    def run_through(self, work: RowWork) -> Register:
        """Let the output receive the running values of what the body gives; its register."""
        elements, legaliser = work.builder.elements, work.builder.legaliser
        (access,) = elements.writes
        value = access.register
        elements.program.outputs.remove(value)
        source = value
        if self.fn in _PYTHON and value.dtype.is_float:
            # A NaN among the elements never wins; one that is there at the start stays.
            real = legaliser.compare("eq", [value, value])
            identity = legaliser.number(IDENTITIES[_PYTHON[self.fn]], value.dtype)
            source = legaliser.register(legaliser.select([real, value, identity]))
        target = Register(value.dtype, access.ref.name, FULL)
        made = Instruction("scan", target, (source,), _PYTHON.get(self.fn, self.fn), legaliser.loc)
        elements.program.instructions.append(made)
        elements.program.outputs.append(target)
        elements.writes[:] = [Access(access.ref, access.map, target)]
        return target


def as_written(op: st.Apply) -> Running:
    """Turn an op into one that writes what its body gives; how that is combined. Raises NotVector."""
    fn, (init,) = _function(op), op.inits
    op.set_operands("inits", [])
    op.iterators, op.roles = ("parallel",) * op.rank, ("write",)
    return Running(fn, init)


class _ScannedLines(Lines):
    """Lines whose pieces start from a number each, which `begin_with` sets for a line."""

    def __init__(self, root: Operation, work: RowWork, soc: Soc) -> None:
        self.start: Value | None = None
        self.before: tuple[Value, Value] | None = None
        super().__init__(root, work, soc)

    def _size(self, ub: int) -> None:
        super()._size(ub - _FIXED_BYTES)

    def row(self, at: Builder, point: Sequence[Value], first: Value, extent: Value) -> None:
        """All of one line, from its start on."""
        (access,) = self.work.builder.elements.writes
        dtype, one = access.register.dtype, index(at, 1)
        type_ = RefType((_PARTS * 2, 1), dtype, "ub")
        carry = at.value(tile.Buffer(types=[type_]), "carry")
        assert self.start is not None
        at.insert(tile.Fill(value=self.start, target=carry, sizes=[one, one]))
        if self.before is not None:
            self._advance(at, carry, *self.before)
        self.carries = {access.register: carry}
        super().row(at, point, first, extent)

    def _advance(self, at: Builder, carry: Value, parts: Value, core: Value) -> None:
        """Let the carry pass by the runs of the cores before this one."""
        dtype, one = dtype_of(parts.type), index(at, 1)
        line_type = RefType((1, None), dtype, "ub")
        width = index(at, _PARTS)
        view_type = RefType((1, None), dtype, "gm", "strided")
        view = mem.View(
            ref=parts, offsets=[index(at, 0)], sizes=[core], steps=[one], axes=(-1, 0), types=[view_type]
        )
        source = at.value(view, parts.name)
        line = at.value(tile.Buffer(extents=[width], capacity=_PARTS, types=[line_type]), "parts")
        at.insert(tile.Copy(source=source, target=line, sizes=[one, core]))
        fn = next(each.mode for each in self.work.builder.program.instructions if each.fn == "scan")
        if dtype is f32:
            self._combine(at, fn, carry, line, core)
            return
        passed = at.value(tile.Buffer(extents=[width], capacity=_PARTS, types=[line_type]), "passed")
        at.insert(tile_lanes.Scan(source=line, carry=carry, target=passed, sizes=[one, core], fn=fn))

    def _combine(self, at: Builder, fn: str, carry: Value, line: Value, core: Value) -> None:
        """One number of a line, and of the carry. The first core has no line: the number stays what changes nothing."""
        one = index(at, 1)
        earlier = at.value(tile.Buffer(types=[carry.type]), "earlier")
        identity = at.value(number_of(IDENTITIES[fn], f32))
        at.insert(tile.Fill(value=identity, target=earlier, sizes=[one, one]))
        at.insert(tile.Reduce(source=line, target=earlier, sizes=[one, core], fn=fn, axis=1))
        at.insert(tile.Elementwise(fn=fn, args=[carry, earlier], target=carry, sizes=[one, one]))


class _ScannedRows(LineRows):
    """Lines dealt to cores, or one line in runs."""

    lines_of = _ScannedLines

    def __init__(self, op: st.Apply, work: RowWork, soc: Soc, start: Value, parts: str) -> None:
        super().__init__(op, work, soc)
        assert isinstance(self.lines, _ScannedLines)
        self.scanned = self.lines
        self.scanned.start = start
        self.soc = soc
        self.parts = parts

    def _one_row(self, at: Builder) -> Value:
        (access,) = self.work.builder.elements.writes
        first, extent = self.work.column_values(at, ())
        total = binary(at, "maximum", extent, 0)
        blocks = cores_for(at, total, self._unit(), self.cores)
        dealt = deal(at, blocks, total, self._unit())
        inner, part = dealt.at, dealt.part
        type_ = RefType((self.soc.vector_cores,), access.register.dtype)
        workspace = function_of(self.root).body.block.add_arg(type_, self.parts)
        self.scanned.before = workspace, dealt.core
        self.scanned.row(inner, (), binary(inner, "add", first, part.begin), part.length)
        inner.insert(tile.Yield())
        self.root.drop()
        self.root.unlink()
        return blocks

    def _unit(self) -> int:
        """As many elements as the first phase deals at a time: lines of what it reads."""
        widths = [access.register.dtype.bytes for access in self.lines.reads] or [4]
        return LINE_BYTES // min(widths)
