# SPDX-License-Identifier: Apache-2.0
"""Kernels, parameters, locals and sizes may have any name that Python allows, whatever it means to C or to Ascend C."""

from __future__ import annotations

import builtins
import keyword
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pyasc as asc

KEYWORDS = """alignas and_eq asm auto case catch char class const default delete do double enum explicit export extern
goto inline int long mutable namespace new operator private public register restrict short signed sizeof static struct
switch template this throw typedef typename union unsigned using virtual void volatile xor _Bool""".split()
LIBRARY = """std main errno stdin stdout stderr int8_t uint32_t size_t printf exp memcpy y0 y1 j0 j1 jn index gamma sqrt
malloc free read write time signal environ NULL EOF INFINITY NAN M_PI linux unix i386 __FILE__ __LINE__ assert offsetof
isnan signbit exit round abs powf sinf fabsl""".split()
VENDOR = """half bfloat16_t float16_t GM_ADDR AscendC TPipe TQue TBuf LocalTensor GlobalTensor DataCopyParams Shape BT
Add Exp DataCopy PipeBarrier SetFlag block_idx get_block_idx set_flag vadd event_t ASCEND_IS_AIC
KERNEL_TASK_TYPE_DEFAULT MASK_PLACEHOLDER DataCopyPadParams""".split()
EMITTED = """tiling pipe op Process Init CopyIn Compute TILE LINE BUFFER_NUM RoundUp FloorDivide bytes data begin end
captured fault faults failure value values first last length id blocks count offset left row column lanes stride mask
tmp spread total whole words copy noPad xGm xQueue tmpBuf pyasc_fault pyasc_rt pa_exp PA_MIN launch context failed
numbers entry Bits args T N n c float_ float double_ std_ temporary number cores1 out""".split()
NAMES = [
    name for name in dict.fromkeys([*KEYWORDS, *LIBRARY, *VENDOR, *EMITTED]) if not keyword.iskeyword(name)
]
ROLES = 4


@pytest.fixture(params=["cpu", "model"])
def device(request: pytest.FixtureRequest) -> Iterator[str]:
    with asc.device(request.param):
        yield request.param


def _load(folder: Path, body: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    name = f"named_{abs(hash(body)):x}"
    (folder / f"{name}.py").write_text(f"from __future__ import annotations\nimport pyasc as asc\n\n{body}")
    monkeypatch.syspath_prepend(str(folder))
    module = __import__(name)
    monkeypatch.delitem(sys.modules, name)
    return module


def _entry(name: str) -> str:
    return (
        f"@asc.kernel\ndef {name}(x: asc.float32[8], y: asc.float32[8]):\n"
        "    for i in asc.parallel_for(8):\n        y[i] = x[i] + 1.0\n\n\n"
        f"ENTRIES.append({name})\n\n\n"
    )


def _run(kernel: Any) -> None:
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    kernel(x, y)
    assert (y == x + 1).all(), kernel.__name__


def test_kernels(device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [name for name in NAMES if name != "asc"]
    if device == "model":
        # A compilation each: what clashed once, and one of each kind.
        names = ["bytes", "stdin", "std", "GM_ADDR", "TQue", "Add", "half", "Init", "double", "read"]
    lines = "".join(_entry(name) for name in names)
    module = _load(tmp_path, f"ENTRIES = []\n\n\n{lines}", monkeypatch)
    asc.compile(module.ENTRIES)
    for kernel in module.ENTRIES:
        _run(kernel)


@pytest.mark.parametrize("turn", range(ROLES))
def test_inside(device: str, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the names each for arrays, scalars, locals and sizes, in turn."""
    arrays, scalars, steps, sizes = (NAMES[(turn + role) % ROLES :: ROLES] for role in range(ROLES))
    # Python looks a size up, so names of its own builtins are none.
    sizes = [name for name in sizes if not hasattr(builtins, name)]
    params = [f"{name}: asc.float32[8]" for name in arrays]
    params += [f"{name}: float" for name in scalars]
    params += [f"p_{i}: asc.float32[{name}]" for i, name in enumerate(sizes)]
    chain, previous = "", " + ".join([*(f"{name}[i_0]" for name in arrays), *scalars])
    for name in steps:
        chain += f"        {name} = max({previous}, 0.5) + 1.0\n"
        previous = name
    ends = " + ".join(f"p_{i}[{name} - 1]" for i, name in enumerate(sizes))
    module = _load(
        tmp_path,
        f"@asc.kernel\ndef kernel({', '.join(params)}, y_0: asc.float32[8], z_0: asc.float32[1]):\n"
        f"    for i_0 in asc.parallel_for(8):\n{chain}        y_0[i_0] = {previous}\n"
        f"    z_0[0] = {ends}\n",
        monkeypatch,
    )
    given = [np.full(8, i, np.float32) for i in range(len(arrays))]
    ramps = [np.arange(i + 1, dtype=np.float32) for i in range(len(sizes))]
    y, z = np.zeros(8, np.float32), np.zeros(1, np.float32)
    module.kernel(*given, *range(1, len(scalars) + 1), *ramps, y, z)
    assert (y == sum(range(len(arrays))) + sum(range(1, len(scalars) + 1)) + len(steps)).all()
    assert z[0] == sum(range(len(sizes)))
