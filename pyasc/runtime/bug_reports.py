# SPDX-License-Identifier: Apache-2.0
"""What happens when pyasc itself fails: a message that asks for a report, and a file that reproduces the failure.

An exception that no part of pyasc raises on purpose is a mistake in pyasc. Its traceback is of use to whoever mends
it, and of none to whoever wrote the kernel, so it goes into the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyasc import knobs
from pyasc.ir.diagnostics import Diagnostic, InternalError, compile_error

if TYPE_CHECKING:
    from pyasc.runtime.kernel import Kernel

# Exceptions of these kinds tell of the machine or of the user's own code.
_OF_THE_WORLD = (OSError, MemoryError, ImportError, SyntaxError)


def is_bug(error: BaseException) -> bool:
    """Whether an exception is a mistake in pyasc: its own kind for that, or one that nobody raised on purpose."""
    if isinstance(error, InternalError) or type(error).__name__ == "PassBroke":
        return True
    # ClickException and the like say what the user did.
    raised_for_users = type(error).__module__ not in ("builtins", "numpy", "struct", "jinja2.exceptions")
    return isinstance(error, Exception) and not raised_for_users and not isinstance(error, _OF_THE_WORLD)


@contextmanager
def reporting_bugs(kernel: Kernel, types: Any = ()) -> Iterator[None]:
    """Turns a mistake in pyasc that happens inside into an InternalError that names a reproducer.

    Raises CompileError where a kernel nests more deeply than the stack allows.
    """
    from pyasc.frontend.depth import deep_recursion

    try:
        with deep_recursion():
            yield
    except RecursionError:
        source = kernel.source_code
        what = f"`{source.name}` nests too deeply, or computes too long a chain of values"
        loc = source.location(source.node)
        raise compile_error(
            Diagnostic("PA0702", what, loc, hint="write the repeated part as a loop")
        ) from None
    except Exception as error:
        if not is_bug(error) or (isinstance(error, InternalError) and error.report is not None):
            raise
        raise reported(error, kernel, types) from (error if knobs.read().internal_traceback else None)


def reported(error: Exception, kernel: Kernel, types: Any = ()) -> InternalError:
    """The InternalError for a mistake in pyasc; its `report` is the path of the reproducer, if it could be written."""
    # Needed for failures alone, and slow to load.
    from pyasc.runtime.reproducers import write_reproducer

    source = kernel.source_code
    names = [parameter.name for parameter in kernel.signature.parameters] if types else []
    path = write_reproducer(error, source, dict(zip(names, map(str, types), strict=False)))
    if isinstance(error, InternalError):
        return InternalError(error.reason, error.loc, path)
    return InternalError(f"{type(error).__name__}: {error}", source.location(source.node), path)
