# SPDX-License-Identifier: Apache-2.0
"""The options of `@asc.kernel`, and their refusal when a value is not one that an option takes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

WATCHED = ("nan", "overflow")
PRECISIONS = ("numpy", "strict", "mixed", "auto")


@dataclass(frozen=True)
class KernelOptions:
    """How a kernel is compiled.

    `target` is a SoC (None: what the device at hand has); `grid` how many cores to use (None: all; on `cpu`, 1 is the
    calling thread and more are all threads); `name` the symbol in object files (None: the function's name).
    `autotune` is there for schedules that are searched, which pyasc does not do: True is refused. `tolerance` is the
    error that `precision="auto"` may make in a matrix product, relative to the product of the absolute values.
    `watch` has debug builds stop where floats give the first `"nan"`, or the first infinity (`"overflow"`), out of
    other numbers.
    """

    target: str | None = None
    precision: str = "numpy"
    debug: bool = False
    unchecked: bool = False
    grid: int | None = None
    name: str | None = None
    autotune: bool = False
    tolerance: float = 1e-3
    watch: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        watched = (self.watch,) if isinstance(self.watch, str) else tuple(self.watch)
        object.__setattr__(self, "watch", watched)
        for each in watched:
            if each not in WATCHED:
                raise ValueError(f"watch={each!r}: expected {' or '.join(map(repr, WATCHED))}")
        if watched and not self.debug:
            raise ValueError("watch= needs debug=True")
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"precision={self.precision!r}: expected one of {', '.join(map(repr, PRECISIONS))}"
            )
        for flag in ("debug", "unchecked", "autotune"):
            _check_type(flag, getattr(self, flag), bool)
        if self.grid is not None and (type(self.grid) is not int or self.grid < 1):
            raise ValueError(f"grid={self.grid!r}: expected a number of cores, at least 1")
        if self.name is not None and not (isinstance(self.name, str) and self.name.isidentifier()):
            raise ValueError(f"name={self.name!r}: expected a name that C can use")
        if self.autotune:
            raise ValueError("autotune=True: pyasc does not search for schedules; leave the option out")
        if self.target is not None:
            _check_type("target", self.target, str)
            _check_target(self.target)
        if not (isinstance(self.tolerance, float) and self.tolerance > 0):
            raise ValueError(f"tolerance={self.tolerance!r}: expected a positive float")

    @property
    def of_passes(self) -> dict[str, dict[str, object]]:
        """What the options ask of single passes. On `cpu`, `grid=1` keeps a kernel to the calling thread."""
        return {
            "resolve-indices": {"unchecked": self.unchecked},
            "raise-loops": {"strict": self.precision == "strict"},
            "schedule-loops": {"threads": self.grid != 1},
            "lower-to-tiles": {"cores": self.grid or 0},
            "watch-floats": {each: each in self.watch for each in WATCHED},
        }

    @staticmethod
    def of(given: Mapping[str, Any]) -> KernelOptions:
        """The options given by keyword. Raises TypeError for an unknown one, ValueError for a wrong value."""
        known = [each.name for each in fields(KernelOptions)]
        for name in given:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {close[0]}?" if close else f"the options are {', '.join(known)}"
                raise TypeError(f"@asc.kernel has no option {name!r}; {hint}")
        return KernelOptions(**given)


def _check_target(name: str) -> None:
    from pyasc.passes.analysis.soc import SOCS

    if name != "cpu" and name.lower() not in SOCS:
        close = difflib.get_close_matches(name.lower(), SOCS, n=1)
        raise ValueError(
            f"target={name!r}: expected {close[0] if close else 'cpu, or one of ' + ', '.join(SOCS)}"
        )


def _check_type(name: str, value: object, expected: type) -> None:
    if type(value) is not expected:
        raise TypeError(f"{name}={value!r}: expected a {expected.__name__}")
