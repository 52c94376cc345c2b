# SPDX-License-Identifier: Apache-2.0
"""The page on passes says what their docstrings say now, and the IR in them is what the passes do."""

from __future__ import annotations

from pathlib import Path

from pyasc.passes.docs import passes_page
from pyasc.passes.registry import PASSES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "passes.md"


def test_page_is_in_sync() -> None:
    assert PAGE.read_text(encoding="utf-8") == passes_page(), "run `make docs`"


def test_scalar_passes_show_ir_before_and_after() -> None:
    page = passes_page()
    sections = {text.partition("\n")[0]: text for text in page.split("\n## ")}
    shown = [name for name in PASSES if name in sections]
    assert len(shown) > 10
    silent = [name for name in shown if "    %" not in sections[name] and "scf.for" not in sections[name]]
    assert silent == []
