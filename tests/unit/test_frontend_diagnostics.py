# SPDX-License-Identifier: Apache-2.0
"""What a user reads about a mistake in a kernel: text, place and hint, pinned."""

from __future__ import annotations

from textwrap import dedent

import pytest

from pyasc.frontend import KernelSource
from pyasc.ir.diagnostics import CompileError, KernelTypeError, ShapeError, UnsupportedError
from tests.unit.frontend_support import lower

HEAD = "import pyasc as asc\nimport math\n\n"


def failure(text: str) -> CompileError:
    """The error of the one kernel in a text whose first line is line 4 of kernel.py."""
    with pytest.raises(CompileError) as caught:
        lower(KernelSource.from_text(HEAD + dedent(text).lstrip("\n"), file="kernel.py"))
    return caught.value


def expect(text: str, message: str) -> None:
    assert str(failure(text)) == dedent(message).strip("\n")


def test_a_misspelt_name() -> None:
    expect(
        """
        def k(values: asc.float32[N]):
            values[0] = valeus[1]
        """,
        """
        kernel.py:5:17: error[PA0301]: `valeus` is not defined
            5 |     values[0] = valeus[1]
              |                 ^^^^^^
          hint: did you mean `values`?
        """,
    )


def test_a_misspelt_function() -> None:
    expect(
        """
        def k(x: asc.float32[N]):
            x[0] = asc.sqroot(x[1])
        """,
        """
        kernel.py:5:12: error[PA0311]: `pyasc` has no attribute `sqroot`
            5 |     x[0] = asc.sqroot(x[1])
              |            ^^^^^^^^^^
          hint: did you mean `sqrt`?
        """,
    )


def test_several_errors_at_once_and_each_name_blamed_once() -> None:
    expect(
        """
        def k(x: asc.float32[4]):
            a = unknown + 1
            b = a * 2
            x[0] = b
            x[4] = 1.0
            x[0, 0] = 1.0
        """,
        """
        kernel.py:5:9: error[PA0301]: `unknown` is not defined
            5 |     a = unknown + 1
              |         ^^^^^^^
          hint: assign it before, make it a parameter, or import it

        kernel.py:8:7: error[PA0504]: index 4 is out of range
            8 |     x[4] = 1.0
              |       ^ axis 0 has size 4
          hint: use an index from -size to size - 1

        kernel.py:9:7: error[PA0505]: 2 indices for an array of 1 dimension
            9 |     x[0, 0] = 1.0
              |       ^^^^
          hint: use one index for each dimension
        """,
    )


def test_wide_characters_before_the_place() -> None:
    expect(
        """
        def k(x: asc.float32[4]):
            長さ = 1; x[0] = 長さ + nothing
        """,
        """
        kernel.py:5:25: error[PA0301]: `nothing` is not defined
            5 |     長さ = 1; x[0] = 長さ + nothing
              |                             ^^^^^^^
          hint: assign it before, make it a parameter, or import it
        """,
    )


def test_unset_on_one_side() -> None:
    expect(
        """
        def k(n: int):
            if n > 1:
                t = 1
            return t
        """,
        """
        kernel.py:7:12: error[PA0302]: `t` may have no value here
            7 |     return t
              |            ^ when this condition is false
        kernel.py:5:5: note: `t` is set only on some paths through here
            5 |     if n > 1:
              |     ---------
          hint: set it before, so that every path gives it a value
        """,
    )


def test_unset_when_a_loop_does_not_run() -> None:
    expect(
        """
        def k(n: int):
            for i in range(n):
                t = i
            return t
        """,
        """
        kernel.py:7:12: error[PA0302]: `t` may have no value here
            7 |     return t
              |            ^ when this loop does not run
        kernel.py:5:5: note: `t` is set only on some paths through here
            5 |     for i in range(n):
              |     ------------------
          hint: set it before, so that every path gives it a value
        """,
    )


