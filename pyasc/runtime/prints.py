# SPDX-License-Identifier: Apache-2.0
"""Debug prints of kernels: from the values that a kernel hands over to lines on standard output.

A kernel calls `pyasc_print`, which a small library defines; the library calls back into Python, on whichever
thread the print happened. So a kernel that prints must be called without the interpreter's lock.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from pyasc.runtime.build import BuildOptions, build_shared, environment_parts
from pyasc.runtime.cache import CacheKey, default_cache
from pyasc.runtime.loader import load_library
from pyasc.runtime.toolchain import default_toolchain

SOURCE = Path(__file__).resolve().parent / "csrc" / "pyasc_print.cpp"
LIBRARY = "libpyasc_print.so"

Format = tuple[str, tuple[str, ...]]
"""The text of one print, in Python's format syntax, and the dtypes of its values."""

_RECEIVER = ctypes.CFUNCTYPE(
    None, ctypes.c_char_p, ctypes.c_int32, ctypes.POINTER(ctypes.c_int64), ctypes.c_int32
)


@dataclass
class PrintReceiver:
    """What kernels print, by the symbol of the kernel; symbols of kernels that print differ."""

    formats: dict[str, tuple[Format, ...]] = field(default_factory=dict)
    write: Callable[[str], Any] = print
    _callback: Any = None

    def receive(self, kernel: bytes, number: int, bits: Any, count: int) -> None:
        """Called by the library for one print."""
        values = [bits[i] for i in range(count)]
        formats = self.formats.get(kernel.decode())
        if formats is None:
            # A kernel of an object file, whose formats nobody kept.
            self.write(f"{kernel.decode()}: print {number}: {values}")
            return
        text, dtypes = formats[number - 1]
        self.write(text.format(*_values(dtypes, values)))

    def install(self) -> None:
        """Load the library that defines `pyasc_print`, and make it call this receiver."""
        toolchain, cache = default_toolchain(), default_cache()
        source = SOURCE.read_text(encoding="utf-8")
        options = BuildOptions(2, ("-fvisibility=hidden",))
        key = CacheKey.of("pyasc_print", [("source", source), *environment_parts(toolchain, options)])
        entry = cache.get_or_build(
            key, lambda directory: _discard(build_shared(source, directory / LIBRARY, toolchain, options))
        )
        library = load_library(entry.file(LIBRARY), share_symbols=True)
        self._callback = _RECEIVER(self.receive)
        library.function("pyasc_set_print_receiver", [_RECEIVER], None)(self._callback)


def _discard(_: Path) -> None:
    return None


@lru_cache(maxsize=1)
def print_receiver() -> PrintReceiver:
    """The receiver of this process, installed at the first call. Raises as a build does."""
    receiver = PrintReceiver()
    receiver.install()
    return receiver


def _values(dtypes: Sequence[str], bits: Sequence[int]) -> list[int | float | bool]:
    return [_value(dtype, each) for dtype, each in zip(dtypes, bits, strict=True)]


def _value(dtype: str, bits: int) -> int | float | bool:
    if dtype.startswith(("f", "bf")):
        return struct.unpack("<d", struct.pack("<q", bits))[0]
    if dtype == "i1":
        return bool(bits)
    return bits & (1 << 64) - 1 if dtype == "u64" else bits
