# SPDX-License-Identifier: Apache-2.0
"""The pages of the error codes: each shows a kernel with the mistake, what pyasc says of it, and the kernel mended.

A page is written by hand but for its title and its message, which are made here: the first block of Python is the
kernel with the mistake, the next block is the message, and the blocks of Python behind it have no mistake. With
`run` behind `python` a block is executed, for mistakes that the text alone does not show.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pyasc.cli.loading import Request, chosen_kernels
from pyasc.ir.diagnostic_codes import CODES
from pyasc.ir.diagnostics import CompileError, Diagnostic, render_all
from pyasc.ir.record import Record
from pyasc.runtime.checking import check_kernel, check_text

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "errors"
FILE = "kernel.py"
_BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

_LIST_HEAD = """\
# Error codes

Generated from `pyasc/ir/diagnostic_codes.py` by `make docs`. `pyasc explain PA0301` prints a page in the terminal.

| code | what it is about |
| --- | --- |
"""


class Block(Record):
    """One block of a page."""

    language: str
    run: bool
    text: str


def blocks(page: str) -> list[Block]:
    """The blocks of a page, in order."""
    return [Block(language, "run" in words, text) for language, words, text in _BLOCK.findall(page)]


def kernels(page: str) -> tuple[Block, list[Block]]:
    """The block with the mistake, and those without."""
    wrong, *right = [block for block in blocks(page) if block.language == "python"]
    return wrong, right


def mistakes(block: Block) -> Sequence[Diagnostic]:
    """The errors that pyasc finds in the kernels of a block."""
    found = _of_a_run(block.text) if block.run else check_text(block.text, FILE)[1]
    return [each for each in dict.fromkeys(found) if each.severity == "error"]


def message(block: Block) -> str:
    """The mistakes as they are printed."""
    return re.sub(r"(?:/[^\s:'\"]*)?/kernel\.py", FILE, render_all(mistakes(block)))


def _of_a_run(text: str) -> Sequence[Diagnostic]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        file.write_text(text, encoding="utf-8")
        try:
            return [each for kernel in chosen_kernels(Request(str(file))) for each in check_kernel(kernel)]
        except CompileError as error:
            return error.diagnostics


def page(code: str) -> str:
    """The page of a code with its title and its message as they are now."""
    path = FOLDER / f"{code}.md"
    _, _, rest = path.read_text(encoding="utf-8").partition("\n")
    wrong, _ = kernels(rest)
    shown = f"```text\n{message(wrong)}\n```"
    old = next(found for found in _BLOCK.finditer(rest) if found[1] == "text")
    return f"# {code}: {CODES[code].title}\n{rest[: old.start()]}{shown}{rest[old.end() :]}"


def list_page() -> str:
    """Every code with its title."""
    rows = [f"| [{code}](errors/{code}.md) | {entry.title} |\n" for code, entry in CODES.items()]
    return _LIST_HEAD + "".join(rows)


PAGES: dict[str, Callable[[], str]] = {
    "errors.md": list_page,
    **{f"errors/{code}.md": partial(page, code) for code in CODES},
}
