# SPDX-License-Identifier: Apache-2.0
"""Runs kernels built for the model: arguments in, outputs, findings and predicted cycles out."""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pyasc.model.build import BuiltKernel, Entry
from pyasc.model.soc import DEFAULT_SOC, Soc, runnable

_ALIGN = 512  # of kernel arguments in global memory, hardware.md section 8
_GUARD = 4096
_GUARD_BYTE = 0xA5
_PYTHON_LINE = re.compile(r"//\s*(\S+\.py:\d+)")
# After these a launch did not do all it meant to, so what it left unwritten says nothing.
_STOPPING = ("deadlock", "crash", "timeout")
_KIND_NAMES = ("AIV_ONLY", "AIC_ONLY", "MIX_AIV_1_0", "MIX_AIC_1_0", "MIX_AIC_1_1", "MIX_AIC_1_2", "AIV_ONLY")


class ModelError(RuntimeError):
    """A launch that could not be made: wrong arguments, or a fault of the model itself."""


@dataclass(frozen=True)
class Array:
    """An array in global memory.

    `data` is copied in; with `output` its final contents are in the result. `defined=False` poisons it with NaN and
    treats every byte as never written; bytes that still are at the end are a finding, unless it is `partial`.
    `read_only` makes a write a finding.
    """

    data: np.ndarray
    output: bool = True
    defined: bool = True
    read_only: bool = False
    partial: bool = False
    name: str = ""


@dataclass(frozen=True)
class Workspace:
    """Global memory of `size` bytes that holds NaN and counts as never written; `zero` clears it instead."""

    size: int
    zero: bool = False
    name: str = "workspace"


@dataclass(frozen=True)
class Scalar:
    """A scalar passed by value, of the NumPy type of `value`."""

    value: Any


@dataclass(frozen=True)
class Struct:
    """A plain struct by value: NumPy scalars in field order, laid out as C does."""

    fields: tuple[Any, ...]


Argument = Array | Workspace | Scalar | Struct


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
        return f"{where}{origin}: {self.kind}: {self.message}{place} ({self.core}, pipe {self.pipe}){times}"


@dataclass(frozen=True)
class CoreTime:
    """Predicted cycles of one core: when it ends, and how long each pipe was busy."""

    name: str
    end: float
    busy: dict[str, float]


@dataclass(frozen=True)
class Result:
    """What a launch left behind. `outputs` are the arrays marked as output, in argument order."""

    outputs: tuple[np.ndarray, ...]
    findings: tuple[Finding, ...]
    predicted_cycles: float
    predicted_us: float
    cores: tuple[CoreTime, ...]
    kernel_type: str
    printed: str


@lru_cache(maxsize=64)
def _load(path: str) -> ctypes.CDLL:
    return ctypes.CDLL(path)


@lru_cache(maxsize=8)
def _core(path: str) -> ctypes.CDLL:
    library = ctypes.CDLL(path)
    library.pyasc_model_create.restype = ctypes.c_void_p
    library.pyasc_model_create.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_int, ctypes.c_int]
    library.pyasc_model_soc.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_double]
    library.pyasc_model_limit.argtypes = [ctypes.c_void_p, ctypes.c_double]
    library.pyasc_model_buffer.argtypes = [
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_void_p,
        ctypes.c_uint64,
        ctypes.c_int,
        ctypes.c_int,
    ]
    library.pyasc_model_run.restype = ctypes.c_char_p
    library.pyasc_model_run.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    library.pyasc_model_destroy.argtypes = [ctypes.c_void_p]
    return library


@dataclass
class _GuardedBuffer:
    """Bytes of one array between two guard zones, at the alignment the framework gives."""

    name: str
    size: int
    defined: bool
    writable: bool
    block: np.ndarray = field(init=False)
    start: int = field(init=False)

    def __post_init__(self) -> None:
        self.block = np.empty(self.size + 2 * _GUARD + _ALIGN, dtype=np.uint8)
        self.start = _GUARD + (-(self.block.ctypes.data + _GUARD)) % _ALIGN
        self.block[: self.start] = _GUARD_BYTE
        self.block[self.start + self.size :] = _GUARD_BYTE

    @property
    def body(self) -> np.ndarray:
        return self.block[self.start : self.start + self.size]

    @property
    def address(self) -> int:
        return self.block.ctypes.data + self.start

    def intact(self) -> bool:
        before, after = self.block[: self.start], self.block[self.start + self.size :]
        return bool((before == _GUARD_BYTE).all() and (after == _GUARD_BYTE).all())


def _buffer_of(argument: Array | Workspace, index: int) -> _GuardedBuffer:
    if isinstance(argument, Workspace):
        buffer = _GuardedBuffer(argument.name, argument.size, argument.zero, True)
        buffer.body[:] = 0 if argument.zero else 0xFF
        return buffer
    name = argument.name or f"argument {index}"
    buffer = _GuardedBuffer(name, argument.data.nbytes, argument.defined, not argument.read_only)
    flat = np.ascontiguousarray(argument.data).reshape(-1).view(np.uint8)
    buffer.body[:] = flat if argument.defined else 0xFF
    return buffer


