# SPDX-License-Identifier: Apache-2.0
"""What the cube unit does on the way out: a row of start values, a clamp at zero, a conversion.

    %sums = mem.alloc : ref<M x N x f32, local>
    st.apply [...], [%a, %b], [%zero], [%sums] {... roles = ["reduce"]} { product } { sum }
    st.apply [...], [%sums, %bias], [], [%out] {... roles = ["write"]} { add, maximum with zero, cast }

is one product with a bias and a clamp, stored as `%out` has it, where nothing else reads `%sums`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyasc.ir import dtypes
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, mem, st
from pyasc.ir.sizes import SizeExpr, constant
from pyasc.ir.traits import PURE
from pyasc.ir.types import dtype_of
from pyasc.passes.analysis.affine import Polynomials, constant_of


@dataclass(frozen=True)
class Access:
    """An array and how the iterators of a product walk it."""

    ref: Value
    map: AffineMap
    symbols: Sequence[Value]


@dataclass(frozen=True)
class Writeback:
    """Where blocks of the product go, and what happens to them on their way. `consumed` is what that replaces."""

    target: Access
    relu: bool = False
    bias: Access | None = None
    consumed: tuple[Operation, ...] = ()


def plain(op: st.Apply) -> Writeback:
    """A product that is stored as it is."""
    return Writeback(Access(op.outputs[0], op.output_maps[0], op.symbols))


def writeback_of(op: st.Apply) -> Writeback:
    """What the one reader of a product does with it, where the unit can do that itself; else as it is."""
    sums = op.outputs[0]
    reader = _reader(op)
    if reader is None or not isinstance(sums.op, mem.Alloc):
        return plain(op)
    iterators = _iterators(op, reader, reader.input_maps[reader.inputs.index(sums)])
    if iterators is None:
        return plain(op)
    chain = _Chain(op, reader, iterators)
    if not chain.follow():
        return plain(op)
    target = Access(reader.outputs[0], _renamed(reader.output_maps[0], iterators), reader.symbols)
    return Writeback(target, chain.relu, chain.bias, (reader, op, sums.op))


def _reader(op: st.Apply) -> st.Apply | None:
    """The elementwise op that alone reads the result of a product, with nothing between them that touches memory."""
    sums = op.outputs[0]
    readers = [user for user in sums.uses if user is not op]
    if len(readers) != 1 or not op.inits:
        return None
    (reader,) = readers
    if not isinstance(reader, st.Apply) or reader.parent is not op.parent or reader.guarded:
        return None
    if reader.roles != ("write",) or list(reader.inputs).count(sums) != 1 or sums in reader.outputs:
        return None
    here = op.next
    while here is not None and here is not reader:
        if not (here.has(PURE) or isinstance(here, mem.Alloc)):
            return None
        here = here.next
    return None if here is None else reader


def _iterators(op: st.Apply, reader: st.Apply, map_: AffineMap) -> list[int] | None:
    """The iterator of the product for each of the reader's, which walks the same extent; None where there is none."""
    found: dict[int, int] = {}
    for read, written in zip(map_.results, op.output_maps[0].results, strict=True):
        theirs, ours = read.as_dim, written.as_dim
        if theirs is None or ours is None or theirs in found:
            return None
        found[theirs] = ours
    if sorted(found) != list(range(reader.rank)) or len(found) != op.iterators.count("parallel"):
        return None
    sizes = Polynomials()
    for theirs, ours in found.items():
        low = reader.lower[theirs]
        if not low.is_constant or low.constant:
            return None
        if _extent(sizes, reader, theirs) != _extent(sizes, op, ours):
            return None
    return [found[i] for i in range(reader.rank)]


def _extent(sizes: Polynomials, op: st.Apply, iterator: int) -> SizeExpr | None:
    upper = op.upper[iterator]
    if upper.dims:
        return None
    total = constant(upper.constant)
    for number, value in enumerate(op.symbols):
        if upper.symbol_coefficient(number):
            total = total + sizes.of(value) * upper.symbol_coefficient(number)
    return total


def _renamed(map_: AffineMap, iterators: Sequence[int]) -> AffineMap:
    """A map over the reader's iterators as one over the product's."""
    made: list[AffineExpr] = []
    for expr in map_.results:
        dims = [0] * (max(iterators) + 1)
        for theirs, ours in enumerate(iterators):
            dims[ours] = expr.coefficient(theirs)
        made.append(AffineExpr(tuple(dims), expr.symbols, expr.constant))
    return AffineMap(tuple(made))


class _Chain:
    """The body of a reader as bias, clamp and cast, in an order in which they can be merged."""

    def __init__(self, op: st.Apply, reader: st.Apply, iterators: Sequence[int]) -> None:
        self.op = op
        self.reader = reader
        self.iterators = iterators
        self.relu = False
        self.bias: Access | None = None
        self.start = reader.body.block.args[reader.rank + reader.inputs.index(op.outputs[0])]

    def follow(self) -> bool:
        """Walk from the sum to what is stored; says whether every step is one of these."""
        (wanted,) = self.reader.body.block.terminator.operands
        value = self.start
        while value is not wanted:
            if len(value.uses) != 1:
                return False
            (user,) = value.uses
            if not self._step(user, value):
                return False
            value = user.results[0]
        total, stored = dtype_of(self.start.type), dtype_of(value.type)
        return stored is total or (total is dtypes.f32 and stored in (dtypes.f16, dtypes.bf16))

    def _step(self, user: Operation, value: Value) -> bool:
        match user:
            case arith.Cast():
                return value.type == self.start.type
            case arith.Elementwise(fn="add", args=args) if value.type == self.start.type and not self.relu:
                other = args[1] if args[0] is value else args[0]
                return self.bias is None and self._add(other)
            case arith.Elementwise(fn="maximum", args=args):
                other = args[1] if args[0] is value else args[0]
                self.relu = True
                return constant_of(other) == 0
            case arith.Elementwise(fn="pymax", args=[first, second]) if first is value:
                self.relu = True
                return constant_of(second) == 0
            case _:
                return False

    def _add(self, other: Value) -> bool:
        """Whether what is added is a row: an array of one axis that the last iterator of the sums walks."""
        block = self.reader.body.block
        if other.owner is not block or other.index < self.reader.rank:
            return False
        number = other.index - self.reader.rank
        ref, map_ = self.reader.inputs[number], _renamed(self.reader.input_maps[number], self.iterators)
        if len(map_.results) != 1 or not map_.results[0].dims or ref in self.reader.outputs:
            return False
        self.bias = Access(ref, map_, self.reader.symbols)
        return map_.results[0].as_dim is not None
