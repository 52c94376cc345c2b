# SPDX-License-Identifier: Apache-2.0
"""Product-sums that the cube unit takes: which iterators are rows, columns and depth, and what memory each walks.

The unit multiplies a block of rows by depth with one of depth by columns. Both come from arrays in which one of the two
axes is contiguous; whichever it is, nothing is transposed in global memory. Further summed iterators become loops
around the depth, further parallel ones number the blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyasc.ir import affine, dtypes
from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.ir.core import Block, Value
from pyasc.ir.dialects import arith, mem, st
from pyasc.ir.dtypes import DType
from pyasc.ir.sizes import SizeExpr, constant, lift
from pyasc.ir.types import RefType, dtype_of
from pyasc.passes.analysis.affine import Polynomials, constant_of, integer_of
from pyasc.passes.analysis.not_vector import refuse
from pyasc.passes.analysis.structured import combining_function
from pyasc.passes.patterns.arith import holds_all

ACCUMULATORS = {
    dtypes.f16: dtypes.f32,
    dtypes.bf16: dtypes.f32,
    dtypes.f32: dtypes.f32,
    dtypes.i8: dtypes.i32,
}
"""The dtypes that the unit multiplies, and in which it adds the products up."""


@dataclass(frozen=True)
class Factor:
    """One operand: the axes of its array that the free iterator (None: one row or column) and the depth walk.

    Where the depth is several iterators, one operand has them on its last axes, `folded` into one from that axis on,
    and `map` ends in the depth; of the other every row is `gathered` by itself, and its depth has no axis (-1).
    """

    ref: Value
    map: AffineMap
    free: int | None
    depth: int
    depth_inner: bool
    folded: int | None = None

    @property
    def gathered(self) -> bool:
        """Whether rows of the depth are anywhere in the array."""
        return self.depth < 0

    @property
    def axes(self) -> tuple[int, int]:
        """The axes of the array as rows and columns, the contiguous one last; -1 for one that is not there."""
        free = -1 if self.free is None else self.free
        return (free, self.depth) if self.depth_inner else (self.depth, free)


@dataclass(frozen=True)
class Product:
    """`out[batch, row, column] += left[batch, row, depth] * right[batch, depth, column]` in terms of iterators.

    `merged` are the iterators, the last one fastest, that together are the depth, which then has the number behind
    those of all iterators.
    """

    op: st.Apply
    left: Factor
    right: Factor
    row: int | None
    column: int
    depth: int
    sums: tuple[int, ...]
    batch: tuple[int, ...]
    merged: tuple[int, ...] = ()

    @property
    def dtype(self) -> DType:
        """What is multiplied."""
        return dtype_of(self.left.ref.type)

    @property
    def accumulates(self) -> bool:
        """Whether the sums are added to what the output holds."""
        return not self.op.inits


def suits_vector(product: Product) -> bool:
    """Whether the vector unit does it as well, and on more cores: float32 rows that one row is multiplied with."""
    alone = product.row is None and not product.sums and not product.batch
    return alone and product.left.depth_inner and product.right.depth_inner and product.dtype is dtypes.f32


def is_product(op: st.Apply) -> bool:
    """Whether an op adds up products of elements of two arrays, wherever they may run."""
    return (
        op.roles == ("reduce",)
        and not op.guarded
        and combining_function(op) == "add"
        and _factors(op) is not None
    )


def match_product(op: st.Apply, target: AffineMap) -> Product:
    """How the cube unit does a product-sum whose result `target` walks. Raises NotVector when it cannot."""
    factors = _factors(op)
    assert factors is not None
    _check(op, factors)
    column = _unit_iterator(op, target)
    if column is None:
        raise refuse("a product whose result is not contiguous along one iterator", op.loc)
    for match in (_match, _match_merged, _match_row):
        for left, right in (factors, factors[::-1]):
            if op.input_maps[right].uses(column) and not op.input_maps[left].uses(column):
                found = match(op, left, right, column)
                if found is not None:
                    return found
    raise refuse("a product whose operands are not contiguous along rows, columns or the summed axis", op.loc)


def _factors(op: st.Apply) -> tuple[int, int] | None:
    """The numbers of the two inputs whose product the body is, each as it is or widened by one cast."""
    (value, *others) = op.body.block.terminator.operands
    if others or not isinstance(value.op, arith.Elementwise) or value.op.fn != "mul":
        return None
    numbers = [_input(op, arg) for arg in value.op.args]
    if None in numbers or numbers[0] == numbers[1]:
        return None
    first, second = numbers
    assert first is not None and second is not None
    return first, second


def _input(op: st.Apply, value: Value) -> int | None:
    if isinstance(value.op, arith.Cast):
        if not holds_all(dtype_of(value.type), dtype_of(value.op.value.type)):
            return None
        value = value.op.value
    if value.owner is not op.body.block or value.index < op.rank:
        return None
    return value.index - op.rank


def _check(op: st.Apply, factors: tuple[int, int]) -> None:
    """Raises for dtypes, bounds and arrays that the unit does not take."""
    total = dtype_of(op.outputs[0].type)
    kinds = {dtype_of(op.inputs[number].type) for number in factors}
    kind = next(iter(kinds))
    if len(kinds) > 1 or ACCUMULATORS.get(kind) is not total:
        names = " and ".join(sorted(str(each) for each in kinds))
        raise refuse(f"a product of {names} added up in {total}", op.loc)
    if op.strict:
        raise refuse("a product-sum in the order in which it is written", op.loc)
    if op.inits and constant_of(op.inits[0]) != 0:
        raise refuse("a product-sum that does not start from zero", op.loc)
    if any(not low.is_constant or low.constant for low in op.lower) or any(high.dims for high in op.upper):
        raise refuse("a product-sum over a domain that is no box from zero", op.loc)
    if any(kind not in ("parallel", "reduction") for kind in op.iterators):
        raise refuse("a product-sum inside a scan", op.loc)
    if any(_is_nothing(op, high) for high in op.upper):
        raise refuse("a product-sum of nothing", op.loc)
    refs = [*(op.inputs[number] for number in factors), op.outputs[0]]
    if len(op.inputs) != 2 or op.outputs[0] in op.inputs:
        raise refuse("a product-sum that reads what it writes", op.loc)
    if not all(_whole(ref) for ref in refs):
        raise refuse("a product of views that are not contiguous", op.loc)


def _is_nothing(op: st.Apply, high: AffineExpr) -> bool:
    """Whether an iterator is known to take no value."""
    known = [integer_of(symbol) or 0 for symbol in op.symbols]
    used = [symbol for symbol, factor in zip(op.symbols, high.symbols, strict=False) if factor]
    if any(integer_of(symbol) is None for symbol in used):
        return False
    return (
        high.constant + sum(factor * number for factor, number in zip(high.symbols, known, strict=False)) <= 0
    )


def _whole(ref: Value) -> bool:
    """Whether a ref is a dense array of its own."""
    return (
        isinstance(ref.type, RefType)
        and ref.type.layout == "row"
        and (isinstance(ref.owner, (Block, mem.Alloc)))
    )


def _unit_iterator(op: st.Apply, map_: AffineMap) -> int | None:
    """The parallel iterator along which the result is contiguous, if every parallel one walks an axis of its own."""
    axes = [axis_of(map_, i) for i, kind in enumerate(op.iterators) if kind == "parallel"]
    if None in axes or len(set(axes)) != len(axes):
        return None
    if any(map_.uses(i) for i, kind in enumerate(op.iterators) if kind == "reduction"):
        return None
    return next((i for i, kind in enumerate(op.iterators) if kind == "parallel" and _is_unit(map_, i)), None)


def axis_of(map_: AffineMap, iterator: int) -> int | None:
    """The one axis that an iterator walks forwards, or None where there is none or more than one."""
    found = [axis for axis, expr in enumerate(map_.results) if expr.coefficient(iterator)]
    if len(found) != 1 or map_.results[found[0]].coefficient(iterator) < 0:
        return None
    return found[0]


def _is_unit(map_: AffineMap, iterator: int) -> bool:
    """Whether neighbours along an iterator are neighbours in memory."""
    last = len(map_.results) - 1
    return axis_of(map_, iterator) == last and map_.results[last].coefficient(iterator) == 1


def _match(op: st.Apply, left: int, right: int, column: int) -> Product | None:
    """A product of matrices, or of a row and a matrix where there are no rows."""
    parallel = [i for i, kind in enumerate(op.iterators) if kind == "parallel"]
    maps = op.input_maps
    rows = [i for i in parallel if i != column and maps[left].uses(i) and not maps[right].uses(i)]
    found = (_with_row(op, left, right, column, row) for row in rows[::-1] or [None])
    return next((each for each in found if each is not None), None)


def _match_row(op: st.Apply, left: int, right: int, column: int) -> Product | None:
    """One row at a time, where the layout leaves nothing better."""
    return _with_row(op, left, right, column, None)


def _with_row(op: st.Apply, left: int, right: int, column: int, row: int | None) -> Product | None:
    maps = op.input_maps
    parallel = [i for i, kind in enumerate(op.iterators) if kind == "parallel"]
    sums = [i for i, kind in enumerate(op.iterators) if kind == "reduction"]
    depths = [i for i in sums if maps[left].uses(i) and maps[right].uses(i)]
    for depth in depths[::-1]:
        first = _factor(op, left, row, depth)
        second = _factor(op, right, column, depth)
        if first is not None and second is not None:
            batch = tuple(i for i in parallel if i not in (row, column))
            others = tuple(i for i in sums if i != depth)
            return Product(op, first, second, row, column, depth, others, batch)
    return None


def _factor(op: st.Apply, number: int, free: int | None, depth: int) -> Factor | None:
    """An operand whose depth or free iterator is contiguous while the other one steps from row to row."""
    map_ = op.input_maps[number]
    free_axis = None if free is None else axis_of(map_, free)
    depth_axis = axis_of(map_, depth)
    if depth_axis is None or free_axis == depth_axis or (free is not None and free_axis is None):
        return None
    if _is_unit(map_, depth):
        return Factor(op.inputs[number], map_, free_axis, depth_axis, True)
    if free is None or _is_unit(map_, free):
        return Factor(op.inputs[number], map_, free_axis, depth_axis, False)
    return None


def _match_merged(op: st.Apply, left: int, right: int, column: int) -> Product | None:
    """A product whose summed iterators are all the last axes of one operand, as the weights of a convolution are."""
    maps = op.input_maps
    sums = [i for i, kind in enumerate(op.iterators) if kind == "reduction"]
    parallel = [i for i, kind in enumerate(op.iterators) if kind == "parallel"]
    whole = _whole_axes(op, left, sums)
    if (
        whole is None
        or not _is_unit(maps[right], column)
        or any(axis_of(maps[right], i) is None for i in sums)
    ):
        return None
    first = len(maps[left].results) - len(sums)
    map_ = AffineMap((*maps[left].results[:first], affine.dim(op.rank)))
    rows = [i for i in parallel if i != column and maps[left].uses(i) and not maps[right].uses(i)]
    row = rows[-1] if rows else None
    axis = None if row is None else axis_of(map_, row)
    if row is not None and axis is None:
        return None
    batch = tuple(i for i in parallel if i not in (row, column))
    weights = Factor(op.inputs[left], map_, axis, first, True, folded=first)
    last = len(maps[right].results) - 1
    rest = Factor(op.inputs[right], maps[right], last, -1, False)
    return Product(op, weights, rest, row, column, op.rank, (), batch, whole)


def _whole_axes(op: st.Apply, number: int, sums: list[int]) -> tuple[int, ...] | None:
    """The summed iterators in the order of an array's last axes, if each walks all of one of these."""
    map_, type_ = op.input_maps[number], op.inputs[number].type
    assert isinstance(type_, RefType)
    last = list(zip(map_.results, type_.shape, strict=True))[len(map_.results) - len(sums) :]
    found: list[int] = []
    for expr, extent in last:
        iterator = expr.as_dim
        if iterator is None or extent is None or extent_dim(op, iterator) != lift(extent):
            return None
        found.append(iterator)
    others = map_.results[: len(map_.results) - len(sums)]
    alone = not any(expr.coefficient(i) for expr in others for i in sums)
    return tuple(found) if sums and sorted(found) == sorted(sums) and alone else None


def extent_dim(op: st.Apply, iterator: int) -> SizeExpr | None:
    """How far an iterator goes, as a polynomial of sizes, if it is one."""
    upper, sizes_ = op.upper[iterator], Polynomials()
    total = constant(upper.constant)
    for number, value in enumerate(op.symbols):
        if upper.symbol_coefficient(number):
            total = total + sizes_.of(value) * upper.symbol_coefficient(number)
    known = not upper.dims and not any(name.startswith("%") for name in total.names)
    return total if known else None
