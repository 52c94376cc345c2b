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
from pyasc.ir.traits import PURE
from pyasc.ir.types import ScalarType, dtype_of
from pyasc.passes.analysis.affine import constant_of
from pyasc.passes.analysis.product import extent_dim


@dataclass(frozen=True)
class Access:
    """An array and how the iterators of a product walk it."""

    ref: Value
    map: AffineMap
    symbols: Sequence[Value]


@dataclass(frozen=True)
class Writeback:
    """Where blocks of the product go, and what happens to them on their way.

    `consumed` is what that replaces, the last op first, then buffers that nothing needs any more.
    """

    target: Access
    consumed: tuple[Operation, ...]
    relu: bool = False
    bias: Access | None = None


def plain(op: st.Apply) -> Writeback:
    """A product that is stored as it is."""
    return Writeback(Access(op.outputs[0], op.output_maps[0], op.symbols), consumed=(op,))


def writeback_of(op: st.Apply) -> Writeback:
    """What the readers of a product do with it, one after the other, as far as the unit can do that itself."""
    made = plain(op)
    while op.inits:
        following = _with_reader(op, made)
        if following is None:
            break
        made = following
    return made


def _with_reader(op: st.Apply, writeback: Writeback) -> Writeback | None:
    """The same with what the next reader does, or None."""
    sums = writeback.target.ref
    reader = _reader(writeback)
    if reader is None:
        return None
    iterators = _iterators(op, writeback, reader, reader.input_maps[reader.inputs.index(sums)])
    if iterators is None:
        return None
    chain = _Chain(ScalarType(dtype_of(op.outputs[0].type)), writeback, reader, iterators)
    if not chain.follow():
        return None
    target = Access(reader.outputs[0], _renamed(reader.output_maps[0], iterators), reader.symbols)
    gone = (sums.op,) if isinstance(sums.op, mem.Alloc) and sums not in reader.outputs else ()
    return Writeback(target, (reader, *writeback.consumed, *gone), chain.relu, chain.bias)


def _reader(writeback: Writeback) -> st.Apply | None:
    """The elementwise op that alone sees what has been written, with nothing before it that touches memory."""
    sums = writeback.target.ref
    reader = writeback.consumed[0].next
    while reader is not None and (reader.has(PURE) or isinstance(reader, mem.Alloc)):
        reader = reader.next
    if not isinstance(reader, st.Apply) or reader.guarded or reader.roles != ("write",):
        return None
    if list(reader.inputs).count(sums) != 1:
        return None
    if reader.outputs[0] is sums:
        # It replaces every element by what becomes of it.
        return reader if reader.output_maps[0] == reader.input_maps[reader.inputs.index(sums)] else None
    others = [user for user in sums.uses if user not in (reader, *writeback.consumed)]
    return reader if isinstance(sums.op, mem.Alloc) and not others else None


def _iterators(op: st.Apply, writeback: Writeback, reader: st.Apply, map_: AffineMap) -> list[int] | None:
    """The iterator of the product for each of the reader's, which walks the same extent; None where there is none."""
    found: dict[int, int] = {}
    for read, written in zip(map_.results, writeback.target.map.results, strict=True):
        theirs, ours = read.as_dim, written.as_dim
        if theirs is None or ours is None or theirs in found:
            return None
        found[theirs] = ours
    if sorted(found) != list(range(reader.rank)) or len(found) != op.iterators.count("parallel"):
        return None
    for theirs, ours in found.items():
        low = reader.lower[theirs]
        if not low.is_constant or low.constant:
            return None
        extent = extent_dim(reader, theirs)
        if extent is None or extent != extent_dim(op, ours):
            return None
    return [found[i] for i in range(reader.rank)]


def _renamed(map_: AffineMap, iterators: Sequence[int]) -> AffineMap:
    """A map over the reader's iterators as one over the product's."""
    made: list[AffineExpr] = []
    for expr in map_.results:
        dims = [0] * (max(iterators, default=-1) + 1)
        for theirs, ours in enumerate(iterators):
            dims[ours] = expr.coefficient(theirs)
        made.append(AffineExpr(tuple(dims), expr.symbols, expr.constant))
    return AffineMap(tuple(made))


class _Chain:
    """The body of a reader as bias, clamp and cast, in an order in which they can be merged."""

    def __init__(
        self, total: ScalarType, writeback: Writeback, reader: st.Apply, iterators: Sequence[int]
    ) -> None:
        self.reader = reader
        self.iterators = iterators
        self.relu = writeback.relu
        self.bias = writeback.bias
        number = reader.rank + reader.inputs.index(writeback.target.ref)
        self.start = reader.body.block.args[number]
        self.total = total

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
        total, stored = self.total.dtype, dtype_of(value.type)
        return stored is total or (total is dtypes.f32 and stored in (dtypes.f16, dtypes.bf16))

    def _step(self, user: Operation, value: Value) -> bool:
        match user:
            case arith.Cast():
                return value.type == self.total
            case arith.Elementwise(fn="add", args=args) if value.type == self.total and not self.relu:
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
        """Whether what is added is a row: an array of one axis that one iterator walks."""
        block = self.reader.body.block
        if other.owner is not block or other.index < self.reader.rank:
            return False
        number = other.index - self.reader.rank
        ref, map_ = self.reader.inputs[number], _renamed(self.reader.input_maps[number], self.iterators)
        if len(map_.results) != 1 or map_.results[0].as_dim is None or ref in self.reader.outputs:
            return False
        self.bias = Access(ref, map_, self.reader.symbols)
        return True
