# SPDX-License-Identifier: Apache-2.0
"""The generated pages of the IR say what the declarations say now."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyasc.ir import docs
from pyasc.ir.dialects import operations
from pyasc.ir.numbers import ROWS

PAGES = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(
    ("name", "page"), [("dialects.md", docs.dialects_page), ("numbers.md", docs.numbers_page)]
)
def test_pages_are_in_sync(name: str, page: object) -> None:
    assert callable(page)
    assert (PAGES / name).read_text(encoding="utf-8") == page(), "run `make docs`"


def test_every_operation_and_function_is_listed() -> None:
    dialects, numbers = docs.dialects_page(), docs.numbers_page()
    assert [name for name in operations() if f"\n### {name}\n" not in dialects] == []
    assert [row.name for row in ROWS if f"\n| `{row.name}` |" not in numbers] == []


def test_every_operation_says_what_it_does() -> None:
    assert [name for name, cls in operations().items() if len(cls.spec.doc) < 10] == []
