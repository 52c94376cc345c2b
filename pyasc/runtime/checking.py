# SPDX-License-Identifier: Apache-2.0
"""Finds the mistakes in kernels without running anything: neither the kernels nor the file they stand in.

The kernels of a text are found by their decorators, and what they read is taken from the text (see
`frontend.text_globals`). A kernel that needs more, such as a helper imported from another module or a type that
no annotation gives, is passed over with a remark.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyasc.frontend.depth import deep_recursion
from pyasc.frontend.source import KernelSource
from pyasc.frontend.text_globals import bound_names
from pyasc.ir.diagnostics import CompileError, Diagnostic, LaunchError
from pyasc.ir.location import Location
from pyasc.ir.record import Record
from pyasc.runtime.bug_reports import reporting_bugs
from pyasc.runtime.decorators import kernel as kernel_decorator
from pyasc.runtime.kernel import Kernel
from pyasc.runtime.options import KernelOptions

UNDEFINED = "PA0301"
PIPELINE = "loop"
"""The last passes that refuse a kernel are in it."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef


class Asked(Record):
    """What the caller adds to the text: types of parameters without annotation, constants, fixed sizes."""

    types: Mapping[str, Any] = {}
    sizes: Mapping[str, int] = {}


def check_kernel(kernel: Kernel, asked: Asked | None = None) -> tuple[Diagnostic, ...]:
    """What is wrong with one kernel; a remark where it cannot be told, since a parameter has no type."""
    asked = asked or Asked()
    try:
        names = {parameter.name for parameter in kernel.signature.parameters}
        types = kernel.types_of((), {k: v for k, v in asked.types.items() if k in names})
        with reporting_bugs(kernel, types):
            kernel.specialise(types, asked.sizes).lowered(PIPELINE)
    except CompileError as error:
        return error.diagnostics
    except LaunchError as error:
        reason = str(error).removeprefix(f"{kernel.__name__}: ")
        loc = kernel.signature.loc
        return (_passed_over(kernel.__name__, reason, loc, "say what it takes: --type x=float32[N,4]"),)
    return ()


def check_text(
    text: str, file: str, asked: Asked | None = None, names: Iterable[str] = ()
) -> tuple[list[str], list[Diagnostic]]:
    """The kernels of a program text (those of the given names, or all), and what is wrong with them."""
    try:
        with deep_recursion():
            tree = ast.parse(text, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], list(_syntax_error(text, file))
    wanted = set(names)
    kernels: list[str] = []
    found: list[Diagnostic] = []
    for node in _top_level(tree):
        source = KernelSource.from_text(text, node.name, file)
        options = _kernel_options(node, source.globals)
        if options is None or (wanted and node.name not in wanted):
            continue
        kernels.append(node.name)
        bound = bound_names(tree) - source.globals.keys()
        diagnostics = check_kernel(Kernel(source, options), asked)
        found += [_known_at_run_time(each, node.name, bound) for each in diagnostics]
    found += _nested_kernels(tree, file)
    return kernels, sorted(dict.fromkeys(found), key=lambda each: (each.loc.line, each.loc.column))


def _syntax_error(text: str, file: str) -> tuple[Diagnostic, ...]:
    try:
        KernelSource.from_text(text, "kernel", file)
    except CompileError as error:
        return error.diagnostics
    return ()


def _top_level(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """The functions that a name of the module stands for: of several with one name, the last."""
    last = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    yield from last.values()


def _kernel_options(node: Definition, names: Mapping[str, Any]) -> KernelOptions | None:
    """The options of the decorator that makes a kernel of the function; None when it has no such decorator."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if _object(target, names) is kernel_decorator:
            keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
            return KernelOptions.of({k.arg: _literal(k.value) for k in keywords if k.arg is not None})
    return None


def _object(node: ast.expr, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=ast.Name(id=owner), attr=attr):
            return getattr(names.get(owner), attr, None)
        case _:
            return None


def _literal(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _known_at_run_time(diagnostic: Diagnostic, kernel: str, bound: set[str]) -> Diagnostic:
    """A remark in place of "not defined" for a name that the module sets when it runs."""
    name = diagnostic.message.split("`")[1] if diagnostic.code == UNDEFINED else ""
    if name not in bound:
        return diagnostic
    reason = f"`{name}` gets its value when the file runs"
    return _passed_over(kernel, reason, diagnostic.loc, "run the file too: pyasc check --execute")


def _passed_over(kernel: str, reason: str, loc: Location, hint: str) -> Diagnostic:
    return Diagnostic(
        "", f"`{kernel}` is not checked completely: {reason}", loc, severity="remark", hint=hint
    )


def _nested_kernels(tree: ast.Module, file: str) -> Iterator[Diagnostic]:
    """A remark for each kernel that is made in a class or function, which only a run makes."""
    top = set(_top_level(tree))
    for node in ast.walk(tree):
        if isinstance(node, Definition) and node not in top and any(map(_says_kernel, node.decorator_list)):
            end = node.col_offset + len(f"def {node.name}")
            loc = Location(file, node.lineno, node.col_offset, node.lineno, end)
            reason = "it is made when the code around it runs"
            yield _passed_over(node.name, reason, loc, "run the file too: pyasc check --execute")


def _says_kernel(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(target) in ("asc.kernel", "pyasc.kernel", "kernel")
