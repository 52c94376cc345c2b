# SPDX-License-Identifier: Apache-2.0
"""What a reader of emitted Ascend C would not want to find in it, asked of all golden files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pyasc.ir.affine import AffineExpr, AffineMap
from pyasc.passes.analysis.tile_names import names_of_reads
from pyasc.passes.analysis.tile_program import COLUMN, FULL, ROW

ROOT = Path(__file__).parents[2]
GOLDEN = sorted((ROOT / "tests/lit/golden/ascendc").glob("*.cpp"))
_CLASS = re.compile(r"^class (\w+) \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(r"^    [\w:]+(?:<[^\n()]*>)?\*? (\w+)(?: = [^\n]+)?;$", re.MULTILINE)


def _names(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", GOLDEN, ids=_names)
def test_every_member_is_read(path: Path) -> None:
    for name, body in _CLASS.findall(path.read_text()):
        for member in _MEMBER.findall(body[body.rindex("    }\n") :]):
            written = rf"(?:this->)?\b{member} = |^    [^\n;=(]* {member};$"
            left = re.sub(written, "", body, flags=re.MULTILINE)
            assert re.search(rf"\b{member}\b", left), f"{name} has {member} for nothing"


@pytest.mark.parametrize("path", GOLDEN, ids=_names)
def test_every_constant_and_helper_is_used(path: Path) -> None:
    text = path.read_text()
    declared = re.findall(r"^constexpr \w+ (\w+) =|^__aicore__ inline \w+ (\w+)\(", text, re.MULTILINE)
    for name in (constant or helper for constant, helper in declared):
        assert len(re.findall(rf"\b{name}\b", text)) > 1, f"{name} is used by nothing"


@pytest.mark.parametrize("path", GOLDEN, ids=_names)
def test_init_prepares_and_process_does_the_work(path: Path) -> None:
    text = path.read_text()
    init = re.findall(r"^    __aicore__ inline void Init\(.*?^    }$", text, re.MULTILINE | re.DOTALL)
    assert not [body for body in init if re.search(r"Gm\.SetValue\(|DataCacheCleanAndInvalid", body)]
    assert not re.search(r"void Process\(\)\n    {\s*}", text)


@pytest.mark.parametrize("path", GOLDEN, ids=_names)
def test_names_say_more_than_a_number(path: Path) -> None:
    text = path.read_text()
    numbered = set(re.findall(r"\b[a-z]\w*_\d\b", text))
    entries = set(re.findall(r"^extern \"C\" __global__ __aicore__ void (\w+)\(", text, re.MULTILINE))
    assert not numbered - entries - {f"{path.stem}_{number}" for number in range(1, 10)}


def _offset(*constants: int) -> AffineMap:
    return AffineMap(tuple(AffineExpr((0,) * axis + (1,), (), c) for axis, c in enumerate(constants)))


def test_neighbours_are_called_by_where_they_are() -> None:
    plane = [_offset(1, 1), _offset(0, 1), _offset(2, 1), _offset(1, 0), _offset(1, 2)]
    assert names_of_reads("x", [(each, FULL) for each in plane]) == [
        "x",
        "xAbove",
        "xBelow",
        "xLeft",
        "xRight",
    ]
    line = [_offset(-1), _offset(0), _offset(1)]
    assert names_of_reads("x", [(each, FULL) for each in line]) == ["xBefore", "x", "xAfter"]


def test_parts_of_one_matrix_are_called_by_what_they_are() -> None:
    whole, column, row = _offset(0, 0), AffineMap((AffineExpr((1,)), AffineExpr((), (1,)))), _offset(0, 0)
    row = AffineMap((AffineExpr((), (1,)), AffineExpr((0, 1))))
    reads = [(whole, FULL), (column, COLUMN), (row, ROW)]
    assert names_of_reads("A", reads) == ["A", "aColumn", "aRow"]
    assert names_of_reads("A", reads[:1]) == ["A"]
