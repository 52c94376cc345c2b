# SPDX-License-Identifier: Apache-2.0
"""Writes the pages and the stub that are derived from the code; `--check` only compares."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import error_pages
import kernel_pages
import stubs

from pyasc import knobs
from pyasc.ir import docs
from pyasc.passes.docs import passes_page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.kernels import language_sentences

DOCS = Path(__file__).resolve().parent.parent / "docs"

ENVIRONMENT_HEAD = """\
# Environment variables

Generated from `pyasc/knobs.py` by `make docs`.

An empty variable counts as unset. A value that a variable does not take is an error that names the
variable. Flags take `1 true yes on` and `0 false no off`.

| variable | type | when unset | effect |
| --- | --- | --- | --- |
"""


def environment_page() -> str:
    """The table of environment variables, as Markdown."""
    rows = [f"| `{v.name}` | {v.kind.label} | {v.default} | {v.effect} |\n" for v in knobs.variables()]
    return ENVIRONMENT_HEAD + "".join(rows)


PAGES: dict[str, Callable[[], str]] = {
    "environment.md": environment_page,
    "dialects.md": docs.dialects_page,
    "numbers.md": docs.numbers_page,
    "passes.md": passes_page,
    "language-tests.md": language_sentences.page,
    **kernel_pages.PAGES,
    **error_pages.PAGES,
    "../pyasc/__init__.pyi": stubs.stub,
}


def stale_pages() -> list[str]:
    """The names of the generated pages whose file differs from what the code says now."""
    return [name for name, page in PAGES.items() if _current(DOCS / name) != page()]


def _current(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def main(arguments: list[str]) -> int:
    stale = stale_pages()
    for name in stale:
        if "--check" in arguments:
            print(f"docs/{name} is out of date: run `make docs`")
        else:
            (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
            print(f"wrote docs/{name}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
