# SPDX-License-Identifier: Apache-2.0
"""From the format of a debug print, in Python's syntax, to one that the print function of a device takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Formatter

from pyasc.ir.dtypes import DType

_FIXED = re.compile(r"\.(\d+)f")
_WIDE = re.compile(r"0?\d*d?")


class NoDeviceFormat(ValueError):
    """A format that the device has no counterpart of."""


def device_format(text: str, dtypes: Sequence[DType]) -> str:
    """The format for `printf`: integers as `%lld`, floats as `%f`, with a line end.

    Raises NoDeviceFormat for a specification such as `{x:>10}`.
    """
    parts: list[str] = []
    kinds = iter(dtypes)
    for literal, field, spec, _ in Formatter().parse(text):
        parts.append(literal.replace("%", "%%"))
        if field is not None:
            parts.append(_conversion(next(kinds), spec or ""))
    return "".join(parts) + "\n"


def _conversion(dtype: DType, spec: str) -> str:
    if dtype.is_float and (not spec or _FIXED.fullmatch(spec)):
        return f"%{spec or 'f'}"
    if not dtype.is_float and _WIDE.fullmatch(spec):
        return f"%{spec.removesuffix('d')}lld"
    raise NoDeviceFormat(f"the format {spec!r} of a number of type {dtype.numpy}")
