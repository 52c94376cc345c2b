# SPDX-License-Identifier: Apache-2.0
"""Every environment variable that pyasc reads: its type, its default, what it does.

`read()` takes them from the environment at the time of the call. Nothing else in pyasc looks into
`os.environ`. `docs/environment.md` is generated from the table here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+)\s*([KMGT]?)(?:I?B)?")
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off"})


class KnobError(ValueError):
    """An environment variable has a value that its knob does not take."""


@dataclass(frozen=True)
class Kind:
    """How the text of a variable becomes a value.

    `parse` raises ValueError for text it does not take; `expected` completes "expected ...".
    """

    label: str
    parse: Callable[[str], object]
    expected: str


@dataclass(frozen=True)
class Variable:
    """One environment variable, as documented.

    `default` says in words what holds when the variable is unset or empty.
    """

    name: str
    kind: Kind
    default: str
    effect: str


def _parse_flag(text: str) -> bool:
    word = text.lower()
    if word not in _YES | _NO:
        raise ValueError(text)
    return word in _YES


def _parse_count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ValueError(text)
    return count


def _parse_size(text: str) -> int:
    found = _SIZE.fullmatch(text.upper())
    if found is None:
        raise ValueError(text)
    return int(found[1]) * _UNITS[found[2]]


def _parse_vectors(text: str) -> tuple[int, int]:
    size, registers = (int(part) for part in text.lower().split("x"))
    if size not in (16, 32, 64) or not 8 <= registers <= 64:
        raise ValueError(text)
    return size, registers


def _parse_path(text: str) -> Path:
    return Path(text).expanduser()


TEXT = Kind("text", str, "text")
PATH = Kind("path", _parse_path, "a path")
FLAG = Kind("flag", _parse_flag, "1, true, yes, on, 0, false, no or off")
PRESENCE = Kind("presence", bool, "any text")
COUNT = Kind("count", _parse_count, "a whole number of at least 1")
VECTORS = Kind(
    "vectors", _parse_vectors, "bytes x registers, such as 32x16: 16, 32 or 64 bytes, 8 to 64 registers"
)
SIZE = Kind("size", _parse_size, "a size in bytes, such as 500000000, 512M or 2G")


def _knob(name: str, kind: Kind, default: object, default_in_words: str, effect: str) -> Any:
    return field(default=default, metadata={"variable": Variable(name, kind, default_in_words, effect)})


@dataclass(frozen=True)
class Knobs:
    """The settings that the environment holds at one moment."""

    device: str | None = _knob(
        "PYASC_DEVICE",
        TEXT,
        None,
        "the first usable of `npu` and `cpu`",
        "The device that kernels run on: `cpu`, `model` or `npu`.",
    )
    num_threads: int | None = _knob(
        "PYASC_NUM_THREADS",
        COUNT,
        None,
        "the processors this process may use",
        "How many threads the `cpu` device spreads parallel loops over. Results do not depend on it.",
    )
    cxx: str | None = _knob(
        "PYASC_CXX",
        TEXT,
        None,
        "the first found of `g++`, `clang++`, `c++` and zig",
        "The C++ compiler, as a command, with its own options if need be (`python -m ziglang c++`).",
    )
    vectors: tuple[int, int] | None = _knob(
        "PYASC_VECTORS",
        VECTORS,
        None,
        "those of this processor",
        "The vector registers that C++ is written for, as bytes x registers. Results do not depend on it.",
    )
    cache_dir: Path | None = _knob(
        "PYASC_CACHE_DIR",
        PATH,
        None,
        "`$XDG_CACHE_HOME/pyasc`, else `~/.cache/pyasc`",
        "Where compiled kernels are kept.",
    )
    cache_limit: int = _knob(
        "PYASC_CACHE_LIMIT",
        SIZE,
        1 << 30,
        "1G",
        "How large the cache may grow, in bytes or with a unit K, M, G or T (powers of 1024).",
    )
    dump: Path | None = _knob(
        "PYASC_DUMP",
        PATH,
        None,
        "nothing is written",
        "A directory that receives every stage of every compilation, in files to read.",
    )
    verify: bool = _knob(
        "PYASC_VERIFY",
        FLAG,
        False,
        "off",
        "Verify the IR after every pass. The test suite turns it on.",
    )
    internal_traceback: bool = _knob(
        "PYASC_INTERNAL_TRACEBACK",
        FLAG,
        False,
        "off",
        "Show pyasc's own frames in the traceback of an error in a kernel.",
    )
    no_color: bool = _knob(
        "NO_COLOR",
        PRESENCE,
        False,
        "colour where the output is a terminal",
        "Write no colour codes.",
    )
    model_check: bool = _knob(
        "PYASC_MODEL_CHECK",
        FLAG,
        True,
        "on",
        "Whether the `model` device looks for mistakes. Without it launches are several times as fast.",
    )
    ascend_home: Path | None = _knob(
        "ASCEND_HOME_PATH",
        PATH,
        None,
        "that of `ASCEND_TOOLKIT_HOME`",
        "Where CANN is installed; its own `set_env.sh` sets this.",
    )
    ascend_toolkit_home: Path | None = _knob(
        "ASCEND_TOOLKIT_HOME",
        PATH,
        None,
        "`/usr/local/Ascend/ascend-toolkit/latest` or `/usr/local/Ascend/cann`, if there is one",
        "Where CANN is installed, used when `ASCEND_HOME_PATH` is not set.",
    )
    xdg_cache_home: Path | None = _knob(
        "XDG_CACHE_HOME",
        PATH,
        None,
        "`~/.cache`",
        "Where the user keeps caches, used when `PYASC_CACHE_DIR` is not set.",
    )

    @property
    def cache_root(self) -> Path:
        """The directory of the compilation cache, from `cache_dir` or the user's cache directory."""
        if self.cache_dir is not None:
            return self.cache_dir
        return (self.xdg_cache_home or Path.home() / ".cache") / "pyasc"


def variables() -> list[Variable]:
    """Every variable of `Knobs`, in the order in which it is documented."""
    return [each.metadata["variable"] for each in fields(Knobs)]


def read(environ: Mapping[str, str] | None = None) -> Knobs:
    """The knobs that `environ` (the process's environment by default) sets.

    An empty variable counts as unset. Raises KnobError for a value that a knob does not take.
    """
    source = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    for each in fields(Knobs):
        assert each.default is not MISSING
        variable: Variable = each.metadata["variable"]
        text = source.get(variable.name, "").strip()
        values[each.name] = _parse(variable, text) if text else each.default
    return Knobs(**values)


def _parse(variable: Variable, text: str) -> object:
    try:
        return variable.kind.parse(text)
    except ValueError:
        raise KnobError(f"{variable.name}={text!r}: expected {variable.kind.expected}") from None
