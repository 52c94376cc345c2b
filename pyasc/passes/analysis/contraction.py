# SPDX-License-Identifier: Apache-2.0
"""Recognising product-sums by the shape of their maps: which iterator can fill vectors and which can reuse them."""

from __future__ import annotations

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Value
from pyasc.ir.dialects import arith, st
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.patterns.arith import holds_all


class Contraction(Record):
    """`out[...] += vector[...] * scalar[...]` over reduction iterators.

    `lane` walks the last dimension of the output and occurs in `vector` alone; `row` (or None) is parallel and
    occurs in `scalar` alone, so that a loaded vector serves several rows. `vector` and `scalar` number inputs.
    """

    op: st.Apply
    vector: int
    scalar: int
    lane: int
    row: int | None
    sums: tuple[int, ...]
    others: tuple[int, ...]
    dtype: DType

    @property
    def vector_map(self) -> AffineMap:
        """How the vector operand is indexed."""
        return self.op.input_maps[self.vector]

    @property
    def scalar_map(self) -> AffineMap:
        """How the scalar operand is indexed."""
        return self.op.input_maps[self.scalar]

    @property
    def has_unit_stride(self) -> bool:
        """Whether neighbouring lanes of the vector operand are neighbours in memory."""
        type_ = self.op.inputs[self.vector].type
        assert isinstance(type_, RefType)
        *outer, last = self.vector_map.results
        unit = last.coefficient(self.lane) == 1 and not any(e.coefficient(self.lane) for e in outer)
        return unit and type_.layout == "row"

    @property
    def is_projection(self) -> bool:
        """Whether no index of the vector operand mixes iterators, so that no two points share an element by chance."""
        return all(sum(map(bool, e.dims)) <= 1 for e in self.vector_map.results)


def match_contraction(op: st.Apply) -> Contraction | None:
    """The product-sum that an op is, or None."""
    if op.roles != ("reduce",) or op.strict or op.guarded or len(op.inputs) != 2:
        return None
    if not _adds(op) or any(b.dims for b in (*op.lower, *op.upper)):
        return None
    factors = _factors(op)
    if factors is None:
        return None
    dtype = dtype_of(op.outputs[0].type)
    output = op.output_maps[0]
    sums = tuple(i for i, kind in enumerate(op.iterators) if kind == "reduction")
    parallel = tuple(i for i, kind in enumerate(op.iterators) if kind == "parallel")
    if len(sums) + len(parallel) != op.rank or not sums or not output.results:
        return None
    dims = [e.as_dim for e in output.results if not e.is_constant]
    if None in dims or len(set(dims)) != len(dims):
        return None
    lane = output.results[-1].as_dim
    if lane is None or any(output.uses(i) for i in sums) or not all(output.uses(i) for i in parallel):
        return None
    for vector, scalar in (factors, factors[::-1]):
        if op.input_maps[vector].uses(lane) and not op.input_maps[scalar].uses(lane):
            row = _row(op, vector, scalar, lane, parallel)
            others = tuple(i for i in parallel if i not in (lane, row))
            return Contraction(op, vector, scalar, lane, row, sums, others, dtype)
    return None


def _row(op: st.Apply, vector: int, scalar: int, lane: int, parallel: tuple[int, ...]) -> int | None:
    found = [
        i
        for i in parallel
        if i != lane and op.input_maps[scalar].uses(i) and not op.input_maps[vector].uses(i)
    ]
    return found[-1] if found else None


def _adds(op: st.Apply) -> bool:
    block = op.combine.block
    (value,) = block.terminator.operands
    return (
        isinstance(value.op, arith.Elementwise)
        and value.op.fn == "add"
        and set(value.op.args) == set(block.args)
    )


def _factors(op: st.Apply) -> tuple[int, int] | None:
    """The numbers of the inputs whose product the body yields."""
    (value,) = op.body.block.terminator.operands
    if not isinstance(value.op, arith.Elementwise) or value.op.fn != "mul":
        return None
    numbers = [_input_number(op, arg) for arg in value.op.args]
    if None in numbers or numbers[0] == numbers[1]:
        return None
    first, second = numbers
    assert first is not None and second is not None
    return first, second


def _input_number(op: st.Apply, value: Value) -> int | None:
    """The input that a value is an element of, through conversions that are one conversion together."""
    while isinstance(value.op, arith.Cast):
        inner = value.op.value
        if isinstance(inner.op, arith.Cast) and not holds_all(
            dtype_of(inner.type), dtype_of(inner.op.value.type)
        ):
            return None
        value = inner
    if value.owner is not op.body.block or value.index < op.rank:
        return None
    return value.index - op.rank


def fits_register_tile(c: Contraction) -> bool:
    """Whether a register tile can be made: rows that share vectors, and vectors in memory or worth packing."""
    if c.row is None or c.dtype not in (dtypes.f32, dtypes.f64):
        return False
    if any(bound.constant or bound.symbols for bound in c.op.lower):
        return False
    packed = c.is_projection and len(c.sums) == 1
    return packed or (c.has_unit_stride and dtype_of(c.op.inputs[c.vector].type) is c.dtype)
