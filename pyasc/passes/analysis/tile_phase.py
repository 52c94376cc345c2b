# SPDX-License-Identifier: Apache-2.0
"""How the work of one phase is lowered to tiles: by the first of the ways that takes it."""

from __future__ import annotations

from pyasc.ir.core import Builder, Operation, Value
from pyasc.ir.dialects import mem, py, scf, st, tile
from pyasc.ir.dialects.func import Func
from pyasc.ir.dtypes import i1, u8
from pyasc.ir.types import RefType
from pyasc.passes.analysis.histograms import match_histogram
from pyasc.passes.analysis.not_vector import NotVector, refuse
from pyasc.passes.analysis.product import Product, is_product, match_product, suits_vector
from pyasc.passes.analysis.row_work import RowWork
from pyasc.passes.analysis.soc import Soc
from pyasc.passes.analysis.tile_columns import lower_columns, reduces_rows
from pyasc.passes.analysis.tile_flat import is_flat, lower_flat
from pyasc.passes.analysis.tile_histograms import lower_histogram
from pyasc.passes.analysis.tile_lines import lower_lines
from pyasc.passes.analysis.tile_matmul import lower_product
from pyasc.passes.analysis.tile_products import cores_of
from pyasc.passes.analysis.tile_rows import is_column, of_apply, of_loop, one_wide
from pyasc.passes.analysis.tile_rows_emit import lower_rows, takes_rows
from pyasc.passes.analysis.tile_strides import lower_strided
from pyasc.passes.analysis.walks import gathers, is_line
from pyasc.passes.analysis.writeback import plain


def lower_phase(phase: Func, soc: Soc, lines: bool = False) -> Value:
    """Lower the one piece of work of a phase to tiles; how many cores it takes. Raises NotVector.

    With `lines` rows are taken one by one, so that they may have any length.
    """
    work = next(op for op in phase.body.block if _is_work(op))
    at = Builder.before(work)
    at.loc = work.loc
    if isinstance(work, tile.Cores):
        blocks = cores_of(work, at)
    elif isinstance(work, st.Apply) and (product := product_of(work)) is not None:
        blocks = lower_product(product, plain(work), soc)
    elif isinstance(work, st.Apply) and is_line(work):
        if lines and gathers(work):
            raise refuse("a table that does not fit on chip", work.loc)
        blocks = lower_strided(work, soc)
    elif isinstance(work, st.Apply) and is_flat(work):
        blocks = lower_flat(work, soc)
    elif isinstance(work, scf.For) and (found := match_histogram(work)) is not None:
        if lines:
            raise refuse("a histogram of more bins than fit on chip", work.loc)
        blocks = lower_histogram(found, soc)
    elif isinstance(work, st.Apply) and reduces_rows(work):
        blocks = lower_columns(work, soc)
    elif isinstance(work, (st.Apply, scf.For)):
        blocks = _rows_or_lines(work, at, soc, lines)
    else:
        checks = isinstance(work, py.Check)
        what = (
            "a check that depends on data"
            if checks
            else f"{work.name} outside of a parallel loop over elements"
        )
        raise refuse(what, work.loc)
    bytes_for_bools(phase)
    return blocks


def product_of(work: st.Apply) -> Product | None:
    """The product that the cube unit takes, if the op is one."""
    try:
        product = match_product(work, work.output_maps[0]) if is_product(work) else None
    except NotVector:
        return None
    return None if product is None or suits_vector(product) else product


def _rows_or_lines(work: st.Apply | scf.For, at: Builder, soc: Soc, lines: bool) -> Value:
    """Tiles of many rows where rows are alike, else one row after the other."""
    if not lines:
        try:
            rows = _read(work, at)
            if takes_rows(rows):
                return lower_rows(work, rows, soc)
        except NotVector:
            pass
    try:
        return lower_lines(work, _read(work, at, lines=True), soc)
    except NotVector:
        if not isinstance(work, st.Apply) or not is_column(work):
            raise
        one_wide(work)
        return lower_rows(work, of_apply(work, at), soc)


def _read(work: st.Apply | scf.For, at: Builder, lines: bool = False) -> RowWork:
    return of_apply(work, at, lines) if isinstance(work, st.Apply) else of_loop(work, at, lines)


def bytes_for_bools(phase: Func) -> None:
    """A bool in memory is a byte."""
    for param in phase.params:
        if isinstance(param.type, RefType) and param.type.dtype is i1:
            param.type = RefType(param.type.shape, u8)


def _is_work(op: Operation) -> bool:
    return bool(op.regions) or isinstance(op, (mem.Store, mem.Copy, mem.Atomic, py.Check, py.Print))