def _struct_bytes(fields: Sequence[Any]) -> bytes:
    """Natural C layout: each field at a multiple of its size, the whole rounded up to the largest."""
    out = bytearray()
    largest = 1
    for value in fields:
        raw = np.asarray(value).tobytes()
        largest = max(largest, len(raw))
        out += bytes(-len(out) % len(raw)) + raw
    return bytes(out + bytes(-len(out) % largest))


def _value_bytes(argument: Argument, buffer: _GuardedBuffer | None) -> bytes:
    if buffer is not None:
        return buffer.address.to_bytes(8, "little")
    if isinstance(argument, Struct):
        return _struct_bytes(argument.fields)
    assert isinstance(argument, Scalar)
    return np.asarray(argument.value).tobytes()


def _check_sizes(entry: Entry, library: ctypes.CDLL, values: Sequence[bytes]) -> None:
    sizes = (ctypes.c_uint32 * 64)()
    count = getattr(library, f"pyasc_model_args_{entry.name}")(sizes)
    if count != len(values):
        raise ModelError(f"{entry.name} takes {count} arguments, {len(values)} were given")
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


def _core_times(report: dict[str, Any]) -> tuple[CoreTime, ...]:
    return tuple(
        CoreTime(core["name"], core["end"], {k: v for k, v in core.items() if k not in ("name", "end")})
        for core in report["cores"]
    )


def _unwritten_findings(report: dict[str, Any], arguments: Sequence[Argument]) -> list[Finding]:
    """Outputs that the kernel left partly as they were, undefined."""
    arrays = [argument for argument in arguments if isinstance(argument, Array | Workspace)]
    found: list[Finding] = []
    for array, (count, first) in zip(arrays, report["unwritten"], strict=False):
        if not isinstance(array, Array) or not array.output or array.defined or array.partial or not count:
            continue
        size = array.data.itemsize
        message = f"{count // size} elements of the output were never written, the first is {first // size}"
        found.append(Finding("unwritten", message, "", 0, "", "S", array.name, first, first + size, 1))
    return found


def _guard_findings(buffers: Sequence[_GuardedBuffer | None]) -> list[Finding]:
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
        for b in buffers
        if b is not None and not b.intact()
    ]


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
) -> Result:
    """Runs a kernel on `blocks` blocks of the modelled SoC.

    Arguments are in parameter order; arrays are copied in and out, so the caller's are left alone. `seed` orders the
    cores: results and findings are the same for the same seed. A launch that still makes calls after `seconds` of real
    time is given up with a finding (0: never). Raises ModelError when the arguments do not fit the
    kernel's parameters.
    """
    if not 1 <= blocks <= 65535:
        raise ModelError(f"blocks is {blocks}, must be 1 to 65535")
    description = runnable(soc)
    core, library = _core(str(kernel.core_library)), _load(str(kernel.library))
    chosen = _entry_of(kernel, entry)
    buffers = [
        _buffer_of(a, i) if isinstance(a, Array | Workspace) else None for i, a in enumerate(arguments)
    ]
    values = [_value_bytes(a, b) for a, b in zip(arguments, buffers, strict=True)]
    _check_sizes(chosen, library, values)
    storage = [ctypes.create_string_buffer(value, max(len(value), 8)) for value in values]
    pointers = (ctypes.c_void_p * (len(storage) + 1))(*[ctypes.addressof(s) for s in storage])
    launch = core.pyasc_model_create(int(check), seed, blocks, chosen.kind)
    try:
        core.pyasc_model_limit(launch, seconds)
        for key, number in description.constants.items():
            core.pyasc_model_soc(launch, key.encode(), number)
        for b in buffers:
            if b is not None:
                core.pyasc_model_buffer(
                    launch, b.name.encode(), b.address, b.size, int(not b.defined), int(b.writable)
                )
        call = ctypes.cast(getattr(library, f"pyasc_model_call_{chosen.name}"), ctypes.c_void_p)
        raw = core.pyasc_model_run(launch, call, pointers)
    finally:
        core.pyasc_model_destroy(launch)
    outputs = tuple(
        b.body.view(a.data.dtype).reshape(a.data.shape)
        for a, b in zip(arguments, buffers, strict=True)
        if isinstance(a, Array) and a.output and b is not None
    )
    report = _read_report(raw)
    found = _launch_findings(report) + _guard_findings(buffers)
    if not any(finding.kind in _STOPPING for finding in found):
        found += _unwritten_findings(report, arguments)
    cycles = report["cycles"]
    kind = _KIND_NAMES[report["kind"]]
    return Result(
        outputs, tuple(found), cycles, description.microseconds(cycles), _core_times(report), kind, report["printed"]
    )
