# SPDX-License-Identifier: Apache-2.0
"""The table of all passes, imported when they are first asked for."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from pyasc.passes.base import Pass

PASSES: dict[str, str] = {
    "inline": "pyasc.passes.inline:Inline",
    "canonicalize": "pyasc.passes.canonicalize:Canonicalize",
    "fold": "pyasc.passes.fold:Fold",
    "sccp": "pyasc.passes.sccp:Sccp",
    "cse": "pyasc.passes.cse:Cse",
    "dce": "pyasc.passes.dce:Dce",
    "licm": "pyasc.passes.licm:Licm",
    "hoist-checks": "pyasc.passes.hoist_checks:HoistChecks",
    "if-convert": "pyasc.passes.if_convert:IfConvert",
    "resolve-indices": "pyasc.passes.resolve_indices:ResolveIndices",
    "prove": "pyasc.passes.prove:Prove",
    "lower-tensors": "pyasc.passes.lower_tensors:LowerTensors",
    "sink-buffers": "pyasc.passes.sink_buffers:SinkBuffers",
    "elide-copies": "pyasc.passes.elide_copies:ElideCopies",
    "raise-loops": "pyasc.passes.raise_loops:RaiseLoops",
    "fuse": "pyasc.passes.fuse:Fuse",
    "narrow": "pyasc.passes.narrow:Narrow",
    "check-parallel": "pyasc.passes.check_parallel:CheckParallel",
    "serialise-updates": "pyasc.passes.serialise_updates:SerialiseUpdates",
    "watch-races": "pyasc.passes.watch_races:WatchRaces",
    "watch-reads": "pyasc.passes.watch_reads:WatchReads",
    "watch-floats": "pyasc.passes.watch_floats:WatchFloats",
    "locate-checks": "pyasc.passes.locate_checks:LocateChecks",
    "find-covered": "pyasc.passes.find_covered:FindCovered",
    "split-checks": "pyasc.passes.split_checks:SplitChecks",
    "split-reductions": "pyasc.passes.split_reductions:SplitReductions",
    "expand-functions": "pyasc.passes.expand_functions:ExpandFunctions",
    "raise-copies": "pyasc.passes.raise_copies:RaiseCopies",
    "time-loops": "pyasc.passes.time_loops:TimeLoops",
    "distribute": "pyasc.passes.distribute:Distribute",
    "rebase": "pyasc.passes.rebase:Rebase",
    "interchange": "pyasc.passes.interchange:Interchange",
    "schedule-cpu": "pyasc.passes.schedule_cpu:ScheduleCpu",
    "lower-structured": "pyasc.passes.lower_structured:LowerStructured",
    "schedule-loops": "pyasc.passes.schedule_loops:ScheduleLoops",
    "privatise": "pyasc.passes.privatise:Privatise",
    "vectorise": "pyasc.passes.vectorise:Vectorise",
    "vectorise-while": "pyasc.passes.vectorise_while:VectoriseWhile",
    "forward": "pyasc.passes.forward:Forward",
    "unroll": "pyasc.passes.unroll:Unroll",
    "lower-to-tiles": "pyasc.passes.lower_to_tiles:LowerToTiles",
    "lower-to-ascend": "pyasc.passes.lower_to_ascend:LowerToAscend",
    "mix-phases": "pyasc.passes.mix_phases:MixPhases",
    "cleanup": "pyasc.passes.cleanup:Cleanup",
}
"""From the name of a pass to `module:class`."""


class PassError(ValueError):
    """A pass, a pipeline or an option that does not exist or does not parse."""


def unknown(kind: str, name: str, known: Iterable[str]) -> PassError:
    """The error for a name that is not known, with the nearest one that is."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    help_ = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names) or 'none'}"
    return PassError(f"no {kind} is named {name!r}; {help_}")


def load(name: str) -> type[Pass]:
    """The class of a pass. Raises PassError for an unknown name."""
    if name not in PASSES:
        raise unknown("pass", name, PASSES)
    module, _, attribute = PASSES[name].partition(":")
    return getattr(import_module(module), attribute)


def create(name: str, options: Mapping[str, Any] | None = None) -> Pass:
    """A pass with options by field name. Raises PassError for an unknown pass or option."""
    cls = load(name)
    given = options or {}
    known = cls.options()
    for option in given:
        if option not in known:
            raise unknown(f"option of {name}", option, known)
    return cls(**given)
