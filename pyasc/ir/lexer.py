# SPDX-License-Identifier: Apache-2.0
"""Tokens of the IR's text form, and the error that points at one of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<skip>\s+|//[^\n]*)
    | (?P<value>%[\w$.]+)
    | (?P<type>(?:ref|tensor|vec|tile)<[^<>\n]*>|![A-Za-z_]\w*(?:<[^<>\n]*>)?)
    | (?P<map>(?:affine|size)<[^<>\n]*>)
    | (?P<op>[A-Za-z_]\w*(?:\.\w+)+)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
    | (?P<string>"(?:[^"\\\n]|\\.)*")
    | (?P<sign>[{}()\[\]:,=@^*+-])
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """One token: its kind (a group of the pattern, or `end`), its text, and its offset in the source."""

    kind: str
    text: str
    offset: int


@dataclass(frozen=True)
class SourceText:
    """A text with the name of the file it came from."""

    text: str
    file: str

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1."""
        line_start = self.text.rfind("\n", 0, offset) + 1
        return self.text.count("\n", 0, offset) + 1, offset - line_start + 1

    def line(self, number: int) -> str:
        """The text of one line, counted from 1."""
        return self.text.split("\n")[number - 1]


class ParseError(ValueError):
    """The text is not IR. `line` and `column` count from 1; `message` says what was expected."""

    def __init__(self, source: SourceText, offset: int, message: str) -> None:
        self.file = source.file
        self.line, self.column = source.position(offset)
        self.message = message
        number = str(self.line)
        margin = " " * len(number)
        super().__init__(
            f"{self.file}:{self.line}:{self.column}: {message}\n"
            f"  {number} | {source.line(self.line)}\n"
            f"  {margin} | {' ' * (self.column - 1)}^"
        )


def tokenize(source: SourceText) -> list[Token]:
    """All tokens, closed by one of kind `end`. Raises ParseError for a character that starts none."""
    tokens: list[Token] = []
    offset = 0
    text = source.text
    while offset < len(text):
        found = _TOKEN.match(text, offset)
        if found is None:
            raise ParseError(source, offset, f"unexpected character {text[offset]!r}")
        kind = found.lastgroup or ""
        if kind != "skip":
            tokens.append(Token(kind, found.group(), offset))
        offset = found.end()
    tokens.append(Token("end", "the end of the text", len(text)))
    return tokens
