# SPDX-License-Identifier: Apache-2.0
"""Every error code has a page, and the page says what pyasc says of its kernels now."""

from __future__ import annotations

import re
from pathlib import Path

import error_pages
import pytest

import pyasc
from pyasc.ir.diagnostic_codes import CODES

PACKAGE = Path(pyasc.__file__).parent
REMARKS = {"PA0290", "PA0701"}
"""Codes of what a target does not take, which is no error on `cpu`."""

PAGES = sorted(path.stem for path in error_pages.FOLDER.glob("*.md"))


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert list(CODES) == PAGES


def test_every_code_in_the_sources_is_registered() -> None:
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    used = {code for text in sources for code in re.findall(r'"(PA\d{4})"', text)}
    assert used - REMARKS == set(CODES)


def test_the_list_is_in_sync() -> None:
    assert (error_pages.FOLDER.parent / "errors.md").read_text(encoding="utf-8") == error_pages.list_page()


@pytest.mark.parametrize("code", PAGES)
def test_a_page(code: str) -> None:
    text = (error_pages.FOLDER / f"{code}.md").read_text(encoding="utf-8")
    wrong, right = error_pages.kernels(text)
    found = error_pages.mistakes(wrong)
    assert [each.code for each in found] == [code]
    assert found[0].hint
    assert right, "a page ends with the kernel mended"
    assert [error_pages.mistakes(block) for block in right] == [[] for _ in right]
    assert text == error_pages.page(code), "run `make docs`"
