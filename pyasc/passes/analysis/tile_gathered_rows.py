# SPDX-License-Identifier: Apache-2.0
"""Rows at places that other arrays say, `table[idx[i], :]`: each is copied from where its index leads.

The scalar unit reads the index of a row and starts its copy; what is computed with the rows is vector work as it is
with any others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyasc.ir.core import Builder, Operation, Value, block_of
from pyasc.ir.dialects import mem, scf, st, tile_lanes
from pyasc.ir.traits import PURE
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import Nest, index, materialise
from pyasc.passes.analysis.effects import may_alias
from pyasc.passes.analysis.phases import written_operands
from pyasc.passes.analysis.structured import extent_value
from pyasc.passes.analysis.tile_body import BodyBuilder, GatheredRow, stored_dtype
from pyasc.passes.analysis.tile_emit import I64, binary
from pyasc.passes.analysis.tile_program import FULL, Register


@dataclass
class GatheredRows:
    """The loads of a body that walk along rows which data says; `indices` are the inputs that say nothing else.

    `counters` are those of the loops around the op and its own, the columns last.
    """

    op: st.Apply
    counters: Sequence[Value]
    root: Operation
    loads: list[mem.Load] = field(default_factory=lambda: list[mem.Load]())
    slices: set[Operation] = field(default_factory=lambda: set[Operation]())
    indices: set[Value] = field(default_factory=lambda: set[Value]())

    def __post_init__(self) -> None:
        block = self.op.body.block
        if len(self.counters) < 2:
            return
        self.loads = [each for each in block if isinstance(each, mem.Load) and self._is_row(each)]
        used: set[Operation] = set(self.loads)
        for load in self.loads:
            used |= {each for each in _behind(load.indices, self.root)[0] if each.parent is block}
        # What the body needs besides is translated for all elements.
        for inner in reversed(list(block)):
            besides = any(user not in used for value in inner.results for user in value.uses)
            if besides and inner not in self.loads:
                used.discard(inner)
        self.slices = used
        inputs = block.args[self.op.rank :]
        self.indices = {arg for arg in inputs if arg.uses and all(user in used for user in arg.uses)}

    def _is_row(self, load: mem.Load) -> bool:
        """Whether a load reads one element after the other of a row whose number does not depend on the column."""
        op, column = self.op, self.counters[-1]
        written = {ref for each in self.root.walk() for ref in written_operands(each)}
        assert isinstance(load.ref.type, RefType)
        if isinstance(load.ref.owner, mem.View) or any(may_alias(load.ref, ref) for ref in written):
            return False
        if load.ref.type.layout != "row" or None in load.ref.type.shape:
            return False
        last = Nest([column], op).expr(load.indices[-1])
        if last is None or last.dims != (1,):
            return False
        slice_, leaves = _behind(load.indices[:-1], self.root)
        for each in slice_:
            known = isinstance(each, mem.Load) and not any(may_alias(each.ref, ref) for ref in written)
            if not known and (not each.has(PURE) or each.regions):
                return False
        walked = zip(op.inputs, op.input_maps, op.body.block.args[op.rank :], strict=True)
        return column not in leaves and not any(
            (map_.uses(op.rank - 1) or ref in written) and arg in leaves for ref, map_, arg in walked
        )

    def read(self, builder: BodyBuilder) -> None:
        """Registers for the rows."""
        builder.given |= self.slices
        for load in self.loads:
            dtype = dtype_of(load.ref.type)
            register = Register(stored_dtype(dtype), load.value.name or load.ref.name, FULL)
            builder.program.inputs.append(register)
            builder.elements.rows.append(
                GatheredRow(load, self.op, tuple(self.counters), self.root, register)
            )
            builder.legaliser.operands[load.value] = builder.loaded(register, dtype)


def _behind(values: Sequence[Value], root: Operation) -> tuple[list[Operation], set[Value]]:
    """The operations inside of `root` that compute values, and the arguments of blocks that they start from."""
    found: dict[Operation, None] = {}
    leaves: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value.op is None:
            leaves.add(value)
        elif root in value.op.ancestors() and value.op not in found:
            found[value.op] = None
            pending += value.op.operands
    return list(found), leaves


def insert_rows(
    at: Builder, row: GatheredRow, target: Value, sizes: tuple[Value, Value], dims: Sequence[Value]
) -> None:
    """Copy rows to a tile that starts at the point `dims`."""
    body = block_of([ScalarType(I64)], ["r"])
    inner = Builder(body.block, loc=row.load.loc)
    point = list(dims)
    point[-2] = binary(inner, "add", point[-2], body.block.args[0])
    start = _Start(row, inner, dict(zip(row.counters, point, strict=True)))
    inner.insert(scf.Yield(values=[start.element()]))
    at.insert(tile_lanes.CopyRows(source=row.load.ref, target=target, sizes=list(sizes), body=body))


@dataclass
class _Start:
    """Computes where a row starts, from the counters at its first element."""

    row: GatheredRow
    at: Builder
    known: dict[Value, Value]

    def element(self) -> Value:
        """The number of the first element in the array."""
        load, total = self.row.load, index(self.at, 0)
        assert isinstance(load.ref.type, RefType)
        for dim, where in zip(load.ref.type.shape, load.indices, strict=True):
            total = binary(self.at, "mul", total, extent_value(self.at, dim))
            total = binary(self.at, "add", total, self._value(where))
        return total

    def _value(self, value: Value) -> Value:
        if value not in self.known:
            self.known[value] = self._made(value)
        return self.known[value]

    def _made(self, value: Value) -> Value:
        op = self.row.op
        if value.op is None and value.owner is op.body.block:
            number = value.index - op.rank
            iterators = [self._value(counter) for counter in op.body.block.args[: op.rank]]
            symbols = [self._value(symbol) for symbol in op.symbols]
            where = [materialise(e, iterators, symbols, self.at) for e in op.input_maps[number].results]
            return self.at.value(mem.Load(ref=op.inputs[number], indices=where), op.inputs[number].name)
        if value.op is None or self.row.root not in value.op.ancestors():
            return value
        mapping = {operand: self._value(operand) for operand in value.op.operands if _is_number(operand)}
        return self.at.insert(value.op.clone(mapping)).results[value.index]


def _is_number(value: Value) -> bool:
    return isinstance(value.type, ScalarType)
