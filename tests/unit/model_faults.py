# SPDX-License-Identifier: Apache-2.0
"""The faulty kernels under tests/kernels/reference/faults, read from their comments.

Above a kernel, `// rule: PAGE: TEXT` names the published rule it breaks and `// blocks: N` the blocks it needs. The
faulty line ends in `// expect: KIND`, with `via FILE` when the finding is at a helper's line, or `anywhere` when it
belongs to no line.

What must not compile stands in tests/kernels/reference/refused, a case under each `// rule:`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.unit.model_support import REFERENCE

_FOLDER = REFERENCE / "faults"
REFUSED = REFERENCE / "refused" / "cases.cpp"
_KERNEL = re.compile(r'extern "C" __global__ __aicore__ void (\w+)\(')
_RULE = re.compile(r"^// rule: (.+?): (.+)$")
_CASE = re.compile(r"^#if CASE == (\d+)$")
_BLOCKS = re.compile(r"^// blocks( when fixed)?: (\d+)$")
_EXPECT = re.compile(r"// expect: ([\w-]+)(?: (via \S+|anywhere|-\d+))?")


@dataclass(frozen=True)
class Fault:
    """One faulty kernel: where it is, the rule it breaks, and the finding that is due."""

    file: Path
    name: str
    page: str
    rule: str
    kind: str
    line: int
    where: str
    blocks: int
    fixed_blocks: int


def _read(path: Path) -> list[Fault]:
    faults: list[Fault] = []
    page = rule = name = ""
    blocks = fixed = 1
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if match := _RULE.match(line):
            page, rule, blocks, fixed = match[1], match[2], 1, 1
        elif match := _BLOCKS.match(line):
            fixed = int(match[2])
            blocks = blocks if match[1] else fixed
        elif match := _KERNEL.search(line):
            name = match[1]
        if name and (match := _EXPECT.search(line)):
            where = match[2] or ""
            at = number + int(where) if where.startswith("-") else number
            faults.append(Fault(path, name, page, rule, match[1], at, where, blocks, fixed))
    return faults


def all_faults() -> list[Fault]:
    """Every fault of every file, in order."""
    return [fault for path in sorted(_FOLDER.glob("*.cpp")) for fault in _read(path)]


def refused_cases() -> list[tuple[str, str, int]]:
    """Page, rule and number of each text that must not compile, in order."""
    cases: list[tuple[str, str, int]] = []
    page = rule = ""
    for line in REFUSED.read_text(encoding="utf-8").splitlines():
        if match := _RULE.match(line):
            page, rule = match[1], match[2]
        elif match := _CASE.match(line):
            cases.append((page, rule, int(match[1])))
    return cases


def rules_table() -> str:
    """The Markdown table of enforced rules: page, rule, kind of finding, and the kernel that proves it."""
    rows = sorted({(f.page, f.rule, f.kind, f"{f.file.stem}: {f.name}") for f in all_faults()})
    lines = [f"| {page} | {rule} | `{kind}` | {where} |" for page, rule, kind, where in rows]
    lines += [f"| {page} | {rule} | does not compile | refused: {n} |" for page, rule, n in refused_cases()]
    lines.sort()
    return "\n".join(["| page | rule | finding | kernel |", "| --- | --- | --- | --- |", *lines])


def with_rules(page: str) -> str:
    """The text of docs/model.md with its table of rules brought up to date."""
    start, end = "<!-- rules -->\n", "<!-- end of rules -->"
    before, _, rest = page.partition(start)
    return f"{before}{start}{rules_table()}\n{end}{rest.partition(end)[2]}"


PAGE = Path(__file__).parents[2] / "docs" / "model.md"

if __name__ == "__main__":
    PAGE.write_text(with_rules(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
