# SPDX-License-Identifier: Apache-2.0
"""The order of iterators that every way of writing a computation comes to: parallel ones first, as the output's
dimensions stand, then reductions and scans as they were written. Blocks and their elements are one iterator."""

from __future__ import annotations

from collections.abc import Callable

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Value
from pyasc.ir.dialects import st


def order_iterators(op: st.Apply) -> None:
    """Permute the iterators of an op as far as its bounds allow."""
    wanted = sorted(range(op.rank), key=lambda i: _rank(op, i))
    order: list[int] = []
    while wanted:
        ready = next((i for i in wanted if _bounds_use(op, i) <= set(order)), None)
        assert ready is not None, "bounds use earlier iterators alone"
        wanted.remove(ready)
        order.append(ready)
    if order != list(range(op.rank)):
        permute(op, order)
    renumber_symbols(op)


def _rank(op: st.Apply, iterator: int) -> tuple[int, int, int]:
    """Sort key: parallel before others, then the output dimension that the iterator walks, then as written."""
    if op.iterators[iterator] != "parallel":
        return 1, 0, iterator
    results = op.output_maps[0].results
    walked = next((d for d, expr in enumerate(results) if expr.coefficient(iterator)), len(results))
    return 0, walked, iterator


def _bounds_use(op: st.Apply, iterator: int) -> set[int]:
    bounds = (op.lower[iterator], op.upper[iterator])
    return {i for expr in bounds for i in range(len(expr.dims)) if expr.coefficient(i)}


def permute(op: st.Apply, order: list[int]) -> None:
    """Iterator `order[p]` becomes number `p`."""

    def moved(expr: AffineExpr) -> AffineExpr:
        return AffineExpr(tuple(expr.coefficient(i) for i in order), expr.symbols, expr.constant)

    op.iterators = tuple(op.iterators[i] for i in order)
    op.lower = tuple(moved(op.lower[i]) for i in order)
    op.upper = tuple(moved(op.upper[i]) for i in order)
    op.input_maps = tuple(map_each(map_, moved) for map_ in op.input_maps)
    op.output_maps = tuple(map_each(map_, moved) for map_ in op.output_maps)
    block = op.body.block
    args: list[Value] = [block.args[i] for i in order] + block.args[op.rank :]
    for number, arg in enumerate(args):
        arg.index = number
    block.args = args


def join_blocks(op: st.Apply) -> bool:
    """Make one iterator of one over blocks and one over the elements of a block.

    That is two of one kind that only occur as `size * block + element`, the second from 0 to `size`.
    """
    for inner in range(op.rank):
        size = op.upper[inner].constant
        if op.lower[inner] != AffineExpr() or not op.upper[inner].is_constant or size < 1:
            continue
        for outer in range(op.rank):
            if outer != inner and _are_blocks(op, outer, inner, size):
                _join(op, outer, inner, size)
                return True
    return False


def _expressions(op: st.Apply) -> list[AffineExpr]:
    maps = (*op.input_maps, *op.output_maps)
    return [*op.lower, *op.upper, *(expr for map_ in maps for expr in map_.results)]


def _are_blocks(op: st.Apply, outer: int, inner: int, size: int) -> bool:
    args = op.body.block.args
    kind = op.iterators[outer]
    if kind != op.iterators[inner] or args[outer].uses or args[inner].uses:
        return False
    if kind not in ("parallel", "reduction") or (kind == "reduction" and op.strict):
        return False
    exprs = _expressions(op)
    joined = all(expr.coefficient(outer) == size * expr.coefficient(inner) for expr in exprs)
    return joined and any(expr.coefficient(inner) for expr in exprs)


def _join(op: st.Apply, outer: int, inner: int, size: int) -> None:
    """Let `outer` count elements, and drop `inner`."""

    def joined(expr: AffineExpr) -> AffineExpr:
        factors = [expr.coefficient(inner if i == outer else i) for i in range(op.rank)]
        return AffineExpr((*factors[:inner], *factors[inner + 1 :]), expr.symbols, expr.constant)

    lower = [expr * size if i == outer else expr for i, expr in enumerate(op.lower)]
    upper = [expr * size if i == outer else expr for i, expr in enumerate(op.upper)]
    bounds = [[joined(expr) for i, expr in enumerate(each) if i != inner] for each in (lower, upper)]
    op.input_maps = tuple(map_each(map_, joined) for map_ in op.input_maps)
    op.output_maps = tuple(map_each(map_, joined) for map_ in op.output_maps)
    op.body.block.remove_arg(inner)
    op.iterators = op.iterators[:inner] + op.iterators[inner + 1 :]
    op.lower, op.upper = tuple(bounds[0]), tuple(bounds[1])


def map_each(map_: AffineMap, change: Callable[[AffineExpr], AffineExpr]) -> AffineMap:
    """A map with every result changed."""
    return AffineMap(tuple(change(expr) for expr in map_.results))


def renumber_symbols(op: st.Apply) -> None:
    """Number the symbols as bounds and maps mention them, and drop those that none does."""
    exprs = [expr for bounds in zip(op.lower, op.upper, strict=True) for expr in bounds]
    exprs += [expr for map_ in (*op.input_maps, *op.output_maps) for expr in map_.results]
    mentioned = (k for expr in exprs for k, factor in enumerate(expr.symbols) if factor)
    order = list(dict.fromkeys(mentioned))

    def renumbered(expr: AffineExpr) -> AffineExpr:
        return AffineExpr(expr.dims, tuple(expr.symbol_coefficient(k) for k in order), expr.constant)

    op.lower = tuple(renumbered(expr) for expr in op.lower)
    op.upper = tuple(renumbered(expr) for expr in op.upper)
    op.input_maps = tuple(map_each(map_, renumbered) for map_ in op.input_maps)
    op.output_maps = tuple(map_each(map_, renumbered) for map_ in op.output_maps)
    op.set_operands("symbols", [op.symbols[k] for k in order])
