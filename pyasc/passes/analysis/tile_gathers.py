# SPDX-License-Identifier: Apache-2.0
"""Elements at places that a body computes, out of arrays that fit on chip: Gather, with byte offsets from the indices.

A table is copied to every core once, as a whole. Where its size is symbolic it gets most of the core's memory, and the
host checks that it fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Block, Builder, Operation, Value
from pyasc.ir.dialects import arith, mem, py, scf, st
from pyasc.ir.sizes import SizeExpr, constant, lift
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import index, integer_of
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.range_tests import Wrapped, wrapped
from pyasc.passes.analysis.structured import size_value
from pyasc.passes.analysis.tile_counters import Wide
from pyasc.passes.analysis.tile_legalise import Legaliser
from pyasc.passes.analysis.tile_program import Instruction, Operand, Register

TABLE = "table"
"""What a register covers that holds an array for all tiles."""
TABLE_SHARE = 0.62
"""The part of a core's memory for tables whose size only the launch knows."""


@dataclass
class Gathers:
    """Translates bodies that read arrays at computed places."""

    legaliser: Legaliser
    wide: Wide
    tables: dict[Value, Register] = field(default_factory=lambda: dict[Value, Register]())

    def body(self, op: st.Apply) -> list[Operand]:
        """Translate a body whose inputs have operands already; what it yields. Raises NotVector."""
        self.translate(op, ())
        return [self.legaliser.operand(value) for value in op.body.block.terminator.operands]

    def translate(self, op: st.Apply, indices: Sequence[Value]) -> None:
        """Translate a body, of which some values serve as indices alone."""
        for inner in op.walk():
            if isinstance(inner, mem.Load) and any(may_alias(inner.ref, ref) for ref in op.outputs):
                raise refuse(f"`{inner.ref.name}` is read where it is written", inner.loc)
        self._operations(op.body.block, _places(op, indices), None)

    def _block(self, block: Block, places: set[Operation], mask: Register | None) -> list[Operand]:
        """Translate a block that gives values, of which lanes without a bit in the mask need none."""
        self._operations(block, places, mask)
        return [self.legaliser.operand(value) for value in block.terminator.operands]

    def _operations(self, block: Block, places: set[Operation], mask: Register | None) -> None:
        for inner in block:
            self.legaliser.loc = inner.loc
            match inner:
                case st.Yield() | scf.Yield():
                    pass
                case mem.Load():
                    self.legaliser.operands[inner.value] = self._gather(inner, mask)
                case scf.If():
                    self._branch(inner, places, mask)
                case _ if inner in places:
                    self.wide.deferred[inner.results[0]] = inner
                case _:
                    self.legaliser.run(inner)

    def _branch(self, op: scf.If, places: set[Operation], outer: Register | None) -> None:
        """Both sides, of which every lane takes one."""
        condition = self.legaliser.operand(op.condition)
        if outer is not None or not isinstance(condition, Register):
            raise refuse("a branch in a branch, or one that all elements take alike", op.loc)
        then = self._block(op.then.block, places, condition)
        otherwise = self._block(op.otherwise.block, places, self.legaliser.inverted(condition))
        for value, *choice in zip(op.values, then, otherwise, strict=True):
            if dtype_of(value.type) in (dtypes.i1, dtypes.i64):
                raise refuse(f"a branch that gives {dtype_of(value.type)}", op.loc)
            self.legaliser.operands[value] = self.legaliser.select([condition, *choice])

    def _gather(self, op: mem.Load, mask: Register | None) -> Register:
        table = self._table(op.ref)
        total = self.number(op.ref, op.indices)
        if not isinstance(total, Register):
            raise refuse("one element for all, at a place that is computed", op.loc)
        shift = self.legaliser.number(table.dtype.bytes.bit_length() - 1, dtypes.i32)
        offsets = self.legaliser.emit("shl", dtypes.i32, total, shift, name="offsets")
        if mask is not None:
            # Lanes that take the other side have a place that is anywhere.
            offsets = self._chosen(mask, offsets)
        target = Register(table.dtype, op.value.name or op.ref.name)
        made = Instruction("gather", target, (table, offsets), loc=op.loc)
        self.legaliser.program.instructions.append(made)
        return target

    def number(self, ref: Value, indices: Sequence[Value]) -> Operand:
        """The number of an element in row-major order, as int32."""
        assert isinstance(ref.type, RefType)
        total: Operand = self.legaliser.number(0, dtypes.i32)
        for axis, (dim, where) in enumerate(zip(ref.type.shape, indices, strict=True)):
            assert dim is not None
            place = self._place(where)
            if axis:
                extent = self.wide.narrow(size_value(self.legaliser.at, lift(dim)))
                place = self._combined("add", self._combined("mul", total, extent), place)
            total = place
        return total

    def _chosen(self, mask: Register, offsets: Register) -> Register:
        made = self.legaliser.select([mask, offsets, self.legaliser.number(0, dtypes.i32)])
        assert isinstance(made, Register)
        return made

    def _table(self, ref: Value) -> Register:
        assert isinstance(ref.type, RefType)
        if isinstance(ref.owner, mem.View) or ref.type.layout != "row" or None in ref.type.shape:
            raise refuse(f"`{ref.name}` is not laid out in rows", self.legaliser.loc)
        if ref.type.dtype.bits not in (16, 32):
            raise refuse(f"{ref.type.dtype} elements at computed places", self.legaliser.loc)
        if ref not in self.tables:
            self.tables[ref] = Register(ref.type.dtype, ref.name, TABLE)
        return self.tables[ref]

    def _place(self, where: Value) -> Operand:
        """An index as int32, counted from the start of its axis."""
        found = wrapped(where)
        if found is None:
            plain = self.legaliser.operand(where)
            if isinstance(plain, Register) and plain.dtype is dtypes.i64:
                return self.wide.low(plain)
            return self.wide.narrow(plain)
        number = self.legaliser.operand(found.index)
        if not isinstance(number, Register):
            return self.wide.narrow(self.legaliser.operand(where))
        known = self.wide.intervals.known.get(number)
        if known is not None and (integer_of(known.low) or -1) >= 0:
            return number
        return self._from_the_start(number, found)

    def _from_the_start(self, number: Register, found: Wrapped) -> Register:
        """An index that may be negative, plus the extent where it is: its sign times minus the extent."""
        legaliser = self.legaliser
        if number.dtype is dtypes.i64:
            number = self.wide.low(number)
        if number.dtype is not dtypes.i32:
            raise refuse(f"{number.dtype} indices", legaliser.loc)
        extent = self.wide.narrow(found.extent)
        assert isinstance(extent, Value)
        sign = legaliser.emit("shr", dtypes.i32, number, legaliser.number(31, dtypes.i32), name="wrap")
        minus = legaliser.at.value(arith.Elementwise(fn="neg", args=[extent]))
        turn = legaliser.emit("mul", dtypes.i32, sign, minus, name="wrap")
        return legaliser.emit("add", dtypes.i32, number, turn, name="place")

    def _combined(self, fn: str, left: Operand, right: Operand) -> Operand:
        if isinstance(left, Register) or isinstance(right, Register):
            return self.legaliser.arithmetic(fn, [left, right])
        return self.legaliser.at.value(arith.Elementwise(fn=fn, args=[left, right]))


