# SPDX-License-Identifier: Apache-2.0
"""Python's `math` in kernels: every function of it, for numbers that are known and for those that are not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyasc as asc

pytestmark = pytest.mark.usefixtures("model_library")

CONSTANTS = {"e", "inf", "nan", "pi", "tau"}
REFUSED = {"fma", "fsum", "gamma", "lgamma", "nextafter", "ulp"}


@asc.kernel
def of_integers(a: int, b: int):
    return math.gcd(a, b), math.lcm(a, b), math.gcd(a, b, 12), math.lcm(a), math.gcd(b)


@asc.kernel
def counts(n: int, k: int):
    return math.comb(n, k), math.perm(n, k), math.perm(k), math.factorial(k), math.isqrt(n * n * n)


@asc.kernel
def parts(x: float, y: float, i: int):
    m, e = math.frexp(x)
    fraction, whole = math.modf(x)
    return m, e, fraction, whole, math.remainder(x, y), math.ldexp(x, i), math.copysign(x, y)


@asc.kernel
def others(x: float, y: float, z: float):
    many = math.hypot(x, y, z), math.hypot(x), math.dist((x, y), (z, 1.0)), math.prod((x, y, z), start=2)
    angles = math.degrees(x), math.radians(y)
    logs = math.log(abs(x) + 1, 3), math.pow(abs(x), y)
    whole = math.floor(x), math.ceil(x), math.trunc(x), math.fabs(z)
    return *many, *angles, *logs, *whole, math.isclose(x, y, rel_tol=0.5), math.isclose(x, x)


@asc.kernel
def known(x: float):
    sums = math.fsum([0.1] * 10) * x, math.gamma(5) * x, math.ulp(1.0) * x
    return (
        *sums,
        math.factorial(20),
        math.comb(5, 2),
        math.gcd(12, 18),
        math.dist((0, 3), (4, 0)),
        math.tau * x,
    )


KERNELS = [of_integers, counts, parts, others, known]
INTEGERS = [(12, 18), (-12, 18), (0, 5), (0, 0), (7, -13), (2**40, 2**50)]
COUNTS = [(5, 2), (10, 10), (3, 7), (0, 0), (20, 3), (30, 10), (99, 1)]
FLOATS = [
    (1.5, 0.75, 3), (-7.25, 2.0, -4), (0.0, 1.0, 5), (-0.0, 3.0, 1), (5.0, 2.0, 0), (7.0, 2.0, 100),
    (2.0**-60, 3.0, -10), (3.0, 2.0, -140), (1024.0, 0.25, 2), (2.5, math.inf, 1), (1e30, 0.75, 1),
]  # fmt: skip
TRIPLES = [(1.5, 2.5, -3.0), (-8.0, 0.5, 2.0), (0.25, -1.5, 2.0**-10)]


def agree(kernel: asc.Kernel, *arguments: Any) -> None:
    """Whether the kernel gives what CPython gives; floats in float32, with the sign of zero."""
    assert kernel.py_func is not None
    for found, expected in zip(kernel(*arguments), kernel.py_func(*arguments), strict=True):
        np.testing.assert_allclose(float(found), expected, rtol=3e-6)
        assert math.copysign(1, found) == math.copysign(1, expected)
        assert isinstance(expected, float) == (np.asarray(found).dtype.kind == "f")


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_as_python(device: str) -> None:
    with asc.device(device):
        asc.compile(KERNELS)
        few = slice(None, None, 1 if device == "cpu" else 3)
        for kernel, cases in ((of_integers, INTEGERS), (counts, COUNTS), (parts, FLOATS), (others, TRIPLES)):
            for arguments in cases[few]:
                agree(kernel, *(float(np.float32(a)) if isinstance(a, float) else a for a in arguments))
        agree(known, 1.0)


@pytest.mark.parametrize("device", ["cpu", "model"])
def test_what_has_no_value(device: str) -> None:
    with asc.device(device):
        for arguments in ((-1, 2), (2, -1)):
            with pytest.raises(ValueError, match="of the negative number -1"):
                counts(*arguments)


def test_remainders_without_a_value() -> None:
    for x, y in ((math.inf, 2.0), (1.0, 0.0), (math.nan, 1.0), (1.0, math.nan)):
        assert math.isnan(parts(x, y, 0)[4])


def of(name: str, arguments: str) -> asc.Kernel:
    head = "import math\nimport pyasc as asc\n@asc.kernel\ndef k(x: float, n: int):\n"
    return asc.kernel_from_source(f"{head}    return math.{name}({arguments})\n")


@pytest.mark.parametrize("name", sorted({each for each in dir(math) if each[0] != "_"} - CONSTANTS))
def test_every_function_is_taken_or_refused_with_advice(name: str) -> None:
    integers = {"gcd", "lcm", "factorial", "isqrt", "comb", "perm"}
    arguments = {
        "atan2": "x, x", "fmod": "x, x", "copysign": "x, x", "remainder": "x, x", "isclose": "x, x", "pow": "x, x",
        "comb": "n, n", "ldexp": "x, n", "dist": "(x,), (x,)", "prod": "(x, x)", "sumprod": "(x, x), (x, 2)",
        "fsum": "(x, x)", "fma": "x, x, x", "nextafter": "x, x",
    }.get(name, "n" if name in integers else "x")  # fmt: skip
    kernel = of(name, arguments)
    if name not in REFUSED:
        assert "py" in kernel.lower()
        return
    with pytest.raises(asc.CompileError) as caught:
        kernel.lower()
    (found,) = caught.value.diagnostics
    assert found.code == "PA0209" and found.hint


@pytest.mark.parametrize(
    "call", ["sqrt(-1.0)", "log(0)", "factorial(-1)", "exp(1000)", "gcd(1.5)", "acos(2)"]
)
def test_what_python_raises_for_known_numbers_is_refused(call: str) -> None:
    name, arguments = call[:-1].split("(")
    with pytest.raises(asc.CompileError) as caught:
        of(name, arguments).lower()
    assert [each.code for each in caught.value.diagnostics] == ["PA0406"]