def test_read_before_set() -> None:
    expect(
        """
        def k(n: int):
            m = n + t
            t = 1
            return m
        """,
        """
        kernel.py:5:13: error[PA0302]: `t` is read before it is set
            5 |     m = n + t
              |             ^
          hint: set it before, so that every path gives it a value
        """,
    )


def test_unset_after_a_jump() -> None:
    assert "`t` may have no value here" in str(
        failure(
            """
            def k(n: int):
                for i in range(10):
                    if i == n:
                        break
                    t = i
                return t
            """
        )
    )


def test_a_value_carried_through_a_parallel_loop() -> None:
    expect(
        """
        def k(x: asc.float32[N]):
            s = 0.0
            for i in asc.parallel_for(N):
                s = s * 0.5 + x[i]
            x[0] = s
        """,
        """
        kernel.py:7:9: error[PA0601]: `s` is carried from one iteration of a parallel loop to the next
            7 |         s = s * 0.5 + x[i]
              |         ^ set here and read by a later iteration
        kernel.py:6:5: note: the parallel loop
            6 |     for i in asc.parallel_for(N):
              |     -----------------------------
          hint: use range for a sequential loop, or an array with one element for each iteration
        """,
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("break", "`break` in a parallel loop"),
        ("return", "`return` in a parallel loop"),
    ],
)
def test_jumps_out_of_a_parallel_loop(statement: str, message: str) -> None:
    text = f"""
        def k(x: asc.float32[N]):
            for i in asc.parallel_for(N):
                if x[i] > 0:
                    {statement}
        """
    error = failure(text)
    assert error.diagnostics[0].message == message
    assert error.diagnostics[0].loc.line == 7


def test_the_order_of_a_parallel_loop_is_open() -> None:
    assert "after a parallel loop, whose iterations have no order" in str(
        failure(
            """
            def k(x: asc.float32[4]):
                for i in asc.parallel_for(4):
                    t = x[i]
                x[0] = t
            """
        )
    )


def test_arrays_that_change_places_in_a_loop() -> None:
    expect(
        """
        def k(u: asc.float32[4], v: asc.float32[4], n: int):
            for t in range(n):
                v[0] = u[0] * 0.5
                if t > 1:
                    u, v = v, u
        """,
        """
        kernel.py:6:16: error[PA0305]: `u` has no single value here
            6 |         v[0] = u[0] * 0.5
              |                ^ another array on each side; copy into one array, or use asc.where
        kernel.py:7:9: note: the paths meet here
            7 |         if t > 1:
              |         ---------
          hint: give it the same kind of value on every path

        kernel.py:8:20: error[PA0305]: `v` has no single value here
            8 |             u, v = v, u
              |                    ^ another array on each side; copy into one array, or use asc.where
        kernel.py:7:9: note: the paths meet here
            7 |         if t > 1:
              |         ---------
          hint: give it the same kind of value on every path
        """,
    )


def test_shapes_that_do_not_fit() -> None:
    error = failure(
        """
        def k(x: asc.float32[4, 5], y: asc.float32[5, 4]):
            return x + y
        """
    )
    assert type(error) is ShapeError
    assert str(error) == (
        "kernel.py:5:12: error[PA0502]: shapes (4, 5) and (5, 4) do not fit together\n"
        "    5 |     return x + y\n"
        "      |            ^^^^^ 4 against 5\n"
        "  hint: make the sizes equal, or one of them 1"
    )


def test_matrices_that_do_not_fit() -> None:
    assert "4 columns against 5 rows" in str(
        failure(
            """
            def k(x: asc.float32[3, 4], y: asc.float32[5, 6]):
                return x @ y
            """
        )
    )


def test_recursion_shows_the_cycle() -> None:
    expect(
        """
        def even(n):
            return odd(n - 1)
        def odd(n):
            return even(n - 1)
        @asc.kernel
        def k(n: int):
            return even(n)
        """,
        """
        kernel.py:7:12: error[PA0303]: `even` calls itself
            7 |     return even(n - 1)
              |            ^^^^^^^^^^^ even -> odd -> even
        kernel.py:5:12: note: `odd` is called here
            5 |     return odd(n - 1)
              |            ----------
        kernel.py:10:12: note: `even` is called here
           10 |     return even(n)
              |            -------
          hint: write it as a loop
        """,
    )


