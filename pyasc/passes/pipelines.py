# SPDX-License-Identifier: Apache-2.0
"""The named pipelines: which passes run in which order. Entries are pipeline text (see `pipeline_parser`)."""

from __future__ import annotations

PIPELINES: dict[str, tuple[str, ...]] = {
    "py": ("inline", "canonicalize", "sccp", "cse", "dce"),
    "loop": (
        "py",
        "licm",
        "resolve-indices",
        "prove",
        "lower-tensors",
        "cleanup",
        "sink-buffers",
        "check-parallel",
    ),
    "structured": ("loop", "raised"),
    "raised": ("elide-copies", "raise-loops", "serialise-updates", "fuse"),
    "cpu": (
        "structured",
        "interchange",
        "schedule-cpu",
        "lower-structured",
        "forward",
        "unroll",
        "if-convert",
        "licm",
        "canonicalize",
        "dce",
        "privatise",
        "schedule-loops",
        "vectorise-while",
        "vectorise",
        "cleanup",
        "licm",
    ),
    "tile": (
        "loop",
        "split-checks",
        "raised",
        "expand-functions",
        "raise-copies",
        "time-loops{sums=true}",
        "raise-loops",
        "time-loops",
        "distribute",
        "split-reductions",
        "rebase",
        "interchange",
        "cleanup",
        "lower-to-tiles",
        "canonicalize",
        "cse",
        "dce",
    ),
    "ascend": ("tile", "lower-to-ascend", "cse", "dce", "mix-phases"),
    "debug": (
        "loop",
        "watch-races",
        "serialise-updates",
        "lower-structured",
        "watch-reads",
        "watch-floats",
        "locate-checks",
        "cleanup",
    ),
    "O0": (
        "inline",
        "resolve-indices",
        "lower-tensors",
        "sink-buffers",
        "check-parallel",
        "serialise-updates",
        "lower-structured",
    ),
}
"""From the name of a pipeline to its passes; the name of another pipeline stands for that pipeline's passes."""


def ascend_pipeline(soc: str, level: str = "ascend") -> str:
    """The pipeline down to Ascend C calls, or to the level `"tile"`, for one SoC."""
    tiles = f"lower-to-tiles{{soc={soc}}}"
    return ",".join(tiles if name == "lower-to-tiles" else name for name in _flat(level))


def watching(pipeline: str) -> str:
    """A pipeline down to Ascend C for a kernel whose floats are watched: loops stay loops, with checks in them."""
    names = _names(pipeline)
    below = names[names.index("fuse") + 1 :]
    return ",".join(
        [
            *_flat("loop"),
            "serialise-updates",
            "lower-structured",
            "watch-floats",
            "locate-checks",
            "cleanup",
            *below,
        ]
    )


def watching_races(pipeline: str) -> str:
    """A pipeline for a kernel whose parallel loops are watched where nothing proves that they are free of races."""
    names = _names(pipeline)
    place = names.index("check-parallel") + 1
    return ",".join([*names[:place], "watch-races{prints=false}", *names[place:]])


def ends_in_ascend_calls(pipeline: str) -> bool:
    """Whether what comes out of a pipeline is printed as Ascend C."""
    return "lower-to-ascend" in _names(pipeline)


def _names(pipeline: str) -> list[str]:
    """The passes of a pipeline that is given by its name or as text."""
    return _flat(pipeline) if pipeline in PIPELINES else pipeline.split(",")


def _flat(name: str) -> list[str]:
    return [each for entry in PIPELINES[name] for each in (_flat(entry) if entry in PIPELINES else [entry])]
