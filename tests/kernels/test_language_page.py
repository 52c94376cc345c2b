# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/language.md, run as they stand, print what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyasc.runtime import model

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```(?:\n```\n(.*?)^```)?", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_every_example_prints_what_stands_below_it(tmp_path: Path, device: str, model_library: None) -> None:
    """Each example continues those before it, in a file of its own, so that line numbers are its own."""
    assert len(BLOCKS) >= 15
    lines = ["import pyasc", "from pathlib import Path", "from pyasc.runtime import model"]
    lines += [
        f"model.model_cache = lambda: Path({str(model.model_cache())!r})",
        f"pyasc.set_device({device!r})",
    ]
    lines += ["names = {'__name__': 'page'}"]
    for number, (code, _) in enumerate(BLOCKS):
        piece = tmp_path / f"example{number}.py"
        piece.write_text(code, encoding="utf-8")
        lines.append(f"exec(compile(open({str(piece)!r}).read(), {str(piece)!r}, 'exec'), names)")
        lines.append("print('----')")
    runner = tmp_path / "runner.py"
    runner.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([sys.executable, runner], capture_output=True, text=True, timeout=300, check=False)
    assert done.stderr == ""
    printed = [part.strip() for part in done.stdout.split("----\n")[:-1]]
    assert printed == [output.strip() for _, output in BLOCKS]


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert links and all((ROOT / "docs" / link).exists() for link in links)
