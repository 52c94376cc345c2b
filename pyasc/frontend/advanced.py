# SPDX-License-Identifier: Apache-2.0
"""Indices that mix integer arrays with slices, integers, `...` and None, brought to the form that `gather` takes.

NumPy's rule: integer arrays, and integers beside them, are broadcast together. Their axes stand in the result
where the first of them stood when all are neighbours, and in front otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyasc.frontend import views
from pyasc.frontend.values import Array, Const, Slice, Tensor, Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir.record import Record

_WHOLE = Slice(None, None, None)


class Mixed(Record):
    """`base` with the indexed axes in front, the indices of these, and where their axes stand in the result."""

    base: Array | Tensor
    indices: tuple[Val, ...]
    position: int

    def order(self, count: int, rank: int) -> list[int]:
        """The axes of the result, of which `count` come from the indices, in the order of an array that has these
        in front."""
        rest = range(count, rank)
        return [*rest[: self.position], *range(count), *rest[self.position :]]


def is_plain(indices: Sequence[Val]) -> bool:
    """Whether there are indices for leading axes alone, with nothing but full slices behind them."""
    kept = list(indices)
    while kept and kept[-1] == _WHOLE:
        kept.pop()
    return all(not isinstance(each, Slice) and not _is_new_axis(each) and not _is_dots(each) for each in kept)


def mixed(v: Visitor, base: Array | Tensor, indices: Sequence[Val]) -> Mixed:
    """What an index with arrays in it means."""
    written = views.expanded(v, base, indices)
    sliced = [each if isinstance(each, Slice) or _is_new_axis(each) else _WHOLE for each in written]
    view = views.basic_view(v, base, sliced)
    at = [k for k, each in enumerate(written) if sliced[k] is _WHOLE and not isinstance(each, Slice)]
    neighbours = at == list(range(at[0], at[0] + len(at)))
    front = [*at, *(k for k in range(len(written)) if k not in at)]
    moved = views.permuted(v, view, front)
    return Mixed(moved, tuple(written[k] for k in at), at[0] if neighbours else 0)


def _is_new_axis(index: Val) -> bool:
    return isinstance(index, Const) and index.value is None


def _is_dots(index: Val) -> bool:
    return isinstance(index, Const) and index.value is ...
