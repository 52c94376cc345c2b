# SPDX-License-Identifier: Apache-2.0
"""Where a kernel's text comes from: files, notebook cells, registered strings; with positions in the file."""

from __future__ import annotations

import ast
import hashlib
import linecache
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pyasc.frontend.depth import deep_recursion
from pyasc.frontend.named_conditions import nest_conditions
from pyasc.frontend.private_names import spell_private_names
from pyasc.frontend.text_globals import text_globals
from pyasc.frontend.unchanged import FUTURE_FLAGS, in_file, is_unchanged, matching_lambdas
from pyasc.frontend.wrappers import is_transparent
from pyasc.ir.diagnostics import CompileError, Diagnostic, compile_error
from pyasc.ir.location import UNKNOWN, Location

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MISSING = object()


@dataclass(eq=False)
class KernelSource:
    """The text, tree and surroundings of one function. Line numbers in `node` are those of `file`.

    `lines` is the text of the function alone, `first_line` the number of its first line (decorators included).
    """

    name: str
    file: str
    first_line: int
    lines: tuple[str, ...]
    node: FunctionNode
    globals: Mapping[str, Any]
    closure: Mapping[str, types.CellType] = field(default_factory=dict)
    function: Callable[..., Any] | None = None

    @staticmethod
    def from_function(function: Callable[..., Any]) -> KernelSource:
        """The source of a Python function. Raises CompileError when it cannot be found or has changed."""
        while hasattr(function, "__wrapped__"):
            if not is_transparent(function, lambda each: KernelSource._of_plain(each).node):
                raise _decorated(function)
            function = function.__wrapped__  # pyright: ignore[reportFunctionMemberAccess]
        return KernelSource._of_plain(function)

    @staticmethod
    def _of_plain(function: Callable[..., Any]) -> KernelSource:
        """The source of a function, whatever it wraps."""
        if not isinstance(function, types.FunctionType):
            raise _trouble("PA0104", f"{function!r} is not a Python function")
        code = function.__code__
        file, lines = _file_of(function)
        start = Location(file, code.co_firstlineno, 0, code.co_firstlineno, 0)
        if not 0 < code.co_firstlineno <= len(lines):
            raise _not_found(function, start)
        if code.co_name == "<lambda>":
            block, node = _parse_lambda(lines, code, start, function.__globals__)
        else:
            block, node = _parse_function(lines[code.co_firstlineno - 1 :], code, start)
        spell_private_names(node, function)
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        source = KernelSource(
            function.__name__,
            file,
            code.co_firstlineno,
            tuple(block),
            node,
            function.__globals__,
            cells,
            function,
        )
        _check_unchanged(source, code, lines)
        nest_conditions(node)
        return source

    @staticmethod
    def from_text(text: str, name: str | None = None, file: str | None = None) -> KernelSource:
        """The function `name` of a program text (the only kernel, or the only function, by default).

        The text is parsed and never executed: imports of pyasc, NumPy and math, constants, sizes made by
        `asc.dims` and other functions of the text are what its functions see.
        """
        file = file or f"<kernel {hashlib.sha256(text.encode()).hexdigest()[:12]}>"
        lines = text.splitlines(keepends=True)
        # As doctest and IPython do, so that messages and tracebacks can show the line.
        linecache.cache[file] = (len(text), None, lines, file)
        try:
            with deep_recursion():
                tree = ast.parse(text, file)
        except SyntaxError as error:
            raise _syntax_error(error, file) from error
        except (RecursionError, MemoryError):
            raise _too_deep(Location(file, 1, 0, 1, 0)) from None
        except ValueError as error:
            raise _trouble("PA0103", f"invalid text: {error}", Location(file, 1, 0, 1, 0)) from None
        names = text_globals(tree)
        sources = {n: _source_of(n, lines, file, names) for n in tree.body if isinstance(n, _DEFINITIONS)}
        names |= {key: sources[value] for key, value in names.items() if isinstance(value, _DEFINITIONS)}
        chosen = _choose(tree, name, file)
        return next(source for source in reversed(sources.values()) if source.name == chosen)

    @cached_property
    def ascii_lines(self) -> frozenset[int]:
        """Line numbers on which character and byte columns agree."""
        return frozenset(self.first_line + i for i, line in enumerate(self.lines) if line.isascii())

    @cached_property
    def text(self) -> str:
        """The text of the function."""
        return "".join(self.lines)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of the text, the same in every process."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @cached_property
    def around_annotations(self) -> KernelSource:
        """The source as its annotations see it: Python 3.14 binds them to locals and class members of their own."""
        cells = _annotation_cells(self.function)
        return replace(self, closure={**self.closure, **cells}) if cells else self

    def location(self, node: ast.AST) -> Location:
        """The span of a node, with columns in characters."""
        line = getattr(node, "lineno", None)
        if line is None:
            return UNKNOWN
        start, end, end_line = node.col_offset, node.end_col_offset, node.end_lineno  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(node, ast.FunctionDef):
            # Its name is enough: the whole text would hide what a message is about.
            end, end_line = start + len(f"def {node.name}".encode()), line
        if line not in self.ascii_lines:
            start = self._characters(line, start)
        if end_line not in self.ascii_lines:
            end = self._characters(end_line, end)
        return Location(self.file, line, start, end_line, end)

    def _characters(self, line: int, offset: int) -> int:
        index = line - self.first_line
        if not 0 <= index < len(self.lines):
            return offset
        return len(self.lines[index].encode()[:offset].decode(errors="ignore"))

    def lookup(self, name: str, default: Any = _MISSING) -> Any:
        """The closure or global value of a name. Raises KeyError, or gives `default`, when there is none."""
        if name in self.closure:
            try:
                return self.closure[name].cell_contents
            except ValueError:
                pass
        elif name in self.globals:
            return self.globals[name]
        else:
            builtin = self.globals.get("__builtins__", __builtins__)
            table = builtin if isinstance(builtin, dict) else vars(builtin)
            if name in table:
                return table[name]
        if default is _MISSING:
            raise KeyError(name)
        return default


