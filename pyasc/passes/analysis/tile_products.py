# SPDX-License-Identifier: Apache-2.0
"""The products at the top of a kernel, each with the op that reads it, before the kernel is cut into phases."""

from __future__ import annotations

from pyasc.ir.core import Builder, Value
from pyasc.ir.dialects import st, tile
from pyasc.ir.dialects.func import Func
from pyasc.passes.analysis.affine import index
from pyasc.passes.analysis.product import Product, is_product, match_product
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_emit import binary
from pyasc.passes.analysis.tile_legalise import NotVector
from pyasc.passes.analysis.tile_matmul import lower_product
from pyasc.passes.analysis.writeback import Writeback, plain, writeback_of


def lower_products(kernel: Func, soc: Soc) -> None:
    """Give every product that the cube unit takes its blocks; others are left for the other units to refuse."""
    for op in list(kernel.body.block):
        if isinstance(op, st.Apply) and op.parent is not None and is_product(op):
            for writeback in (writeback_of(op), plain(op)):
                try:
                    product = match_product(op, writeback.target.map)
                except NotVector:
                    continue
                if not _fits(writeback, product):
                    continue
                lower_product(product, writeback, soc)
                break


def _fits(writeback: Writeback, product: Product) -> bool:
    """Whether what is added is a row that the columns walk."""
    return writeback.bias is None or writeback.bias.map.results[0].as_dim == product.column


def cores_of(work: tile.Cores, at: Builder) -> Value:
    """How many cores pieces of work that are dealt out in turn take."""
    return binary(at, "minimum", work.count, index(at, work.cores), "blocks")
