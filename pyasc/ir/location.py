# SPDX-License-Identifier: Apache-2.0
"""Source locations: where in the user's file an operation came from."""

from __future__ import annotations

from pyasc.ir.record import Record


class Location(Record):
    """A span of source text. Lines count from 1, columns from 0 in characters (not bytes).

    An unknown location has line 0. `end_line` and `end_column` are exclusive on the column.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @property
    def known(self) -> bool:
        """Whether the location names a line."""
        return self.line > 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}" if self.known else "<unknown>"


UNKNOWN = Location()
