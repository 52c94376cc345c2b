# SPDX-License-Identifier: Apache-2.0
"""How a compiled kernel is called: its C parameters in order, and the Python parameters that they come from.

A `KernelABI` is made from the IR of a kernel when it is compiled here, and from the description in a kernel
object when it was compiled elsewhere; the launchers are made from it alone.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from pyasc.ir import dtypes
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record, changed
from pyasc.ir.sizes import Assumptions, SizeExpr, parse_size, simplify
from pyasc.ir.types import RefType, dtype_of

if TYPE_CHECKING:
    import numpy as np

    from pyasc.ir.dialects.func import Func
    from pyasc.runtime.objects import KernelDescription, ParameterDescription

Extent = int | SizeExpr
REQUIRED = object()
"""The default of a Python parameter that has none."""


class ArrayParam(Record):
    """An array of the C function. A `returned` one is made by the launcher and given back to the caller."""

    name: str
    dtype: DType
    shape: tuple[Extent, ...]
    strided: bool = False
    written: bool = False
    returned: bool = False


class ScalarParam(Record):
    """A number, passed by value. `weak` is `"int"`, `"float"` or `"bool"` where a Python number is taken.

    An `exact` one is of NumPy's type because of the argument: a Python number makes another kernel.
    """

    name: str
    dtype: DType
    weak: str = ""
    exact: bool = False


class PythonParam(Record):
    """A parameter of the Python function. A `constexpr` one has the value that the kernel was compiled for."""

    name: str
    default: Any = REQUIRED
    keyword_only: bool = False
    positional_only: bool = False
    constexpr: bool = False
    value: Any = None


class LateRead(Record):
    """Two arrays, of which `reader` may be read after `written` was written.

    With `each_its_own` that is no matter where both are the same array.
    """

    reader: str
    written: str
    each_its_own: bool


class KernelABI(Record):
    """One compiled function: `params` and then `sizes` in C order, `signature` as Python sees it.

    The `container` of what is returned is `"tuple"`, `"list"`, or empty for one value or nothing. For sizes that
    break the `assumptions`, a kernel of those sizes stands in, where one can be compiled; for arguments that share
    memory and are in `late_reads`, one that knows it, or none.
    """

    name: str
    symbol: str
    params: tuple[ArrayParam | ScalarParam, ...]
    sizes: tuple[str, ...]
    signature: tuple[PythonParam, ...]
    container: str = ""
    assumptions: Assumptions = Assumptions()
    late_reads: tuple[LateRead, ...] = ()

    @property
    def arrays(self) -> tuple[ArrayParam, ...]:
        """The arrays, returned ones included."""
        return tuple(p for p in self.params if isinstance(p, ArrayParam))

    @property
    def scalars(self) -> tuple[ScalarParam, ...]:
        """The numbers."""
        return tuple(p for p in self.params if isinstance(p, ScalarParam))

    @property
    def returned(self) -> tuple[ArrayParam, ...]:
        """The arrays that the launcher makes."""
        return tuple(p for p in self.arrays if p.returned)


def abi_of(
    func: Func,
    signature: Sequence[PythonParam],
    weak: Mapping[str, str],
    container: str = "",
    name: str | None = None,
    exact: Container[str] = (),
) -> KernelABI:
    """The ABI of a kernel in the IR; `weak` has the kind of Python number by parameter name.

    `exact` are the numbers that take NumPy's type alone, `name` is what errors call the kernel, its symbol by default.
    """
    from pyasc.passes.analysis.late_reads import late_reads

    params: list[ArrayParam | ScalarParam] = []
    for number, value in enumerate(func.params):
        if isinstance(value.type, RefType):
            params.append(
                ArrayParam(
                    value.name,
                    value.type.dtype,
                    tuple(_extent(dim) for dim in value.type.shape),
                    value.type.layout == "strided",
                    number in func.written or number in func.outputs,
                    number in func.outputs,
                )
            )
        else:
            name_, kind = value.name, weak.get(value.name, "")
            params.append(ScalarParam(name_, dtype_of(value.type), kind, name_ in exact))
    return KernelABI(
        name or func.symbol,
        func.symbol,
        tuple(params),
        func.sizes,
        tuple(signature),
        container,
        late_reads=tuple(LateRead(*each) for each in late_reads(func)),
    )


def _extent(dim: int | SizeExpr | None) -> Extent:
    if dim is None:
        raise ValueError("a parameter's extent is known at launch, so it has a name or a number")
    known = simplify(dim)
    assert known is not None
    return known


def describe(abi: KernelABI, sites: Sequence[Any]) -> KernelDescription:
    """The description of a kernel for an object file; `sites` are those that the code emitter collected."""
    from pyasc.runtime.objects import CheckSite, KernelDescription, ParameterDescription

    parameters = [_describe_param(param, abi) for param in abi.params]
    parameters += [ParameterDescription(name, "size", "i64") for name in abi.sizes]
    signature = tuple(p.name for p in abi.signature if not p.constexpr)
    checks = tuple(CheckSite(f"{site.error}: {site.message}", site.loc.file, site.loc.line) for site in sites)
    late = tuple((each.reader, each.written, each.each_its_own) for each in abi.late_reads)
    return KernelDescription(abi.name, abi.symbol, tuple(parameters), signature, checks, late, abi.container)


def _describe_param(param: ArrayParam | ScalarParam, abi: KernelABI) -> ParameterDescription:
    from pyasc.runtime.objects import ParameterDescription

    if isinstance(param, ScalarParam):
        default = next((p.default for p in abi.signature if p.name == param.name), REQUIRED)
        given = default if isinstance(default, (int, float)) else None
        return ParameterDescription(param.name, "scalar", param.dtype.name, default=given)
    shape = tuple(extent if isinstance(extent, int) else str(extent) for extent in param.shape)
    layout = "strided" if param.strided else "contiguous"
    return ParameterDescription(
        param.name, "array", param.dtype.name, shape, layout, param.written, param.returned
    )


def abi_of_description(kernel: KernelDescription) -> KernelABI:
    """The ABI of a kernel in an object file. Its scalars take Python numbers that convert without surprise."""
    params: list[ArrayParam | ScalarParam] = []
    signature: list[PythonParam] = []
    for each in kernel.parameters:
        dtype = dtypes.BY_NAME[each.dtype]
        if each.kind == "array":
            shape = tuple(e if isinstance(e, int) else _parsed(e) for e in each.shape)
            strided = each.layout == "strided"
            params.append(ArrayParam(each.name, dtype, shape, strided, each.written, each.returned))
        elif each.kind == "scalar":
            params.append(ScalarParam(each.name, dtype, _weak_kind(dtype)))
    for name in kernel.signature:
        default = kernel.parameter(name).default
        signature.append(PythonParam(name, REQUIRED if default is None else default))
    sizes = tuple(each.name for each in kernel.parameters if each.kind == "size")
    late = tuple(LateRead(*each) for each in kernel.late_reads)
    return KernelABI(
        kernel.name, kernel.symbol, tuple(params), sizes, tuple(signature), kernel.container, late_reads=late
    )


def _parsed(text: str) -> Extent:
    expr = parse_size(text)
    known = expr.as_constant
    return expr if known is None else known


def _weak_kind(dtype: DType) -> str:
    return {"i64": "int", "f32": "float", "f64": "float", "i1": "bool"}.get(dtype.name, "")


def weak_kinds(func: Func) -> dict[str, str]:
    """The kind of Python number that each scalar of a kernel given as IR takes."""
    scalars = [v for v in func.params if not isinstance(v.type, RefType)]
    return {value.name: _weak_kind(dtype_of(value.type)) for value in scalars}


def with_symbol(abi: KernelABI, symbol: str) -> KernelABI:
    """The same function under another symbol."""
    return changed(abi, symbol=symbol)


@cache
def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of arrays in memory (bfloat16: its bits as uint16)."""
    import numpy as np

    return np.dtype("uint16" if dtype is dtypes.bf16 else dtype.numpy)


def bfloat16_of(array: np.ndarray[Any, Any]) -> float:
    """The one element of an array of bfloat16, whether of that type or of its bits."""
    import numpy as np

    return float((array.view(np.uint16).astype(np.uint32) << 16).view(np.float32)[()])
