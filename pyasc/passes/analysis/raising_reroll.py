# SPDX-License-Identifier: Apache-2.0
"""Products that are written out one by one are rolled up again into iterators.

    acc += x[c, h, w] * k[c, 0, 0]
    acc += x[c, h, w + 1] * k[c, 0, 1]              acc += x[c, h + p, w + q] * k[c, p, q]
    acc += x[c, h + 1, w] * k[c, 1, 0]       =>     for p in range(2), q in range(2)
    acc += x[c, h + 1, w + 1] * k[c, 1, 1]

so that a product-sum is one however it is written. The products have to read the same two arrays, at indices that
differ by constants, and the constants have to fill a box.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.ir.affine import AffineExpr, AffineMap, dim
from pyasc.ir.core import Value
from pyasc.ir.dialects import arith, st
from pyasc.passes.analysis.structured import I64

Offset = tuple[int, ...]
Box = list[tuple[Offset, int]]
"""The steps that a box is spanned by, outermost first, each with how often it is taken."""


def reroll(op: st.Apply) -> bool:
    """Roll up the products of one sum; says whether there were any."""
    if op.roles != ("reduce",) or op.guarded or op.strict or not _adds(op):
        return False
    leaves = _leaves(op.body.block.terminator.operands[0])
    products = [_product(op, leaf) for leaf in leaves]
    known = [product for product in products if product is not None]
    if len(known) < 2 or len(known) < len(products):
        return False
    pairs = [each for pair in known if (each := _aligned(op, known[0], pair)) is not None]
    offsets = [each for pair in pairs if (each := _offset(op, pairs[0], pair)) is not None]
    box = _box(offsets) if len(offsets) == len(known) else None
    if box is None:
        return False
    least = offsets.index(min(offsets))
    _rewrite(op, leaves[least], pairs[least], box)
    return True


def _adds(op: st.Apply) -> bool:
    block = op.combine.block
    value = block.terminator.operands[0].op
    return isinstance(value, arith.Elementwise) and value.fn == "add" and set(value.args) == set(block.args)


def _leaves(root: Value) -> list[Value]:
    """What a tree of additions adds up."""
    leaves: list[Value] = []
    stack = [root]
    while stack:
        value = stack.pop()
        op = value.op
        if isinstance(op, arith.Elementwise) and op.fn == "add" and sum(value.uses.values()) == 1:
            stack += reversed(op.args)
        else:
            leaves.append(value)
    return leaves


def _product(op: st.Apply, value: Value) -> tuple[int, int] | None:
    """The numbers of the inputs whose product a value is, through conversions."""
    product = value.op
    if not isinstance(product, arith.Elementwise) or product.fn != "mul" or sum(value.uses.values()) != 1:
        return None
    numbers = [_input(op, arg) for arg in product.args]
    return (numbers[0], numbers[1]) if min(numbers) >= 0 and numbers[0] != numbers[1] else None


def _input(op: st.Apply, value: Value) -> int:
    while isinstance(value.op, arith.Cast):
        value = value.op.value
    return value.index - op.rank if value.owner is op.body.block else -1


def _aligned(op: st.Apply, first: tuple[int, int], pair: tuple[int, int]) -> tuple[int, int] | None:
    """The pair with its factors in the order of the first one's arrays."""
    for each in (pair, (pair[1], pair[0])):
        if all(op.inputs[a] is op.inputs[b] for a, b in zip(first, each, strict=True)):
            return each
    return None


def _offset(op: st.Apply, first: tuple[int, int], pair: tuple[int, int]) -> Offset | None:
    """How far the indices of both factors are from those of the first product, where that is constant."""
    offset: list[int] = []
    for a, b in zip(first, pair, strict=True):
        for x, y in zip(op.input_maps[a].results, op.input_maps[b].results, strict=True):
            if x.dims != y.dims or x.symbols != y.symbols:
                return None
            offset.append(y.constant - x.constant)
    return tuple(offset)


def _box(offsets: Sequence[Offset]) -> Box | None:
    """The box that the offsets fill, each once, counted from the least of them."""
    origin = min(offsets)
    left = sorted(tuple(a - b for a, b in zip(each, origin, strict=True)) for each in offsets)
    wanted = set(left)
    if len(wanted) != len(left):
        return None
    reached: list[Offset] = [left[0]]
    box: Box = []
    while len(reached) < len(left):
        step = next(each for each in left if each not in set(reached))
        times = 1
        while tuple(times * s for s in step) in wanted:
            times += 1
        reached = [
            tuple(a + k * s for a, s in zip(base, step, strict=True))
            for k in range(times)
            for base in reached
        ]
        if not set(reached) <= wanted or len(set(reached)) != len(reached):
            return None
        box.insert(0, (step, times))
    return box


def _rewrite(op: st.Apply, leaf: Value, pair: tuple[int, int], box: Box) -> None:
    """Keep one product, and let new iterators walk the box from it."""
    rank = op.rank
    block = op.body.block
    terminator = block.terminator
    terminator.operands = [leaf]
    for inner in reversed(block):
        if inner is not terminator and not any(value.uses for value in inner.results):
            inner.erase()
    split = len(op.input_maps[pair[0]].results)
    maps = {
        pair[0]: _walking(op.input_maps[pair[0]], [step[:split] for step, _ in box], rank),
        pair[1]: _walking(op.input_maps[pair[1]], [step[split:] for step, _ in box], rank),
    }
    for number in reversed(range(len(op.inputs))):
        if number not in maps:
            block.remove_arg(rank + number)
    order = sorted(maps)
    op.set_operands("inputs", [op.inputs[number] for number in order])
    op.input_maps = tuple(maps[number] for number in order)
    args = [*block.args[:rank], *(Value(I64, block, 0) for _ in box), *block.args[rank:]]
    for number, arg in enumerate(args):
        arg.index = number
    block.args = args
    op.iterators = (*op.iterators, *("reduction" for _ in box))
    op.lower = (*op.lower, *(AffineExpr() for _ in box))
    op.upper = (*op.upper, *(AffineExpr(constant=times) for _, times in box))


def _walking(map_: AffineMap, steps: Sequence[Offset], rank: int) -> AffineMap:
    """The map with the new iterators, which come after `rank` others, moving each index by their steps."""
    results: list[AffineExpr] = []
    for axis, expr in enumerate(map_.results):
        for number, step in enumerate(steps):
            expr = expr + dim(rank + number) * step[axis]
        results.append(expr)
    return AffineMap(tuple(results))
