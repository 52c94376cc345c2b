# SPDX-License-Identifier: Apache-2.0
"""The processor that this process runs on, as far as compiled code depends on it."""

from __future__ import annotations

import platform
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pyasc import knobs

_CPUINFO = Path("/proc/cpuinfo")
_MODEL_FIELDS = (
    "vendor_id",
    "cpu family",
    "model",
    "stepping",
    "CPU implementer",
    "CPU architecture",
    "CPU variant",
    "CPU part",
    "uarch",
    "cpu",
)
_FEATURE_FIELDS = ("flags", "Features", "isa")


@dataclass(frozen=True)
class Processor:
    """What `-march=native` resolves to: the architecture, the exact model, its instruction sets."""

    machine: str
    model: str
    features: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Text that differs whenever natively compiled code may differ."""
        return " ".join((self.machine, self.model, *self.features))

    def has(self, feature: str) -> bool:
        """Whether the processor lists an instruction set, by the name that Linux gives it."""
        return feature in self.features

    @property
    def vector_bytes(self) -> int:
        """Bytes of a vector register: what PA_VEC_BYTES is to the compiler."""
        return 64 if self.has("avx512f") else 32 if self.has("avx") else 16

    @property
    def fuses(self) -> bool:
        """Whether multiplying and adding with one rounding is an instruction."""
        return self.machine not in ("x86_64", "i686") or self.has("fma")

    @property
    def vector_registers(self) -> int:
        """How many vector registers there are for sums and their operands.

        A factor of a product has a register of its own where no operand lies in memory; compilers load some of them
        ahead there. That six registers do for them is assumed, from what g++ 12 spills.
        """
        if self.machine in ("x86_64", "i686"):
            return 32 if self.has("avx512f") else 16
        return 26


def parse_cpuinfo(lines: Iterable[str], machine: str) -> Processor:
    """The first processor of a `/proc/cpuinfo`, without the fields that change while it runs."""
    values: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon and values:
            break
        values.setdefault(name.strip(), value.strip())
    model = "/".join(values[field] for field in _MODEL_FIELDS if field in values)
    features = " ".join(values[field] for field in _FEATURE_FIELDS if field in values)
    return Processor(machine, model or "unknown", tuple(sorted(features.split())))


@lru_cache(maxsize=1)
def processor() -> Processor:
    """The processor of this machine; without `/proc`, what Python's `platform` knows of it."""
    try:
        with _CPUINFO.open(encoding="utf-8", errors="replace") as lines:
            return parse_cpuinfo(lines, platform.machine())
    except OSError:
        return Processor(platform.machine(), platform.processor() or platform.node(), ())


def vectors() -> tuple[int, int]:
    """Bytes of a vector register that C++ is written for, and how many there are; PYASC_VECTORS goes first."""
    here = processor()
    return knobs.read().vectors or (here.vector_bytes, here.vector_registers)
