# SPDX-License-Identifier: Apache-2.0
"""Emitted Ascend C stands as clang-format would have it, in the style that `.clang-format` states."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests/lit/golden/ascendc").glob("*.cpp"))
CLANG_FORMAT = shutil.which("clang-format", path=str(Path(sys.executable).parent)) or shutil.which(
    "clang-format"
)


def test_there_are_golden_files_for_what_kernels_are_made_of() -> None:
    assert len(GOLDEN) >= 40


@pytest.mark.skipif(CLANG_FORMAT is None, reason="clang-format is not installed")
def test_golden_files_are_formatted() -> None:
    assert CLANG_FORMAT is not None
    argv = [CLANG_FORMAT, f"--style=file:{ROOT / '.clang-format'}", "--dry-run", "-Werror"]
    done = subprocess.run([*argv, *map(str, GOLDEN)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
