# SPDX-License-Identifier: Apache-2.0
"""`golden FILE`: compares standard input with FILE in full; `--update` rewrites FILE instead.

Used at the end of a RUN line: `RUN: pyasc compile %s --emit cpp | golden %S/saxpy.cpp`.
"""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path


def main(argv: list[str]) -> int:
    update = "--update" in argv
    [name] = [argument for argument in argv if argument != "--update"]
    path = Path(name)
    actual = sys.stdin.read()
    expected = path.read_text(encoding="utf-8") if path.exists() else ""
    if actual == expected and path.exists():
        return 0
    if update:
        path.write_text(actual, encoding="utf-8")
        return 0
    lines = unified_diff(expected.splitlines(True), actual.splitlines(True), name, "what was printed")
    sys.stderr.writelines(lines)
    print(f"{name} differs; if the new text is right, accept it with `make update-golden`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
