# SPDX-License-Identifier: Apache-2.0
"""What the Ascend lowering knows of each SoC: cores and on-chip memories, in bytes a core.

Read from the project's hardware page alone (sections 1 and 2), never from the model's tables: the two are checked
against each other by running emitted kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pyasc.ir.diagnostics import UnsupportedError

DEFAULT_SOC = "ascend910b1"


@dataclass(frozen=True, slots=True)
class Architecture:
    """The memories of one core, in bytes. `ub` is what a kernel may use when the library keeps its share."""

    number: str
    ub: int
    l1: int
    l0a: int
    l0b: int
    l0c: int
    bt: int
    emitted: bool


@dataclass(frozen=True, slots=True)
class Soc:
    """One SoC: its architecture and how many cores of each kind it has."""

    name: str
    arch: Architecture
    cube_cores: int
    vector_cores: int

    def limited(self, cores: int) -> Soc:
        """The same SoC with at most so many cores; vector units go with the cube units beside them."""
        count = min(cores, self.cube_cores)
        return replace(self, cube_cores=count, vector_cores=self.vector_cores * count // self.cube_cores or 1)


# 192 KiB, less 256 B and the 8 KiB that Select and its like keep their addresses in.
_2201 = Architecture("2201", 188160, 524032, 65536, 65536, 131072, 1024, True)
_2002 = Architecture("2002", 262144, 1048576, 65536, 65536, 262144, 0, False)
_3510 = Architecture("3510", 253952, 524288, 65536, 65536, 262144, 4096, False)

_CORES: tuple[tuple[str, Architecture, int, int], ...] = (
    ("910b1", _2201, 24, 48),
    ("910b2", _2201, 24, 48),
    ("910b2c", _2201, 24, 48),
    ("910b3", _2201, 20, 40),
    ("910b4", _2201, 20, 40),
    ("910b4-1", _2201, 20, 40),
    ("910_9391", _2201, 24, 48),
    ("910_9392", _2201, 24, 48),
    ("910_9381", _2201, 24, 48),
    ("910_9382", _2201, 24, 48),
    ("910_9372", _2201, 20, 40),
    ("910_9362", _2201, 20, 40),
    ("910_9363", _2201, 20, 40),
    ("310p1", _2002, 10, 8),
    ("310p3", _2002, 8, 7),
    ("950dt_9591", _3510, 36, 72),
    ("950dt_9571", _3510, 28, 56),
    ("950pr_9599", _3510, 36, 72),
    ("950pr_9579", _3510, 28, 56),
)

SOCS: dict[str, Soc] = {
    f"ascend{name}": Soc(f"ascend{name}", arch, aic, aiv) for name, arch, aic, aiv in _CORES
}
"""Every SoC by its target name."""


def soc_named(name: str) -> Soc:
    """The SoC that code is emitted for. Raises UnsupportedError for an unknown one, or one without an emitter."""
    soc = SOCS.get(name.lower())
    if soc is None:
        raise UnsupportedError(f"no target is called {name!r}; there are {', '.join(SOCS)}")
    if not soc.arch.emitted:
        raise UnsupportedError(
            f"{name} (architecture {soc.arch.number}) is described, but code is emitted for architecture 2201 "
            "(910B and 910_93) only"
        )
    return soc
