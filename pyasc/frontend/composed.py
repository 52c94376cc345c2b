# SPDX-License-Identifier: Apache-2.0
"""Functions of pyasc that are written in the kernel language, and inlined as a user's helper is.

All that they become stands at the place of the call, so that no message shows the inside of pyasc.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from pyasc.frontend.source import KernelSource
from pyasc.frontend.values import Val
from pyasc.frontend.visitor import Visitor
from pyasc.ir.location import UNKNOWN, Location

MODULES = frozenset({"pyasc.language.random", "pyasc.language.composed", "pyasc.language.math_parts"})


@dataclass(eq=False)
class ComposedSource(KernelSource):
    """The source of such a function, all of which stands at `site`."""

    site: Location = UNKNOWN

    def location(self, node: ast.AST) -> Location:
        """The place of the call."""
        return self.site


def composed_source(v: Visitor, function: Callable[..., Any], site: Location) -> KernelSource:
    """The source of a function of `MODULES`, called at `site`."""
    known = v.helpers.get(function)
    if known is None:
        known = v.helpers[function] = KernelSource.from_function(function)
    parts = {each.name: getattr(known, each.name) for each in fields(KernelSource)}
    return ComposedSource(**parts, site=site)


def call_composed(v: Visitor, function: Callable[..., Any], *args: Val) -> Val:
    """Inline a function at the current place."""
    from pyasc.frontend.calls import inline

    site = ast.Call(ast.Name(function.__name__), [], [])
    return inline(v, site, composed_source(v, function, v.emit.builder.loc), args, {})
