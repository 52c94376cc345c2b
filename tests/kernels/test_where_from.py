# SPDX-License-Identifier: Apache-2.0
"""Where kernels come from, and that a call never uses what has changed since."""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import itertools
import linecache
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pyasc as asc

X = np.arange(4, dtype=np.float32)
DOUBLE = "import pyasc as asc\n@asc.kernel\ndef k(a):\n    return a * 2\n"
_NUMBERS = itertools.count()
FACTOR = 2.0


def same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(found, expected, strict=True)


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a text as a module of its own."""
    monkeypatch.syspath_prepend(tmp_path)

    def loaded(text: str) -> ModuleType:
        name = f"kernel_text_{next(_NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return loaded


class TestLambdas:
    def test_plain(self) -> None:
        same(asc.kernel(lambda a, b=3: a * b + 1)(X), X * 3 + 1)

    def test_two_on_a_line(self) -> None:
        if sys.version_info < (3, 11):
            pytest.skip("columns of code exist from Python 3.11 on")
        double, triple = asc.kernel(lambda a: a * 2), asc.kernel(lambda a: a * 3)
        same(double(X), X * 2)
        same(triple(X), X * 3)

    def test_over_lines(self) -> None:
        # fmt: off
        kernel = asc.kernel(
            lambda a:
                a * 2
        )
        # fmt: on
        same(kernel(X), X * 2)

    def test_among_others(self) -> None:
        first, _ = (lambda a: a * 2), (lambda b: b * 3)
        same(asc.kernel(first)(X), X * 2)

    def test_with_a_closure(self) -> None:
        factor = 5.0
        same(asc.kernel(lambda a: a * factor)(X), X * 5)


class TestFunctions:
    def test_partial_of_a_kernel(self) -> None:
        @asc.kernel
        def scaled(a, s: float):
            return a * s

        same(functools.partial(scaled, s=3.0)(X), X * 3)
        same(functools.partial(scaled, X)(2.0), X * 2)

    def test_kernel_of_a_partial_or_an_object_is_refused(self) -> None:
        class Callable_:
            def __call__(self, a):
                return a

        for wrong, words in ((functools.partial(same, X), "functools.partial"), (Callable_(), "decorates")):
            with pytest.raises(TypeError, match=words):
                asc.kernel(wrong)

    def test_nested_with_a_changing_closure(self) -> None:
        s = 5.0

        @asc.kernel
        def k(a):
            return a * s

        same(k(X), X * 5)
        s = 6.0
        same(k(X), X * 6)

    def test_factory_in_a_loop(self) -> None:
        def made(i: int) -> Any:
            @asc.kernel
            def k(a):
                return a * i

            return k

        for i, kernel in enumerate([made(i) for i in range(3)]):
            same(kernel(X), X * i)

    def test_a_loop_variable_is_read_late_as_in_python(self) -> None:
        kernels = []
        for i in range(3):

            @asc.kernel
            def k(a):
                return a * i  # noqa: B023

            kernels.append(k)
        for kernel in kernels:
            same(kernel(X), X * 2)

    def test_stacked_decorators(self) -> None:
        def through(f: Any) -> Any:
            @functools.wraps(f)
            def wrapper(*args: Any) -> Any:
                return f(*args)

            return wrapper

        @through
        @asc.kernel
        def outside(a):
            return a * 2

        @asc.kernel
        @through
        def inside(a):
            return a * 2

        same(outside(X), X * 2)
        same(inside(X), X * 2)

    def test_a_decorator_below_that_does_more_is_refused(self) -> None:
        def hundredfold(f: Any) -> Any:
            @functools.wraps(f)
            def wrapper(*args: Any) -> Any:
                return f(*args) * 100

            return wrapper

        @asc.kernel
        @hundredfold
        def inside(a):
            return a * 2

        @hundredfold
        def helper(a):
            return a + 1

        for kernel in (inside, asc.kernel(lambda a: helper(a))):
            with pytest.raises(asc.CompileError, match=r"changes what `(inside|helper)` does"):
                kernel(X)
        same(hundredfold(asc.kernel(lambda a: a + 1))(X), (X + 1) * 100)

    def test_keyword_only_and_positional_only(self) -> None:
        @asc.kernel
        def k(a, /, b: float = 2.0, *, c: float = 1.0):
            return a * b + c

        same(k(X), X * 2 + 1)
        same(k(X, 3.0, c=0.0), X * 3)
        same(k(X, b=1.0), X + 1)
        with pytest.raises(asc.LaunchError, match="no parameter `a` to be named"):
            k(a=X)


class TestClasses:
    def test_body_and_static(self) -> None:
        class Holder:
            @asc.kernel
            def in_body(a):
                return a * 2

            @staticmethod
            @asc.kernel
            def static(a):
                return a * 3

        same(Holder.in_body(X), X * 2)
        same(Holder.static(X), X * 3)
        same(Holder().static(X), X * 3)

    def test_method_reads_its_object(self) -> None:
        class Scaling:
            def __init__(self, factor: float) -> None:
                self.factor = factor

            def helper(self, a):
                return a * self.factor

            @asc.kernel
            def k(self, a):
                return self.helper(a) + 1

        two, three = Scaling(2.0), Scaling(3.0)
        for _ in range(2):
            same(two.k(X), X * 2 + 1)
            same(three.k(X), X * 3 + 1)
        two.factor = 5.0
        same(two.k(X), X * 5 + 1)
        Scaling.helper = lambda self, a: a + self.factor
        same(two.k(X), X + 6)

    def test_private_names(self) -> None:
        names = globals()
        names["_Private__OUTSIDE"] = 100.0

        class Private:
            __scale = 2.0

            def __init__(self) -> None:
                self.__shift = 1.0

            def __helper(self, a, __by):
                def __twice(b):
                    return b * 2

                return __twice(a) * __by

            @asc.kernel
            def k(self, a):
                __c = self.__helper(a, self.__scale) + self.__shift
                return __c + __OUTSIDE  # pyright: ignore[reportUndefinedVariable]

            def within(self):
                return asc.kernel(lambda a: a * self.__scale)

        class __Private(Private):
            pass

        private = __Private()
        for _ in range(2):
            same(private.k(X), X * 4 + 101)
        same(private.within()(X), X * 2)
        Private._Private__scale = 3.0  # pyright: ignore[reportAttributeAccessIssue]
        same(private.k(X), X * 6 + 101)
        same(private.within()(X), X * 3)

    def test_class_methods(self) -> None:
        class Scaling:
            factor = 2.0

            @classmethod
            @asc.kernel
            def k(cls, a):
                return a * cls.factor

        class Other(Scaling):
            factor = 3.0

        same(Scaling.k(X), X * 2)
        same(Other().k(X), X * 3)
        Scaling.factor = 5.0
        same(Scaling.k(X), X * 5)

    def test_method_of_an_object_that_cannot_be_hashed(self) -> None:
        @dataclasses.dataclass
        class Scaling:
            factor: float

            @asc.kernel
            def k(self, a):
                return a * self.factor

        same(Scaling(2.0).k(X), X * 2)
        same(Scaling(3.0).k(X), X * 3)


class TestTexts:
    def test_exec_with_a_registered_text(self) -> None:
        file = "<ipython-input-1-0123456789ab>"
        linecache.cache[file] = (len(DOUBLE), None, DOUBLE.splitlines(keepends=True), file)
        names: dict[str, Any] = {}
        exec(compile(DOUBLE, file, "exec"), names)
        same(names["k"](X), X * 2)

    def test_exec_without_text_says_what_to_do(self) -> None:
        names: dict[str, Any] = {}
        exec(DOUBLE, names)
        with pytest.raises(asc.CompileError, match="kernel_from_source") as caught:
            names["k"](X)
        assert [d.code for d in caught.value.diagnostics] == ["PA0101"]
        same(asc.kernel_from_source(DOUBLE)(X), X * 2)

    def test_command_line(self) -> None:
        text = DOUBLE + "import numpy\nprint(k(numpy.ones(2, 'f4')))\n"
        run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=os.environ)
        assert run.stdout == "[2. 2.]\n", run.stderr

    def test_a_string_executed_on_the_command_line_is_not_taken_for_it(self) -> None:
        text = (
            "import numpy\nexec('import pyasc as asc\\n\\n\\n@asc.kernel\\ndef k(a): return a * 2')\n"
            "def other(a):\n    return a * 3\nk(numpy.ones(2, 'f4'))\n"
        )
        run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=os.environ)
        # From Python 3.13 on, the text of the command line is found, and is not that of the function.
        assert ("PA0101" if sys.version_info < (3, 13) else "PA0102") in run.stderr

    def test_zip_import(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            archive.writestr("zipped_kernel.py", DOUBLE)
        monkeypatch.syspath_prepend(tmp_path / "all.zip")
        same(importlib.import_module("zipped_kernel").k(X), X * 2)

    def test_future_annotations(self, load: Callable[[str], ModuleType]) -> None:
        module = load(
            "from __future__ import annotations\nimport pyasc as asc\n@asc.kernel\n"
            "def k(a: asc.float32[Q, 2 * Q]) -> asc.float32[Q, 2 * Q]:\n    return a * 2\n"
        )
        same(module.k(np.ones((2, 4), np.float32)), np.full((2, 4), 2, np.float32))
        with pytest.raises(asc.LaunchError):
            module.k(np.ones((2, 3), np.float32))

    def test_type_aliases(self, load: Callable[[str], ModuleType]) -> None:
        module = load(
            "import pyasc as asc\nN = asc.dims('N')\nVec = asc.float32[N]\n@asc.kernel\n"
            "def k(a: Vec, b: 'Vec') -> Vec:\n    return a * 2 + b\n"
        )
        same(module.k(X, X), X * 3)

    def test_tabs_comments_and_line_continuations(self, load: Callable[[str], ModuleType]) -> None:
        module = load(
            "import pyasc as asc\nif True:\n\t@asc.kernel  # a comment\n\tdef k(a):  # and another\n"
            "\t\t'''A docstring.'''\n\t\ts = 0.0 \\\n  + 1\n\n# left of everything\n"
            "\t\tfor i in range(len(a)):\n\t\t\t'''text'''\n\t\t\ts += a[i]\n\t\treturn s\n"
        )
        assert module.k(X) == 7

    def test_names_beyond_ascii(self, load: Callable[[str], ModuleType]) -> None:
        module = load(
            "import pyasc as asc\n@asc.kernel\ndef größe(α, β: float):\n    π = 3.0  # число\n    return α * β + π\n"
        )
        same(module.größe(X, 2.0), X * 2 + 3)


class TestNames:
    @pytest.mark.parametrize("device", ["cpu", "model"])
    def test_names_of_cpp_and_ascend(self, device: str) -> None:
        arrays = "template GM_ADDR __gm__ LocalTensor TPipe DataCopy Add".split()
        numbers = (
            "double new volatile NULL errno main auto std size_t int64_t pa_add fault t0 Muls GetBlockIdx half AscendC "
            "pipe op blockIdx"
        ).split()
        parameters = [
            *(f"{name}: asc.float32[N]" for name in arrays),
            *(f"{name}: float" for name in numbers),
        ]
        kernel = asc.kernel_from_source(
            f"import pyasc as asc\n@asc.kernel\ndef switch(out: asc.float32[N], {', '.join(parameters)}):\n"
            f"    for i in asc.parallel_for(len(out)):\n        out[i] = {'[i] + '.join(arrays)}[i]\n"
            f"        out[i] += {' + '.join(numbers)}\n"
        )
        with asc.device(device):
            out = np.zeros_like(X)
            kernel(out, *[X] * len(arrays), *[1.0] * len(numbers))
        same(out, X * len(arrays) + len(numbers))

    def test_many_at_once(self) -> None:
        names = "template double int_ float_ this new NULL int64_t size_t len type id max".split()
        text = f"import pyasc as asc\n@asc.kernel\ndef switch({', '.join(names)}, *, sum: float, min: int):\n"
        text += "    namespace = sum\n    for i in range(min):\n        namespace += template[i]\n"
        text += f"    return namespace + {' + '.join(names)}\n"
        found = asc.kernel_from_source(text)(*[X] * len(names), sum=2.0, min=3)
        same(found, X * len(names) + 5)


class TestFreshness:
    def test_globals(self) -> None:
        names = globals()

        @asc.kernel
        def k(a):
            return a * FACTOR

        try:
            for value in (2.0, 3.0, 1, True, 1.0, 2.0):
                names["FACTOR"] = value
                same(k(X), X * np.float32(value))
        finally:
            names["FACTOR"] = 2.0

    def test_constants_of_other_modules(self, load: Callable[[str], ModuleType]) -> None:
        module = load("C = 3\ndef h(a):\n    return a * 2\n")

        @asc.kernel
        def k(a):
            return module.h(a) + module.C

        same(k(X), X * 2 + 3)
        module.C = 4
        same(k(X), X * 2 + 4)

    def test_a_reloaded_helper(self, load: Callable[[str], ModuleType]) -> None:
        module = load("def h(a):\n    return a * 2\n")

        @asc.kernel
        def k(a):
            return module.h(a)

        same(k(X), X * 2)
        assert module.__file__ is not None
        Path(module.__file__).write_text("def h(a):\n    b = a * 4\n    return b + a\n")
        importlib.invalidate_caches()
        importlib.reload(module)
        same(k(X), X * 5)

    def test_a_redefined_helper(self) -> None:
        def helper(a):
            return a + 1

        @asc.kernel
        def k(a):
            return helper(a)

        same(k(X), X + 1)

        def helper(a):  # noqa: F811
            return a + 2

        same(k(X), X + 2)

    def test_a_list_changed_in_place(self) -> None:
        weights = [1.0, 2.0]
        nested = (weights,)

        @asc.kernel
        def k(a):
            return a * weights[1]

        @asc.kernel
        def through(a):
            return a * nested[0][1]

        for value in (2.0, 7.0, 8.0):
            weights[1] = value
            for _ in range(2):
                same(k(X), X * value)
                same(through(X), X * value)

    def test_an_array_of_one_number_changed_in_place(self) -> None:
        number = np.array(2.5, np.float32)

        @asc.kernel
        def k(a):
            return a * number

        for value in (2.5, 4.0):
            number[...] = value
            same(k(X), X * np.float32(value))

    def test_defaults_that_change(self) -> None:
        weights = [2.0]

        def helper(a, w=weights, *, plus=1):
            return a * w[0] + plus

        @asc.kernel
        def k(a, scale=3):
            return helper(a) * scale

        same(k(X), (X * 2 + 1) * 3)
        weights[0] = 5.0
        same(k(X), (X * 5 + 1) * 3)
        helper.__kwdefaults__["plus"] = 2
        same(k(X), (X * 5 + 2) * 3)
        assert k.py_func is not None
        k.py_func.__defaults__ = (4,)  # pyright: ignore[reportFunctionMemberAccess]
        same(k(X), (X * 5 + 2) * 4)

    def test_a_property_is_read_by_each_call(self) -> None:
        class Scaling:
            factor = 2.5

            @property
            def twice(self) -> float:
                return self.factor * 2

        scaling = Scaling()

        @asc.kernel
        def k(a):
            return a * scaling.twice

        same(k(X), X * 5)
        same(k(X), X * 5)
        assert k.cache_info().compilations == 1
        scaling.factor = 1.5
        same(k(X), X * 3)

    def test_the_number_one_in_three_types(self) -> None:
        @asc.kernel
        def k(a: asc.int32[4], c: asc.constexpr):
            return a * c

        a = np.arange(4, dtype=np.int32)
        for _ in range(2):
            assert [k(a, c).dtype for c in (1, 1.0, True)] == [np.int32, np.float32, np.int32]

    def test_objects_as_constants(self) -> None:
        class Choice(enum.Enum):
            TWO = 2
            THREE = 3

        class Config:
            def __init__(self, factor: float) -> None:
                self.factor = factor

        @asc.kernel
        def by_object(a, c: asc.constexpr):
            return a * c.factor

        @asc.kernel
        def by_member(a, c: asc.constexpr):
            return a * c.value

        config = Config(3.0)
        same(by_object(X, Config(2.0)), X * 2)
        same(by_object(X, config), X * 3)
        config.factor = 4.0
        same(by_object(X, config), X * 4)
        same(by_member(X, Choice.TWO), X * 2)
        same(by_member(X, Choice.THREE), X * 3)

    def test_functions_as_constants(self) -> None:
        @asc.kernel
        def apply(a, f: asc.constexpr):
            return f(a)

        def adding(n: int) -> Any:
            return lambda t: t + n

        for n in (1, 2, 1):
            same(apply(X, adding(n)), X + n)

    @pytest.mark.parametrize(
        ("text", "change"),
        [
            (DOUBLE, ("* 2", "* 7")),
            (DOUBLE, ("* 2", "* 2 + a")),
            (DOUBLE.replace("    return", "    b = a\n    return"), ("* 2", "* 2 * b")),
            ("import pyasc as asc\nk = asc.kernel(lambda a: a * 2)\n", ("* 2", "* 7")),
            (DOUBLE.replace("    return", "    assert len(a) == 4\n    return"), ("* 2", "* 7")),
        ],
    )
    def test_a_file_edited_after_import_is_refused(
        self, load: Callable[[str], ModuleType], text: str, change: tuple[str, str]
    ) -> None:
        module = load(text)
        assert module.__file__ is not None
        Path(module.__file__).write_text(text.replace(*change))
        with pytest.raises(asc.CompileError, match="changed since it was loaded"):
            module.k(X)

    def test_a_new_process_sees_the_new_text(self, tmp_path: Path) -> None:
        path = tmp_path / "program.py"
        outputs: list[str] = []
        for factor in (2, 7, 2):
            path.write_text(
                "import sys; sys.dont_write_bytecode = True\nimport numpy, pyasc as asc\n"
                f"FACTOR = {factor}\n@asc.kernel\ndef k(a):\n    return a * FACTOR\n"
                "print(k(numpy.ones(1, 'f4')))\n"
            )
            run = subprocess.run([sys.executable, path], capture_output=True, text=True, env=os.environ)
            outputs.append(run.stdout.strip() + run.stderr)
        assert outputs == ["[2.]", "[7.]", "[2.]"]
