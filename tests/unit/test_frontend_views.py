# SPDX-License-Identifier: Apache-2.0
"""Views and second names: a store through one name is seen through the others as in NumPy, or it is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pyasc.frontend import KernelSource
from pyasc.ir.diagnostics import CompileError
from tests.kernels.view_cases import (
    ACTIONS,
    BASES,
    COPIED,
    COPIES,
    HEAD,
    VIEWS,
    arguments,
    in_numpy,
    program,
)
from tests.unit.frontend_support import lower, run_module


def compiled(text: str) -> tuple[Any, ...] | str:
    """What the kernel makes of a program: results, then arguments; or the codes of what is refused."""
    given = arguments()
    try:
        module = lower(KernelSource.from_text(HEAD + text, "k"), *given).module
    except CompileError as error:
        return " ".join(each.code for each in error.diagnostics)
    return *run_module(module, given), *given[:3]


def differences(views: dict[str, str], action: str, allowed: str) -> list[str]:
    """Programs that mean something else than in NumPy. Bases take turns."""
    found: list[str] = []
    bases = list(BASES.values())
    first = list(ACTIONS).index(action)
    for k, view in enumerate(views.values()):
        base = bases[(first + 5 * k) % len(bases)]
        text = program(base, view, ACTIONS[action])
        got, want = compiled(text), in_numpy(text)
        if isinstance(got, str):
            refused = allowed if base != BASES["reshaped"] else "PA0513"
            fine = isinstance(want, Exception) or got == refused
        else:
            fine = isinstance(want, tuple) and all(map(np.array_equal, got, want))
        if not fine:
            found.append(f"{got if isinstance(got, str) else 'differs'}\n{text}")
    return found


@pytest.mark.parametrize("action", ACTIONS)
def test_views_are_views(action: str) -> None:
    assert not differences(VIEWS, action, "")


@pytest.mark.parametrize("action", ACTIONS)
def test_what_would_have_to_be_a_view_is_refused(action: str) -> None:
    assert not differences(COPIED, action, "PA0513")


@pytest.mark.parametrize("action", ACTIONS)
def test_copies_are_copies(action: str) -> None:
    assert not differences(COPIES, action, "")


ACCEPTED = {
    "nobody stores": "flat = x.reshape(-1)\nfor i in range(24):\n    y[i] = flat[i]\nreturn flat",
    "stored to before": "b = asc.zeros((4, 6))\nb[1] = 2.0\nreturn b.reshape(-1)",
    "stored to when the copy is gone": "flat = x.reshape(-1)\ns = asc.sum(flat)\nx[0, 0] = s\nreturn s",
    "original is gone": "b = asc.zeros(24).reshape(4, 6)\nb[1] = 2.0\nreturn b",
    "own name": "b = x * 2\nb = b.reshape(-1)\nb[3] = 1.0\nreturn b",
    "made anew": "s = 0.0\nfor i in range(4):\n    f = x.reshape(-1)\n    s += f[i]\n    x[0, i] = s\nreturn s",
    "other branch": "f = x.reshape(-1)\nif c > 0:\n    x[0, 0] = 1.0\n    s = 0.0\nelse:\n    s = f[0]\nreturn s",
    "layers": "h = x.reshape(2, 12)\nfor i in range(3):\n    h = asc.tanh(h * 2)\nreturn h",
    "layers with a store": "h = x.reshape(2, 12)\nfor i in range(3):\n    h = h * 2\n    h[0, i] = 1.0\nreturn h",
    "argument": "y[...] = asc.sum(x.reshape(-1))\nreturn x.reshape(24)[1:3] + y[1:3]",
    "a view of it": "b = x.reshape(2, 12)\nr = b[1]\ns = r + 1\nx[0, 0] = 1.0\nreturn s",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_copy_that_nobody_can_tell_from_a_view_is_none(name: str) -> None:
    body = "".join(f"    {line}\n" for line in ACCEPTED[name].splitlines())
    text = f"def k(x: asc.float32[4, 6], y: asc.float32[24], c: int):\n{body}"
    names: dict[str, Any] = {}
    exec(HEAD + text, names)

    def given() -> list[Any]:
        return [np.arange(24, dtype=np.float32).reshape(4, 6), np.zeros(24, np.float32), 1]

    ours, numpys = given(), given()
    module = lower(KernelSource.from_text(HEAD + text, "k"), *ours).module
    result, expected = run_module(module, tuple(ours)), names["k"](*numpys)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    np.testing.assert_array_equal(ours[0], numpys[0])
    np.testing.assert_array_equal(ours[1], numpys[1])


def test_the_refusal_shows_all_places() -> None:
    body = "    flat = x.reshape(-1)\n    for i in range(4):\n        x[0, i] = flat[i] + 1\n"
    text = f"import pyasc as asc\ndef k(x: asc.float32[4, 6]):\n{body}"
    with pytest.raises(CompileError) as caught:
        lower(KernelSource.from_text(text, "k"))
    (found,) = caught.value.diagnostics
    assert (found.code, found.loc.line) == ("PA0513", 5)
    assert [(each.loc.line, each.message) for each in found.related] == [
        (3, "`reshape` gives a copy of `x` here, in NumPy a view"),
        (5, "read here"),
    ]
    assert found.hint == "index the original array, or make a copy of it: reshape(...).copy()"
