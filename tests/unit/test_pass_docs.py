# SPDX-License-Identifier: Apache-2.0
"""The page on passes says what their docstrings say now, and the IR in them is what the passes do."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyasc.passes.docs import passes_page
from pyasc.passes.registry import PASSES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "passes.md"


def test_page_is_in_sync() -> None:
    assert PAGE.read_text(encoding="utf-8") == passes_page(), "run `make docs`"


SCALAR = (
    "inline canonicalize fold sccp cse dce licm if-convert resolve-indices prove forward unroll cleanup"
).split()


@pytest.mark.parametrize("name", SCALAR)
def test_scalar_passes_show_ir_before_and_after(name: str) -> None:
    sections = {text.partition("\n")[0]: text for text in passes_page().split("\n## ")}
    assert name in PASSES
    assert "\nBefore:\n\n    " in sections[name]
    assert "\nAfter" in sections[name]
