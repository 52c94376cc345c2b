# SPDX-License-Identifier: Apache-2.0
"""The README's code, run as it stands, prints what the README says; its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PAIRS = re.findall(r"^```python\n(.*?)^```\n```\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_the_code_prints_what_stands_below_it(tmp_path: Path) -> None:
    """Each piece continues those before it, in a file of its own, so that line numbers are its own."""
    assert len(PAIRS) == 2
    runner = tmp_path / "runner.py"
    lines = ["names = {'__name__': 'readme'}"]
    for number, (code, _) in enumerate(PAIRS):
        piece = tmp_path / f"piece{number}.py"
        piece.write_text(code, encoding="utf-8")
        lines.append(f"exec(compile(open({str(piece)!r}).read(), {str(piece)!r}, 'exec'), names)")
        lines.append("print('----')")
    runner.write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run([sys.executable, runner], capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    printed = [part.strip() for part in done.stdout.split("----\n")[:-1]]
    assert printed == [output.strip() for _, output in PAIRS]


def test_the_first_screen_is_a_kernel_and_its_output() -> None:
    code, output = PAIRS[0]
    assert len(code.splitlines()) <= 25 and len(output.splitlines()) == 2
    assert TEXT.index(code) < 400


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert links and all((ROOT / link).exists() for link in links)
