# SPDX-License-Identifier: Apache-2.0
"""Each example runs and finds its results equal to NumPy's; the demo shows what it promises."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SUPPORT = {"demo", "demo_cases", "images", "plain_python"}
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.py") if p.stem not in SUPPORT)


@pytest.fixture
def on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples import each other by name, as a script in their folder does."""
    monkeypatch.syspath_prepend(str(EXAMPLES))


def example(name: str) -> ModuleType:
    return importlib.import_module(name)


@pytest.mark.parametrize("name", NAMES)
def test_example_checks_itself(name: str, on_path: None) -> None:
    module = example(name)
    assert module.check()
    assert module.__doc__ is not None and module.__doc__.count("\n") == 0


def test_add_tensors_says_what_to_pass_instead_of_an_int(on_path: None) -> None:
    assert example("add_tensors").refusal() == (
        "add_tensors: parameter `a` takes asc.float32, got int (1), and ints do not convert to floats by "
        "themselves; pass 1.0"
    )


def test_debug_kernel_names_the_line_of_the_assertion(on_path: None) -> None:
    module = example("debug_kernel")
    with pytest.raises(AssertionError, match=r"axis 0: expected size 1024, got 3\n(.|\n)*asc\.assert_shape"):
        module.buggy_kernel(np.zeros((3, 1024), np.float32))


def test_pictures_survive_a_file(tmp_path: Path, on_path: None) -> None:
    images = example("images")
    photograph = images.photograph()
    assert photograph.shape == (512, 512) and photograph.std() > 50
    images.write_png(tmp_path / "copy.png", photograph)
    assert np.array_equal(images.read_png(tmp_path / "copy.png"), photograph)
    with pytest.raises(ValueError, match="is not a PNG file"):
        images.read_png(Path(__file__))


def test_an_example_runs_as_a_script() -> None:
    done = subprocess.run(
        [sys.executable, "relu6.py"], cwd=EXAMPLES, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.startswith("relu6 equals np.clip(x, 0, 6)")


def test_demo_shows_lines_code_results_and_times() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py"], capture_output=True, text=True, timeout=300, check=True
    )
    sections = re.split(r"^== ", done.stdout, flags=re.MULTILINE)[1:]
    assert len(sections) == 11
    for section in sections:
        for part in ("source ", "emitted ", "checked ", "time "):
            assert re.search(f"^  {part}", section, re.MULTILINE), section
        emitted = re.search(r"^  emitted +(\S+)", section, re.MULTILINE)
        assert emitted is not None and emitted[1].endswith(".cpp")
