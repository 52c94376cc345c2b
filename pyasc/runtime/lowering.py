# SPDX-License-Identifier: Apache-2.0
"""A kernel at every level, as text to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from pyasc.ir.diagnostics import ResourceError, UnsupportedError
from pyasc.passes.analysis.soc import DEFAULT_SOC
from pyasc.runtime.compiler import LEVELS, emit

if TYPE_CHECKING:
    from pyasc.runtime.specialise import Specialisation

CPP = "cpp"
ASCEND_C = "ascendc"


class Lowering(Mapping[str, str]):
    """The text of one kernel at each level, made when it is first asked for; printing it shows them all.

    Levels are `py`, `loop`, `structured` and `cpu` with the C++ `cpp`, then `tile` and `ascend` with the Ascend C
    `ascendc`, which say why in a comment where a kernel does not get so far.
    """

    def __init__(self, makers: Mapping[str, Callable[[], str]]) -> None:
        self._makers = dict(makers)
        self._texts: dict[str, str] = {}

    def __getitem__(self, level: str) -> str:
        if level not in self._texts:
            self._texts[level] = self._makers[level]()
        return self._texts[level]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __str__(self) -> str:
        return "\n".join(f"// level {level}\n{text}" for level, text in self.items())

    __repr__ = __str__


def lowering_of(specialise: Callable[[], Specialisation], target: str | None = None) -> Lowering:
    """All levels. Passes work in place, so each level starts from a new specialisation.

    The last three levels are those of `target` (None or `"cpu"`: the default SoC). Raises CompileError for a mistake
    in the kernel.
    """
    cpp = emit([specialise().lowered()]).text
    soc = DEFAULT_SOC if target in (None, "cpu") else target

    def at(pipeline: str, soc: str | None = None) -> str:
        return f"{specialise().lowered(pipeline, soc=soc).module}\n"

    def below(level: str) -> str:
        try:
            return ascend_source(specialise(), soc) if level == ASCEND_C else at(level, soc)
        except (UnsupportedError, ResourceError) as error:
            return "".join(f"// {line}\n" for line in str(error).splitlines())

    above: dict[str, Callable[[], str]] = {level: partial(at, pipeline) for level, pipeline in LEVELS.items()}
    return Lowering(
        above | {CPP: lambda: cpp} | {level: partial(below, level) for level in ("tile", "ascend", ASCEND_C)}
    )


def source_of(specialisation: Specialisation, target: str) -> str:
    """The source for a target. Raises UnsupportedError for one that pyasc does not emit."""
    if target == "cpu":
        return emit([specialisation.lowered()]).text
    return ascend_source(specialisation, target)


def ascend_source(specialisation: Specialisation, target: str) -> str:
    """The Ascend C for a SoC. Raises UnsupportedError for a SoC or a line that is not lowered."""
    from pyasc.passes.analysis.soc import soc_named
    from pyasc.runtime.ascend import ascend_kernel

    soc = soc_named(target)
    return ascend_kernel(specialisation.lowered("ascend", soc=soc.name)).file.text
