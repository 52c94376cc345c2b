# SPDX-License-Identifier: Apache-2.0
"""Walks a function's tree and emits IR: dispatch, positions, errors and their recovery. Knows no node type itself.

Handlers stand in topical modules and are listed in `contents.py`, one for each node type; a node that is not
listed there is refused from the catalogue in `refusals.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pyasc.frontend.dependencies import Dependencies
from pyasc.frontend.emit import Emitter
from pyasc.frontend.frames import Cursor, Frame
from pyasc.frontend.liveness import Facts
from pyasc.frontend.refusals import REFUSED, Refusal
from pyasc.frontend.source import KernelSource
from pyasc.frontend.values import Comprehension, Poison, Val
from pyasc.ir.core import Block, Operation, Value
from pyasc.ir.diagnostics import CompileError, Diagnostic, InternalError, Related, compile_error
from pyasc.ir.location import Location
from pyasc.ir.record import Record
from pyasc.ir.sizes import Assumptions, SizeExpr

Handler = Callable[["Visitor", Any], Any]


class Refused(Exception):
    """Ends the visit of one statement; `diagnostic` is None when the cause has been reported already."""

    def __init__(self, diagnostic: Diagnostic | None) -> None:
        self.diagnostic = diagnostic
        super().__init__()


class CompileOptions(Record):
    """What changes the IR that a kernel becomes."""

    debug: bool = False
    unchecked: bool = False
    precision: str = "numpy"
    name: str | None = None
    tolerance: float = 1e-3
    sizes: tuple[tuple[str, int], ...] = ()
    """Symbolic sizes that are numbers in this compilation."""
    same: tuple[tuple[str, str], ...] = ()
    """Parameters, and earlier ones that are the same array."""


class NeedsBuffers(Exception):
    """A helper assigns to elements of an array that its caller made: every array that has a name has to be a buffer."""


class Precision(Record):
    """How floats may be lowered: a mode of `asc.precision`, and the error that `"auto"` may make."""

    mode: str
    tolerance: float


class Snapshot(Record):
    """A copy of an array where NumPy has a view. `root` is the buffer, `what` the function that gave it."""

    root: Value
    what: str
    loc: Location


class Contents(Record):
    """The table of handlers by node type."""

    statements: Mapping[type[ast.AST], Handler]
    expressions: Mapping[type[ast.AST], Handler]


class Visitor:
    """The state of one compilation, and the entry points that handlers call."""

    def __init__(self, contents: Contents, frame: Frame, entry: Block, options: CompileOptions) -> None:
        self.contents = contents
        self.frame = frame
        self.emit = Emitter(entry)
        self.options = options
        self.dependencies = Dependencies()
        self.diagnostics: list[Diagnostic] = []
        self.sizes: dict[str, None] = {}
        self.written: set[Value] = set()
        self.header_types: dict[tuple[object, ...], dict[str, object]] = {}
        self.trusted_guesses: set[str] = set()
        self.float_bits = 32
        self.serial = 0
        self.mutates = False
        self.buffers = False
        self.counters: dict[Value, Val] = {}
        self.checked_bounds: set[tuple[Block, Val]] = set()
        self.known_sizes = dict(options.sizes)
        self.not_negative: dict[SizeExpr, None] = {}
        self.equal: dict[tuple[SizeExpr, SizeExpr], None] = {}
        self.strict = options.precision == "strict"
        self.precision = Precision(options.precision, options.tolerance)
        self.remarks: list[Diagnostic] = []
        self.helpers: dict[object, KernelSource] = {}
        self.shared: set[tuple[Frame, str]] = set()
        self.updated: set[tuple[Frame, str]] = set()
        self.snapshots: dict[Value, Snapshot] = {}
        self.detached: set[Value] = set()
        self.stores: set[Operation] = set()
        self.copies: set[Operation] = set()
        self.comprehensions: list[Comprehension] = []
        self.writes = 0

    def expr(self, node: ast.expr) -> Val:
        """The value of an expression."""
        handler = self.contents.expressions.get(type(node))
        builder = self.emit.builder
        outer, builder.loc = builder.loc, self.frame.source.location(node)
        if handler is None:
            self.refuse_node(node)
        value = handler(self, node)  # pyright: ignore[reportOptionalCall]
        builder.loc = outer
        return value

    def statement(self, node: ast.stmt) -> None:
        """Visit one statement; an error in it is noted and its names are poisoned."""
        handler = self.contents.statements.get(type(node))
        self.emit.builder.loc = self.frame.source.location(node)
        block, frame = self.emit.builder.block, self.frame
        depth = len(frame.cursors)
        try:
            if handler is None:
                self.refuse_node(node)
            handler(self, node)  # pyright: ignore[reportOptionalCall]
        except Refused as refused:
            self._recover(node, refused.diagnostic)
        except CompileError as error:
            self._recover(node, None)
            self.diagnostics += error.diagnostics
        except RecursionError:
            message = "this statement nests too deeply"
            self._recover(
                node, self.error(node, "PA0702", message, hint="move a part into a helper").diagnostic
            )
        except OverflowError:
            message = "a number here does not fit int64"
            refused = self.error(None, "PA0403", message, hint="indices and counts have 64 bits")
            self._recover(node, refused.diagnostic)
        except (InternalError, NeedsBuffers, KeyboardInterrupt):
            raise
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
            raise InternalError(message, frame.source.location(node)) from error
        finally:
            self.emit.builder.block, self.frame = block, frame
            del frame.cursors[depth:]

    def _recover(self, node: ast.stmt, diagnostic: Diagnostic | None) -> None:
        if diagnostic is not None:
            self.diagnostics.append(diagnostic)
        declared = node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else ()
        for name in (*self.facts(node).may_set, *declared):
            self.frame.env.set(name, Poison())

    def body(self, statements: Sequence[ast.stmt]) -> None:
        """Visit a list of statements."""
        self.frame.cursors.append(Cursor(statements))
        depth = len(self.frame.cursors)
        self.rest()
        del self.frame.cursors[depth - 1 :]

    def rest(self) -> None:
        """Visit what is left of the list that the innermost cursor stands in, guarded by jumps under way."""
        cursor = self.frame.cursors[-1]
        while not cursor.at_end:
            if flags := self.frame.pending_flags():
                self._rest_behind(flags, cursor)
                return
            node = cursor.body[cursor.index]
            cursor.index += 1
            self.statement(node)

    def _rest_behind(self, flags: list[str], cursor: Cursor) -> None:
        if not self.frame.jumped():
            from pyasc.frontend.control import guarded

            guarded(self, flags, self.rest)
        cursor.index = len(cursor.body)

    def facts(self, node: ast.stmt) -> Facts:
        """Names that a statement reads and sets."""
        return self.frame.liveness.statement(node)

    def error(
        self,
        node: ast.AST | None,
        code: str,
        message: str,
        label: str = "",
        hint: str = "",
        related: tuple[Related, ...] = (),
        notes: tuple[str, ...] = (),
    ) -> Refused:
        """The exception that refuses the current statement, with a caret under `node` (or the current place)."""
        loc = self.emit.builder.loc if node is None else self.frame.source.location(node)
        calls = tuple(
            Related(frame.call_site, f"`{frame.name}` is called here")
            for frame in self.call_chain()
            if frame.call_site is not None
        )
        return Refused(Diagnostic(code, message, loc, label, "error", notes, related + calls, hint))

    def call_chain(self) -> Iterator[Frame]:
        """The current function and those that it is inlined into, innermost first."""
        frame: Frame | None = self.frame
        while frame is not None:
            yield frame
            frame = frame.caller

    def refuse_node(self, node: ast.AST) -> None:
        """Raises the refusal of a node that has no handler."""
        refusal = REFUSED.get(type(node), Refusal(f"`{type(node).__name__}`", "pyasc does not know it"))
        raise self.error(
            node, "PA0202", f"{refusal.name} is not supported in a kernel", refusal.reason, refusal.hint
        )

    def location(self, node: ast.AST) -> Location:
        """Where a node of the current function stands."""
        return self.frame.source.location(node)

    @contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        """Visit in another frame for a while."""
        outer, self.frame = self.frame, frame
        loc = self.emit.builder.loc
        try:
            yield
        finally:
            self.frame = outer
            self.emit.builder.loc = loc

    @contextmanager
    def block(self, block: Block) -> Iterator[None]:
        """Emit into another block, recording changes of names until the caller ends them."""
        loc = self.emit.builder.loc
        with self.emit.into(block):
            yield
        self.emit.builder.loc = loc

    @property
    def assumptions(self) -> Assumptions:
        """What was taken for granted of the sizes."""
        return Assumptions(tuple(self.not_negative), tuple(self.equal))

    def finish(self) -> None:
        """Raises CompileError when anything was refused, each place and message once."""
        if self.diagnostics:
            raise compile_error(*dict.fromkeys(self.diagnostics))
