# SPDX-License-Identifier: Apache-2.0
"""Whether a loop can run as vectors, and which of its values are vectors, scalars or addresses.

A value of the body is *uniform* when every iteration computes the same, else it becomes a vector with one lane an
iteration. Loads and stores have to walk neighbouring elements, or a load one element that stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pyasc.ir import dtypes
from pyasc.ir.core import Operation, Value
from pyasc.ir.dialects import arith, mem, scf
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record
from pyasc.ir.traits import CONSTANT, PURE
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.affine import Nest, integer_of
from pyasc.passes.analysis.vector_while import WhilePlan, plan_while

REDUCTIONS = frozenset(("add", "mul", "maximum", "minimum", "pymax", "pymin", "and", "or", "xor"))
SCANS = frozenset(("add", "mul"))
ON_MASKS = frozenset(("and", "or", "xor", "not", "select"))
HALVES = (dtypes.f16, dtypes.bf16)


class NotVectorisable(Exception):
    """The loop stays as it is; the message says why."""


class Accumulator(Record):
    """A carried value: `op` is `fn` of it and something else. `product` is the factor pair of a product-sum."""

    op: arith.Elementwise
    fn: str
    product: arith.Elementwise | None = None


@dataclass
class VectorPlan:
    """What to do with the values of one loop body.

    `uniform` holds values that are the same in all iterations, `wanted` those that become vectors.
    """

    loop: scf.For
    lanes: int = 0
    uniform: set[Value] = field(default_factory=lambda: set[Value]())
    wanted: set[Value] = field(default_factory=lambda: set[Value]())
    accumulators: list[Accumulator] = field(default_factory=lambda: list[Accumulator]())
    whiles: dict[scf.While, WhilePlan] = field(default_factory=lambda: dict[scf.While, WhilePlan]())

    def is_scalar(self, value: Value) -> bool:
        """Whether one scalar is the value of every lane."""
        return value in self.uniform or not _stands_in(value, self.loop)

    @property
    def loads(self) -> list[mem.Load]:
        """The loads that become vector loads."""
        return [op for op in self.loop.body.block if isinstance(op, mem.Load) and op.value in self.wanted]

    @property
    def stores(self) -> list[mem.Store]:
        """The stores of the body."""
        return [op for op in self.loop.body.block if isinstance(op, mem.Store)]

    @property
    def work(self) -> int:
        """How many vector operations a step has, those of inner loops once."""
        return sum(1 for op in self.loop.body.block if any(r in self.wanted for r in op.results))


def plan_vectors(loop: scf.For, vector_bytes: int, fused: bool) -> VectorPlan:
    """The plan for a loop marked `simd`. `fused` allows product-sums to round once.

    Raises NotVectorisable.
    """
    if integer_of(loop.step) != 1:
        raise NotVectorisable("its step is not one")
    return _Planner(loop, vector_bytes, fused).plan()


class _Planner:
    def __init__(self, loop: scf.For, vector_bytes: int, fused: bool) -> None:
        self.vector_bytes = vector_bytes
        self.fused = fused
        self.nest = Nest([loop.counter], loop)
        self.made = VectorPlan(loop)

    def plan(self) -> VectorPlan:
        plan = self.made
        for op in plan.loop.body.block:
            self._admit(op)
        terminator = plan.loop.body.block.terminator
        for carried, following in zip(plan.loop.carried, terminator.operands, strict=True):
            plan.accumulators.append(self._accumulator(carried, following))
            self._want(following)
        for store in plan.stores:
            self._want(store.value)
        for op, inner in plan.whiles.items():
            for k in inner.vectors():
                self._want(op.inits[k])
            for each in (*op.before.block, *op.after.block):
                for value in each.operands:
                    self._want(value)
        plan.lanes = self._lanes()
        return plan

    def _admit(self, op: Operation) -> None:
        if op is self.made.loop.body.block.last:
            return
        for value in (*op.operands, *op.results):
            if not isinstance(value.type, (ScalarType, RefType)):
                raise NotVectorisable(f"{op.name} works on {value.type}")
        match op:
            case mem.Load():
                if self._stride(op.ref, list(op.indices)) == 0:
                    self._no_store_to(op.ref)
                    self.made.uniform.add(op.value)
            case mem.Store():
                if self._stride(op.ref, list(op.indices)) != 1:
                    raise NotVectorisable("every iteration stores the same element")
            case arith.Elementwise() | arith.Cast():
                if all(self.is_uniform(value) for value in op.operands):
                    self.made.uniform.update(op.results)
            case scf.While():
                self._admit_while(op)
            case _ if CONSTANT in op.spec.traits or (PURE in op.spec.traits and not op.regions):
                self.made.uniform.update(op.results)
            case _:
                raise NotVectorisable(f"{op.name} has no vector form")

    def _admit_while(self, op: scf.While) -> None:
        made = plan_while(op, self.is_uniform, self.made.uniform.add)
        if isinstance(made, str):
            raise NotVectorisable(made)
        self.made.whiles[op] = made
        for each in (*op.before.block, *op.after.block):
            if each.results and not self.is_uniform(each.results[0]):
                self.made.wanted.add(each.results[0])
                self._check_step(each)

    def _check_step(self, op: Operation) -> None:
        if isinstance(op, arith.Elementwise):
            self._check(op)
        elif isinstance(op, arith.Cast):
            self._numeric(dtype_of(op.value.type), dtype_of(op.result.type))

    def is_uniform(self, value: Value) -> bool:
        """Whether every iteration has the same value."""
        return value in self.made.uniform or self.nest.is_invariant(value)

    def _no_store_to(self, ref: Value) -> None:
        if any(store.ref is ref for store in self.made.stores):
            raise NotVectorisable("an element that stays is read from what is written")

    def _stride(self, ref: Value, indices: list[Value]) -> int:
        """Elements from one iteration's access to the next one's, 0 or 1."""
        type_ = ref.type
        assert isinstance(type_, RefType)
        if type_.dtype in HALVES or type_.dtype.is_bool:
            raise NotVectorisable(f"{type_.dtype} has no vectors")
        map_ = self.nest.map(indices)
        if map_ is None:
            raise NotVectorisable("an index is computed from data")
        steps = [e.dims[0] if e.dims else 0 for e in map_.results]
        if not any(steps):
            return 0
        if any(steps[:-1]) or steps[-1] != 1 or type_.layout != "row":
            raise NotVectorisable("iterations do not touch neighbouring elements")
        return 1

    def _want(self, value: Value) -> None:
        """Mark what the value is computed from, and check that each step has a vector form."""
        stack = [value]
        while stack:
            each = stack.pop()
            op = each.op
            if self.is_uniform(each) or each in self.made.wanted or op is None:
                continue
            self.made.wanted.add(each)
            self._check_step(op)
            if isinstance(op, (arith.Elementwise, arith.Cast)):
                stack += op.operands

    def _check(self, op: arith.Elementwise) -> None:
        dtype = dtype_of(op.args[-1].type)
        self._numeric(dtype)
        if dtype.is_bool and op.fn not in ON_MASKS:
            raise NotVectorisable(f"{op.fn} on bool has no vector form")

    def _numeric(self, *found: DType) -> None:
        if any(dtype in HALVES for dtype in found):
            raise NotVectorisable("halves have no vectors")

    def _accumulator(self, carried: Value, following: Value) -> Accumulator:
        op = following.op
        allowed = SCANS if self.made.loop.kind == "scan" else REDUCTIONS
        if not isinstance(op, arith.Elementwise) or op.fn not in allowed or list(carried.uses) != [op]:
            raise NotVectorisable("a carried value is no reduction")
        if op.args.count(carried) != 1 or dtype_of(carried.type).is_bool:
            raise NotVectorisable("a carried value is no reduction")
        if self.made.loop.kind != "scan" and list(following.uses) != [self.made.loop.body.block.last]:
            raise NotVectorisable("a running value is used before the loop ends")
        # A scan adds up lanes first, and so rounds the products.
        product = None if self.made.loop.kind == "scan" else self._product(op, carried)
        return Accumulator(op, op.fn, product)

    def _product(self, op: arith.Elementwise, carried: Value) -> arith.Elementwise | None:
        """The product that an addition adds to its running value, to be fused with it."""
        other = next(arg for arg in op.args if arg is not carried).op
        fits = self.fused and op.fn == "add" and dtype_of(carried.type) in (dtypes.f32, dtypes.f64)
        if not fits or not isinstance(other, arith.Elementwise) or other.fn != "mul":
            return None
        return other if other.parent is op.parent and list(other.result.uses) == [op] else None

    def _lanes(self) -> int:
        """Lanes that fill a register with the widest of what is loaded, stored, summed up or computed as float."""
        plan = self.made
        widest = [dtype_of(op.ref.type) for op in (*plan.loads, *plan.stores)]
        widest += [dtype_of(value.type) for value in plan.loop.carried]
        widest += [d for d in (dtype_of(value.type) for value in plan.wanted) if d.is_float]
        lanes = self.vector_bytes // max((dtype.bytes for dtype in widest), default=self.vector_bytes)
        if lanes < 2:
            raise NotVectorisable("a register holds one element")
        return lanes


def _stands_in(value: Value, loop: scf.For) -> bool:
    block = value.block
    while block is not None:
        if block is loop.body.block:
            return True
        parent = block.parent_op
        block = None if parent is None else parent.parent
    return False
