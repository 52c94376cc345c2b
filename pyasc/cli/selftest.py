# SPDX-License-Identifier: Apache-2.0
"""`pyasc selftest`: a fixed list of kernels on one device, and a report that can be sent to the authors."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from pyasc import __version__
from pyasc.cli.failures import Failure
from pyasc.runtime.files import write_atomically

if TYPE_CHECKING:
    from pyasc.selftest import Case

_HELP = """Run a fixed list of kernels on a device and hold their results to NumPy's in double precision.

\b
  pyasc selftest --device npu            writes pyasc-selftest-npu.json and .txt
  pyasc selftest --device model --kernel softmax

The report says which kernels are right, how wrong the others are, and how long a launch takes; it names versions and
the SoC, and no paths, users or host names. Where an NPU is at hand, please send the JSON file to the authors: pyasc is
developed without one. The exit code is 1 if a kernel is wrong or fails.
"""

_FORMAT = 1
_SHOWN_DIFFERENCES = 4


@dataclass(frozen=True)
class Outcome:
    """One kernel at one shape.

    `status` is `pass`, `wrong` or `error`. `max_error` is the largest difference, `of_bound` the largest share of the
    bound that one takes (1 and more is wrong). `seconds` is a warm launch, copies included; `predicted_us` is that
    of the model. `detail` says what went wrong.
    """

    kernel: str
    shape: tuple[int, ...]
    status: str
    max_error: float = 0.0
    of_bound: float = 0.0
    seconds: float = 0.0
    predicted_us: float | None = None
    detail: str = ""


@click.command("selftest", help=_HELP, short_help="Run known kernels on a device and write a report.")
@click.option(
    "--device",
    default="npu",
    type=click.Choice(["npu", "model", "cpu"]),
    help="Where to run; npu by default.",
)
@click.option("--kernel", "names", multiple=True, metavar="NAME", help="Only this kernel (may repeat).")
@click.option(
    "-o", "--output", type=Path, metavar="FILE.json", help="Where to write; the text goes beside it."
)
def selftest_command(device: str, names: Sequence[str], output: Path | None) -> None:
    """Run and write."""
    from pyasc.runtime.device import usable_device

    usable_device(device)
    chosen = _chosen(names)
    outcomes: list[Outcome] = []
    for case in chosen:
        for outcome in run_case(case, device):
            print(line_of(outcome), flush=True)
            outcomes.append(outcome)
    path = output or Path(f"pyasc-selftest-{device}.json")
    report = {"format": _FORMAT, **versions(device), "results": [asdict(each) for each in outcomes]}
    text = text_of(report, outcomes)
    write_atomically(path.absolute(), json.dumps(report, indent=1) + "\n")
    write_atomically(path.with_suffix(".txt").absolute(), text)
    print(f"{summary(outcomes)}; wrote {path} and {path.with_suffix('.txt')}")
    bad = [each for each in outcomes if each.status != "pass"]
    if bad:
        raise Failure(f"{len(bad)} of {len(outcomes)} runs are wrong or failed")


def _chosen(names: Sequence[str]) -> list[Case]:
    from pyasc.selftest import CASES

    by_name = {case.kernel.__name__: case for case in CASES}
    for name in names:
        if name not in by_name:
            raise click.UsageError(f"there is no kernel {name!r}; there are {', '.join(by_name)}")
    return [by_name[name] for name in names] if names else list(CASES)


def run_case(case: Case, device: str) -> list[Outcome]:
    """One outcome for each shape of a case; an exception is one of them."""
    outcomes: list[Outcome] = []
    for shape in case.shapes:
        try:
            outcomes.append(_run(case, shape, device))
        except Exception as error:
            detail = f"{type(error).__name__}: {error}"
            outcomes.append(Outcome(case.kernel.__name__, shape, "error", detail=detail))
    return outcomes


def _run(case: Case, shape: tuple[int, ...], device: str) -> Outcome:
    from pyasc.runtime.device import device as on_device

    inputs = case.inputs(np.random.default_rng(0), shape)
    expected = [np.asarray(each) for each in case.expected(*map(_copy, inputs))]
    with on_device(device):
        case.kernel(*map(_copy, inputs))
        arguments = [_copy(each) for each in inputs]
        start = time.perf_counter()
        returned = case.kernel(*arguments)
        seconds = time.perf_counter() - start
    found = _arrays(returned, arguments)
    worst, share, detail = compare(found, expected, case.bounds)
    predicted = case.kernel.cost(*map(_copy, inputs)) * 1e6 if device == "model" else None
    status = "pass" if share <= 1 else "wrong"
    return Outcome(case.kernel.__name__, shape, status, worst, share, seconds, predicted, detail)


def _copy(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _arrays(returned: Any, arguments: Sequence[Any]) -> list[Any]:
    """The results of a kernel, or the last array that it was given when it returns none."""
    if returned is None:
        return [each for each in arguments if isinstance(each, np.ndarray)][-1:]
    return list(returned) if isinstance(returned, tuple | list) else [returned]


def compare(
    found: Sequence[Any], expected: Sequence[Any], bounds: tuple[float, float]
) -> tuple[float, float, str]:
    """The largest difference, the largest share of the bound, and the first differences beyond it in words."""
    relative, absolute = bounds
    worst = share = 0.0
    told: list[str] = []
    for got, wanted in zip(found, expected, strict=True):
        if got.shape != wanted.shape:
            return float("inf"), float("inf"), f"shape {got.shape}, expected {wanted.shape}"
        difference = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
        allowed = absolute + relative * np.abs(wanted.astype(np.float64))
        bad = ~(difference <= allowed)
        worst = max(worst, float(np.max(difference, initial=0.0)))
        shares = np.divide(difference, allowed, out=np.where(bad, np.inf, 0.0), where=allowed > 0)
        share = max(
            share, float(np.max(shares, initial=0.0)), float("inf") if np.isnan(shares).any() else 0.0
        )
        for index in np.argwhere(bad)[:_SHOWN_DIFFERENCES]:
            at = tuple(map(int, index))
            told.append(f"[{', '.join(map(str, at))}] is {got[at]!s}, expected {wanted[at]!s}")
        if bad.any():
            told.append(f"{int(bad.sum())} of {bad.size} elements differ")
    return worst, share, "; ".join(told)


def versions(device: str) -> dict[str, str]:
    """What the report says of where it was made."""
    made = {
        "pyasc": __version__,
        "device": device,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
    }
    if device == "npu":
        return made | _npu_versions()
    from pyasc.runtime.toolchain import default_toolchain

    return made | {"compiler": default_toolchain().version, "soc": "Ascend910B1" if device == "model" else ""}


def _npu_versions() -> dict[str, str]:
    from pyasc.runtime.cann import find_cann
    from pyasc.runtime.device import get_device
    from pyasc.runtime.npu import NpuDevice
    from pyasc.runtime.toolchain import program_version

    device = get_device("npu")
    assert isinstance(device, NpuDevice)
    acl = device.session().acl
    return {
        "compiler": program_version((str(find_cann().compiler),)),
        "soc": acl.soc_name(),
        "acl": acl.version(),
    }


def line_of(outcome: Outcome) -> str:
    """One line of the table."""
    shape = "x".join(map(str, outcome.shape))
    if outcome.status == "error":
        first = next(iter(outcome.detail.splitlines()), "")
        return f"{outcome.kernel:14} {shape:>12}  ERROR  {first}"
    predicted = "" if outcome.predicted_us is None else f"{outcome.predicted_us:10.2f} us predicted"
    mark = "pass " if outcome.status == "pass" else "WRONG"
    error = f"error {outcome.max_error:9.3g} ({outcome.of_bound:8.2%} of the bound)"
    return f"{outcome.kernel:14} {shape:>12}  {mark}  {error}{outcome.seconds * 1e3:11.3f} ms{predicted}"


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many runs passed."""
    passed = sum(each.status == "pass" for each in outcomes)
    return f"{passed} of {len(outcomes)} runs passed"


def text_of(report: dict[str, Any], outcomes: Sequence[Outcome]) -> str:
    """The report to read."""
    head = [f"{key}: {value}" for key, value in report.items() if key not in ("results", "format") and value]
    details = [
        f"\n{each.kernel} {'x'.join(map(str, each.shape))}\n{each.detail}" for each in outcomes if each.detail
    ]
    lines = ["pyasc selftest", *head, "", *map(line_of, outcomes), "", summary(outcomes), *details]
    return "\n".join(lines) + "\n"
