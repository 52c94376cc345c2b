# SPDX-License-Identifier: Apache-2.0
"""The layers of the package import only downwards, and every file says what it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyasc

PACKAGE = Path(pyasc.__file__).parent
REPOSITORY = PACKAGE.parent
MODULES = sorted(PACKAGE.rglob("*.py"))

# Modules that import nothing of ours, for anyone to import.
COMMON = {"_version", "knobs"}
COMMON_NAMES = {"__version__", "version_info"}

# The layers that each layer may import, besides itself and the common modules.
BELOW = {
    "ir": set[str](),
    "language": {"ir"},
    "frontend": {"ir", "language"},
    "passes": {"ir"},
    "codegen": {"ir"},
    "model": {"ir"},
    "runtime": {"ir", "language", "frontend", "passes", "codegen", "model"},
    "array": {"ir", "language", "frontend", "passes", "codegen", "model", "runtime"},
    "integrations": {"ir", "language", "frontend", "passes", "codegen", "model", "runtime", "array"},
    # Kernels, as users write them.
    "selftest": {"__init__"},
    "cli": {
        "ir",
        "language",
        "frontend",
        "passes",
        "codegen",
        "model",
        "runtime",
        "array",
        "integrations",
        "selftest",
    },
    "__main__": {"cli"},
    "__init__": set[str](),
}


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """The line and the dotted name of everything that a module imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def own_layers(path: Path) -> Iterator[tuple[int, str]]:
    for line, name in imported(path):
        first, *rest = name.split(".")
        if first == "pyasc":
            yield line, rest[0] if rest else "__init__"


def test_layers_import_only_downwards() -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line} imports {target}"
        for path in MODULES
        for line, target in own_layers(path)
        if target not in BELOW.get(layer_of(path), set()) | COMMON | COMMON_NAMES | {layer_of(path)}
    ]
    assert wrong == []


def test_common_modules_import_nothing_of_ours() -> None:
    assert [name for name in COMMON for _ in own_layers(PACKAGE / f"{name}.py")] == []


def test_every_module_has_a_layer() -> None:
    assert {layer_of(path) for path in MODULES} <= BELOW.keys() | COMMON


def test_the_ir_needs_only_numpy() -> None:
    foreign = {"click", "jinja2", "ctypes", "subprocess", "scipy", "numba"}
    found = [name for path in (PACKAGE / "ir").rglob("*.py") for _, name in imported(path)]
    assert [name for name in found if name.split(".")[0] in foreign] == []


@pytest.mark.parametrize("folder", ["pyasc", "tests", "tools", "examples", "benchmarks"])
def test_every_file_says_what_it_is(folder: str) -> None:
    silent = [
        str(path.relative_to(REPOSITORY))
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
        if not says_what_it_is(path)
    ]
    assert silent == []


def says_what_it_is(path: Path) -> bool:
    """Whether a file has its licence line, and its docstring unless it is a kernel of a lit test."""
    text = path.read_text(encoding="utf-8")
    if "tests/lit/" in path.as_posix() and path.parent.name != "lit":
        return "SPDX-License-Identifier: Apache-2.0" in text
    licensed = text.startswith(("# SPDX-License-Identifier: Apache-2.0\n", "#!"))
    return licensed and (path.name == "lit.cfg.py" or ast.get_docstring(ast.parse(text)) is not None)
