# SPDX-License-Identifier: Apache-2.0
"""From Python source to the py level of the IR: source lookup, AST visitor, type rules, diagnostics."""

from __future__ import annotations

from pyasc.frontend.compile import (
    MAPPED_SIZE,
    Constexpr,
    FrontendResult,
    ParamType,
    Weak,
    compile_function,
    compile_mapped,
)
from pyasc.frontend.dependencies import Dependencies, Dependency
from pyasc.frontend.signature import (
    NO_DEFAULT,
    AnyKind,
    ArrayKind,
    ConstexprKind,
    Parameter,
    ScalarKind,
    Signature,
    WeakKind,
    parse_signature,
)
from pyasc.frontend.source import KernelSource
from pyasc.frontend.visitor import CompileOptions

__all__ = [
    "MAPPED_SIZE",
    "NO_DEFAULT",
    "AnyKind",
    "ArrayKind",
    "CompileOptions",
    "Constexpr",
    "ConstexprKind",
    "Dependencies",
    "Dependency",
    "FrontendResult",
    "KernelSource",
    "ParamType",
    "Parameter",
    "ScalarKind",
    "Signature",
    "Weak",
    "WeakKind",
    "compile_function",
    "compile_mapped",
    "parse_signature",
]
