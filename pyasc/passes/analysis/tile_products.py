# SPDX-License-Identifier: Apache-2.0
"""The products at the top of a kernel, each with the ops that read it, before the kernel is cut into phases."""

from __future__ import annotations

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import mem, scf, st, tile
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.not_vector import NotVector
from pyasc.passes.analysis.product import Product, is_product, match_product, suits_vector
from pyasc.passes.analysis.product_factors import split_factors
from pyasc.passes.analysis.product_nests import distribute_products
from pyasc.passes.analysis.single_terms import write_single_terms
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_matmul import lower_product
from pyasc.passes.analysis.writeback import Writeback, plain, writeback_of


def lower_products(kernel: Func, soc: Soc) -> None:
    """Give every product that the cube unit takes its blocks; others are left for the other units to refuse."""
    for op in list(kernel.walk()):
        if isinstance(op, st.Apply):
            write_single_terms(op)
    for op in list(kernel.body.block):
        if isinstance(op, scf.For):
            distribute_products(op)
    for op in list(kernel.body.block):
        if isinstance(op, st.Apply):
            _drop_unread(op)
    for op in list(kernel.body.block):
        if not isinstance(op, st.Apply) or op.parent is None:
            continue
        op = split_factors(op) or op
        if is_product(op):
            _lower(op, soc)


def _lower(op: st.Apply, soc: Soc) -> None:
    for writeback in (writeback_of(op), plain(op)):
        try:
            product = match_product(op, writeback.target.map)
        except NotVector:
            continue
        if suits_vector(product):
            return
        if _fits(writeback, product):
            lower_product(product, writeback, soc)
            return


def _fits(writeback: Writeback, product: Product) -> bool:
    """Whether what is added is a row that the columns walk."""
    return writeback.bias is None or writeback.bias.map.results[0].as_dim == product.column


def _drop_unread(op: st.Apply) -> None:
    """Leave out elementwise results in buffers that nothing else uses."""
    kept = [
        number
        for number, ref in enumerate(op.outputs)
        if not (isinstance(ref.op, mem.Alloc) and set(ref.uses) == {op} and ref not in op.inputs)
    ]
    if op.guarded or op.combined or not kept or len(kept) == len(op.outputs):
        return
    yielded = op.body.block.terminator
    yielded.operands = [yielded.operands[number] for number in kept]
    op.output_maps = tuple(op.output_maps[number] for number in kept)
    op.roles = tuple(op.roles[number] for number in kept)
    op.set_operands("outputs", [op.outputs[number] for number in kept])


def cores_of(work: tile.Cores, at: Builder) -> Value:
    """How many cores pieces of work that are dealt out in turn take."""
    return binary(at, "minimum", work.count, index(at, work.cores), "blocks")
