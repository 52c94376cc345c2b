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
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field

import numpy as np

from benchmarks import contenders
from benchmarks.cases import BY_NAME, Arguments, Arrays, Case

TURN_SECONDS = 0.004  # how long a contender runs before the other has its turn
SETTLE_SECONDS = 0.05  # for the threads of the contender before to fall asleep
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


def measure(case: Case, options: argparse.Namespace) -> Result:
    """All wanted contenders of one case."""
    result = Result(case.name, case.size)
    original = case.make(np.random.default_rng(1))
    reference = case.reference(original)
    outputs: dict[str, Arrays] = {}
    working = copied(original)

    def ready(name: str) -> Callable[[], object] | None:
        """The checked contender, or None with the reason noted."""
        try:
            restore(working, original)
            run = contenders.ALL[name](case, working, threads=options.threads)
            started = time.perf_counter()
            run()
            if name in PYTHON:
                result.seconds[name] = [time.perf_counter() - started]
            outputs[name] = {output: np.array(working[output]) for output in case.outputs}
            check(case, outputs[name], reference)
        except Exception as error:  # one contender's failure is a row's content, not the end of the run
            result.errors[name] = f"{type(error).__name__}: {error}".strip()
            return None
        return run

    pair = {name: ready(name) for name in ("hand", "pyasc") if name in options.contenders}
    if "pyasc" in outputs and "hand" in outputs:
        result.identical = all(np.array_equal(outputs["pyasc"][o], outputs["hand"][o]) for o in case.outputs)
        if case.exact and not result.identical:
            result.errors["pyasc"] = "WrongResult: not bit-identical to the baseline"
    with spread_threads():
        take_turns({name: run for name, run in pair.items() if run}, options.turns, result)
    for name in [name for name in options.contenders if name not in pair]:
        run = ready(name)
        if run and name in PYTHON:
            wanted = options.list_runs if name == "lists" else options.array_runs
            result.seconds[name] += [timed(run) for _ in range(wanted - 1)]
        elif run:
            with spread_threads():
                take_turns({name: run}, options.turns, result)
    return result


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


def check(case: Case, outputs: Arrays, reference: Arrays) -> None:
    """Raises WrongResult unless every output is within the case's bound."""
    for name, expected in reference.items():
        if not case.tolerance.holds(outputs[name], expected):
            worst = np.nanmax(np.abs(outputs[name].astype(np.float64) - expected))
            raise WrongResult(f"{name} is off by up to {worst:.3g}")


def timed(run: Callable[[], object]) -> float:
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


def turn(run: Callable[[], object]) -> float:
    """The median of several calls in a row, after one that wakes threads and warms caches."""
    warm = timed(run)
    calls = max(3, min(200, int(TURN_SECONDS / max(warm, 1e-7))))
    return statistics.median(timed(run) for _ in range(calls))


def take_turns(runs: dict[str, Callable[[], object]], turns: int, result: Result) -> None:
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
    json.dump(asdict(measure(BY_NAME[options.case], options)), sys.stdout)


if __name__ == "__main__":
    main()
