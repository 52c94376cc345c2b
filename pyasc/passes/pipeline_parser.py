# SPDX-License-Identifier: Apache-2.0
"""Reads pipeline text such as `inline,unroll{factor=4},dce` and builds the passes.

An entry is the name of a pass with options in braces (`key=value`, separated by spaces or commas), or the name
of a pipeline. Values are read by the type of the option: `true`, `false`, integers, numbers or words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from pyasc.passes.base import Pass
from pyasc.passes.pipelines import PIPELINES
from pyasc.passes.registry import PASSES, PassError, create, load, unknown

_ENTRY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*(?:\{([^{}]*)\})?\s*(?:,|$)")
_OPTION = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^\s,=]+)\s*,?")
_FLAGS = {"true": True, "false": False}

Options = Mapping[str, Mapping[str, object]]
"""Options by pass name, which every occurrence of the pass gets."""


def parse_pipeline(text: str, options: Options | None = None) -> tuple[Pass, ...]:
    """The passes that a pipeline text names, in order; `options` adds to those in the text.

    Raises PassError for a name, an option or a value that is not known, and for text that does not parse.
    """
    extra = options or {}
    return tuple(create(name, {**given, **extra.get(name, {})}) for name, given in _expand(text))


@lru_cache(maxsize=64)
def _expand(text: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple(_entries(text))


def _entries(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    position = 0
    while position < len(text):
        found = _ENTRY.match(text, position)
        if found is None:
            raise PassError(f"cannot read the pipeline at {text[position:]!r}")
        position = found.end()
        name, options = found[1], found[2]
        if name in PIPELINES and options is None:
            for entry in PIPELINES[name]:
                yield from _entries(entry)
        elif name in PASSES:
            yield name, _options(name, options or "")
        else:
            raise unknown("pass or pipeline", name, [*PASSES, *PIPELINES])


def _options(name: str, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    types = load(name).options()
    values: dict[str, Any] = {}
    position = 0
    while position < len(text):
        found = _OPTION.match(text, position)
        if found is None:
            raise PassError(f"cannot read the options of {name} at {text[position:]!r}")
        position = found.end()
        option, word = found[1], found[2]
        if option not in types:
            raise unknown(f"option of {name}", option, types)
        values[option] = _value(f"{name}{{{option}}}", types[option], word)
    return values


def _value(where: str, type_: str, word: str) -> object:
    try:
        if type_ == "bool":
            return _FLAGS[word]
        if type_ == "int":
            return int(word)
        return float(word) if type_ == "float" else word
    except (KeyError, ValueError):
        raise PassError(f"{where}: expected {type_}, got {word!r}") from None
