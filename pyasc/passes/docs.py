# SPDX-License-Identifier: Apache-2.0
"""The reference page of the passes, made from their docstrings and from the named pipelines."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib.util import find_spec

from pyasc.passes.base import Pass
from pyasc.passes.pipeline_parser import parse_pipeline
from pyasc.passes.pipelines import PIPELINES
from pyasc.passes.registry import PASSES, load

_HEAD = """\
# Passes

Generated from `pyasc/passes` by `make docs`.

A pass is a record around a plain function of a module or a function that says whether it changed
anything; its fields are its options. `pyasc opt FILE --passes=LIST` runs passes over IR in text form, where LIST is
such as `inline,unroll{factor=4},dce` and may name pipelines. `--print-ir-after=PASS|all` prints the IR between them,
`--pass-statistics` what each has counted, `--timing` how long each took; `PYASC_VERIFY=1` verifies after each, and
`PYASC_DUMP=DIR` writes the IR after each to a file.

## Pipelines

| name | passes |
| --- | --- |
"""


def passes_page() -> str:
    """The whole page, as Markdown."""
    present = [name for name, target in PASSES.items() if find_spec(target.partition(":")[0]) is not None]
    rows = [f"| `{name}` | {_steps(name)} |\n" for name in PIPELINES]
    return _HEAD + "".join(rows) + "".join(_section(name) for name in present)


def _steps(name: str) -> str:
    return ", ".join(f"`{each.name}`" for each in parse_pipeline(name))


def _section(name: str) -> str:
    cls = load(name)
    module = inspect.getmodule(cls)
    text = inspect.cleandoc((module.__doc__ if module is not None else None) or "")
    return f"\n## {name}\n\n{text}\n{''.join(_options(cls))}"


def _options(cls: type[Pass]) -> Iterator[str]:
    options = cls.options()
    if options:
        yield f"\n{inspect.cleandoc(cls.__doc__ or '')}\n\n| option | type | default |\n| --- | --- | --- |\n"
    for name, type_ in options.items():
        default = getattr(cls, name)
        yield f"| `{name}` | {type_} | {str(default).lower() if isinstance(default, bool) else default} |\n"
