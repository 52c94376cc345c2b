# SPDX-License-Identifier: Apache-2.0
"""A kernel at every level, as text to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from pyasc.runtime.compiler import LEVELS, emit

if TYPE_CHECKING:
    from pyasc.runtime.specialise import Specialisation

CPP = "cpp"


class Lowering(Mapping[str, str]):
    """The text of one kernel at each level (`py`, `loop`, `structured`, `cpu`) and its source (`cpp`).

    Printing it shows them all.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)

    def __getitem__(self, level: str) -> str:
        return self._texts[level]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __str__(self) -> str:
        return "\n".join(f"// level {level}\n{text}" for level, text in self._texts.items())

    __repr__ = __str__


def lowering_of(specialise: Callable[[], Specialisation]) -> Lowering:
    """All levels. Passes work in place, so each level starts from a new specialisation."""
    texts = {level: f"{specialise().lowered(pipeline).module}\n" for level, pipeline in LEVELS.items()}
    return Lowering(texts | {CPP: emit([specialise().lowered()]).text})


def source_of(specialisation: Specialisation, target: str) -> str:
    """The source for a target. Raises UnsupportedError for one that pyasc does not emit."""
    if target == "cpu":
        return emit([specialisation.lowered()]).text
    return ascend_source(specialisation, target)


def ascend_source(specialisation: Specialisation, target: str) -> str:
    """The Ascend C for a SoC. Raises UnsupportedError for a SoC or a line that is not lowered."""
    from pyasc.passes.analysis.soc import soc_named
    from pyasc.passes.pipelines import ascend_pipeline
    from pyasc.runtime.ascend import ascend_kernel

    soc = soc_named(target)
    return ascend_kernel(specialisation.lowered(ascend_pipeline(soc.name))).file.text
