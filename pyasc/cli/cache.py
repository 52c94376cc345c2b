# SPDX-License-Identifier: Apache-2.0
"""`pyasc cache`: the compilation cache on disk."""

from __future__ import annotations

import click

from pyasc.runtime.cache import CacheInfo, default_cache

_HELP = """Look at the cache of compiled kernels, or empty it.

PYASC_CACHE_DIR says where it is, PYASC_CACHE_LIMIT how large it may grow. Emptying it is always safe: kernels
are compiled again when they are needed.
"""


@click.group("cache", help=_HELP, short_help="The cache of compiled kernels: info, clear.")
def cache_command() -> None:
    """The group itself does nothing."""


@cache_command.command("info", short_help="Print where the cache is and how full.")
def info() -> None:
    """Print where the cache is, how many entries it has and how large they are."""
    found = default_cache().info()
    print(f"directory  {found.root}\nentries    {found.entries}\nsize       {_bytes(found)}")


@cache_command.command("clear", short_help="Remove every compiled kernel.")
def clear() -> None:
    """Remove every compiled kernel from the cache."""
    removed = default_cache().clear()
    print(f"removed {removed.entries} entries, {megabytes(removed.size)}, from {removed.root}")


def _bytes(found: CacheInfo) -> str:
    return f"{megabytes(found.size)} of at most {megabytes(found.limit)}"


def megabytes(size: int) -> str:
    """A number of bytes to read."""
    return f"{size / 1e6:.1f} MB"
