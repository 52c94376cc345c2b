# SPDX-License-Identifier: Apache-2.0
"""The version of pyasc, stated once, as text and as a tuple."""

from __future__ import annotations

import re
from typing import NamedTuple

RELEASE = "0.1.0"

_FORM = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-_.]?(a|b|rc)[-_.]?(\d*))?(?:\.?(dev|post)(\d*))?(?:\+[\w.]+)?")
_STAGES = {"a": "alpha", "b": "beta", "rc": "candidate", None: "final"}
_SUFFIXES = {"dev": -1, None: 0, "post": 1}


class VersionInfo(NamedTuple):
    """A version that compares as a tuple, in the form of `sys.version_info`.

    `stage` is one of "alpha", "beta", "candidate" and "final", which sort in this order.
    """

    major: int
    minor: int
    micro: int
    stage: str = "final"
    serial: int = 0


class Version(str):
    """Version text whose `<`, `<=`, `>` and `>=` follow the rules of versions, not of strings.

    With these `Version("10.0") > "9.1"` holds, and so does `Version("3.0rc1") < "3.0"`. Equality
    and hashing stay those of the text. Comparing with text that is no version raises ValueError.
    """

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return _sort_key(self) < _sort_key(other)

    def __le__(self, other: str) -> bool:
        return _sort_key(self) <= _sort_key(other)

    def __gt__(self, other: str) -> bool:
        return _sort_key(self) > _sort_key(other)

    def __ge__(self, other: str) -> bool:
        return _sort_key(self) >= _sort_key(other)

    @property
    def info(self) -> VersionInfo:
        """The version as a tuple; a release of fewer than three numbers is filled with zeros."""
        numbers, stage, serial, _, _ = _parse(self)
        major, minor, micro = (*numbers, 0, 0, 0)[:3]
        return VersionInfo(major, minor, micro, stage, serial)


def _parse(text: str) -> tuple[tuple[int, ...], str, int, int, int]:
    """The release numbers, stage, serial, and the rank and number of a `dev` or `post` suffix."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not a version such as '1.2.3' or '1.2rc1'")
    release, stage, serial, suffix, suffix_number = found.groups()
    numbers = tuple(int(part) for part in release.split("."))
    return numbers, _STAGES[stage], int(serial or 0), _SUFFIXES[suffix], int(suffix_number or 0)


def _sort_key(text: str) -> tuple[object, ...]:
    numbers, stage, serial, suffix, suffix_number = _parse(text)
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    # PEP 440: "1.0.dev1" comes before "1.0a1", though "1.0a1.dev1" belongs to its alpha.
    rank = "" if suffix < 0 and stage == "final" else stage
    return numbers, rank, serial, suffix, suffix_number


__version__ = Version(RELEASE)
version_info = __version__.info
