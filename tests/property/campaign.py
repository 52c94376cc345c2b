# SPDX-License-Identifier: Apache-2.0
"""Long random campaigns: `python -m tests.property.campaign KIND --from SEED --count N --jobs 2`.

A batch of seeds is one compiled unit in a process of its own, so that a crash or a hang of generated code is found
like any other difference. Each difference leaves a reproducer in `build/fuzz`; the exit code says whether there is any.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from tests.property.outcome import DIFFERENT, REFUSED, SAME, SKIPPED, Outcome

KINDS = {
    "scalars": "tests.property.check_scalars:check_scalars",
    "kernels": "tests.property.check_kernels:check_kernels",
    "tensors": "tests.property.check_tensors:check_tensors",
    "model-tensors": "tests.property.check_tensors:check_model",
    "model": "tests.property.check_kernels:check_model",
}
"""From the name of a kind to the function that generates, compiles and checks the programs of some seeds."""

Check = Callable[[Sequence[int]], "list[Outcome]"]
BATCH = 50
SECONDS_FOR_A_PROGRAM = 6
FOLDER = Path("build/fuzz")


@dataclass
class Tally:
    """Counts of a campaign so far."""

    statuses: Counter[str] = field(default_factory=lambda: Counter[str]())
    features: Counter[str] = field(default_factory=lambda: Counter[str]())
    refusals: Counter[str] = field(default_factory=lambda: Counter[str]())

    def add(self, outcome: Outcome) -> None:
        """Count one program."""
        self.statuses[outcome.status] += 1
        self.features.update(outcome.features)
        if outcome.status == REFUSED:
            self.refusals[_gist(outcome.message)] += 1

    def line(self, done: int, seconds: float) -> str:
        """One line of progress."""
        counts = ", ".join(f"{self.statuses[s]} {s}" for s in (SAME, REFUSED, SKIPPED, DIFFERENT))
        return f"{done} programs in {seconds:.0f} s: {counts}"

    def report(self) -> str:
        """What was refused, and how many programs had each feature."""
        total = max(self.statuses.total(), 1)
        refused = [f"  {count:6} {gist}" for gist, count in self.refusals.most_common(12)]
        shares = [f"{name} {100 * count // total}%" for name, count in sorted(self.features.items())]
        accepted = 100 * (total - self.statuses[REFUSED]) / total
        return "\n".join([f"accepted: {accepted:.1f}%", *refused, "features: " + ", ".join(shares)])


def _gist(message: str) -> str:
    """The line of a message that says what is wrong."""
    first = next((line for line in message.splitlines() if "error[" in line), message)
    return first[first.find("error[") :][:110]


def check_of(kind: str) -> Check:
    """The function of a kind."""
    module, _, name = KINDS[kind].partition(":")
    return getattr(importlib.import_module(module), name)


def _work(kind: str, seeds: Sequence[int], results: Connection) -> None:
    try:
        results.send(check_of(kind)(seeds))
    except BaseException:
        results.send(traceback.format_exc())


def run_batch(kind: str, seeds: Sequence[int]) -> list[Outcome]:
    """Check some seeds in a process of their own; one that ends early is narrowed down to single programs."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_work, args=(kind, seeds, sender))
    process.start()
    sender.close()
    failure = "takes too long"
    try:
        if receiver.poll(60 + SECONDS_FOR_A_PROGRAM * len(seeds)):
            found = receiver.recv()
            if isinstance(found, list):
                return found
            failure = found
    except EOFError:
        process.join()
        failure = f"the process ended with {process.exitcode}"
    finally:
        if process.is_alive():
            process.kill()
        process.join()
    if len(seeds) == 1:
        return [Outcome(seeds[0], DIFFERENT, "", frozenset(), failure)]
    return [outcome for seed in seeds for outcome in run_batch(kind, [seed])]


def batches(start: int, count: int) -> Iterator[range]:
    """The seeds, in batches that begin at the same seeds wherever a campaign starts."""
    end = start + count
    while start < end:
        stop = min(end, (start // BATCH + 1) * BATCH)
        yield range(start, stop)
        start = stop


def write_reproducer(kind: str, outcome: Outcome) -> Path:
    """A file with the program and what is wrong with it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{kind}-{outcome.seed}.py"
    command = f"python -m tests.property.campaign {kind} --from {outcome.seed} --count 1"
    notes = "\n".join(f"# {line}" for line in [command, *outcome.message.splitlines()])
    path.write_text(f"{notes}\n{outcome.text}", encoding="utf-8")
    return path


def campaign(kind: str, start: int, count: int, jobs: int) -> Tally:
    """Check `count` seeds from `start`; differences are printed as they come."""
    tally = Tally()
    began = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        for outcomes in pool.map(lambda seeds: run_batch(kind, seeds), batches(start, count)):
            for outcome in outcomes:
                tally.add(outcome)
                if outcome.status == DIFFERENT:
                    path = write_reproducer(kind, outcome)
                    print(f"{path}: {outcome.message.splitlines()[-1][:300]}")
            seconds = time.monotonic() - began
            print(f"{kind} to {outcomes[-1].seed}: {tally.line(tally.statuses.total(), seconds)}", flush=True)
    return tally


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.property.campaign", description=__doc__)
    parser.add_argument("kind", choices=[*KINDS])
    parser.add_argument("--from", dest="start", type=int, default=0, metavar="SEED")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pyasc-fuzz-") as folder:
        tempfile.tempdir = folder
        tally = campaign(chosen.kind, chosen.start, chosen.count, chosen.jobs)
    print(tally.report())
    return 1 if tally.statuses[DIFFERENT] else 0


if __name__ == "__main__":
    sys.exit(main())
