# SPDX-License-Identifier: Apache-2.0
"""Environment variables: their types, defaults, refusals and documentation."""

from __future__ import annotations

import ast
from dataclasses import FrozenInstanceError
from pathlib import Path

import gendocs
import pytest

from pyasc import knobs

PACKAGE = Path(knobs.__file__).parent


def test_defaults() -> None:
    settings = knobs.read({})
    assert settings == knobs.Knobs()
    assert settings.device is None and settings.cache_limit == 2**30 and not settings.verify


def test_an_empty_variable_counts_as_unset() -> None:
    assert knobs.read({"PYASC_NUM_THREADS": "", "NO_COLOR": ""}) == knobs.Knobs()


def test_values() -> None:
    settings = knobs.read(
        {
            "PYASC_DEVICE": " model ",
            "PYASC_NUM_THREADS": "4",
            "PYASC_VECTORS": "32X16",
            "PYASC_CACHE_LIMIT": "512M",
            "PYASC_DUMP": "~/stages",
            "PYASC_VERIFY": "On",
            "PYASC_INTERNAL_TRACEBACK": "0",
            "NO_COLOR": "0",
        }
    )
    assert settings.device == "model"
    assert settings.num_threads == 4
    assert settings.vectors == (32, 16)
    assert settings.cache_limit == 512 * 2**20
    assert settings.dump == Path.home() / "stages"
    assert settings.verify and not settings.internal_traceback
    assert settings.no_color, "NO_COLOR counts whatever its text"


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("77", 77), ("2k", 2048), ("1 GiB", 2**30), ("3MB", 3 * 2**20), ("1T", 2**40)],
)
def test_sizes(text: str, size: int) -> None:
    assert knobs.read({"PYASC_CACHE_LIMIT": text}).cache_limit == size


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("PYASC_VECTORS", "32", "bytes x registers"),
        ("PYASC_VECTORS", "24x16", "bytes x registers"),
        ("PYASC_VECTORS", "16x4", "bytes x registers"),
        ("PYASC_CACHE_LIMIT", "5KK", "a size in bytes"),
        ("PYASC_CACHE_LIMIT", "-1", "a size in bytes"),
        ("PYASC_NUM_THREADS", "0", "at least 1"),
        ("PYASC_NUM_THREADS", "many", "at least 1"),
        ("PYASC_VERIFY", "maybe", "1, true, yes"),
    ],
)
def test_a_value_of_the_wrong_kind_names_its_variable(name: str, text: str, expected: str) -> None:
    with pytest.raises(knobs.KnobError, match=f"{name}='{text}': expected .*{expected}"):
        knobs.read({name: text})


def test_the_environment_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYASC_DEVICE", "cpu")
    assert knobs.read().device == "cpu"
    monkeypatch.setenv("PYASC_DEVICE", "npu")
    assert knobs.read().device == "npu"


def test_knobs_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        knobs.read({}).device = "cpu"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({"PYASC_CACHE_DIR": "/c", "XDG_CACHE_HOME": "/x"}, Path("/c")),
        ({"XDG_CACHE_HOME": "/x"}, Path("/x/pyasc")),
        ({}, Path.home() / ".cache" / "pyasc"),
    ],
)
def test_cache_root(environ: dict[str, str], root: Path) -> None:
    assert knobs.read(environ).cache_root == root


def reads_a_variable(node: ast.AST) -> bool:
    """Whether `node` is `environ[...]`, `environ.get` or the like, or `getenv`; a child process gets it whole."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        source = ast.unparse(node.value)
        return source.endswith("environ") or ast.unparse(node).endswith("getenv")
    return isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]).endswith("environ")


def test_nothing_else_reads_the_environment() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    readers = [
        f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
        for path, text in texts.items()
        if path.stem != "knobs" and ("environ" in text or "getenv" in text)
        for node in ast.walk(ast.parse(text))
        if reads_a_variable(node)
    ]
    assert readers == []


@pytest.mark.parametrize(
    "text",
    ["os.environ['A']", "environ.get('A')", "os.getenv('A')", "'A' in os.environ", "os.environ.copy()"],
)
def test_reads_are_recognised(text: str) -> None:
    assert any(reads_a_variable(node) for node in ast.walk(ast.parse(text)))


def test_generated_pages_are_up_to_date() -> None:
    assert gendocs.stale_pages() == [], "run `make docs`"
