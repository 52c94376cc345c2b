# SPDX-License-Identifier: Apache-2.0
"""Reports how long functions and files are, beside what the project aims at. It never fails."""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTION_AIM = "median at most 7, p90 at most 30, none over 80"
FILE_AIM = "none over 500"
SHOWN = 5


def functions(path: Path) -> Iterator[tuple[int, str]]:
    """The length in lines and the place of every function of a file, docstrings left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield _body_length(node), f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"


def _body_length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is None:
        return length
    text = node.body[0]
    return length - ((text.end_lineno or text.lineno) - text.lineno + 1)


def _report(title: str, aim: str, sizes: list[tuple[int, str]]) -> None:
    if not sizes:
        return
    lengths = sorted(length for length, _ in sizes)
    p90 = lengths[min(len(lengths) - 1, len(lengths) * 9 // 10)]
    print(f"{title}: {len(lengths)}, median {statistics.median(lengths):g}, p90 {p90}, longest {lengths[-1]}")
    print(f"  aim: {aim}")
    for length, place in sorted(sizes, reverse=True)[:SHOWN]:
        print(f"  {length:5d}  {place}")


def main(folders: list[str]) -> None:
    paths = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    _report("functions", FUNCTION_AIM, [size for path in paths for size in functions(path)])
    files = [
        (len(path.read_text(encoding="utf-8").splitlines()), str(path.relative_to(ROOT))) for path in paths
    ]
    _report("files", FILE_AIM, files)
    print(f"lines: {sum(length for length, _ in files)} in {' '.join(folders)}")


if __name__ == "__main__":
    main(sys.argv[1:] or ["pyasc"])