def test_a_mistake_in_a_helper_shows_both_places() -> None:
    expect(
        """
        def helper(v):
            return v.nonsense()
        @asc.kernel
        def k(x: asc.float32[4]):
            x[0] = helper(x)
        """,
        """
        kernel.py:5:12: error[PA0311]: float32 array of 1 dimension has no attribute `nonsense`
            5 |     return v.nonsense()
              |            ^^^^^^^^^^
        kernel.py:8:12: note: `helper` is called here
            8 |     x[0] = helper(x)
              |            ---------
          hint: see the list of functions and methods in the docs
        """,
    )


def test_a_wrong_return_type() -> None:
    error = failure(
        """
        def k(x: asc.float32[4]) -> asc.int32:
            return x[0]
        """
    )
    assert type(error) is KernelTypeError
    assert str(error) == (
        "kernel.py:5:12: error[PA0413]: returns float32, declared is int32\n"
        "    5 |     return x[0]\n"
        "      |            ^^^^\n"
        "  hint: convert the value, or change the declaration"
    )


def test_a_path_without_a_return() -> None:
    expect(
        """
        def k(x: asc.float32[4]) -> asc.float32:
            if x[0] > 0:
                return 1.0
        """,
        """
        kernel.py:4:1: error[PA0312]: `k` does not return a value on every path
            4 | def k(x: asc.float32[4]) -> asc.float32:
              | ^^^^^
          hint: end it with a `return` that gives a value
        """,
    )


CASES = [
    ("try: pass\n    finally: pass", "PA0202", "`try` is not supported in a kernel", UnsupportedError),
    ("d = {1: 2}", "PA0202", "a dictionary is not supported in a kernel", UnsupportedError),
    ("import os", "PA0202", "`import` is not supported in a kernel", UnsupportedError),
    ("class C: pass", "PA0202", "a class definition is not supported in a kernel", UnsupportedError),
    ("global x", "PA0202", "`global` is not supported in a kernel", UnsupportedError),
    ("raise ValueError", "PA0202", "`raise` is not supported in a kernel", UnsupportedError),
    ("s = f'{x[0]}'", "PA0202", "an f-string is not supported in a kernel", UnsupportedError),
    ("del x", "PA0202", "`del` is not supported in a kernel", UnsupportedError),
    ("print(x[0])", "PA0209", "`print` cannot be called in a kernel", UnsupportedError),
    ("open('f')", "PA0209", "`open` cannot be called in a kernel", UnsupportedError),
    ("x.shape = 3", "PA0203", "the attribute `shape` cannot be set", UnsupportedError),
    ("if x > 0: pass", "PA0405", "the truth value of an array is ambiguous", KernelTypeError),
    ("x[0] = 'a'", "PA0410", "an element cannot hold 'a'", KernelTypeError),
    ("y = asc.uint8(1) + 300", "PA0403", "300 does not fit uint8", KernelTypeError),
    ("y = 1 // 0", "PA0406", "division by zero", KernelTypeError),
    ("y = x[1.5]", "PA0404", "expected an integer, found float 1.5", KernelTypeError),
    ("y = -asc.bool_(True)", "PA0407", "`-` does not take bool", KernelTypeError),
    ("y = x[0] & 1", "PA0407", "`&` does not take float32 and int 1", KernelTypeError),
    ("y = asc.exp(1.0, 2.0)", "PA0408", "asc.exp takes 1 argument, got 2", KernelTypeError),
    ("y = asc.zeros()", "PA0408", "`zeros` needs a value for `shape`", KernelTypeError),
    ("a, b = 1, 2, 3", "PA0408", "2 names for 3 values", KernelTypeError),
    ("y = 3(1)", "PA0411", "int 3 cannot be called", KernelTypeError),
    ("y = (1, 2)[5]", "PA0504", "index 5 of a tuple of 2", ShapeError),
    ("y = asc.sum(x, axis=3)", "PA0509", "axis 3 of an array of 1 dimension", ShapeError),
    ("y = asc.zeros((2, -1))", "PA0506", "a size cannot be negative: -1", ShapeError),
    ("y = x.reshape(3, 3)", "PA0506", "cannot reshape: 9 elements asked for, 4 there", ShapeError),
    ("for i in 3: pass", "PA0306", "cannot iterate over int 3", CompileError),
    ("for i in range(0, 4, 0): pass", "PA0503", "the step of a range must not be 0", ShapeError),
    ("while True: x[0] = 1.0", "PA0309", "this loop never ends", CompileError),
    (
        "y = x if x[0] > 0 else 1",
        "PA0305",
        "a choice at run time between float32 array of 1 dimension and int 1",
        CompileError,
    ),
    (
        "y = asc.aligned_alloc(4, asc.float32, 3)",
        "PA0507",
        "an alignment is a power of two that is known when the kernel is compiled",
        ShapeError,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "code", "message", "kind"), CASES, ids=[c[2][:40] for c in CASES])
