# SPDX-License-Identifier: Apache-2.0
"""Puts faults into emitted kernels and counts those that the model tells: `python -m tests.mutation.campaign`.

Faults are drawn by seed: first the rule, then the kernel, then the place. Each runs in a process of its own, on the
model with its checks on, at sizes that the unchanged kernel gets right.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyasc.runtime import model
from pyasc.runtime.toolchain import BuildError
from tests.mutation.corpus import Subject, same, subjects
from tests.mutation.equivalence import why_equivalent
from tests.mutation.operators import Mutant, mutants_of

FINDING, WRONG, SURVIVED = "finding", "wrong", "survived"
EQUIVALENT, UNREACHED, INVALID = "equivalent", "unreached", "invalid"
LIMIT_SECONDS = 120
PAGE = Path(__file__).parents[2] / "docs" / "model.md"


@dataclass(frozen=True)
class Verdict:
    """What became of one fault, and what told it (the kinds of the findings), or why it is none."""

    kernel: str
    mutant: Mutant
    status: str
    detail: str = ""


def judge(subject: Subject, mutant: Mutant) -> tuple[str, str]:
    """Run one fault at all sizes; the first that tells it decides."""
    try:
        built = model.build_text(mutant.text, subject.kernel.abi.symbol)
    except BuildError as error:
        return INVALID, str(error).splitlines()[-1]
    wrong = ""
    try:
        for launch in subject.launches:
            try:
                if not same(subject.run(built, launch), launch.expected):
                    wrong = wrong or "another result"
            except model.ModelFindings as error:
                return FINDING, ", ".join(sorted({each.kind for each in error.findings}))
            except Exception as error:
                wrong = wrong or f"{type(error).__name__}: {error}".splitlines()[0]
    finally:
        for path in (built.library, built.library.with_suffix(".cpp"), built.source):
            path.unlink(missing_ok=True)
    return (WRONG, wrong) if wrong else (SURVIVED, "")


def judge_apart(subject: Subject, mutant: Mutant) -> tuple[str, str]:
    """As `judge`, in a process of its own: one that crashes or does not end gives no right result."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def work() -> None:
        theirs.send(judge(subject, mutant))
        theirs.close()
        os._exit(0)

    process = context.Process(target=work)
    process.start()
    theirs.close()
    answer = (WRONG, "no answer: the process crashed or did not end")
    with suppress(EOFError):
        if ours.poll(LIMIT_SECONDS):
            answer = ours.recv()
    process.kill()
    process.join()
    return answer


def draw(pool: Sequence[Subject], rng: random.Random) -> Any:
    """Endless distinct faults: a rule, a kernel that it applies to, a place."""
    by_rule: dict[str, dict[str, list[Mutant]]] = defaultdict(dict)
    for subject in pool:
        # What no launch runs cannot be told.
        for mutant in (m for m in mutants_of(subject.kernel.file.text) if m.line in subject.lines):
            by_rule[mutant.rule].setdefault(subject.name, []).append(mutant)
    known = {subject.name: subject for subject in pool}
    while by_rule:
        rule = rng.choice(sorted(by_rule))
        name = rng.choice(sorted(by_rule[rule]))
        places = by_rule[rule][name]
        yield known[name], places.pop(rng.randrange(len(places)))
        if not places:
            del by_rule[rule][name]
        if not by_rule[rule]:
            del by_rule[rule]


def campaign(count: int, seed: int, verbose: bool = True) -> list[Verdict]:
    """Verdicts on `count` faults that are none of equivalent and invalid; those come as well."""
    pool = list(subjects())
    print(f"{len(pool)} kernels")
    verdicts: list[Verdict] = []
    counted = 0
    for subject, mutant in draw(pool, random.Random(seed)):
        if counted == count:
            break
        status, detail = judge_apart(subject, mutant)
        if status == SURVIVED:
            status, detail = _explain(subject, mutant)
        verdicts.append(Verdict(subject.name, mutant, status, detail))
        counted += status in (FINDING, WRONG, SURVIVED)
        if verbose and status not in (FINDING, INVALID):
            print(f"{status} ({detail}): {mutant.rule}: {subject.name}:{mutant.line}")
            print(f"  - {mutant.before}\n  + {mutant.after}", flush=True)
    return verdicts


def _explain(subject: Subject, mutant: Mutant) -> tuple[str, str]:
    """What a fault that nothing tells is: one in code that no launch runs, none at all, or a survivor."""
    trapped = replace(mutant, text=trap_at(subject.kernel.file.text, mutant.line))
    if judge_apart(subject, trapped)[0] == SURVIVED:
        return UNREACHED, "no launch runs this line"
    reason = why_equivalent(subject.kernel.file.text, mutant)
    return (EQUIVALENT, reason) if reason else (SURVIVED, "")


def trap_at(text: str, line: int) -> str:
    """The text with a wild write before the statement on a line."""
    lines = text.split("\n")
    start = line - 1
    while not lines[start - 1].rstrip().endswith((";", "{", "}")):
        start -= 1
    lines[start] = f"*reinterpret_cast<volatile int*>(0) = 0; {lines[start]}"
    return "\n".join(lines)


def table(verdicts: Sequence[Verdict]) -> str:
    """The Markdown table by rule, and the total."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in verdicts:
        counts[each.mutant.rule][each.status] += 1
        counts["all"][each.status] += 1
    lines = [
        "| fault | finding | wrong result | survived | equivalent | not reached |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for rule, found in sorted(counts.items(), key=lambda each: (each[0] == "all", each[0])):
        cells = [found[status] for status in (FINDING, WRONG, SURVIVED, EQUIVALENT, UNREACHED)]
        if any(cells):
            lines.append(f"| {rule} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def report(verdicts: Sequence[Verdict], seed: int) -> str:
    """The table and what it comes to."""
    total = Counter(each.status for each in verdicts)
    told = total[FINDING] + total[WRONG]
    real = told + total[SURVIVED]
    shares = (
        f"{told / real:.1%} of {real} faults are told, {total[FINDING] / real:.1%} by a finding (seed {seed})"
    )
    return f"{table(verdicts)}\n\n{shares}.\n"


def with_report(page: str, text: str) -> str:
    """The text of docs/model.md with a report in its place."""
    start, end = "<!-- mutants -->\n", "<!-- end of mutants -->"
    before, _, rest = page.partition(start)
    return f"{before}{start}{text}{end}{rest.partition(end)[2]}"


def main() -> None:
    """Run, print, and with `--write` put the table into docs/model.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="put the table into docs/model.md")
    options = parser.parse_args()
    folder = Path(tempfile.gettempdir()) / f"pyasc-mutants-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    model.model_cache = lambda: folder
    text = report(campaign(options.count, options.seed), options.seed)
    print(text)
    if options.write:
        PAGE.write_text(with_report(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