def _annotation_cells(function: Callable[..., Any] | None) -> dict[str, types.CellType]:
    """What lazy annotations name in the functions and the class around, which the function itself need not name."""
    annotate = getattr(function, "__annotate__", None)
    if not isinstance(annotate, types.FunctionType):
        return {}
    code = annotate.__code__
    cells = dict(zip(code.co_freevars, annotate.__closure__ or (), strict=True))
    members = cells.pop("__classdict__", None)
    if members is None:
        return cells
    known = members.cell_contents
    return cells | {name: types.CellType(known[name]) for name in code.co_names if name in known}


def _file_of(function: types.FunctionType) -> tuple[str, Sequence[str]]:
    """The name and the lines of the file, cell or command line that a function is from; no lines if there are none."""
    code = function.__code__
    file = code.co_filename
    linecache.checkcache(file)
    lines: Sequence[str] = linecache.getlines(file, function.__globals__)
    if not lines and file == "<string>":
        lines = _command_line()
        if lines and in_file(code, lines):
            # Other strings that are executed are called `<string>` too.
            file = "<command line>"
            linecache.cache[file] = (0, None, list(lines), file)
        else:
            lines = ()
    return file, lines


def _command_line() -> Sequence[str]:
    """The program of `python -c`."""
    words = sys.orig_argv
    if "-c" not in words[:-1]:
        return ()
    return words[words.index("-c") + 1].splitlines(keepends=True)


def _not_found(function: types.FunctionType, start: Location) -> CompileError:
    return _trouble(
        "PA0101",
        f"the source of `{function.__name__}` cannot be found in {function.__code__.co_filename!r}",
        start,
        hint="define it in a file or a notebook cell, or use asc.kernel_from_source(text)",
    )


def _trouble(code: str, message: str, loc: Location = UNKNOWN, hint: str = "") -> CompileError:
    return compile_error(Diagnostic(code, message, loc, hint=hint))


def _syntax_error(error: SyntaxError, file: str) -> CompileError:
    line, column = error.lineno or 1, max((error.offset or 1) - 1, 0)
    message = error.msg if error.msg.startswith("invalid syntax") else f"invalid syntax: {error.msg}"
    return _trouble("PA0103", message, Location(file, line, column, line, column + 1))


def _too_deep(loc: Location) -> CompileError:
    return _trouble("PA0702", "this text nests too deeply to be read", loc)


def _decorated(function: Any) -> CompileError:
    code = getattr(function, "__code__", None)
    line = code.co_firstlineno if code is not None else 0
    start = Location(code.co_filename, line, 0, line, 0) if code is not None else UNKNOWN
    return _trouble(
        "PA0104",
        f"a decorator changes what `{function.__name__}` does",
        start,
        hint="put it above @asc.kernel, or write what it does into the kernel",
    )


def _parse_function(
    lines: Sequence[str], code: types.CodeType, start: Location
) -> tuple[list[str], FunctionNode]:
    """The lines of the function that starts at the first one, and its tree.

    The text ends at the first line, indented no deeper than the first, before which it is complete Python.
    """
    error: SyntaxError | None = None
    for end in _ends(lines):
        try:
            tree = _parse_lines(lines[:end], code, start)
        except SyntaxError as found:
            error = error or found
            continue
        except (RecursionError, MemoryError):
            raise _too_deep(start) from None
        node = _wanted(tree, code)
        if node is not None:
            return list(lines[: (node.end_lineno or start.line) - start.line + 1]), node
    if error is not None:
        raise _syntax_error(error, start.file)
    raise _changed(code.co_name, start)


