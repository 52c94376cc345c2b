# SPDX-License-Identifier: Apache-2.0
"""pyasc compiles Python functions to Ascend C and to C++, and runs them.

The public names are loaded on first use: importing the package starts nothing.
"""

from __future__ import annotations

from importlib import import_module as _import_module

from pyasc._version import __version__ as __version__
from pyasc._version import version_info as version_info

# The one table of public names, by the module that defines them.
_EXPORTS: dict[str, tuple[str, ...]] = {
    "pyasc.knobs": ("KnobError",),
}

_HOMES = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pyasc' has no attribute {name!r}", name=name)
    value = getattr(_import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOMES, "__version__", "version_info"})
