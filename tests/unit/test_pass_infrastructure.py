# SPDX-License-Identifier: Apache-2.0
"""The pass protocol: registry, pipeline text, the hook between passes, locations."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest

import pyasc.passes
from pyasc.ir.dialects.func import Func, Module
from pyasc.ir.parser import parse
from pyasc.passes.base import Context, Pass, run_passes
from pyasc.passes.instrument import Instrument, PassBroke, statistics
from pyasc.passes.pipeline_parser import parse_pipeline
from pyasc.passes.pipelines import PIPELINES
from pyasc.passes.registry import PASSES, PassError, create, load

KERNEL = """
func.module {
  func.func {symbol = "k", written = [0]} {
  ^(%y: ref<4 x f32>, %x: f32):
    %0 = arith.constant {value = 0} : i64
    %1 = arith.add %x, %x
    %2 = arith.add %x, %x
    mem.store %1, %y, [%0]
    func.return
  }
}
"""


def present(name: str) -> bool:
    """Whether the module of a pass has been written yet."""
    module = PASSES[name].partition(":")[0].rpartition(".")[2]
    return (Path(pyasc.passes.__file__).parent / f"{module}.py").exists()


@pytest.mark.parametrize("name", [name for name in PASSES if present(name)])
def test_every_pass_is_a_record_with_its_registered_name(name: str) -> None:
    cls = load(name)
    assert issubclass(cls, Pass)
    assert cls.name == name
    assert create(name) == create(name)
    assert set(cls.options().values()) <= {"int", "bool", "str", "float"}


@pytest.mark.parametrize("name", PIPELINES)
def test_every_pipeline_names_passes(name: str) -> None:
    passes = parse_pipeline(name)
    assert passes
    assert all(each.name in PASSES for each in passes)


def test_options_are_read_by_their_type() -> None:
    (unroll,) = parse_pipeline("unroll{factor=4, full=2 size=10}")
    assert unroll == create("unroll", {"factor": 4, "full": 2, "size": 10})
    (resolve,) = parse_pipeline(" resolve-indices{unchecked=true} ")
    assert resolve == create("resolve-indices", {"unchecked": True})


def test_options_may_be_given_by_pass_name() -> None:
    passes = parse_pipeline("dce,resolve-indices,dce", {"resolve-indices": {"unchecked": True}})
    assert passes[1] == create("resolve-indices", {"unchecked": True})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inlin", "no pass or pipeline is named 'inlin'; did you mean 'inline'?"),
        ("unroll{factr=1}", "no option of unroll is named 'factr'; did you mean 'factor'?"),
        ("unroll{factor=x}", "unroll{factor}: expected int, got 'x'"),
        ("resolve-indices{unchecked=maybe}", "resolve-indices{unchecked}: expected bool, got 'maybe'"),
        ("dce,,cse", "cannot read the pipeline at ',cse'"),
        ("dce{", "cannot read the pipeline at 'dce{'"),
        ("unroll{factor}", "cannot read the options of unroll at 'factor'"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(PassError) as error:
        parse_pipeline(text)
    assert str(error.value) == message


def test_unknown_pass_with_nothing_near_lists_what_there_is() -> None:
    with pytest.raises(PassError, match=r"no pass is named 'qqqq'; known: canonicalize, "):
        create("qqqq")


def test_hook_prints_counts_times_and_dumps(tmp_path: Path) -> None:
    stream = io.StringIO()
    hook = Instrument(verify=True, print_after=["cse"], dump=tmp_path / "stages", stream=stream)
    context = run_passes(parse(KERNEL), parse_pipeline("cse,dce,cse"), hook)
    assert stream.getvalue().count("// after cse\n") == 1
    assert stream.getvalue().count("// after cse (no change)\n") == 1
    assert statistics(context) == "       1  cse: operations merged"
    assert set(hook.seconds) == {"cse", "dce"}
    assert hook.timing().endswith("total")
    assert sorted(path.name for path in (tmp_path / "stages").iterdir()) == [
        "00-cse.ir",
        "01-dce.ir",
        "02-cse.ir",
    ]
    assert "arith.add" in (tmp_path / "stages" / "00-cse.ir").read_text()


def test_hook_leaves_out_passes_without_changes_when_asked() -> None:
    stream = io.StringIO()
    hook = Instrument(print_after=["all"], only_changes=True, stream=stream)
    run_passes(parse(KERNEL), parse_pipeline("cse,cse"), hook)
    assert stream.getvalue().count("// after") == 1


class Breaks(Pass):
    """Leaves the function without a terminator."""

    name = "breaks"

    def apply(self, module: Module, context: Context) -> bool:
        module.functions[0].body.block.terminator.erase()
        return True


def test_broken_ir_is_a_bug_in_pyasc() -> None:
    with pytest.raises(PassBroke, match=r"bug in pyasc: the IR has .* after breaks"):
        run_passes(parse(KERNEL), [Breaks()], Instrument(verify=True))


def test_remarks_name_the_pass() -> None:
    class Speaks(Breaks):
        name = "speaks"

        def apply(self, module: Module, context: Context) -> bool:
            context.remark(module.loc, "was here", "no need to do anything")
            return False

    (remark,) = run_passes(parse(KERNEL), [Speaks()]).remarks
    assert (remark.pass_name, remark.message, remark.hint) == ("speaks", "was here", "no need to do anything")


# Raising elides the copies in a loop before it looks at it.
SHARED = {
    ("raise_loops.py", "pyasc.passes.elide_copies"),
    # A phase that no tile fits becomes loops at once, since whether it can decides what the host may choose.
    ("lower_to_tiles.py", "pyasc.passes.lower_structured"),
    ("lower_to_tiles.py", "pyasc.passes.forward"),
}


def test_passes_do_not_import_each_other() -> None:
    folder = Path(pyasc.passes.__file__).parent
    own = {PASSES[name].partition(":")[0] for name in PASSES}
    wrong = [
        f"{path.name}:{node.lineno}"
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module in own and (path.name, node.module) not in SHARED
    ]
    assert wrong == []


LOCATED = """
func.module {
  func.func {symbol = "k", sizes = ["N"], written = [0]} {
  ^(%y: ref<N x f32>, %x: ref<N x f32>, %k: i64):
    %n = func.size {symbol = "N"} @"a.py":2:1-2:2
    %0 = arith.constant {value = 0} : i64 @"a.py":2:1-2:2
    %1 = arith.constant {value = 1} : i64 @"a.py":2:1-2:2
    scf.for %0, %k, %1, [] @"a.py":3:1-3:2 {
    ^(%i: i64):
      %2 = py.load %x, [%i] @"a.py":4:1-4:2
      %3 = arith.mul %2, %2 @"a.py":5:1-5:2
      py.store %3, %y, [%i] @"a.py":6:1-6:2
      scf.yield @"a.py":3:1-3:2
    }
    func.return @"a.py":7:1-7:2
  }
}
"""


def test_locations_survive_the_scalar_passes() -> None:
    module = parse(LOCATED)
    run_passes(module, parse_pipeline("py,licm,resolve-indices,cleanup,forward,unroll{factor=2},cleanup"))
    lines = {op.name: op.loc.line for op in module.walk() if op.loc.known}
    assert lines["mem.load"] == 4
    assert lines["arith.mul"] == 5
    assert lines["mem.store"] == 6
    assert lines["py.check"] in (4, 6)
    assert all(
        op.loc.known for op in module.walk() if op.name in ("mem.load", "mem.store", "py.check", "scf.for")
    )


def test_function_passes_visit_every_function() -> None:
    two = parse(
        KERNEL.replace(
            "func.module {",
            "func.module {" + KERNEL.partition("func.module {")[2].rpartition("}")[0].replace('"k"', '"j"'),
        )
    )
    assert [func.symbol for func in two.functions if isinstance(func, Func)] == ["j", "k"]
    context = run_passes(two, parse_pipeline("cse"))
    assert context.counts["cse", "operations merged"] == 2
