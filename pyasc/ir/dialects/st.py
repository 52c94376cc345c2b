# SPDX-License-Identifier: Apache-2.0
"""The structured op: the one form in which loops and tensor operations meet.

`st.apply` has an iteration domain of n iterators. Iterator i runs from `lower[i]` to `upper[i]` (exclusive),
affine in the iterators before it and in `symbols`. At each point the body takes the n iterator values and
one element of each input (read through its map) and yields one value for each output, and, when `guarded`,
one more i1 that says whether this point writes or combines at all.

What happens to output k is its role:

    write    out[map(point)] = value
    reduce   out[map(rest)]  = init combined with the values of all points that map there
    scan     out[map(point)] = init combined with the values of the points up to and including this one,
             along the one iterator of kind "scan"

All reduce and scan outputs share the combiner region: it takes the running values, then the new ones, and
yields the next running values; it is associative up to rounding. Inits are one scalar for each of these
outputs, or none at all (`inits` empty): then the running values start from what the outputs hold.
The body and the combiner may use any value from outside and may read memory by `mem.load` (a gather) as
long as it is not written by this operation, except through an input map at the very element written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.constraints import I64, REF, SCALAR
from pyasc.ir.core import Operation, Region, Value
from pyasc.ir.declare import attribute, operands, region
from pyasc.ir.traits import READS, TERMINATOR, WRITES
from pyasc.ir.types import RefType, ScalarType, dtype_of

ITERATORS = ("parallel", "reduction", "scan", "sequential")
ROLES = ("write", "reduce", "scan")


class Apply(Operation, name="st.apply", traits=[READS, WRITES]):
    """A structured computation over an iteration domain (see the module's page)."""

    symbols: Sequence[Value] = operands(I64, default=())
    inputs: Sequence[Value] = operands(REF, default=())
    inits: Sequence[Value] = operands(SCALAR, default=())
    outputs: Sequence[Value] = operands(REF, written=True)
    iterators: tuple[str, ...] = attribute()
    lower: tuple[AffineExpr, ...] = attribute()
    upper: tuple[AffineExpr, ...] = attribute()
    input_maps: tuple[AffineMap, ...] = attribute()
    output_maps: tuple[AffineMap, ...] = attribute()
    roles: tuple[str, ...] = attribute()
    guarded: bool = attribute(default=False)
    strict: bool = attribute(default=False, doc="keep the written order of reductions")
    body: Region = region(default=None)
    combine: Region = region(default=None)

    @property
    def rank(self) -> int:
        """The number of iterators."""
        return len(self.iterators)

    @property
    def combined(self) -> tuple[int, ...]:
        """The numbers of the outputs that go through the combiner."""
        return tuple(k for k, role in enumerate(self.roles) if role != "write")

    def verify_op(self) -> Iterable[str]:
        """Counts, kinds and types of all parts agree."""
        yield from self._verify_counts()
        yield from self._verify_body()
        yield from self._verify_combiner()

    def _verify_counts(self) -> Iterable[str]:
        if not len(self.iterators) == len(self.lower) == len(self.upper):
            yield "one lower and one upper bound an iterator"
        if len(self.inputs) != len(self.input_maps):
            yield f"{len(self.inputs)} inputs and {len(self.input_maps)} input maps"
        if not len(self.outputs) == len(self.output_maps) == len(self.roles):
            yield f"{len(self.outputs)} outputs, {len(self.output_maps)} maps, {len(self.roles)} roles"
        for name, known in ((self.iterators, ITERATORS), (self.roles, ROLES)):
            yield from (f"unknown kind {kind!r}" for kind in name if kind not in known)
        if self.inits and len(self.inits) != len(self.combined):
            yield f"{len(self.inits)} inits for {len(self.combined)} combined outputs"
        refs = (*self.inputs, *self.outputs)
        for ref, map_ in zip(refs, (*self.input_maps, *self.output_maps), strict=False):
            if isinstance(ref.type, RefType) and len(ref.type.shape) != len(map_.results):
                yield f"{map_} does not fit {ref.type}"

    def _verify_body(self) -> Iterable[str]:
        block = self.body.block
        if len(block.args) != self.rank + len(self.inputs):
            yield f"the body takes {self.rank} iterators and {len(self.inputs)} elements, got {len(block.args)}"
        for ref, arg in zip(self.inputs, block.args[self.rank :], strict=False):
            if arg.type != ScalarType(dtype_of(ref.type)):
                yield f"element argument {arg.type} for {ref.type}"
        if not isinstance(block.terminator, Yield):
            yield "the body ends in st.yield"
            return
        if len(block.terminator.values) != len(self.outputs) + self.guarded:
            yield f"{len(block.terminator.values)} values yielded for {len(self.outputs)} outputs"

    def _verify_combiner(self) -> Iterable[str]:
        if not self.combined:
            return
        args = self.combine.block.args
        if len(args) != 2 * len(self.combined):
            yield f"the combiner takes {2 * len(self.combined)} values, got {len(args)}"
        if len(self.combine.block.terminator.operands) != len(self.combined):
            yield "the combiner yields one value for each combined output"


class Yield(Operation, name="st.yield", traits=[TERMINATOR]):
    """Ends the body or the combiner of `st.apply`."""

    values: Sequence[Value] = operands(SCALAR, default=())
