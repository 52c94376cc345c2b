# SPDX-License-Identifier: Apache-2.0
"""The precision of a part of a kernel. In plain Python everything is computed as NumPy does."""

from __future__ import annotations

from types import TracebackType

__all__ = ["precision"]

MODES = ("numpy", "strict", "mixed", "auto")


class precision:
    """`with asc.precision("mixed"):` the statements below it, and the helpers that they call, as `@asc.kernel` says.

    `tolerance` is the error that `"auto"` may make in a matrix product, relative to the product of the operands'
    absolute values. `"strict"` holds for the whole kernel, wherever it stands.
    """

    def __init__(self, mode: str, *, tolerance: float | None = None) -> None:
        if mode not in MODES:
            raise ValueError(f"precision {mode!r}: expected one of {', '.join(map(repr, MODES))}")
        self.mode = mode
        self.tolerance = tolerance

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
