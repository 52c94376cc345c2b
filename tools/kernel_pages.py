# SPDX-License-Identifier: Apache-2.0
"""The text of docs/kernels/*.md: six kernels from Python down, what the compiler makes beside what is written by hand.

`docs/kernels/NAME.py` is the kernel. Its py, structured and cpu levels and its C++ are the compiler's. The tile level
(`NAME.tile.ir`), the ascend level (`NAME.ascend.ir`) and the Ascend C (`NAME.ascendc.cpp`) are by hand until the
Ascend back end makes them, and so is what the page says about them (`NAME.notes.txt`). `make docs` writes the pages.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

from pyasc.cli.compile import ir_text, pipeline_of, unit_of
from pyasc.cli.loading import Request, lowered_kernels

VECTORS = "64x32"
"""The vector registers that the pages show C++ for, on every machine."""

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "kernels"
NAMES = ("chain", "softmax", "matmul", "argmax", "prefix_sum", "guarded_exp")
BY_HAND = (
    ("Tile level, by hand", ".tile.ir", "```llvm"),
    ("Ascend level, by hand", ".ascend.ir", "```llvm"),
    ("Ascend C, by hand", ".ascendc.cpp", "```cpp"),
)
BY_COMPILER = (
    ("py level", "py"),
    ("Loop level, structured", "structured"),
    ("Loop level, for the cpu", "cpu"),
)


def page(name: str) -> str:
    """The page of one kernel, as Markdown."""
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    with patch.dict(os.environ, PYASC_VECTORS=VECTORS):
        return _page(name, source)


def _page(name: str, source: str) -> str:
    request = Request(str(FOLDER / f"{name}.py"))
    parts = [
        f"# {name}\n\n{ast.get_docstring(ast.parse(source))}\n",
        "Written by `tools/kernel_pages.py` from the files beside it. [Architecture](../architecture.md)\n",
        f"## Python\n\n```python\n{_kernel(source)}\n```\n",
        *(_listing(title, "```llvm", _level(request, level)) for title, level in BY_COMPILER),
        _listing("C++", "```cpp", unit_of(lowered_kernels(request)).text),
        f"## Down to the NPU\n\n{(FOLDER / f'{name}.notes.txt').read_text(encoding='utf-8')}",
        *(_listing(title, fence, _by_hand(name, suffix)) for title, suffix, fence in BY_HAND),
    ]
    return "\n".join(parts)


def _kernel(source: str) -> str:
    """The decorated function."""
    return source[source.index("@asc.kernel") :].rstrip()


def _level(request: Request, level: str) -> str:
    return ir_text(lowered_kernels(replace(request, pipeline=pipeline_of(level))))


def _by_hand(name: str, suffix: str) -> str:
    return (FOLDER / f"{name}{suffix}").read_text(encoding="utf-8")


def _listing(title: str, fence: str, text: str) -> str:
    return f"## {title}\n\n{fence}\n{text.strip()}\n```\n"


PAGES: dict[str, Callable[[], str]] = {f"kernels/{name}.md": partial(page, name) for name in NAMES}
