# SPDX-License-Identifier: Apache-2.0
"""Unique, readable C++ names."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Keywords, alternative operators, and the few unscoped names that the headers of a kernel bring.
_RESERVED = frozenset(
    """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
    mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor
    xor_eq linux unix i386 main fault failure begin end data captured
    exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh sqrt cbrt hypot pow erf erfc
    floor ceil trunc rint round abs fabs fma j0 j1 jn y0 y1 yn gamma lgamma tgamma signbit isnan isinf index
    malloc free printf puts memcpy memset NULL errno std size_t ptrdiff_t
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t""".split()
)


class Names:
    """Hands out names that are unique within one translation unit's function."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """A new name that reads like `hint`."""
        base = identifier(hint)
        count = self._taken.get(base, 0)
        while True:
            name = base if count == 0 else f"{base}_{count}"
            count += 1
            if name == base or name not in self._taken:
                break
        self._taken[base] = count
        if name != base:
            self._taken[name] = 1
        return name


@lru_cache(maxsize=4096)
def identifier(hint: str) -> str:
    """A legal C++ identifier that keeps as much of `hint` as possible."""
    text = unicodedata.normalize("NFKD", hint)
    text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in text)
    text = re.sub("_+", "_", text).strip("_")
    if not text or text[0].isdigit():
        text = f"v{text}"
    if text in _RESERVED or text.startswith(("pa_", "PA_", "pyasc_")) or text[:2] == "u0":
        text += "_"
    return text
