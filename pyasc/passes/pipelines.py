# SPDX-License-Identifier: Apache-2.0
"""The named pipelines: which passes run in which order. Entries are pipeline text (see `pipeline_parser`)."""

from __future__ import annotations

_LOOPS_WITH_WATCHED_FLOATS = (
    "serialise-updates",
    "lower-structured",
    "watch-floats",
    "locate-checks",
    "cleanup",
)
_STRUCTURED_TO_TILES = (
    "find-covered",
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
)
_TILES_TO_CALLS = ("lower-to-ascend", "cse", "dce", "mix-phases")

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
    "raised": ("hoist-checks", "elide-copies", "raise-loops", "serialise-updates", "fuse"),
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
    "tile": ("loop", "hoist-checks", "split-checks", "raised", *_STRUCTURED_TO_TILES),
    "ascend": ("tile", *_TILES_TO_CALLS),
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


def watching(floats: bool, races: bool) -> str:
    """The pipeline `ascend` of a debug build, as text.

    Where `floats` are watched, loops stay loops, with checks in them; where `races` are, parallel loops check
    themselves that nothing proves to be free of them.
    """
    return ",".join((
        "loop",
        *(("watch-races{prints=false}",) if races else ()),
        *(_LOOPS_WITH_WATCHED_FLOATS if floats else ("hoist-checks", "split-checks", "raised")),
        *_STRUCTURED_TO_TILES,
        *_TILES_TO_CALLS,
    ))  # fmt: skip
