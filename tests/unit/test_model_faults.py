# SPDX-License-Identifier: Apache-2.0
"""Each rule the model enforces: a small kernel that breaks it is found, at its line, and its correction is accepted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pyasc.model.build import BuildError, kernel_entries
from pyasc.model.driver import Array, Finding, Result, Workspace, run
from tests.compilers import needs_compiler
from tests.unit.model_faults import PAGE, REFUSED, Fault, all_faults, refused_cases, with_rules
from tests.unit.model_support import built, clean

pytestmark = needs_compiler
FAULTS = all_faults()


def _launch(fault: Fault, fixed: bool) -> Result:
    kernel = built(fault.file, *(["-DFIXED"] if fixed else []))
    rng = np.random.default_rng(3)
    x, y = (Array(rng.standard_normal(4096).astype(np.float32), name=name) for name in "xy")
    output = Array(np.zeros(4096, np.float32), defined=False, partial=True)
    arguments = [x, y, output, Workspace(16384)]
    return run(kernel, arguments, entry=fault.name, blocks=fault.fixed_blocks if fixed else fault.blocks)


def _matches(finding: Finding, fault: Fault) -> bool:
    if finding.kind != fault.kind:
        return False
    if fault.where == "anywhere":
        return True
    if fault.where.startswith("via "):
        return Path(finding.file).name == fault.where.removeprefix("via ")
    return finding.line == fault.line and Path(finding.file) == fault.file


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_fault_is_found(fault: Fault) -> None:
    result = _launch(fault, fixed=False)
    assert any(_matches(finding, fault) for finding in result.findings), [str(f) for f in result.findings]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_correction_is_accepted(fault: Fault) -> None:
    clean(_launch(fault, fixed=True))


def test_every_kernel_expects_something() -> None:
    for path in {fault.file for fault in FAULTS}:
        names = {entry.name for entry in kernel_entries(path.read_text(encoding="utf-8"))}
        assert names == {fault.name for fault in FAULTS if fault.file == path}


@pytest.mark.parametrize("case", [number for _, _, number in refused_cases()])
def test_the_compiler_refuses(case: int) -> None:
    with pytest.raises(BuildError):
        built(REFUSED, f"-DCASE={case}")
    built(REFUSED, f"-DCASE={case}", "-DFIXED")


def test_documentation_lists_every_rule() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_rules(page), "run `python -m tests.unit.model_faults`"
