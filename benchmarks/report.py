# SPDX-License-Identifier: Apache-2.0
"""Turns measurements into Markdown: the machine, the table of kernels, the bars."""

from __future__ import annotations

import math
import os
import platform
import statistics
import subprocess
import sys
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

from benchmarks import handwritten
from benchmarks.cases import BY_NAME, geometric_mean
from benchmarks.worker import Result

RESULTS = Path(__file__).with_name("RESULTS.md")
OTHERS = ("numba", "numpy", "lists", "arrays")


def machine(threads: int) -> str:
    """Date, processor, load, threads and versions, one to a line."""
    facts = {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": f"{_processor()}, {os.cpu_count()} cores, {threads} threads used",
        "load before the run": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "compiler": _first_line([handwritten.compiler(), "--version"]),
        "Python": f"{platform.python_version()}, " + ", ".join(map(_version, ("numpy", "numba"))),
        "commit": _first_line(["git", "-C", str(RESULTS.parent), "describe", "--always", "--dirty"]),
    }
    return "\n".join(f"- {name}: {value}" for name, value in facts.items())


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {name.strip(): value.strip() for name, value in fields.items()}
    family = ", ".join(f"{key} {named[key]}" for key in ("cpu family", "model", "stepping") if key in named)
    return f"{named.get('model name', platform.machine())} ({family})"


def _first_line(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def _version(package: str) -> str:
    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"no {package}"


def table(results: list[Result]) -> str:
    """One row a kernel; times are medians, factors say how many times faster pyasc is than the other."""
    heads = ["kernel", "size", "pyasc", "C++ by hand", "C++ / pyasc (10th to 90th percentile)"]
    heads += ["Numba / pyasc", "NumPy / pyasc", "lists / pyasc", "arrays / pyasc", "same bits as C++"]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for result in results:
        cells = [result.case, result.size, _time(result, "pyasc"), _time(result, "hand"), _spread(result)]
        cells += [_factor(result, other) for other in OTHERS]
        cells += ["" if result.identical is None else "yes" if result.identical else "no"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _median(result: Result, name: str) -> float:
    return statistics.median(result.seconds[name]) if result.seconds.get(name) else math.nan


def _time(result: Result, name: str) -> str:
    seconds = _median(result, name)
    if math.isnan(seconds):
        reason = result.errors.get(name, "not run").removeprefix("Unavailable: ")
        return reason[:80].replace("\n", " ").replace("|", "/")
    return f"{seconds * 1e3:.3f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _spread(result: Result) -> str:
    if not result.ratios:
        return ""
    ordered = sorted(result.ratios)
    low, high = ordered[len(ordered) // 10], ordered[-1 - len(ordered) // 10]
    return f"{statistics.median(ordered):.2f} ({low:.2f} to {high:.2f})"


def _factor(result: Result, other: str) -> str:
    seconds, ours = _median(result, other), _median(result, "pyasc")
    if math.isnan(seconds):
        return _time(result, other)
    return _time(result, other) if math.isnan(ours) else f"{seconds / ours:.3g} ({_time(result, other)})"


def bars(results: list[Result]) -> str:
    """The bars of the kernels, each with the figure reached; rows without a pyasc time are named, not counted."""
    ours = [result for result in results if result.seconds.get("pyasc") and "pyasc" not in result.errors]
    blas = _factors([r for r in ours if "matmul" in (r.case, BY_NAME[r.case].variant_of)], "numpy")
    ours = [result for result in ours if not BY_NAME[result.case].variant_of]
    lists = _factors(ours, "lists")
    hand = [statistics.median(result.ratios) for result in ours if result.ratios]
    fused = _factors([result for result in ours if BY_NAME[result.case].fused], "numpy")
    lines = ["| bar | wanted | reached |", "| --- | --- | --- |"]
    lines += [
        _bar("CPython on lists, least", 40, min(lists, default=math.nan)),
        _bar("CPython on lists, geometric mean", 300, geometric_mean(lists)),
        _bar("hand-written C++, least", 0.94, min(hand, default=math.nan)),
        _bar("hand-written C++, geometric mean", 0.97, geometric_mean(hand)),
        _bar("Numba, geometric mean", 1.0, geometric_mean(_factors(ours, "numba"))),
        _bar("NumPy on the fused kernels, least", 2.0, min(fused, default=math.nan)),
        _bar("NumPy's BLAS for every way to write matmul, least", 0.5, min(blas, default=math.nan)),
    ]
    missing = [
        result.case for result in results if not result.seconds.get("pyasc") or "pyasc" in result.errors
    ]
    if missing:
        lines.append(f"\nWithout a pyasc time: {', '.join(missing)}.")
    return "\n".join(lines)


def _factors(results: list[Result], other: str) -> list[float]:
    return [
        _median(result, other) / _median(result, "pyasc") for result in results if result.seconds.get(other)
    ]


def _bar(what: str, wanted: float, reached: float) -> str:
    figure = "none" if math.isnan(reached) else f"{reached:.3g}" + ("" if reached >= wanted else " (missed)")
    return f"| {what} | {wanted} | {figure} |"


def errors(results: list[Result]) -> str:
    """Every contender that gave no numbers, with its reason."""
    lines = [
        f"- {result.case}, {name}: {message.splitlines()[0] if message else 'unknown'}"
        for result in results
        for name, message in result.errors.items()
        if not message.startswith("Unavailable")
    ]
    return "\n".join(lines)


def publish(title: str, sections: list[str], *, write: bool) -> None:
    """Prints one dated run and, if wanted, adds it to RESULTS.md."""
    text = "\n\n".join([f"## {title}", *filter(None, sections)]) + "\n"
    print(text)
    if not write:
        return
    head = "" if RESULTS.exists() else "# Results\n\nRuns of the scripts in this folder, oldest first.\n"
    with RESULTS.open("a", encoding="utf-8") as file:
        file.write(f"{head}\n{text}")
    print(f"added to {RESULTS}", file=sys.stderr)
