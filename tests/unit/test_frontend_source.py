# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F821, UP037
"""Where kernels' text is found, what their signatures say, and what a compilation depends on."""

from __future__ import annotations

import importlib.util
import linecache
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyasc as asc
from pyasc.frontend import (
    NO_DEFAULT,
    AnyKind,
    ArrayKind,
    ConstexprKind,
    Dependencies,
    KernelSource,
    ScalarKind,
    WeakKind,
    parse_signature,
)
from pyasc.frontend.dependencies import fingerprint
from pyasc.ir import dtypes
from pyasc.ir.diagnostics import CompileError
from pyasc.ir.sizes import parse_size, size
from tests.unit.frontend_support import lower, lower_mapped, run, run_module

SCALE = 2


def same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@same
@same
def decorated(x: asc.float32[N]):
    """Doc."""
    x[0] = 1.0


def load(path: Path, name: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class TestSource:
    def test_decorated(self) -> None:
        source = KernelSource.from_function(decorated)
        assert source.lines[0] == "@same\n"
        assert source.location(source.node).line == source.first_line + 2

    def test_nested_and_indented_keeps_columns(self) -> None:
        def k(x: asc.float32[4]):
            text = """
  a string that starts left of the function
"""
            x[0] = 1.0
            return text

        source = KernelSource.from_function(k)
        assert source.location(source.node).column == 8
        assert source.lines[-1].strip() == "return text"

    def test_closure_values(self) -> None:
        factor = 3

        def k(x: asc.int32[4]):
            x[0] = factor * SCALE

        x = np.zeros(4, np.int32)
        run(k, x)
        assert x[0] == 6

    def test_lambda(self) -> None:
        k = lambda x: x * 2 + 1  # noqa: E731
        assert run(k, 4) == 9

    def test_exec_with_registered_text(self) -> None:
        text = "import pyasc as asc\ndef k(x):\n    return x + 1\n"
        linecache.cache["<cell 7>"] = (len(text), None, text.splitlines(keepends=True), "<cell 7>")
        names: dict[str, Any] = {}
        exec(compile(text, "<cell 7>", "exec"), names)
        assert run(names["k"], 4) == 5

    def test_exec_without_text(self) -> None:
        names: dict[str, Any] = {}
        exec("def k(x): return x", names)
        with pytest.raises(CompileError, match="the source of `k` cannot be found in '<string>'") as caught:
            KernelSource.from_function(names["k"])
        assert "kernel_from_source" in caught.value.diagnostics[0].hint

    def test_a_builtin_has_none(self) -> None:
        with pytest.raises(CompileError, match="is not a Python function"):
            KernelSource.from_function(len)

    @pytest.mark.parametrize("change", [("x + 1", "x - 1"), ("(x)", "(y)"), ("x + 1", "x + 2")])
    def test_a_file_edited_after_import(self, tmp_path: Path, change: tuple[str, str]) -> None:
        path = tmp_path / f"edited{abs(hash(change))}.py"
        path.write_text("def k(x):\n    return x + 1\n")
        module = load(path, path.stem)
        path.write_text(path.read_text().replace(*change))
        linecache.checkcache(str(path))
        with pytest.raises(CompileError, match="has changed since it was loaded"):
            KernelSource.from_function(module.k)

    def test_columns_count_characters(self, tmp_path: Path) -> None:
        path = tmp_path / "unicode_kernel.py"
        path.write_text("def k(x):\n    長さ = '名前'; return x + 1\n", encoding="utf-8")
        source = KernelSource.from_function(load(path, "unicode_kernel").k)
        place = source.location(source.node.body[1])  # pyright: ignore[reportIndexIssue]
        assert (place.column, place.end_column) == (15, 27)


class TestText:
    def test_the_kernel_among_functions(self) -> None:
        source = KernelSource.from_text(
            "import pyasc as asc\nK = 3\nN, M = asc.dims('N M')\n\ndef helper(x):\n    return x * K\n\n"
            "@asc.kernel\ndef k(x: asc.int32[N]):\n    for i in range(N):\n        x[i] = helper(x[i])\n"
        )
        assert (source.name, source.first_line) == ("k", 8)
        x = np.arange(4, dtype=np.int32)
        run_module(lower(source).module, (x,))
        np.testing.assert_array_equal(x, [0, 3, 6, 9])

    def test_nothing_runs(self) -> None:
        KernelSource.from_text("raise SystemExit\nx = open('/nonexistent')\ndef k(x):\n    return x\n")

    @pytest.mark.parametrize(
        ("text", "name", "message"),
        [
            ("x = 1", None, "the text has 0 functions, not one"),
            ("def a(): pass\ndef b(): pass", None, "the text has 2 functions, not one"),
            ("def a(): pass", "b", "the text has no function `b`"),
            ("def a(:", None, "invalid syntax"),
        ],
    )
    def test_mistakes(self, text: str, name: str | None, message: str) -> None:
        with pytest.raises(CompileError, match=message):
            KernelSource.from_text(text, name)


def full(
    a: asc.float32[2, N],
    b: asc.int8[..., 3],
    c: "asc.float16[H - 2, 2 * N]",
    d: asc.float32,
    e: asc.tensor,
    f,
    g: int,
    h: float,
    i: asc.constexpr = 4,
    *,
    j: bool = True,
    k: np.float32 = 1.0,
) -> asc.float32[N]:
    """Every form of annotation."""


class TestSignature:
    def test_every_form(self) -> None:
        signature = parse_signature(KernelSource.from_function(full))
        kinds = [p.kind for p in signature.parameters]
        assert kinds == [
            ArrayKind(dtypes.f32, (2, size("N"))),
            ArrayKind(dtypes.i8, (3,), leading=True),
            ArrayKind(dtypes.f16, (parse_size("H - 2"), parse_size("2*N"))),
            ScalarKind(dtypes.f32),
            AnyKind(array=True),
            AnyKind(),
            WeakKind("int"),
            WeakKind("float"),
            ConstexprKind(),
            WeakKind("bool"),
            ScalarKind(dtypes.f32),
        ]
        assert [p.default for p in signature.parameters] == [NO_DEFAULT] * 8 + [4, True, 1.0]
        assert [p.keyword_only for p in signature.parameters] == [False] * 9 + [True] * 2
        assert signature.returns == (ArrayKind(dtypes.f32, (size("N"),)),)
        assert not signature.mapped

    def test_names_that_only_the_definition_saw(self, tmp_path: Path) -> None:
        path = tmp_path / "eager_annotations.py"
        path.write_text(
            "import pyasc as asc\n"
            "def make(depth):\n"
            "    rows, columns = asc.dims('rows columns')\n"
            "    vector = asc.float32[4]\n"
            "    def k(x: asc.float32[rows, columns - depth], v: vector, w: 'asc.int8[rows]'):\n"
            "        return x\n"
            "    return k\n"
        )
        signature = parse_signature(KernelSource.from_function(load(path, path.stem).make(3)))
        assert signature["x"].kind == ArrayKind(dtypes.f32, (size("rows"), parse_size("columns - 3")))
        assert signature["v"].kind == ArrayKind(dtypes.f32, (4,))
        assert signature["w"].kind == ArrayKind(dtypes.i8, (size("rows"),))

    def test_scalars_alone_are_mapped(self) -> None:
        def k(a: asc.float32, b: asc.float32, n: int) -> asc.float32:
            return a * b + n

        assert parse_signature(KernelSource.from_function(k)).mapped
        module = lower_mapped(k).module
        a = np.arange(4, dtype=np.float32)
        np.testing.assert_array_equal(run_module(module, (a, a, 2)), a * a + 2)


class TestDependencies:
    def test_a_changed_global_is_seen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def k(x: asc.int32[4]):
            x[0] = SCALE

        found = lower(k).dependencies
        assert found.still_valid()
        assert ("global", f"{__file__}:SCALE", "int:2") in found.fingerprints()
        for other in (2.0, True, 3):
            monkeypatch.setitem(globals(), "SCALE", other)
            assert not found.still_valid()
        monkeypatch.setitem(globals(), "SCALE", 2)
        assert found.still_valid()

    def test_a_changed_closure_value_is_seen(self) -> None:
        factor = 1

        def k(x: asc.int32[4]):
            x[0] = factor

        found = lower(k).dependencies
        assert found.still_valid()
        factor = True
        assert not found.still_valid()

    def test_a_helper_replaced_by_one_with_other_bound_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def k(x: asc.int32[4]):
            x[0] = changing(1)

        for make in (with_default, with_closure, lambda k: through(with_closure(k))):
            monkeypatch.setitem(globals(), "changing", make(1))
            found = lower(k).dependencies
            monkeypatch.setitem(globals(), "changing", make(1))
            assert found.still_valid()
            monkeypatch.setitem(globals(), "changing", make(2))
            assert not found.still_valid()

    def test_an_object_replaced_by_one_of_its_class(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def k(x: asc.int32[4]):
            x[0] = settings.scale

        monkeypatch.setitem(globals(), "settings", types.SimpleNamespace(scale=1))
        found = lower(k).dependencies
        assert found.still_valid()
        settings.scale = 2
        assert not found.still_valid()
        settings.scale = 1
        monkeypatch.setitem(globals(), "settings", types.SimpleNamespace(scale=5))
        assert not found.still_valid()

    def test_a_list_that_changes_is_seen(self) -> None:
        weights = [1, 2]

        def k(x: asc.int32[4]):
            x[0] = weights[1]

        found = lower(k).dependencies
        assert found.still_valid()
        weights[1] = 3
        assert not found.still_valid()

    def test_closures_of_one_name_are_two_entries(self) -> None:
        def k(x: asc.int32[4]):
            x[0] = first(1) + second(1)

        first, second = with_closure(1), with_closure(2)
        paths = [entry for entry in lower(k).dependencies.fingerprints() if entry[1].endswith(":k")]
        assert {digest for kind, _, digest in paths if kind == "closure"} == {"int:1", "int:2"}

    def test_helpers_and_attributes_are_listed(self) -> None:
        def k(x: asc.float32[4]):
            x[0] = outside(asc.exp(x[1]))

        kinds = {(kind, path.rpartition(":")[2]) for kind, path, _ in lower(k).dependencies.fingerprints()}
        assert {
            ("source", "k"),
            ("source", "outside"),
            ("global", "outside"),
            ("attribute", "pyasc.exp"),
        } <= kinds

    @pytest.mark.parametrize(
        ("a", "b"),
        [(1, True), (1, 1.0), (0.0, -0.0), ("1", 1), ((1,), (True,)), (asc.float32, asc.float64), (None, 0)],
    )
    def test_fingerprints_tell_apart(self, a: object, b: object) -> None:
        assert fingerprint(a) != fingerprint(b)

    def test_fingerprints_of_equal_values_agree(self) -> None:
        assert fingerprint((1, 2.5, "a")) == fingerprint((1, 2.5, "a"))
        assert fingerprint(np.float32(1.5)) == fingerprint(np.float32(1.5))

    def test_nothing_read_is_always_valid(self) -> None:
        assert Dependencies().still_valid()


def outside(x):
    return x + 1


def with_default(k: int):
    def helper(x, k=k):
        return x * k

    return helper


def with_closure(k: int):
    def helper(x):
        return x * k

    return helper


def through(inner):
    def helper(x):
        return inner(x)

    return helper


settings = types.SimpleNamespace(scale=1)
changing = with_default(1)
