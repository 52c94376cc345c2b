# SPDX-License-Identifier: Apache-2.0
"""Runs kernels built for the model: arguments in, outputs, findings and predicted cycles out."""

from __future__ import annotations

import ctypes
import json
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pyasc.model.build import BuiltKernel, Entry
from pyasc.model.memory import (
    Argument,
    Array,
    GlobalMemory,
    Scalar,
    Struct,
    Workspace,
    memory_of,
    value_bytes,
)
from pyasc.model.soc import DEFAULT_SOC, describe, runnable

__all__ = [
    "Argument",
    "Array",
    "CoreTime",
    "Finding",
    "GlobalMemory",
    "ModelError",
    "Result",
    "Scalar",
    "Struct",
    "Workspace",
    "run",
]

# The core library runs one launch at a time, and ctypes lets other threads in while it does.
_ONE_LAUNCH = threading.Lock()
_PYTHON_LINE = re.compile(r"//\s*(\S+\.py:\d+)")
# After these a launch did not do all it meant to, so what it left unwritten says nothing.
_STOPPING = ("deadlock", "crash", "timeout")
_PIPES = ("S", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
_KIND_NAMES = ("AIV_ONLY", "AIC_ONLY", "MIX_AIV_1_0", "MIX_AIC_1_0", "MIX_AIC_1_1", "MIX_AIC_1_2", "AIV_ONLY")


class ModelError(RuntimeError):
    """A launch that could not be made: wrong arguments, or a fault of the model itself."""


@dataclass(frozen=True)
class Finding:
    """One thing the hardware would refuse or do differently, at a line of the kernel.

    `low` and `high` bound the bytes in `memory` (an on-chip memory, or the name of an array); `count` says how often;
    `python` is the FILE.py:LINE that the generated text names in a comment at or above the line, if it does.
    """

    kind: str
    message: str
    file: str
    line: int
    core: str
    pipe: str
    memory: str
    low: int
    high: int
    count: int
    python: str = ""

    def __str__(self) -> str:
        where = f"{Path(self.file).name}:{self.line}" if self.line else "kernel"
        times = f" ({self.count} times)" if self.count > 1 else ""
        place = f" [{self.memory} {self.low}..{self.high}]" if self.memory else ""
        origin = f" from {self.python}" if self.python else ""
        unit = f" ({self.core}, pipe {self.pipe})" if self.pipe else ""
        return f"{where}{origin}: {self.kind}: {self.message}{place}{unit}{times}"


@dataclass(frozen=True)
class CoreTime:
    """Predicted cycles of one core: when it ends, and how long each pipe was busy."""

    name: str
    end: float
    busy: dict[str, float]


@dataclass(frozen=True)
class Result:
    """What a launch left behind. `outputs` are the arrays marked as output, in argument order.

    `times` has a row a core: its index, 1 for a cube core, its end, and the cycles each pipe was busy.
    """

    outputs: tuple[np.ndarray, ...]
    findings: tuple[Finding, ...]
    predicted_cycles: float
    predicted_us: float
    times: np.ndarray = field(repr=False)
    kernel_type: str
    printed: str

    @property
    def cores(self) -> tuple[CoreTime, ...]:
        """When each core ends, and what it does until then."""
        return tuple(_core_time(row) for row in self.times.tolist())


@lru_cache(maxsize=64)
def _load(path: str) -> ctypes.CDLL:
    return ctypes.CDLL(path)


@lru_cache(maxsize=8)
def _core(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    library.pyasc_model_create.restype = ctypes.c_void_p
    library.pyasc_model_create.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_int]
    library.pyasc_model_soc.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int]
    library.pyasc_model_limit.argtypes = [ctypes.c_void_p, ctypes.c_double]
    library.pyasc_model_buffer.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_void_p,
        ctypes.c_int,
    ]
    library.pyasc_model_unwritten.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.pyasc_model_run.restype = ctypes.c_char_p
    library.pyasc_model_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.pyasc_model_times.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.pyasc_model_destroy.argtypes = [ctypes.c_void_p]
    return library


def _check_sizes(entry: Entry, library: ctypes.CDLL, values: Sequence[bytes]) -> None:
    arguments = getattr(library, f"pyasc_model_args_{entry.name}")
    count = arguments(None)
    if count != len(values):
        raise ModelError(f"{entry.name} takes {count} arguments, {len(values)} were given")
    sizes = (ctypes.c_uint32 * count)()
    arguments(sizes)
    for i, value in enumerate(values):
        if len(value) != sizes[i]:
            raise ModelError(
                f"{entry.name}: argument {i} has {sizes[i]} bytes in the kernel, {len(value)} were given"
            )


