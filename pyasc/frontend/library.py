# SPDX-License-Identifier: Apache-2.0
"""What each function and method that a kernel may call becomes: builtins, `math`, and `pyasc.language`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from pyasc.frontend import (
    activations,
    arithmetic,
    contractions,
    elementwise,
    memory,
    numeric,
    rearrange,
    reductions,
    shapes,
    windows,
)
from pyasc.frontend.arithmetic import BINARY
from pyasc.frontend.composed import call_composed
from pyasc.frontend.extremes import smallest_or_largest
from pyasc.frontend.iteration import sequence
from pyasc.frontend.math_module import MATH
from pyasc.frontend.sharing import need_buffers
from pyasc.frontend.values import (
    EMPTY,
    FALSE,
    NONE,
    ONE,
    ZERO,
    Const,
    Counter,
    Grid,
    Range,
    Reversed,
    Tensor,
    Tuple,
    Unroll,
    Val,
    Zip,
    is_array,
    is_iterator,
    is_number,
    same,
)
from pyasc.frontend.visitor import Visitor
from pyasc.language import arrays, composed, loops, random
from pyasc.language import memory as buffers
from pyasc.language import windows as images

Lowering = Callable[..., Val]
_FLOAT_ZERO = Const(0.0)
_ADD, _DIV, _MOD, _POW = (
    next(op for op in BINARY.values() if op.fn == fn) for fn in ("add", "floordiv", "mod", "pow")
)


def _range(v: Visitor, start: Val, stop: Val = NONE, step: Val = ONE) -> Val:
    return _counted(v, start, stop, step, parallel=False)


def _parallel_for(v: Visitor, start: Val, stop: Val = NONE, step: Val = ONE) -> Val:
    return _counted(v, start, stop, step, parallel=True)


def _counted(v: Visitor, start: Val, stop: Val, step: Val, parallel: bool) -> Val:
    first, last = (ZERO, start) if stop == NONE else (start, stop)
    bounds = [numeric.operand(v, each) for each in (first, last, step)]
    for each in bounds:
        numeric.index(v, each)
    return Range(bounds[0], bounds[1], bounds[2], parallel)


def _grid(v: Visitor, *sizes: Val) -> Val:
    found = sizes[0].items if len(sizes) == 1 and isinstance(sizes[0], Tuple) else sizes
    if not found:
        hint = "write asc.parallel_for_grid(N, M)"
        raise v.error(None, "PA0408", "asc.parallel_for_grid needs at least one size", hint=hint)
    for each in found:
        numeric.index(v, each)
    if found is sizes and len(found) == 1:
        return _parallel_for(v, found[0])
    return Grid(tuple(found))


def _unroll(v: Visitor, iterable: Val) -> Val:
    return Unroll(iterable)


def _zip(v: Visitor, *parts: Val) -> Val:
    if all(isinstance(part, Tuple) for part in parts):
        rows = zip(*(p.items for p in parts), strict=False)  # pyright: ignore[reportAttributeAccessIssue]
        return Tuple(tuple(Tuple(items) for items in rows), once=True)
    return Zip(parts)


def _enumerate(v: Visitor, iterable: Val, start: Val = ZERO) -> Val:
    if isinstance(iterable, Tuple):
        pairs = [(arithmetic.binary(v, _ADD, start, Const(k)), item) for k, item in enumerate(iterable.items)]
        return Tuple(tuple(map(Tuple, pairs)), once=True)
    return Zip((Counter(start), iterable))


def _reversed(v: Visitor, iterable: Val) -> Val:
    if is_iterator(iterable):
        hint = "reverse the parts: zip(reversed(x), reversed(y))"
        raise v.error(None, "PA0306", "`reversed` of an iterator", hint=hint)
    return Tuple(iterable.items[::-1], once=True) if isinstance(iterable, Tuple) else Reversed(iterable)


def _len(v: Visitor, value: Val) -> Val:
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(len(value.value))
    if is_number(value):
        hint = "of arrays, len is the first size"
        raise v.error(None, "PA0402", f"`len` of {numeric.describe(value)}", hint=hint)
    if is_iterator(value):
        raise v.error(None, "PA0402", "`len` of an iterator", hint="take that of what it runs over")
    return sequence(v, value, None)[0]


def _extreme(name: str) -> Lowering:
    def lowering(v: Visitor, *args: Val) -> Val:
        if len(args) == 1 and is_array(args[0]):
            return reductions.least_or_greatest(v, name, args[0])
        items = args[0].items if len(args) == 1 and isinstance(args[0], Tuple) else args
        if not items:
            raise v.error(None, "PA0408", f"`{name}` of nothing", hint="give it at least one value")
        if items is args and len(args) == 1:
            raise v.error(
                None, "PA0402", f"`{name}` of one number", hint="give it two, or a tuple or an array"
            )
        return smallest_or_largest(v, name, items)

    return lowering


def _sum(v: Visitor, values: Val, start: Val = ZERO) -> Val:
    if is_array(values):
        total = reductions.added_up(v, values, start)
        return total if same(start, ZERO) else arithmetic.binary(v, _ADD, start, total)
    if not isinstance(values, Tuple):
        hint = "sum an array, or a tuple of numbers"
        raise v.error(None, "PA0402", f"`sum` of {numeric.describe(values)}", hint=hint)
    for each in values.items:
        start = arithmetic.binary(v, _ADD, start, each)
    return start


def _divmod(v: Visitor, a: Val, b: Val) -> Val:
    return Tuple((arithmetic.binary(v, _DIV, a, b), arithmetic.binary(v, _MOD, a, b)))


def _pow(v: Visitor, a: Val, b: Val) -> Val:
    return arithmetic.binary(v, _POW, a, b)


def _int(v: Visitor, value: Val = ZERO) -> Val:
    return elementwise.to_int(v, value)


def _float(v: Visitor, value: Val = _FLOAT_ZERO) -> Val:
    return elementwise.to_float(v, value)


def _bool(v: Visitor, value: Val = FALSE) -> Val:
    return elementwise.to_bool(v, value)


def _round(v: Visitor, number: Val, ndigits: Val = NONE) -> Val:
    return elementwise.round_number(v, number, ndigits)


def _tuple(v: Visitor, value: Val = EMPTY) -> Val:
    from pyasc.frontend.iteration import known_items

    return Tuple(known_items(v, value, None))


def _list(v: Visitor, value: Val = EMPTY) -> Val:
    from pyasc.frontend.iteration import known_items

    return Tuple(known_items(v, value, None), is_list=True)


def _isinstance(v: Visitor, value: Val, kinds: Val) -> Val:
    raise v.error(None, "PA0209", "`isinstance` cannot be called in a kernel", hint="compare x.dtype instead")


_BUILTINS: dict[Any, Lowering] = {
    builtins.range: _range,
    builtins.zip: _zip,
    builtins.enumerate: _enumerate,
    builtins.reversed: _reversed,
    builtins.len: _len,
    builtins.min: _extreme("min"),
    builtins.max: _extreme("max"),
    builtins.sum: _sum,
    builtins.abs: elementwise.absolute,
    builtins.round: _round,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.divmod: _divmod,
    builtins.pow: _pow,
    builtins.tuple: _tuple,
    builtins.list: _list,
    builtins.any: lambda v, value: elementwise.combine(v, "any", value),
    builtins.all: lambda v, value: elementwise.combine(v, "all", value),
    builtins.isinstance: _isinstance,
}

_LANGUAGE: dict[Any, Lowering] = {
    loops.parallel_for: _parallel_for,
    loops.parallel_for_grid: _grid,
    loops.unroll: _unroll,
    buffers.shared_memory: memory.shared_memory,
    buffers.aligned_alloc: memory.aligned_alloc,
    buffers.copy: memory.copy,
    buffers.atomic_add: memory.atomic_add,
    buffers.atomic_max: memory.atomic_max,
    buffers.atomic_min: memory.atomic_min,
    arrays.empty: memory.empty,
    arrays.where: elementwise.where,
    arrays.matmul: contractions.matmul,
    arrays.dot: contractions.dot,
    **{
        getattr(arrays, name): getattr(shapes, name)
        for name in (
            "zeros ones full zeros_like ones_like full_like empty_like arange eye transpose reshape broadcast_to "
            "concatenate"
        ).split()
    },
    **{
        getattr(arrays, name): getattr(reductions, name)
        for name in "prod mean var std argmax argmin cumsum cumprod".split()
    },
    **{getattr(arrays, name): getattr(windows, name) for name in "sort argsort topk pad".split()},
    **{getattr(images, name): getattr(windows, name) for name in images.__all__},
    random._words: lambda v, key, shape: call_composed(v, composed.random_words, key, shape),
    random._hashed: lambda v, key, x, y: call_composed(v, composed.threefry, key, x, y),
    **{getattr(arrays, name): getattr(rearrange, name) for name in "stack split take einsum".split()},
    **{getattr(arrays, name): getattr(reductions, f"{name}_") for name in "sum max min any all".split()},
    **{
        getattr(arrays, name): getattr(activations, name)
        for name in "clip square reciprocal relu sigmoid silu gelu softmax log_softmax layer_norm rms_norm".split()
    },
}

LOWERINGS: dict[Any, Lowering] = {**_BUILTINS, **MATH, **_LANGUAGE}


METHODS: dict[str, Lowering] = {
    "transpose": shapes.transpose,
    "reshape": shapes.reshape,
    "flatten": shapes.flattened,
    "ravel": shapes.ravel,
    "astype": shapes.astype,
    "copy": shapes.copy_of,
    "dot": contractions.dot,
    "fill": lambda v, x, value: _fill(v, x, value),
    "item": lambda v, x: numeric.operand(v, x),
    "sum": reductions.sum_,
    "max": reductions.max_,
    "min": reductions.min_,
    "any": reductions.any_,
    "all": reductions.all_,
    **{name: getattr(reductions, name) for name in "prod mean var std argmax argmin cumsum cumprod".split()},
    "clip": activations.clip,
    "take": rearrange.take,
}


def _fill(v: Visitor, array: Val, value: Val) -> Val:
    from pyasc.frontend.subscripts import write_whole

    base = shapes.base_of(v, array)
    if isinstance(base, Tensor):
        need_buffers(v, base)
        raise v.error(None, "PA0410", "a computed array is filled before it has a name")
    write_whole(v, base, value)
    return NONE