def _ends(lines: Sequence[str]) -> Iterator[int]:
    first = lines[0]
    indent = len(first) - len(first.lstrip())
    for end in range(1, len(lines)):
        text = lines[end].lstrip()
        if text and not text.startswith("#") and len(lines[end]) - len(text) <= indent:
            yield end
    yield len(lines)


def _parse_lines(lines: Sequence[str], code: types.CodeType, start: Location) -> ast.AST:
    text = "".join(lines)
    flags = ast.PyCF_ONLY_AST | code.co_flags & FUTURE_FLAGS
    # An indented function is parsed inside an `if`, so that its columns stay those of the file.
    indented = text[:1].isspace()
    with deep_recursion():
        tree = compile("if 1:\n" + text if indented else text, start.file, "exec", flags, dont_inherit=True)
    return ast.increment_lineno(tree, start.line - (2 if indented else 1))


def _wanted(tree: ast.AST, code: types.CodeType) -> FunctionNode | None:
    """The node that became `code`; None when a decorator alone has been read so far."""
    found = [n for n in ast.walk(tree) if isinstance(n, FunctionNode) and _name_of(n) == code.co_name]
    return found[0] if found else None


def _parse_lambda(
    lines: Sequence[str], code: types.CodeType, start: Location, names: Mapping[str, Any]
) -> tuple[list[str], FunctionNode]:
    """The lines of a lambda and its tree, which its code tells from its neighbours."""
    text = "".join(lines)
    flags = ast.PyCF_ONLY_AST | code.co_flags & FUTURE_FLAGS
    try:
        with deep_recursion():
            tree = compile(text, start.file, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        raise _syntax_error(error, start.file) from error
    except (RecursionError, MemoryError):
        raise _too_deep(start) from None
    lambdas = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda) and n.lineno == start.line]
    found = matching_lambdas(lambdas, code, names)
    if not found and in_file(code, lines):
        found = [n for n in lambdas if _parameter_names(n) == code.co_varnames[: _parameter_count(code)]]
    if not found:
        raise _changed(code.co_name, start)
    if len({ast.dump(node) for node in found}) > 1:
        raise _trouble(
            "PA0104",
            "the lambda cannot be told from its neighbours on this line",
            start,
            hint="write it with `def`",
        )
    return list(lines[start.line - 1 : found[0].end_lineno]), found[0]


def _name_of(node: FunctionNode) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _parameter_names(node: FunctionNode) -> tuple[str, ...]:
    args = node.args
    return tuple(a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs))


def _parameter_count(code: types.CodeType) -> int:
    return code.co_argcount + code.co_kwonlyargcount


def _changed(name: str, start: Location) -> CompileError:
    return _trouble(
        "PA0102",
        f"the source of `{name}` has changed since it was loaded",
        start,
        hint="load the module again, so that text and function agree",
    )


def _check_unchanged(source: KernelSource, code: types.CodeType, lines: Sequence[str]) -> None:
    """Refuse a text that is not what was loaded, so that an edited file is not mistaken for the function."""
    node = source.node
    if isinstance(node, ast.Lambda):
        return
    if not is_unchanged(node, code, source.globals, lines):
        raise _changed(source.name, source.location(node))


def _source_of(
    node: ast.FunctionDef | ast.AsyncFunctionDef, lines: Sequence[str], file: str, names: Mapping[str, Any]
) -> KernelSource:
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    block = tuple(lines[first - 1 : node.end_lineno])
    nest_conditions(node)
    return KernelSource(node.name, file, first, block, node, names)


def _choose(tree: ast.Module, name: str | None, file: str) -> str:
    functions = [node for node in tree.body if isinstance(node, _DEFINITIONS)]
    if name is not None:
        if any(node.name == name for node in functions):
            return name
        raise _trouble("PA0101", f"the text has no function `{name}`", Location(file, 1, 0, 1, 0))
    kernels = [node for node in functions if any("kernel" in ast.unparse(d) for d in node.decorator_list)]
    candidates = kernels or functions
    if len(candidates) != 1:
        what = "kernel" if kernels else "function"
        raise _trouble(
            "PA0101",
            f"the text has {len(candidates)} {what}s, not one",
            Location(file, 1, 0, 1, 0),
            hint="name the one to compile",
        )
    return candidates[0].name
