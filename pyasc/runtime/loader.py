# SPDX-License-Identifier: Apache-2.0
"""Shared libraries in this process, called through ctypes.

A function can be called in two ways. Releasing the interpreter's lock lets other Python threads run
meanwhile; holding it saves about 0.1 microseconds a call, which counts for kernels on a few elements.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class LoadError(RuntimeError):
    """A shared library could not be loaded, or lacks a function."""


@dataclass(frozen=True)
class LoadedLibrary:
    """A shared library that stays loaded until the process ends."""

    path: Path
    _releasing: ctypes.CDLL
    _holding: ctypes.PyDLL

    def function(
        self,
        name: str,
        argtypes: Sequence[Any],
        restype: Any = ctypes.c_int32,
        *,
        hold_gil: bool = False,
    ) -> Callable[..., Any]:
        """The C function `name`, which takes `argtypes` and returns `restype` (ctypes types).

        Each call gives a new function object. Raises LoadError if the library lacks it.
        """
        library = self._holding if hold_gil else self._releasing
        try:
            function = library[name]
        except AttributeError as error:
            raise LoadError(f"{self.path} has no function {name!r}") from error
        function.argtypes = tuple(argtypes)
        function.restype = restype
        return function

    def has(self, name: str) -> bool:
        """Whether the library, or one that it depends on, defines `name`."""
        try:
            self._releasing[name]
        except AttributeError:
            return False
        return True


def load_library(path: Path, *, share_symbols: bool = False) -> LoadedLibrary:
    """Loads the library at `path` (made absolute: a bare name would be searched for elsewhere).

    With `share_symbols`, libraries loaded later find its functions. Raises LoadError.
    """
    path = path.absolute()
    mode = ctypes.RTLD_GLOBAL if share_symbols else ctypes.RTLD_LOCAL
    try:
        releasing = ctypes.CDLL(str(path), mode=mode)
    except OSError as error:
        raise LoadError(f"cannot load {path}: {error}") from error
    holding = ctypes.PyDLL(str(path), handle=releasing._handle)
    return LoadedLibrary(path, releasing, holding)