def _entry_of(kernel: BuiltKernel, name: str | None) -> Entry:
    if name is None:
        if len(kernel.entries) == 1:
            return kernel.entries[0]
        names = ", ".join(entry.name for entry in kernel.entries)
        raise ModelError(f"{kernel.source.name} has several kernels; name one of {names}")
    for entry in kernel.entries:
        if entry.name == name:
            return entry
    raise ModelError(f"{kernel.source.name} has no kernel {name!r}")


@lru_cache(maxsize=64)
def _source_lines(path: str) -> tuple[str, ...]:
    try:
        return tuple(Path(path).read_text(encoding="utf-8").splitlines())
    except OSError:
        return ()


def _python_origin(path: str, line: int) -> str:
    """The nearest `// FILE.py:LINE` comment at or above a line, within the function it is in."""
    lines = _source_lines(path)
    for number in range(min(line, len(lines)), 0, -1):
        if match := _PYTHON_LINE.search(lines[number - 1]):
            return match[1]
        if lines[number - 1].startswith("}"):
            break
    return ""


def _read_report(raw: bytes) -> dict[str, Any]:
    report = json.loads(raw.decode("utf-8", "replace"))
    if report["error"]:
        raise ModelError(report["error"])
    return report


def _launch_findings(report: dict[str, Any]) -> list[Finding]:
    return [Finding(**item, python=_python_origin(item["file"], item["line"])) for item in report["findings"]]


def _core_time(row: Sequence[float]) -> CoreTime:
    index, cube, end, *busy = row
    return CoreTime(f"{'AIC' if cube else 'AIV'} {index:.0f}", end, dict(zip(_PIPES, busy, strict=True)))


def _unwritten_findings(
    arguments: Sequence[Argument], memories: Sequence[GlobalMemory | None]
) -> list[Finding]:
    """Outputs that the kernel left partly as they were, undefined."""
    found: list[Finding] = []
    for array, memory in zip(arguments, memories, strict=True):
        if isinstance(array, Array) and array.output and not array.partial and memory is not None:
            found += unwritten(memory, array.data)
    return found


def unwritten(
    memory: GlobalMemory, array: np.ndarray, python: Callable[[Any], str] | None = None
) -> list[Finding]:
    """A finding for elements that launches have to write and did not, or else for those that are still undefined.

    `array` has the shape and the type of what the memory holds. `python` says which line of a Python file should
    have written an element, by its index.
    """
    marks = memory.undefined if memory.unwritten is None else memory.unwritten
    if marks is None or not marks.any():
        return []
    size = array.itemsize
    left = np.flatnonzero(marks.reshape(-1, size).any(axis=1))
    first, last = (tuple(map(int, np.unravel_index(each, array.shape))) for each in (left[0], left[-1]))
    place = ", ".join(map(str, first))
    span = f"to [{', '.join(map(str, last))}] " if len(left) > 1 else ""
    message = f"{memory.name}[{place}] {span}left unwritten, {len(left)} of {array.size} elements"
    low, high = int(left[0]) * size, int(left[-1]) * size + size
    line = python(first) if python is not None else ""
    return [Finding("unwritten", message, "", 0, "", "", memory.name, low, high, 1, line)]


def _guard_findings(memories: Sequence[GlobalMemory | None]) -> list[Finding]:
    return [
        Finding(
            "gm-bounds",
            f"memory around array {b.name} was overwritten past the model (a raw pointer)",
            "",
            0,
            "",
            "S",
            b.name,
            0,
            0,
            1,
        )
        for b in memories
        if b is not None and not b.intact()
    ]


@lru_cache(maxsize=32)
def _constants(soc: str, reserved_ub: bool, flushed: bool) -> tuple[bytes, np.ndarray]:
    """What the core library is told of a SoC: names, each ended by a zero, and their values."""
    constants = {**describe(soc).constants, "dcache_flushed_at_end": float(flushed)}
    if not reserved_ub:
        # What a build with --cce-disable-asc-reserved-ubuf has, hardware.md section 2.
        constants |= {"reserved_ub": 0.0, "ub_usable_bytes": constants["ub_bytes"] - 256}
    return "".join(f"{key}\0" for key in constants).encode(), np.array(list(constants.values()))


