# SPDX-License-Identifier: Apache-2.0
"""`@asc.kernel`, `@asc.func` and `asc.kernel_from_source`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from pyasc.runtime.kernel import Kernel
from pyasc.runtime.options import KernelOptions

if TYPE_CHECKING:
    from pyasc.frontend.source import KernelSource


@overload
def kernel(function: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *,
    target: str | None = None,
    precision: str = "numpy",
    debug: bool = False,
    unchecked: bool = False,
    grid: int | None = None,
    name: str | None = None,
    autotune: bool = False,
    tolerance: float = 1e-3,
    watch: str | Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Kernel]: ...
def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a kernel of a Python function: bare, or with options (see `KernelOptions`).

    Nothing is compiled before the first call. Raises TypeError or ValueError for an option that does not exist
    or a value that it does not take.
    """
    chosen = KernelOptions.of(options)
    if function is None:
        return lambda decorated: _kernel(decorated, chosen)
    return _kernel(function, chosen)


def _kernel(function: Any, options: KernelOptions) -> Kernel:
    if isinstance(function, functools.partial):
        raise TypeError(
            "@asc.kernel decorates a function; fix arguments after it: functools.partial(kernel, ...)"
        )
    if not callable(function) or not hasattr(function, "__name__") or isinstance(function, type):
        raise TypeError(f"@asc.kernel decorates a function, got {function!r}")
    return Kernel(function, options)


class Func:
    """A helper that kernels may call. In plain Python it is the function itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the Python function."""
        return self.py_func(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<kernel helper {self.__qualname__}>"  # pyright: ignore[reportAttributeAccessIssue]


def func(function: Callable[..., Any]) -> Func:
    """Mark a function as a helper that kernels may call. An undecorated module-level function is accepted too."""
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"@asc.func decorates a function, got {function!r}")
    return Func(function)


def kernel_from_source(text: str, name: str | None = None, **options: Any) -> Kernel:
    """The kernel `name` of a program text (the only one by default), which is parsed and never executed.

    The options are those of its decorator in the text, and in place of them those given here. Raises CompileError
    when the text does not parse or has no such function, and as `kernel` for options.
    """
    from pyasc.frontend.source import KernelSource

    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"asc.kernel_from_source takes a program text, got {type(text).__name__}")
    source = KernelSource.from_text(text, name)
    return Kernel(source, KernelOptions.of(_written_options(source) | options))


def _written_options(source: KernelSource) -> dict[str, Any]:
    """The options of the decorator in the text. Raises CompileError for what only a run of the text would tell."""
    from pyasc.frontend.text_globals import UNKNOWN, evaluate, is_of_pyasc
    from pyasc.ir.diagnostics import Diagnostic, compile_error

    found: dict[str, Any] = {}
    for decorator in getattr(source.node, "decorator_list", ()):
        if not is_of_pyasc(decorator, source.globals):
            what = f"a decorator changes what `{source.name}` does"
            loc = source.location(decorator)
            raise compile_error(Diagnostic("PA0104", what, loc, hint="write what it does into the kernel"))
        for keyword in getattr(decorator, "keywords", ()):
            try:
                found[keyword.arg] = evaluate(keyword.value, source.globals)
            except UNKNOWN:
                what = "this option is known only when the text runs"
                hint = "write a constant, or give the option to asc.kernel_from_source"
                loc = source.location(keyword.value)
                raise compile_error(Diagnostic("PA0104", what, loc, hint=hint)) from None
    return found