def test_refusals(statement: str, code: str, message: str, kind: type[CompileError]) -> None:
    error = failure(f"def k(x: asc.float32[4]):\n    {statement}\n")
    assert [(d.code, d.message) for d in error.diagnostics] == [(code, message)]
    assert type(error) is kind
    assert error.diagnostics[0].loc.line == 5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("*x", "a kernel takes a fixed list of parameters"),
        ("x: asc.foat32", "`pyasc` has no attribute `foat32`"),
        ("x: asc.float32['a']", "`'a'` is not a size"),
        ("x: asc.float32[N / 2]", "`N / 2` is not a size"),
        ("x: asc.float32[N, ...]", "`...` stands for leading sizes, so it comes first"),
        ("x: str", "`str` is not an annotation that a kernel takes"),
        ("x: list[int]", "`list` is not an element type"),
    ],
)
def test_annotations(parameters: str, message: str) -> None:
    error = failure(f"def k({parameters}):\n    pass\n")
    assert error.diagnostics[0].message == message
    assert error.diagnostics[0].loc.line == 4


def test_syntax_errors_have_their_place() -> None:
    expect(
        """
        def k(x):
            x[0] = = 1
        """,
        """
        kernel.py:5:12: error[PA0103]: invalid syntax
            5 |     x[0] = = 1
              |            ^
          hint: correct the syntax at the caret
        """,
    )


def test_a_helper_without_source_is_shown_where_it_is_called() -> None:
    names: dict[str, object] = {}
    exec("def twice(v):\n    return v * 2", names)
    source = KernelSource.from_text(
        "import pyasc as asc\ndef k(x: asc.float32[4]):\n    x[0] = twice(x[0])\n"
    )
    source.globals["twice"] = names["twice"]  # pyright: ignore[reportIndexIssue]
    with pytest.raises(CompileError) as caught:
        lower(source)
    (found,) = caught.value.diagnostics
    assert (found.code, found.loc.line, found.loc.column, found.loc.end_column) == ("PA0101", 3, 11, 16)
    assert found.message == "the source of `twice` cannot be found in '<string>'"
    assert "kernel_from_source" in found.hint


def test_an_array_that_a_loop_replaces_may_have_a_buffer() -> None:
    text = "def k(x: asc.float32[4], n: int):\n    for i in range(n):\n        x = x * 2.0\n    return x\n"
    (told,) = failure(text).diagnostics
    assert told.hint == "give it an array of its own before the loop: x = x.copy()"
    own = text.replace("    for", "    x = x.copy()\n    for", 1)
    lower(KernelSource.from_text(HEAD + own, file="kernel.py"))
