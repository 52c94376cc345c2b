# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/language.md print what the page says, on both devices, and each of its sentences has a test."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pyasc.runtime import model
from tests.kernels.language_sentences import HOST, ROWS, TABLE, page, rows_of, sentences

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


SENTENCES = list(sentences(PAGE))


def test_every_sentence_has_its_tests() -> None:
    without = [text for _, text in SENTENCES if len(rows_of(text)) != 1]
    assert not without, f"add a row to language_sentences.py, or make its beginning longer: {without}"


def test_every_row_has_its_sentence() -> None:
    used = {each.start for _, text in SENTENCES for each in rows_of(text)}
    assert [each.start for each in ROWS if each.start not in used] == []


def test_the_tests_exist_and_those_for_the_model_run_there() -> None:
    named = {(test, where) for each in ROWS for where in ("cpu", "model") for test in getattr(each, where)}
    missing = [test for test, _ in named if test != HOST and _function(test) is None]
    assert not missing
    elsewhere = [t for t, where in named if where == "model" and t != HOST and "model" not in _text(t)]
    assert not elsewhere


def test_the_table_is_in_sync() -> None:
    assert TABLE.read_text(encoding="utf-8") == page(), "run make docs"


def _function(test: str) -> ast.FunctionDef | None:
    file, _, name = test.partition("::")
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name), None)


def _text(test: str) -> str:
    """What may say that a test runs on the model: its own text, or the first line of its file."""
    function = _function(test)
    assert function is not None
    source = (ROOT / "tests" / test.partition("::")[0]).read_text(encoding="utf-8")
    return f"{ast.get_docstring(ast.parse(source))}\n{test}\n{ast.unparse(function)}"
