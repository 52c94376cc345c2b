# SPDX-License-Identifier: Apache-2.0
"""Loop iterators. In plain Python they run in order, one iteration after another."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, overload

T = TypeVar("T")

__all__ = ["parallel_for", "parallel_for_grid", "unroll"]


def parallel_for(start: int, stop: int | None = None, step: int = 1) -> range:
    """Like `range`, but the iterations may run on any core in any order; complete before what follows."""
    return range(start) if stop is None else range(start, stop, step)


@overload
def parallel_for_grid(size: int, /) -> Iterable[int]: ...
@overload
def parallel_for_grid(first: int, second: int, /, *more: int) -> Iterable[tuple[int, ...]]: ...
@overload
def parallel_for_grid(shape: Sequence[int], /) -> Iterable[tuple[int, ...]]: ...
def parallel_for_grid(*sizes: Any) -> Iterable[Any]:
    """Every index tuple of a grid of these sizes, in parallel: `for n, f in asc.parallel_for_grid(N, F)`.

    One size gives plain counters, as `parallel_for` does; a tuple of sizes, such as `x.shape`, always gives tuples.
    """
    if len(sizes) == 1 and not isinstance(sizes[0], (tuple, list)):
        return range(sizes[0])
    shape: Sequence[int] = sizes[0] if len(sizes) == 1 else sizes
    return itertools.product(*(range(size) for size in shape))


def unroll(iterable: Iterable[T]) -> Iterable[T]:
    """The same iterations, with the loop's body written out once for each of them."""
    return iterable
