# SPDX-License-Identifier: Apache-2.0
"""Compares the twelve kernels with hand-written C++, Numba, NumPy and CPython: `python -m benchmarks.run`.

Each case runs in processes of its own, with every library limited to the same number of threads. They are several
since where arrays lie in memory moves a ratio by some percent, and stays the same for as long as a process runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

from benchmarks import handwritten, report
from benchmarks.cases import BY_NAME
from benchmarks.contenders import ALL
from benchmarks.worker import Result

ROOT = Path(__file__).resolve().parent.parent
QUICK = ("pyasc", "hand", "numpy")
"""Contenders that are measured in every process; the others would take minutes."""


def environment(threads: int) -> dict[str, str]:
    """The environment of a measuring process: the same threads for all, NumPy free to choose its BLAS kernel."""
    variables = dict(os.environ)
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        variables.pop(name, None)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "PYASC_NUM_THREADS"):
        variables[name] = str(threads)
    return variables


def run_case(name: str, options: argparse.Namespace) -> Result:
    """What all processes of a case gave; one that dies gives a result that says so."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    quick = [contender for contender in options.contenders if contender in QUICK]
    results = [run_process(name, options, options.contenders)]
    results += [run_process(name, options, quick) for _ in range(options.processes - 1)]
    return reduce(joined, results)


def run_process(name: str, options: argparse.Namespace, contenders: Sequence[str]) -> Result:
    """What one process gave, on arrays of its own."""
    command = [sys.executable, "-m", "benchmarks.worker", name, "--threads", str(options.threads)]
    command += ["--turns", str(options.turns), "--list-runs", str(options.list_runs)]
    command += ["--array-runs", str(options.array_runs), "--contenders", *contenders]
    done = subprocess.run(command, cwd=ROOT, env=environment(options.threads), capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        return Result(name, BY_NAME[name].size, errors={"worker": reason[0]})
    return Result(**json.loads(done.stdout))


def joined(a: Result, b: Result) -> Result:
    """The measurements of both; bits are the same where they are in both."""
    names = [*a.seconds, *(name for name in b.seconds if name not in a.seconds)]
    seconds = {name: a.seconds.get(name, []) + b.seconds.get(name, []) for name in names}
    identical = None if a.identical is None or b.identical is None else a.identical and b.identical
    return Result(a.case, a.size, seconds, a.ratios + b.ratios, b.errors | a.errors, identical)


def parse_options() -> argparse.Namespace:
    """Defaults are those of a full run: at least 15 ratios, at least 7 runs of CPython on lists."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(BY_NAME)}; default all")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument(
        "--processes", type=int, default=5, help="in each of which a case has arrays of its own"
    )
    parser.add_argument(
        "--turns", type=int, default=21, help="ratios of pyasc and hand-written C++ in a process"
    )
    parser.add_argument("--list-runs", type=int, default=7, help="runs of CPython on lists")
    parser.add_argument("--array-runs", type=int, default=1, help="runs of CPython on arrays")
    parser.add_argument("--contenders", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--quick", action="store_true", help="without CPython; nothing is written")
    options = parser.parse_args()
    unknown = [name for name in options.cases if name not in BY_NAME]
    if unknown:
        parser.error(f"no case {unknown[0]!r}; there are {', '.join(BY_NAME)}")
    if options.quick:
        options.contenders = [name for name in options.contenders if name not in ("lists", "arrays")]
    return options


def main() -> None:
    """Runs the cases and adds the tables to RESULTS.md."""
    options = parse_options()
    handwritten.build()
    about = report.machine(options.threads)
    results = [run_case(name, options) for name in options.cases or BY_NAME]
    sections = [about, report.table(results), report.bars(results), report.errors(results)]
    report.publish("Kernels", sections, write=not options.quick)


if __name__ == "__main__":
    main()
