# SPDX-License-Identifier: Apache-2.0
"""`pyasc info`: what pyasc has found on this machine."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import click

from pyasc import __version__
from pyasc.runtime.cache import default_cache
from pyasc.runtime.device import DEVICES, current_device, get_device
from pyasc.runtime.host import processor
from pyasc.runtime.threads import default_num_threads
from pyasc.runtime.toolchain import available_toolchains, default_toolchain

_HELP = """Print the compilers, devices and directories that pyasc has found here.

The first compiler is the one that is used; PYASC_CXX names another. --json prints the same for programs.
"""

Rows = dict[str, "str | list[str]"]


@click.command("info", help=_HELP, short_help="Print the compilers and devices found here.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info_command(as_json: bool) -> None:
    """Collect and print."""
    rows = collect()
    print(json.dumps(rows, indent=2) if as_json else _table(rows))


def collect() -> Rows:
    """What there is to say, by title."""
    here = processor()
    return {
        "pyasc": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "numpy": _version_of("numpy"),
        "machine": f"{here.machine}, model {here.model}",
        "threads": str(default_num_threads()),
        "compiler": _compiler(),
        "other compilers": _other_compilers(),
        "devices": [_device(name) for name in DEVICES],
        "default device": current_device().name,
        "CANN": _cann(),
        "cache": str(default_cache().root),
        "headers": str(Path(__file__).resolve().parents[1] / "codegen" / "cpp" / "include"),
    }


def _version_of(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _compiler() -> str:
    try:
        found = default_toolchain()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return f"{' '.join(found.argv)}: {found.version}"


def _other_compilers() -> list[str]:
    found = available_toolchains(default_cache().root / "compilers.json")
    return [f"{' '.join(each.argv)}: {each.version}" for each in found[1:]]


def _device(name: str) -> str:
    reason = get_device(name).unavailable()
    return f"{name}: {reason or 'usable'}"


def _cann() -> list[str]:
    from pyasc.runtime.cann import CannMissing, find_cann, find_library

    try:
        found = find_cann()
    except CannMissing:
        return ["not found"]
    return [
        f"{found.home}",
        f"compiler {found.compiler}",
        f"linker {found.linker}",
        f"{find_library(found.home)}",
    ]


def _table(rows: Rows) -> str:
    width = max(map(len, rows)) + 2
    lines: list[str] = []
    for title, value in rows.items():
        values = value if isinstance(value, list) else [value]
        for number, text in enumerate(values or ["none"]):
            lines.append(f"{title if number == 0 else '':{width}}{text}")
    return "\n".join(lines)
