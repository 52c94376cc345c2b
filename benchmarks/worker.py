# SPDX-License-Identifier: Apache-2.0
"""Measures one case in a process of its own and prints the result as one JSON object.

pyasc and the hand-written baseline take turns on the same arrays, and each turn gives one ratio. The others are
measured after them, each alone, since idle threads of one library may spin while another is timed. Every contender's
result is checked before it is timed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field

import numpy as np

from benchmarks import contenders
from benchmarks.cases import BY_NAME, Arguments, Arrays, Case
from benchmarks.contenders import Run

TURN_SECONDS = 0.004  # how long a contender runs before the other has its turn
SETTLE_SECONDS = 0.05  # for the threads of the contender before to fall asleep
PAIR = ("pyasc", "hand")
PYTHON = ("lists", "arrays")


@dataclass
class Result:
    """What one case gave.

    `seconds` holds one median per turn (for CPython: one run each), `ratios` hand-written time over pyasc's per turn,
    `errors` why a contender has no numbers, `identical` whether pyasc's bits are the baseline's.
    """

    case: str
    size: str
    seconds: dict[str, list[float]] = field(default_factory=dict)
    ratios: list[float] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)
    identical: bool | None = None


class WrongResult(Exception):
    """A contender's result is outside the case's bound."""


class Measurement:
    """One case on its way through the contenders, all of which work on the same arrays."""

    def __init__(self, case: Case, options: argparse.Namespace) -> None:
        self.case = case
        self.options = options
        self.result = Result(case.name, case.size)
        self._original = case.make(np.random.default_rng(1))
        self._working = copied(self._original)
        self._reference = case.reference(self._original)
        self._outputs: dict[str, Arrays] = {}

    def run(self) -> Result:
        """The pair in turns, then the others."""
        wanted = self.options.contenders
        pair = {name: run for name in PAIR if name in wanted and (run := self._ready(name))}
        self._compare_bits()
        with spread_threads():
            take_turns(pair, self.options.turns, self.result)
        for name in wanted:
            if name not in PAIR and (run := self._ready(name)):
                self._alone(name, run)
        return self.result

    def _ready(self, name: str) -> Run | None:
        """The contender after one run with a right result, or None with the reason noted."""
        try:
            restore(self._working, self._original)
            run = contenders.ALL[name](self.case, self._working, threads=self.options.threads)
            first = timed(run)
            self._outputs[name] = {output: np.array(self._working[output]) for output in self.case.outputs}
            exempt = self.case.float64_share if name in PYTHON else 0.0
            check(self.case, self._outputs[name], self._reference, exempt)
        except Exception as error:  # one contender's failure is a row's content, not the end of the run
            self.result.errors[name] = f"{type(error).__name__}: {error}".strip()
            return None
        if name in PYTHON:
            self.result.seconds[name] = [first]
        return run

    def _compare_bits(self) -> None:
        if not all(name in self._outputs for name in PAIR):
            return
        ours, theirs = (self._outputs[name] for name in PAIR)
        self.result.identical = all(np.array_equal(ours[name], theirs[name]) for name in self.case.outputs)
        if self.case.exact and not self.result.identical:
            self.result.errors["pyasc"] = "WrongResult: not bit-identical to the baseline"

    def _alone(self, name: str, run: Run) -> None:
        if name in PYTHON:
            runs = self.options.list_runs if name == "lists" else self.options.array_runs
            self.result.seconds[name] += [timed(run) for _ in range(runs - 1)]
            return
        with spread_threads():
            take_turns({name: run}, self.options.turns, self.result)


def copied(arguments: Arguments) -> Arguments:
    """The arguments with arrays of their own."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value for name, value in arguments.items()
    }


def restore(working: Arguments, original: Arguments) -> None:
    """Gives the arrays of `working` the values of `original`, in place."""
    for name, value in original.items():
        if isinstance(value, np.ndarray):
            np.asarray(working[name])[...] = value


def check(case: Case, outputs: Arrays, reference: Arrays, exempt: float) -> None:
    """Raises WrongResult unless every output, but for a share of `exempt`, is within the case's bound."""
    for name, expected in reference.items():
        if not case.tolerance.holds(outputs[name], expected, exempt):
            worst = np.nanmax(np.abs(outputs[name].astype(np.float64) - expected))
            raise WrongResult(f"{name} is off by up to {worst:.3g}")


def timed(run: Run) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


@contextlib.contextmanager
def spread_threads() -> Iterator[None]:
    """Binds the calling thread to one processor and the others of the process to the rest, for a while.

    A scheduler may leave a woken thread on its waker's processor for longer than a kernel takes. Every pool here
    counts the calling thread as one of its own, so this is the placement that each of them means.
    """
    allowed = sorted(os.sched_getaffinity(0))
    threads = [int(name) for name in os.listdir("/proc/self/task")] if len(allowed) > 1 else []
    for thread in threads:
        here = thread == threading.get_native_id()
        os.sched_setaffinity(thread, allowed[:1] if here else allowed[1:])
    try:
        yield
    finally:
        for thread in threads:
            os.sched_setaffinity(thread, allowed)


def turn(run: Run) -> float:
    """The median of several calls in a row, after one that wakes threads and warms caches."""
    warm = timed(run)
    calls = max(3, min(200, int(TURN_SECONDS / max(warm, 1e-7))))
    return statistics.median(timed(run) for _ in range(calls))


def take_turns(runs: dict[str, Run], turns: int, result: Result) -> None:
    """Rounds in alternating order; a round in which both ran gives a ratio."""
    time.sleep(SETTLE_SECONDS)
    for run in runs.values():
        turn(run)
    for name in runs:
        result.seconds[name] = []
    for number in range(turns):
        for name in runs if number % 2 else reversed(runs):
            time.sleep(0.001)
            result.seconds[name].append(turn(runs[name]))
        if len(runs) == 2:
            result.ratios.append(result.seconds["hand"][-1] / result.seconds["pyasc"][-1])


def main() -> None:
    """Reads the options that `benchmarks.run` passes on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=BY_NAME)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--turns", type=int, required=True)
    parser.add_argument("--list-runs", type=int, required=True)
    parser.add_argument("--array-runs", type=int, required=True)
    parser.add_argument("--contenders", nargs="+", choices=contenders.ALL, required=True)
    options = parser.parse_args()
    json.dump(asdict(Measurement(BY_NAME[options.case], options).run()), sys.stdout)


if __name__ == "__main__":
    main()
