# SPDX-License-Identifier: Apache-2.0
"""From the status that a kernel returns to the Python exception that it stands for."""

from __future__ import annotations

import builtins
import linecache
import struct
from collections.abc import Sequence
from string import Formatter
from typing import Any

from pyasc.ir.diagnostics import LaunchError
from pyasc.ir.location import UNKNOWN, Location
from pyasc.ir.record import Record

NO_MEMORY = -1
_KERNEL = "__pyasc_kernel__"


class _Fields(Formatter):
    """Python's format syntax, in which `!f` says that an integer holds the bits of a double."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """The value that a field shows."""
        if conversion == "f":
            return struct.unpack("<d", struct.pack("<q", value))[0]
        return super().convert_field(value, conversion)


class Site(Record):
    """One check of a kernel: the exception's class, a format over the values that failed it, and the line.

    In the format, `!f` marks a float, given by the bits of a double.
    """

    error: str
    message: str
    loc: Location = UNKNOWN


class Faults(Record):
    """The check sites of one kernel, by number from 1. `core` is the one that found a failure, where that is known."""

    kernel: str
    sites: tuple[Site, ...]
    core: int | None = None

    def fail(self, status: int, values: Sequence[int]) -> None:
        """Raise what `status` (not 0) stands for; `values` are those of the fault."""
        error = self.error(status, values)
        setattr(error, _KERNEL, self.kernel)
        raise error

    def error(self, status: int, values: Sequence[int]) -> Exception:
        """The exception for a status and the fault's values."""
        if status == NO_MEMORY:
            return MemoryError(f"kernel `{self.kernel}` could not get the memory for a temporary array")
        if not 0 < status <= len(self.sites):
            return RuntimeError(f"kernel `{self.kernel}` returned the unknown status {status}")
        site = self.sites[status - 1]
        return _exception_class(site.error)(self.message(site, list(values)))

    def message(self, site: Site, values: Sequence[Any]) -> str:
        """What the exception says: the values, then the line that failed."""
        try:
            text = _Fields().format(site.message, *values)
        except (IndexError, KeyError, ValueError):
            text = f"{site.message} {values}"
        kernel = f"kernel `{self.kernel}`" + ("" if self.core is None else f" on core {self.core}")
        if not site.loc.known:
            return f"{text}\n  in {kernel}"
        line = linecache.getline(site.loc.file, site.loc.line).strip()
        shown = f"\n    {line}" if line else ""
        return f"{text}\n  in {kernel}, {site.loc.file}:{site.loc.line}{shown}"


def failed_kernel(error: BaseException) -> str | None:
    """The kernel that raised an exception of a builtin class; None for one that no kernel raised."""
    return getattr(error, _KERNEL, None)


def _exception_class(name: str) -> type[Exception]:
    if name == "LaunchError":
        return LaunchError
    found = getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else RuntimeError
