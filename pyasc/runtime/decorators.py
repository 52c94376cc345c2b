# SPDX-License-Identifier: Apache-2.0
"""`@asc.kernel`, `@asc.func` and `asc.kernel_from_source`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, overload

from pyasc.runtime.kernel import Kernel
from pyasc.runtime.options import KernelOptions


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

    Raises CompileError when the text does not parse or has no such function, and as `kernel` for options.
    """
    from pyasc.frontend.source import KernelSource

    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"asc.kernel_from_source takes a program text, got {type(text).__name__}")
    return Kernel(KernelSource.from_text(text, name), KernelOptions.of(options))
