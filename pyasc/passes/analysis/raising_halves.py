# SPDX-License-Identifier: Apache-2.0
"""Sums and products that a loop runs in a half-precision array run in f32 and are rounded once.

    st.apply [...], [%a, %b], [], [%c] {... roles = ["reduce"]} { f16 product } { f16 sum }

becomes

    %wide = mem.alloc : ref<M x N x f32, local>
    st.apply [...], [%c], [], [%wide] {...} { widen }
    st.apply [...], [%a, %b], [], [%wide] {... roles = ["reduce"]} { f32 product } { f32 sum }
    st.apply [...], [%wide], [], [%c] {...} { round }
"""

from __future__ import annotations

from pyasc.ir.affine import AffineMap
from pyasc.ir.core import Builder, Region, Value, block_of
from pyasc.ir.dialects import arith, mem, st
from pyasc.ir.dtypes import DType, bf16, f16, f32
from pyasc.ir.types import RefType, ScalarType, dtype_of
from pyasc.passes.analysis.raising_order import order_iterators, renumber_symbols
from pyasc.passes.analysis.raising_seed import widened
from pyasc.passes.analysis.structured import I64, simple_combiner


def widen_halves(op: st.Apply) -> bool:
    """Widen one reduction; says whether it is one of these."""
    fn = _function(op)
    if fn is None:
        return False
    order_iterators(op)
    parallel = sum(kind == "parallel" for kind in op.iterators)
    if any(kind == "parallel" for kind in op.iterators[parallel:]):
        return False
    target = op.outputs[0]
    half = dtype_of(target.type)
    at = Builder.before(op)
    wide = _buffer(target, at)
    if op.inits:
        op.set_operands("inits", [at.value(arith.Cast.to(op.inits[0], f32))])
    else:
        at.insert(_conversion(op, parallel, target, wide, f32))
    Builder.after(op).insert(_conversion(op, parallel, wide, target, half))
    op.set_operands("outputs", [wide])
    terminator = op.body.block.terminator
    new = widened(terminator.operands[0], fn, op.strict, Builder.before(terminator))
    terminator.operands = [new, *terminator.operands[1:]]
    op.regions[1] = simple_combiner(fn, ScalarType(f32))
    op.regions[1].parent = op
    return True


def _function(op: st.Apply) -> str | None:
    """The function of a reduction whose running values are halves."""
    if op.roles != ("reduce",) or dtype_of(op.outputs[0].type) not in (f16, bf16):
        return None
    (value,) = op.combine.block.terminator.operands
    fn = value.op.fn if isinstance(value.op, arith.Elementwise) else ""
    return fn if fn in ("add", "mul") else None


def _buffer(ref: Value, at: Builder) -> Value:
    type_ = ref.type
    assert isinstance(type_, RefType)
    sizes = [at.value(mem.Dim(ref=ref, axis=i)) for i, extent in enumerate(type_.shape) if extent is None]
    return at.value(mem.Alloc(sizes=sizes, types=[RefType(type_.shape, f32, "local")]), ref.name)


def _conversion(op: st.Apply, parallel: int, source: Value, target: Value, dtype: DType) -> st.Apply:
    """Copies the elements that the op has running values for, converted."""
    old = op.body.block.args[:parallel]
    region: Region = block_of(
        [*[I64] * parallel, ScalarType(dtype_of(source.type))], [arg.name for arg in old]
    )
    inner = Builder(region.block, loc=op.loc)
    inner.insert(st.Yield(values=[inner.value(arith.Cast.to(region.block.args[-1], dtype))]))
    map_: AffineMap = op.output_maps[0]
    made = st.Apply(
        symbols=op.symbols,
        inputs=[source],
        outputs=[target],
        iterators=("parallel",) * parallel,
        lower=op.lower[:parallel],
        upper=op.upper[:parallel],
        input_maps=(map_,),
        output_maps=(map_,),
        roles=("write",),
        body=region,
        loc=op.loc,
    )
    renumber_symbols(made)
    return made
