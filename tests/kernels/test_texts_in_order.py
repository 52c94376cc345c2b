# SPDX-License-Identifier: Apache-2.0
"""What kernels of a text see of it, without a run: what a run would give their names, or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyasc as asc

X = np.arange(4, dtype=np.float32)
HEAD = "import pyasc as asc\nimport numpy as np\nimport math\n"

# Statements before a kernel, and the expression that it returns.
KNOWN = [
    ("C = 2\nC = 3", "x * C"),
    ("C: int = 4", "x * C"),
    ("A = C = 4", "x * C + A"),
    ("A, C = 1, 2", "x * C + A"),
    ("C = 2 ** 10", "x * C"),
    ("B = 2\nC = 1 if B > 1 else 3", "x * C"),
    ("C = not 0", "x * C"),
    ("def h(a): return a * 2\ng = h\ndef h(a): return a * 3", "g(x) + h(x)"),
    ("C = 2\ndef h(a, b=C): return a * b\nC = 3", "h(x)"),
    ("C = 2\ndef h(a, *, b=C * 2 + 1): return a * b", "h(x)"),
    ("def h(a): return a * C\nC = 3", "h(x)"),
    ("def sum(a): return a * 10", "sum(x)"),
    ("max = 3", "x * max"),
    ("C = 1\nif __name__ == '__main__':\n    C = 7", "x * C"),
    ("@asc.func\ndef h(a): return a * 2", "h(x)"),
    ("from math import pi as C", "x * C"),
]
UNKNOWN = [
    ("C = 2\nC += 1", "x * C"),
    ("C = 2\nC = max(1, 5)", "x * C"),
    ("C = 1\nif C > 0:\n    C = 2", "x * C"),
    ("C = 0\nfor C in range(3):\n    pass", "x * C"),
    ("C = 1\ntry:\n    C = 2\nexcept ValueError as C:\n    pass", "x * C"),
    ("C = 1\ndef s():\n    global C\n    C = 9\ns()", "x * C"),
    ("C = 4\ndel C", "x * C"),
    ("C = 4\n(C := 5)", "x * C"),
    ("C = 4\nfrom settings import *", "x * C"),
    ("C = 4\nimport settings as C", "x * C"),
    ("class C: pass\nC = 1\nC.rate = 5", "x * C"),
    ("def d(f): return lambda a: f(a) * 10\n@d\ndef h(a): return a * 2", "h(x)"),
    ("def h(a): return a * 2\nif h:\n    def h(a): return a * 3", "h(x)"),
    ("max = [5][0]", "x * max(2, 3)"),
    ("import settings as sum", "x * sum((1, 2))"),
    ("", "x * (2 if __name__ == 'k' else 3)"),
]


def text_of(statements: str, result: str) -> str:
    return f"{HEAD}{statements}\n@asc.kernel\ndef k(x):\n    return {result}\n"


def test_what_is_known_is_what_a_run_gives() -> None:
    texts = [text_of(*each) for each in KNOWN]
    kernels = [asc.kernel_from_source(text) for text in texts]
    asc.compile([(kernel, asc.float32[4]) for kernel in kernels])
    for kernel, text in zip(kernels, texts, strict=True):
        names: dict[str, Any] = {"__name__": "text"}
        exec(text.replace("@asc.kernel\n", ""), names)
        np.testing.assert_allclose(kernel(X), names["k"](X), rtol=1e-6, err_msg=text)


@pytest.mark.parametrize(("statements", "result"), UNKNOWN)
def test_what_only_a_run_tells_is_not_used(statements: str, result: str) -> None:
    with pytest.raises(asc.CompileError, match="is not defined") as caught:
        asc.kernel_from_source(text_of(statements, result)).lower(asc.float32[4])
    assert {each.code for each in caught.value.diagnostics} == {"PA0301"}
    assert "parsed and never run" in caught.value.diagnostics[0].hint


def test_options_of_the_decorator() -> None:
    text = f"{HEAD}CHECK = True\n@asc.kernel(debug=CHECK)\ndef k(x):\n    assert x[0] > 0\n    return x\n"
    with pytest.raises(AssertionError):
        asc.kernel_from_source(text)(X)
    np.testing.assert_array_equal(asc.kernel_from_source(text, debug=False)(X), X)


@pytest.mark.parametrize(
    ("decorators", "message"),
    [
        ("@asc.kernel(debug=bool(1))", "this option is known only when the text runs"),
        ("@twice\n@asc.kernel", "a decorator changes what `k` does"),
    ],
)
def test_decorators_that_only_a_run_tells(decorators: str, message: str) -> None:
    text = f"{HEAD}def twice(f): return lambda a: f(f(a))\n{decorators}\ndef k(x):\n    return x * 2\n"
    with pytest.raises(asc.CompileError, match=message) as caught:
        asc.kernel_from_source(text, "k")
    (found,) = caught.value.diagnostics
    assert found.code == "PA0104" and found.hint and found.loc.line >= 5
