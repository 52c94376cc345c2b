# SPDX-License-Identifier: Apache-2.0
"""Diagnostics as a SARIF 2.1.0 log, the exchange format of static analysis (OASIS standard)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyasc import __version__
from pyasc.ir.diagnostic_codes import CODES
from pyasc.ir.diagnostics import Diagnostic
from pyasc.ir.location import Location

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
PASSED_OVER = "not-checked"
"""The rule of remarks about kernels that could not be checked."""

_LEVELS = {"error": "error", "warning": "warning"}


def sarif_log(diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """The log of one run, with the rules that it mentions."""
    ids = sorted({_rule_id(each) for each in diagnostics})
    driver = {"name": "pyasc", "version": __version__, "rules": [_rule(each) for each in ids]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, ids) for each in diagnostics],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule_id(diagnostic: Diagnostic) -> str:
    return diagnostic.code or PASSED_OVER


def _rule(code: str) -> dict[str, Any]:
    known = CODES.get(code)
    title = "a kernel that could not be checked completely" if known is None else known.title
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": title}}
    if known is not None:
        rule["help"] = {"text": f"{known.hint}. `pyasc explain {code}` says more."}
    return rule


def _result(diagnostic: Diagnostic, ids: Sequence[str]) -> dict[str, Any]:
    parts = [diagnostic.message, diagnostic.label, *diagnostic.notes]
    hint = f" (hint: {diagnostic.hint})" if diagnostic.hint else ""
    result: dict[str, Any] = {
        "ruleId": _rule_id(diagnostic),
        "ruleIndex": ids.index(_rule_id(diagnostic)),
        "level": _LEVELS.get(diagnostic.severity, "note"),
        "message": {"text": "; ".join(part for part in parts if part) + hint},
    }
    if diagnostic.loc.known:
        result["locations"] = [{"physicalLocation": _physical(diagnostic.loc)}]
    related = [
        {"id": k, "physicalLocation": _physical(each.loc), "message": {"text": each.message}}
        for k, each in enumerate(diagnostic.related)
        if each.loc.known
    ]
    return result | ({"relatedLocations": related} if related else {})


def _physical(loc: Location) -> dict[str, Any]:
    path = Path(loc.file)
    uri = path.as_uri() if path.is_absolute() else path.as_posix().replace(" ", "%20")
    region = {
        "startLine": loc.line,
        "startColumn": loc.column + 1,
        "endLine": loc.end_line,
        "endColumn": loc.end_column + 1,
    }
    return {"artifactLocation": {"uri": uri}, "region": region}
