# SPDX-License-Identifier: Apache-2.0
"""Loop iterators. In plain Python they run in order, one iteration after another."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

__all__ = ["parallel_for", "parallel_for_grid", "unroll"]


def parallel_for(start: int, stop: int | None = None, step: int = 1) -> range:
    """Like `range`, but the iterations may run on any core in any order; complete before what follows."""
    return range(start) if stop is None else range(start, stop, step)


def parallel_for_grid(*sizes: int) -> Iterator[tuple[int, ...]]:
    """Every index tuple of a grid of these sizes, in parallel: `for n, f in asc.parallel_for_grid(N, F)`."""
    return itertools.product(*(range(size) for size in sizes))


def unroll(iterable: Iterable[T]) -> Iterable[T]:
    """The same iterations, with the loop's body written out once for each of them."""
    return iterable
