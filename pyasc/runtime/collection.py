# SPDX-License-Identifier: Apache-2.0
"""Keeps Python's cyclic garbage collector out of compilations, which make many objects and drop few of them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No cyclic garbage is collected inside, unless another thread turns collection on again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