def _call(
    kernel: BuiltKernel,
    entry: Entry,
    values: Sequence[bytes],
    configure: Callable[[Any, int], None],
    launch: tuple[int, int, int],
) -> tuple[dict[str, Any], np.ndarray]:
    """Runs the entry once: its report and the times of its cores; `launch` is (check, seed, blocks)."""
    core, library = _core(str(kernel.core_library)), _load(str(kernel.library))
    _check_sizes(entry, library, values)
    storage = [ctypes.create_string_buffer(value, max(len(value), 8)) for value in values]
    pointers = (ctypes.c_void_p * (len(storage) + 1))(*[ctypes.addressof(s) for s in storage])
    handle = core.pyasc_model_create(*launch, entry.kind)
    try:
        configure(core, handle)
        call = ctypes.cast(getattr(library, f"pyasc_model_call_{entry.name}"), ctypes.c_void_p)
        with _ONE_LAUNCH:
            raw = core.pyasc_model_run(handle, call, pointers)
        report = _read_report(raw)
        times = np.empty((report["cores"], 3 + len(_PIPES)))
        core.pyasc_model_times(handle, times.ctypes.data)
        return report, times
    finally:
        core.pyasc_model_destroy(handle)


def _register(core: Any, handle: int, memory: GlobalMemory, check: bool) -> None:
    """Tell a launch of an array in global memory, and what of it is undefined."""
    undefined = None if memory.undefined is None else memory.undefined.ctypes.data
    place = (memory.name.encode(), memory.address, memory.size)
    core.pyasc_model_buffer(handle, *place, undefined, int(memory.writable))
    if check and memory.unwritten is not None:
        core.pyasc_model_unwritten(handle, memory.unwritten.ctypes.data)


def _outputs(
    arguments: Sequence[Argument], memories: Sequence[GlobalMemory | None]
) -> tuple[np.ndarray, ...]:
    """What the arrays that are outputs hold now, in order."""
    return tuple(
        memory.array(argument.data.dtype, argument.data.shape)
        for argument, memory in zip(arguments, memories, strict=True)
        if isinstance(argument, Array) and argument.output and memory is not None
    )


def run(
    kernel: BuiltKernel,
    arguments: Sequence[Argument],
    *,
    entry: str | None = None,
    blocks: int = 1,
    soc: str = DEFAULT_SOC,
    check: bool = True,
    seed: int = 0,
    seconds: float = 0,
    reserved_ub: bool = True,
    flushed: bool = True,
) -> Result:
    """Runs a kernel on `blocks` blocks of the modelled SoC.

    Arguments are in parameter order; an `Array` is copied in and out, so the caller's is left alone, `GlobalMemory` is
    used and changed as it is. `seed` orders the cores: results and findings are the same for the same seed. A launch
    that still makes calls after `seconds` of real time is given up with a finding (0: never). `reserved_ub=False` gives
    a kernel the 8 KB of UB that the library keeps by default, and `flushed=False` is a build that does not flush the
    data cache at the end of a kernel. Raises ModelError when the arguments do not fit the
    kernel's parameters.
    """
    if not 1 <= blocks <= 65535:
        raise ModelError(f"blocks is {blocks}, must be 1 to 65535")
    description = runnable(soc)
    memories = [memory_of(argument, i) for i, argument in enumerate(arguments)]
    passed = [value_bytes(argument, memory) for argument, memory in zip(arguments, memories, strict=True)]

    def configure(core: Any, handle: int) -> None:
        core.pyasc_model_limit(handle, seconds)
        keys, values = _constants(description.name, reserved_ub, flushed)
        core.pyasc_model_soc(handle, keys, values.ctypes.data, len(values))
        for memory in memories:
            if memory is not None:
                _register(core, handle, memory, check)

    report, times = _call(kernel, _entry_of(kernel, entry), passed, configure, (int(check), seed, blocks))
    found = _launch_findings(report) + _guard_findings(memories)
    if check and not any(finding.kind in _STOPPING for finding in found):
        found += _unwritten_findings(arguments, memories)
    cycles = report["cycles"]
    return Result(
        _outputs(arguments, memories),
        tuple(found),
        cycles,
        description.microseconds(cycles),
        times,
        _KIND_NAMES[report["kind"]],
        report["printed"],
    )
