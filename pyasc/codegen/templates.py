# SPDX-License-Identifier: Apache-2.0
"""Jinja environments of the emitters. Compiled templates are kept where Python keeps the bytecode of modules."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

MACROS = "nodes.j2"
"""The template of an emitter: one macro for each node."""


@cache
def macros(package: str) -> Any:
    """The macros of an emitter's package, by name."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent / "templates"
    environment = Environment(
        loader=FileSystemLoader(folder),
        bytecode_cache=_BytecodeCache(str(Path(cache_from_source(str(folder / MACROS))).parent)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(MACROS).module


class _BytecodeCache(FileSystemBytecodeCache):
    """Writes when and where Python writes bytecode, and does without where it cannot."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)
