# SPDX-License-Identifier: Apache-2.0
"""The faults of the mutation campaign, the arguments that some are none, and what the documentation says came of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.compilers import needs_compiler
from tests.mutation.campaign import EQUIVALENT, FINDING, PAGE, SURVIVED, Verdict, report, trap_at, with_report
from tests.mutation.equivalence import why_equivalent
from tests.mutation.operators import RULES, Mutant, mutants_of

GOLDEN = Path(__file__).parents[1] / "lit" / "golden" / "ascendc"
FLAGS = "SetFlag<HardEvent::S_V>(event);\nWaitFlag<HardEvent::S_V>(event);\n"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.cpp"))]


def test_every_rule_finds_places_and_keeps_the_lines() -> None:
    found: set[str] = set()
    for text in (*TEXTS, FLAGS):
        mutants = mutants_of(text)
        found |= {mutant.rule for mutant in mutants}
        assert all(mutant.text != text for mutant in mutants)
        assert all(mutant.text.count("\n") == text.count("\n") for mutant in mutants)
    assert found == {rule.name for rule in RULES}


def test_the_same_text_gives_the_same_mutants() -> None:
    assert mutants_of(TEXTS[0]) == mutants_of(TEXTS[0])


def _changed(before: str, after: str, *, rest: str = "") -> Mutant:
    return Mutant("rule", 1, before, after, f"{after}\n{rest}")


@pytest.mark.parametrize(
    "before, after, rest, reason",
    [
        (
            "const DataCopyExtParams copy{1, static_cast<uint32_t>(n), 0, 0, 0};",
            "const DataCopyExtParams copy{1, static_cast<uint32_t>(n), 0, static_cast<uint32_t>(0 + 1), 0};",
            "",
            "block to block",
        ),
        (
            "WholeReduceSum(t, x, n, 1, 1, 1, 8);",
            "WholeReduceSum(t, x, n, 1, 1, 1, 8 - 1);",
            "",
            "repeat to repeat",
        ),
        ("Brcb(s, w, 1, {1, 8});", "Brcb(s, w, 1, {1, 9});", "", "repeat to repeat"),
        (
            "Add<float, false>(a, x, a, MASK_PLACEHOLDER, 1, {1, 1, 1, 0, 8, 0});",
            "Add<float, false>(a, x, a, MASK_PLACEHOLDER, 1 - 1, {1, 1, 1, 0, 8, 0});",
            "",
            "counter mode",
        ),
        (
            "DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(x);",
            ";",
            "DataCacheCleanAndInvalid<float, CacheLine::ENTIRE_DATA_CACHE, DcciDst::CACHELINE_OUT>(y);",
            "line beside it",
        ),
        ("Brcb(s, w, 2, {1, 8});", "Brcb(s, w, 2, {1, 9});", "", ""),
        ("WholeReduceSum(t, x, n, 2, 1, 1, 8);", "WholeReduceSum(t, x, n, 2, 1, 1, 8 - 1);", "", ""),
        ("Add(a, x, a, n);", "Add(a, x, a, n - 1);", "", ""),
    ],
)
def test_arguments_hold_for_what_they_are_about(
    before: str, after: str, rest: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.mutation.equivalence._assembly", lambda text: text)
    found = why_equivalent(f"{before}\n{rest}", _changed(before, after, rest=rest))
    assert reason in found and bool(found) == bool(reason)


@needs_compiler
def test_code_that_compiles_to_the_same_is_no_fault() -> None:
    text = "int f(int id, int extra) {\n    return id < extra ? id : extra;\n}\n"
    pointless = text.replace(": extra", ": id")
    same = pointless.replace("<", "<=")
    assert "same code" in why_equivalent(pointless, Mutant("rule", 2, "<", "<=", same))
    assert not why_equivalent(text, Mutant("rule", 2, "<", ">", text.replace("<", ">")))


def test_a_trap_stands_before_the_whole_statement() -> None:
    assert trap_at("f();\ng(1,\n  2);", 3).split("\n")[1].endswith("= 0; g(1,")


def test_the_report_counts_equivalents_apart() -> None:
    mutant = mutants_of(TEXTS[0])[0]
    verdicts = [Verdict("k", mutant, status) for status in (FINDING, SURVIVED, EQUIVALENT)]
    text = report(verdicts, 7)
    assert "50.0% of 2 faults are told, 50.0% by a finding (seed 7)" in text
    assert with_report("a\n<!-- mutants -->\nold<!-- end of mutants -->\nb", "new\n") == (
        "a\n<!-- mutants -->\nnew\n<!-- end of mutants -->\nb"
    )


def documented() -> tuple[float, int, float]:
    """What docs/model.md says: per cent of faults that are told, of how many, per cent by a finding."""
    found = re.search(
        r"([\d.]+)% of (\d+) faults are told, ([\d.]+)% by a finding", PAGE.read_text(encoding="utf-8")
    )
    assert found is not None
    return float(found[1]), int(found[2]), float(found[3])


def test_the_documented_campaign_tells_enough() -> None:
    told, faults, _ = documented()
    assert told >= 95 and faults >= 200


def test_the_documented_campaign_has_enough_findings() -> None:
    assert documented()[2] >= 85
