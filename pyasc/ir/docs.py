# SPDX-License-Identifier: Apache-2.0
"""The reference pages of the IR, derived from the declarations and from the number table."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from types import ModuleType

from pyasc.ir import dtypes
from pyasc.ir.core import Operation
from pyasc.ir.declare import ANY, MISSING, AttributeField, OperandField, ResultField
from pyasc.ir.dialects import modules, operations
from pyasc.ir.dtypes import DType
from pyasc.ir.levels import LEVELS
from pyasc.ir.numbers_promote import promote
from pyasc.ir.numbers_table import CASTS_2201, ROWS, Row
from pyasc.ir.printer import print_attribute

_DIALECTS_HEAD = """\
# Dialects

Generated from `pyasc/ir/dialects` by `make docs`.

An operation is written `results = name operands {attributes} : result types regions`. Attributes equal to their
default and result types that follow from the operands are left out.

| level | dialects | operations besides |
| --- | --- | --- |
"""

_NUMBERS_HEAD = """\
# Numbers

Generated from `pyasc/ir/numbers_table.py` by `make docs`.

Elementwise functions of the IR, `arith.<function>`. All operands of one operation have one dtype. float16 and
bfloat16 are computed in float32 and rounded once. `error` bounds what code on `cpu` does to a float32 or float64, in
units in the last place; 0 is correctly rounded. The last column lists where arch 2201 has the function as one call
of the vector unit, with the dtypes that the call takes.

| function | operands | kinds | result | NumPy | error | at the edges | arch 2201 |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""

_KINDS = {"f": "floats", "i": "signed", "u": "unsigned", "b": "bool"}


def dialects_page() -> str:
    """Every dialect and operation, as Markdown."""
    levels = "".join(_level_row(name) for name in LEVELS)
    return _DIALECTS_HEAD + levels + "".join(_dialect(module) for module in modules())


def numbers_page() -> str:
    """The number table, conversions and promotion, as Markdown."""
    return _NUMBERS_HEAD + "".join(_number_row(row) for row in ROWS) + _casts() + _promotion()


def _level_row(name: str) -> str:
    level = LEVELS[name]
    known = {cls.spec.name.partition(".")[0] for cls in operations().values()}
    dialects = " ".join(f"`{dialect}`" for dialect in sorted(level.dialects & known))
    return f"| {name} | {dialects} | {' '.join(f'`{op}`' for op in sorted(level.operations))} |\n"


def _dialect(module: ModuleType) -> str:
    name = module.__name__.rpartition(".")[2]
    ops = [cls for cls in operations().values() if cls.__module__ == module.__name__]
    return f"\n## {name}\n\n{inspect.getdoc(module)}\n" + "".join(_operation(cls) for cls in ops)


def _operation(cls: type[Operation]) -> str:
    spec = cls.spec
    traits = f"\n\nTraits: {', '.join(sorted(spec.traits))}." if spec.traits else ""
    parts = [*map(_operand, spec.operands), *map(_attribute, spec.attributes), *map(_result, spec.results)]
    parts += [f"| region | `{part.name}` | | {part.doc} |" for part in spec.regions]
    table = (
        "\n\n| part | name | takes | note |\n| --- | --- | --- | --- |\n" + "\n".join(parts) if parts else ""
    )
    return f"\n### {spec.name}\n\n{inspect.cleandoc(spec.doc)}{traits}{table}\n"


def _operand(part: OperandField) -> str:
    takes = "any type" if part.constraint is ANY else part.constraint.words
    notes = ("any number" if part.variadic else "", "written" if part.written else "", part.doc)
    return f"| operand | `{part.name}` | {takes} | {_joined(notes)} |"


def _result(part: ResultField) -> str:
    takes = (
        part.constraint.words
        if part.constraint is not ANY
        else "any type"
        if part.infer is None
        else "inferred"
    )
    return (
        f"| result | `{part.name}` | {takes} | {_joined(('any number' if part.variadic else '', part.doc))} |"
    )


def _attribute(part: AttributeField) -> str:
    default = "" if part.default is MISSING else f"default `{print_attribute(part.default)}`"
    choices = f"one of {', '.join(part.choices)}" if part.choices else ""
    where = "printed as the operation's name" if part.in_name else ""
    if part.in_name and len(part.choices) > 40:
        choices = "a function of the number table"
    annotation = part.annotation.replace("|", "\\|")
    return f"| attribute | `{part.name}` | `{annotation}` | {_joined((where, choices, default, part.doc))} |"


def _joined(notes: Iterable[str]) -> str:
    return "; ".join(note for note in notes if note)


def _number_row(row: Row) -> str:
    kinds = ", ".join(_KINDS[kind] for kind in row.kinds) if row.kinds != "fiub" else "all"
    result = {"same": "as operands", "bool": "i1", "second": "as the second"}[row.result]
    numpy = f"`{row.numpy}`" if row.numpy else ""
    units = "; ".join(f"`{unit.instruction}` {' '.join(unit.dtypes)}" for unit in row.units)
    error = str(row.ulps) if "f" in row.kinds and row.result != "bool" else ""
    return (
        f"| `{row.name}` | {row.arity} | {kinds} | {result} | {numpy} | {error} | {row.range} | {units} |\n"
    )


def _casts() -> str:
    rows = "".join(f"| {source} | {' '.join(targets)} |\n" for source, targets in CASTS_2201.items())
    return (
        "\n## Conversions\n\nFloat to integer truncates, saturates and sends NaN to 0; integers wrap; a float result "
        "is rounded once to nearest even, that of a Python int too, which NumPy takes through float64 (ints beyond "
        "2**53 show it); to bool is a test for nonzero.\n\n"
        f"Conversions that are one `Cast` on arch 2201:\n\n| from | to |\n| --- | --- |\n{rows}"
    )


def _promotion() -> str:
    head = (
        "| |"
        + "".join(f" {dtype} |" for dtype in dtypes.ALL)
        + "\n|"
        + " --- |" * (len(dtypes.ALL) + 1)
        + "\n"
    )
    rows = "".join(
        f"| **{left}** |{''.join(_promoted(left, right) for right in dtypes.ALL)}\n" for left in dtypes.ALL
    )
    return (
        "\n## Promotion\n\nNumPy 2's rules, except that what would be float64 out of operands none of which is "
        "float64 is float32; bfloat16 follows float16's rule. A Python number takes the dtype of what it meets, "
        "unless its kind is higher: an int with a bool gives i64, a float with an integer or a bool f32.\n\n"
        f"{head}{rows}"
    )


def _promoted(left: DType, right: DType) -> str:
    return f" {promote(left, right)} |"
