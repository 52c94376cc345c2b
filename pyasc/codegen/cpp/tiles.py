# SPDX-License-Identifier: Apache-2.0
"""How register tiles are spelled in C++: calls of the runtime's `pa_tile_` functions with pointers to the first row."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyasc.codegen.cpp import functions, nodes
from pyasc.codegen.cpp.nodes import Expr
from pyasc.codegen.cpp.values import Buffer, add_all, multiply
from pyasc.ir.core import Operation
from pyasc.ir.dialects import vec

if TYPE_CHECKING:
    from pyasc.codegen.cpp.lower import FunctionLowering


def _fill(state: FunctionLowering, op: vec.Fill) -> None:
    # Filled wherever it is needed, so that no tile is copied; the scalar, which is repeated then, gets a name.
    value = state.expr(op.value)
    if not re.fullmatch(r"-?[\w.]+", value.text):
        name = state.names.fresh(op.value.name or "start")
        state.declare(functions.value_type(op.value.type), name, value.text)
        value = state.exprs[op.value] = Expr(name)
    state.exprs[op.result] = Expr(f"pa_tile_fill<{functions.value_type(op.result.type)}>({value})")


def _load_tile(state: FunctionLowering, op: vec.LoadTile) -> None:
    places = _places(state, op)
    state.name_value(op.value, Expr(f"pa_tile_load<{functions.value_type(op.value.type)}>({places})"))


def _store_tile(state: FunctionLowering, op: vec.StoreTile) -> None:
    tile = state.expr(op.value)
    places = _places(state, op)
    state.flush()
    state.emit(nodes.Call(f"pa_tile_store({tile}, {places})"), op)


def _places(state: FunctionLowering, op: vec.LoadTile | vec.StoreTile) -> str:
    """The step from row to row, and where the vectors of the first row lie."""
    buffer = state.buffers[op.ref]
    outer, starts = state.all(op.indices), state.all(op.starts)
    addresses = [f"&{buffer.element([*outer, start])}" for start in starts]
    return ", ".join([buffer.row_strides()[op.axis].text, *addresses])


def _fma_tile(state: FunctionLowering, op: vec.FmaTile) -> None:
    total = state.expr(op.sum).text
    columns = ", ".join(column.text for column in state.all(op.columns))
    buffer = state.buffers[op.ref]
    factors = f"&{buffer.element(state.all(op.indices))}"
    in_place = state.targets.get(op.result) == total
    target = total if in_place else state.name_value(op.result, Expr(total), const=False)
    state.emit(nodes.Call(f"pa_tile_fma({target}, {factors}, {_step(buffer, op.steps)}, {columns})"), op)
    state.exprs[op.result] = Expr(target)


def _step(buffer: Buffer, steps: Sequence[int]) -> Expr:
    """How many elements further the factor of the next row is."""
    strides = buffer.row_strides()
    return add_all([multiply(Expr(str(step)), stride) for step, stride in zip(steps, strides, strict=True)])


HANDLERS: dict[type[Operation], Callable[[FunctionLowering, Operation], None]] = {  # pyright: ignore[reportAssignmentType]
    vec.Fill: _fill,
    vec.LoadTile: _load_tile,
    vec.StoreTile: _store_tile,
    vec.FmaTile: _fma_tile,
}
