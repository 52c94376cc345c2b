# SPDX-License-Identifier: Apache-2.0
"""The pages of the documentation: links lead somewhere, and the index lists every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix())
def test_links_lead_to_files(page: Path) -> None:
    targets = [target for target in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_index_lists_every_page() -> None:
    listed = _linked(DOCS / "index.md") | _linked(DOCS / "errors.md")
    pages = {path.resolve() for path in DOCS.rglob("*.md")} - {(DOCS / "index.md").resolve()}
    assert [str(page.relative_to(DOCS)) for page in sorted(pages - listed)] == []


def _linked(page: Path) -> set[Path]:
    return {(DOCS / target).resolve() for target in LINK.findall(page.read_text("utf-8"))}