def _places(op: st.Apply, indices: Sequence[Value]) -> set[Operation]:
    """What computes places alone; it is done in 32 bits where it is asked for."""
    made: set[Operation] = set()
    pending = [where for inner in op.walk() if isinstance(inner, mem.Load) for where in inner.indices]
    pending += indices
    while pending:
        value = pending.pop()
        inner = value.op
        if not isinstance(inner, arith.Elementwise) or op not in inner.ancestors() or inner in made:
            continue
        if dtype_of(inner.args[-1].type) is dtypes.i64:
            made.add(inner)
            pending += inner.args
    return made


def table_size(at: Builder, ref: Value) -> Value:
    """How many elements an array has."""
    return size_value(at, elements_in(ref))


def elements_in(ref: Value) -> SizeExpr:
    assert isinstance(ref.type, RefType)
    total = constant(1)
    for dim in ref.type.shape:
        assert dim is not None
        total = total * lift(dim)
    return total


def table_bytes(tables: Mapping[Value, Register], free: int) -> dict[Value, int]:
    """What each table gets of `free` bytes: what it needs where that is known, an equal share where it is not."""
    made: dict[Value, int] = {}
    for ref, register in tables.items():
        known = elements_in(ref).as_constant
        if known is not None:
            made[ref] = -(-known * register.dtype.bytes // 32) * 32
    left = int(free * TABLE_SHARE) - sum(made.values())
    open_ = [ref for ref in tables if ref not in made]
    if left < 0 or (open_ and left < 1024 * len(open_)):
        raise refuse("a table that does not fit on chip")
    return made | {ref: left // len(open_) // 512 * 512 for ref in open_}


def check_tables(at: Builder, capacity: Mapping[Value, int], gathered: Value) -> None:
    """Let the host check that tables of symbolic size fit their buffers, wherever anything is `gathered` from them."""
    for ref, bytes_ in capacity.items():
        if elements_in(ref).as_constant is not None:
            continue
        size, most = table_size(at, ref), bytes_ // dtype_of(ref.type).bytes
        fits = at.value(arith.Elementwise(fn="le", args=[size, index(at, most)]))
        unused = at.value(arith.Elementwise(fn="le", args=[gathered, index(at, 0)]))
        either = at.value(arith.Elementwise(fn="or", args=[fits, unused]))
        message = f"a table of {{}} elements is gathered from, and here tables have at most {most} so far"
        at.insert(
            py.Check(condition=either, values=[size], error="LaunchError", message=message, launch=True)
        )
