# SPDX-License-Identifier: Apache-2.0
"""Room for deep trees: long chains of `elif`, of early returns and of operators nest as deep as they are long."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_DEEP = 12_000 if sys.version_info >= (3, 11) else 5_000
_lock = threading.Lock()
_users: list[int] = []


@contextmanager
def deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit, which all threads share, until the last user has gone."""
    with _lock:
        if not _users:
            _users.append(sys.getrecursionlimit())
        _users.append(0)
        sys.setrecursionlimit(max(_DEEP, _users[0]))
    try:
        yield
    finally:
        with _lock:
            _users.pop()
            if len(_users) == 1:
                sys.setrecursionlimit(_users.pop())
