# SPDX-License-Identifier: Apache-2.0
"""What a kernel may mention: dtypes, tensors, parallel loops, math, memory, debugging."""

from __future__ import annotations

from pyasc.language import (
    arrays,
    constants,
    debug,
    dtypes,
    loops,
    math,
    memory,
    precision,
    random,
    windows,
)

# `random` is a name of its own, whose functions are not names of the package.
__all__ = ["MODULES", "names", "random"]

MODULES = (dtypes, constants, loops, math, arrays, windows, memory, precision, debug)

# Every name that the modules list is a name of this package too.
globals().update({name: getattr(module, name) for module in MODULES for name in module.__all__})


def names() -> dict[str, tuple[str, ...]]:
    """The public names by the module that defines them."""
    return {module.__name__: tuple(module.__all__) for module in MODULES}
