# SPDX-License-Identifier: Apache-2.0
"""Names in emitted Ascend C, which keep clear of those of the vendor's header."""

from __future__ import annotations

import re

from pyasc.codegen.cpp.names import Names

_TYPES = frozenset({"GM_ADDR", "half", "bfloat16_t", "float16_t"})
_LIKE_VENDORS = re.compile(r"[A-Z]+[a-z][A-Za-z0-9]*")


class VendorNames(Names):
    """Names that never equal a type or function of the header: all of those are written in capitalised words."""

    def fresh(self, hint: str) -> str:
        """A new name that reads like `hint`."""
        bare = hint.strip("_")
        return super().fresh(f"{hint}_v" if bare in _TYPES or _LIKE_VENDORS.fullmatch(bare) else hint)
