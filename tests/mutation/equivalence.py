# SPDX-License-Identifier: Apache-2.0
"""Which faults change nothing, and the argument for each."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from pyasc.model.build import INCLUDE
from pyasc.runtime.toolchain import default_toolchain
from tests.mutation.operators import Mutant


def why_equivalent(text: str, mutant: Mutant) -> str:
    """Why a fault in `text` is none; empty if nothing here can show it."""
    if _assembly(text) == _assembly(mutant.text):
        return "the compiler makes the same code of both"
    for holds, reason in _REASONS:
        if holds(mutant):
            return reason
    return ""


def _only_stride_of_one_block(mutant: Mutant) -> bool:
    """A copy of one block, whose strides are what changed: a stride leads from one block to the next."""
    before, after = (
        re.search(r"DataCopyExtParams \w+\{1, (.*), ([^,]+), ([^,]+), 0\};", line)
        for line in (mutant.before, mutant.after)
    )
    return before is not None and after is not None and before[1] == after[1]


def _only_stride_of_one_repeat(mutant: Mutant) -> bool:
    """A reduction of one repeat, whose last stride is what changed: it leads from one repeat to the next."""
    pattern = r"(WholeReduce\w+\(\w+, \w+, \w+, 1, 1, 1, )[^,)]+(.*)"
    before, after = (re.search(pattern, line) for line in (mutant.before, mutant.after))
    return before is not None and after is not None and (before[1], before[2]) == (after[1], after[2])


def _only_repeat_stride_of_one_brcb(mutant: Mutant) -> bool:
    """A Brcb of one repeat, whose second stride is what changed."""
    before, after = (
        re.search(r"(Brcb\(\w+, \w+, 1, \{\d+, )\d+\}", line) for line in (mutant.before, mutant.after)
    )
    return before is not None and after is not None and before[1] == after[1]


def _repeat_in_counter_mode(mutant: Mutant) -> bool:
    """A call that counts elements by a mask set before: the unit ignores its repeat."""
    pattern = r"(.*MASK_PLACEHOLDER, )[^,]+(, \{.*)"
    before, after = (re.search(pattern, line) for line in (mutant.before, mutant.after))
    return before is not None and after is not None and (before[1], before[2]) == (after[1], after[2])


_WHOLE_CACHE = re.compile(r" *DataCacheCleanAndInvalid<\w+, CacheLine::ENTIRE_DATA_CACHE")


def _another_write_back(mutant: Mutant) -> bool:
    """A write-back of the whole cache, beside another one."""
    lines = mutant.text.split("\n")
    beside = lines[mutant.line - 2], lines[mutant.line]
    return bool(_WHOLE_CACHE.match(mutant.before)) and any(map(_WHOLE_CACHE.match, beside))


def _write_back_of_nothing(mutant: Mutant) -> bool:
    """A write-back of the whole cache in a kernel that has another one after all that it writes through the cache."""
    lines = mutant.text.split("\n")
    start = max(i for i in range(mutant.line) if i == 0 or lines[i].startswith("class "))
    stop = next(
        (i for i in range(mutant.line, len(lines)) if lines[i].startswith(("class ", "extern "))), len(lines)
    )
    dirty = False
    for line in lines[start:stop]:
        if dirty and not line.strip().endswith(";"):
            return False
        dirty = (dirty or ".SetValue(" in line) and not _WHOLE_CACHE.match(line)
        if dirty and "return" in line:
            return False
    return bool(_WHOLE_CACHE.match(mutant.before)) and not dirty


_REASONS = (
    (_only_repeat_stride_of_one_brcb, "the stride leads from repeat to repeat, and there is one"),
    (_repeat_in_counter_mode, "in counter mode the repeat is not used"),
    (_another_write_back, "the line beside it writes the whole cache back"),
    (_write_back_of_nothing, "all that the cache holds has been written back before"),
    (_only_stride_of_one_block, "strides lead from block to block, and there is one"),
    (_only_stride_of_one_repeat, "the stride leads from repeat to repeat, and there is one"),
)


def _assembly(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "k.cpp"
        source.write_text(text)
        options = ["-std=c++17", "-O2", "-g0", "-ffp-contract=off", f"-I{INCLUDE}"]
        command = [*default_toolchain().library_argv, *options, "-S", "k.cpp", "-o", "k.s"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return source.with_suffix(".s").read_text()
