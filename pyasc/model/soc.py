# SPDX-License-Identifier: Apache-2.0
"""SoC descriptions, read from `socs.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

DEFAULT_SOC = "Ascend910B1"
_TICK_HZ = 50e6  # GetSystemCycle of arch 2201, hardware.md section 9


class UnknownSoc(ValueError):
    """A SoC without a description, or with one that does not say enough to run kernels."""


@dataclass(frozen=True)
class Soc:
    """One SoC: its name, architecture, clock in MHz, core counts, and named constants of its cores."""

    name: str
    arch: str
    mhz: float
    cube_cores: int
    vector_cores: int
    constants: dict[str, float]
    origins: dict[str, str]

    def microseconds(self, cycles: float) -> float:
        """The duration of core cycles at the SoC's clock."""
        return cycles / self.mhz


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("socs.json").read_text(encoding="utf-8"))


def soc_names() -> list[str]:
    """Names of all described SoCs."""
    return list(_table()["socs"])


def _canonical(name: str) -> str:
    wanted = name.lower().removeprefix("ascend")
    for known in soc_names():
        if known.lower().removeprefix("ascend") == wanted:
            return known
    raise UnknownSoc(f"no SoC is called {name!r}; known: {', '.join(soc_names())}")


@lru_cache(maxsize=32)
def describe(name: str = DEFAULT_SOC) -> Soc:
    """The description of a SoC, runnable or not. Raises UnknownSoc for a name that is not in the table."""
    table = _table()
    known = _canonical(name)
    entry = table["socs"][known]
    constants = table["architectures"][entry["arch"]]["constants"]
    values = {key: float(pair[0]) for key, pair in constants.items()}
    values["cube_cores"] = float(entry["cube_cores"])
    values["vector_cores"] = float(entry["vector_cores"])
    values["cycles_per_tick"] = entry["mhz"] * 1e6 / _TICK_HZ
    origins = {key: str(pair[1]) for key, pair in constants.items()}
    return Soc(
        known, entry["arch"], entry["mhz"], entry["cube_cores"], entry["vector_cores"], values, origins
    )


def runnable(name: str = DEFAULT_SOC) -> Soc:
    """As `describe`, but raises UnknownSoc when the published facts do not suffice to model the architecture."""
    soc = describe(name)
    if not _table()["architectures"][soc.arch]["model"]:
        raise UnknownSoc(
            f"{soc.name} (architecture {soc.arch}) is described, but the model runs architecture 2201 only"
        )
    return soc
