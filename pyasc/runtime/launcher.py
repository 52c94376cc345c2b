# SPDX-License-Identifier: Apache-2.0
"""The warm path of a launch: one Python function made for one compiled kernel.

Everything that can be decided when the kernel is compiled is decided here, in the text of that function: it
checks its arguments by identity of type and dtype, reads shapes and addresses, and calls the C function.
Whatever it does not expect (another dtype, strides, an overlap, a wrong shape) it answers with `MISS` before
anything has run, and the slow path in `kernel` finds out what to do or to say. For `add(x, y, out)` of
`float32[N]` the text is

    def launch(x, y, out):
        if _type(x) is not _ndarray or x.dtype is not _f32 or x.flags.num & 257 != 257:
            return _MISS
        ...
        _p_x = _address(_id(x) + _offset).value
        ...
        status = _call(_p_x, _p_y, _p_out, _n_N, None)
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pyasc.ir import dtypes
from pyasc.ir.diagnostics import LaunchError
from pyasc.ir.dtypes import DType
from pyasc.ir.record import Record, changed
from pyasc.ir.sizes import Assumptions, SizeExpr
from pyasc.runtime.abi import (
    REQUIRED,
    ArrayParam,
    Extent,
    KernelABI,
    PythonParam,
    ScalarParam,
    bfloat16_of,
    numpy_dtype,
)
from pyasc.runtime.shapes import Bind, size_steps

Launch = Callable[..., Any]

MISS: Any = object()
"""What a launcher answers when its arguments are not of the kind it was made for."""

HOLD_BYTES = 16384
"""Up to this much data a call keeps the interpreter's lock, which is cheaper and short enough."""

_READABLE = 0x0101
_WRITABLE = 0x0501
"""NumPy's flags C_CONTIGUOUS, ALIGNED and WRITEABLE, as in `ndarray.flags.num`."""

_INT_LIMITS = {d: (-(1 << (d.bits - 1)), (1 << (d.bits - 1)) - 1) for d in dtypes.ALL if d.kind == "i"} | {
    d: (0, (1 << d.bits) - 1) for d in dtypes.ALL if d.kind == "u"
}


class Fault(ctypes.Structure):
    """`pyasc_fault` of the C header."""

    _fields_ = (("values", ctypes.c_int64 * 4),)


class _Half(ctypes.Structure):
    """A float16 or bfloat16 passed by value."""

    _fields_ = (("bits", ctypes.c_uint16),)


_SCALAR_CTYPES: dict[DType, Any] = {
    dtypes.f16: _Half,
    dtypes.bf16: _Half,
    dtypes.f32: ctypes.c_float,
    dtypes.f64: ctypes.c_double,
    dtypes.i1: ctypes.c_bool,
    **{d: getattr(ctypes, f"c_{'u' if d.kind == 'u' else ''}int{d.bits}") for d in _INT_LIMITS},
}


class Entry(Record):
    """The C function of a kernel, bound to release the interpreter's lock and to hold it.

    `fail` raises the Python exception for a status that is not 0 and the fault's values; `can_fail` is false
    when the function has no checks and no allocations. `watched` pairs what reads a global or closure value with
    the value that the kernel was compiled for.
    """

    releasing: Callable[..., int]
    holding: Callable[..., int]
    fail: Callable[[int, Sequence[int]], None]
    can_fail: bool = True
    watched: tuple[tuple[Callable[[], Any], Any], ...] = ()


def argument_types(abi: KernelABI) -> list[Any]:
    """The ctypes of the C function's parameters, the fault included."""
    types: list[Any] = []
    for param in abi.params:
        if isinstance(param, ScalarParam):
            types.append(_SCALAR_CTYPES[param.dtype])
        else:
            types.append(ctypes.c_void_p)
            types += [ctypes.c_int64] * (len(param.shape) if param.strided else 0)
    return [*types, *[ctypes.c_int64] * len(abi.sizes), ctypes.c_void_p]


class Launcher(Record):
    """A compiled kernel as a Python function, `launch`, which answers MISS to what it was not made for."""

    abi: KernelABI
    entry: Entry
    launch: Launch

    def by_name(self, arguments: Mapping[str, Any]) -> Any:
        """Call it with arguments by name, those that have no keyword by position."""
        given = [p for p in self.abi.signature if p.name in arguments]
        positional = [arguments[p.name] for p in given if not p.keyword_only]
        named = {p.name: arguments[p.name] for p in given if p.keyword_only}
        return self.launch(*positional, **named)

    def unguarded(self) -> Launcher:
        """The same for sizes that break the kernel's assumptions too: it fails where it gets to such a place."""
        return make_launcher(changed(self.abi, assumptions=Assumptions()), self.entry)


def make_launcher(abi: KernelABI, entry: Entry) -> Launcher:
    """The launcher of one compiled kernel. Raises LaunchError if the shapes cannot say what a size is."""
    writer = _Writer(abi, entry)
    text = writer.text()
    writer.check_names()
    exec(compile(text, f"<launcher of {abi.name}>", "exec"), writer.names)
    launch: Launch = writer.names["launch"]
    launch.__doc__ = text
    return Launcher(abi, entry, launch)


@cache
def address_offset() -> int:
    """Where the data pointer stands in an array object: right after the object's header, as NumPy's ABI says."""
    import numpy as np

    probe = np.zeros(1)
    offset = object.__basicsize__
    if ctypes.c_size_t.from_address(id(probe) + offset).value != probe.__array_interface__["data"][0]:
        raise RuntimeError("this NumPy keeps an array's address in a place that pyasc does not know")
    return offset


def half_of(value: float, dtype: DType) -> _Half:
    """A number rounded to float16 or bfloat16, to be passed by value."""
    import numpy as np

    if dtype is dtypes.f16:
        return _Half(int(np.float16(value).view(np.uint16)))
    bits = int(np.float32(value).view(np.uint32))
    if math.isnan(value):
        return _Half(0x7FC0)
    return _Half(((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF)


@dataclass
class _Writer:
    abi: KernelABI
    entry: Entry
    names: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The source of the launcher; fills `names` with what it refers to."""
        import numpy as np

        self.names.update(
            # Builtins by names of our own, since parameters may be called `len` or `type`.
            _type=type,
            _len=len,
            _id=id,
            _int=int,
            _float=float,
            _bool=bool,
            _ndarray=np.ndarray,
            _MISS=MISS,
            _address=ctypes.c_size_t.from_address,
            _offset=address_offset(),
            _empty=np.empty,
            _releasing=self.entry.releasing,
            _holding=self.entry.holding,
        )
        self._head()
        self._watched()
        self._types()
        self._sizes()
        self._assumptions()
        self._addresses()
        self._overlaps()
        self._results()
        self._call()
        return "\n".join([self.lines[0], *(f"    {line}" for line in self.lines[1:])]) + "\n"

    def check_names(self) -> None:
        """Raises LaunchError for a parameter whose name the launcher gives to something else."""
        given = [p.name for p in self.abi.params] + [p.name for p in self.abi.signature]
        local = {f"_{letter}_{name}" for letter in "spbrn" for name in (*given, *self.abi.sizes)}
        for name in given:
            if name in self.names or name in local or name in ("_fault", "_status"):
                raise LaunchError(
                    f"{self.abi.name}: a parameter cannot be called `{name}`; choose another name"
                )

    @property
    def given(self) -> list[ArrayParam]:
        return [p for p in self.abi.arrays if not p.returned]

    def _head(self) -> None:
        parts: list[str] = []
        signature = self.abi.signature
        for number, param in enumerate(signature):
            if param.keyword_only and not any(p.keyword_only for p in signature[:number]):
                parts.append("*")
            parts.append(self._parameter(param))
            if param.positional_only and not any(p.positional_only for p in signature[number + 1 :]):
                parts.append("/")
        self.lines.append(f"def launch({', '.join(parts)}):")

    def _parameter(self, param: PythonParam) -> str:
        if param.default is REQUIRED:
            return param.name
        self.names[f"_d_{param.name}"] = param.default
        return f"{param.name}=_d_{param.name}"

    def _miss_if(self, conditions: Iterable[str]) -> None:
        tests = list(conditions)
        if tests:
            self.lines += [f"if {' or '.join(tests)}:", "    return _MISS"]

    def _watched(self) -> None:
        from pyasc.frontend.dependencies import alike

        self.names["_alike"] = alike
        for number, (read, value) in enumerate(self.entry.watched):
            self.names |= {f"_read{number}": read, f"_was{number}": value}
            pair = f"_read{number}(), _was{number}"
            self._miss_if([f"{pair.replace(', ', ' is not ')} and not _alike({pair})"])

    def _types(self) -> None:
        for param in self.given:
            dtype = self._dtype(param.dtype)
            flags = _WRITABLE if param.written else _READABLE
            name = param.name
            self._miss_if([
                f"_type({name}) is not _ndarray or {name}.dtype is not {dtype}",
                f"{name}.flags.num & {flags} != {flags}",
            ])  # fmt: skip
        for param in self.abi.scalars:
            self._scalar(param)
        for param in self.abi.signature:
            if param.constexpr:
                self._constexpr(param)

    def _dtype(self, dtype: DType) -> str:
        self.names[f"_{dtype}"] = numpy_dtype(dtype)
        return f"_{dtype}"

    def _scalar(self, param: ScalarParam) -> None:
        name, dtype = param.name, param.dtype
        strong = "" if param.weak else f"_{dtype}_type"
        if strong:
            self.names[strong] = numpy_dtype(dtype).type
        python = "float" if dtype.is_float else "bool" if dtype.is_bool else "int"
        if param.exact:
            self._miss_if([f"_type({name}) is not {strong}"])
            self.lines.append(f"{name} = _{python}({name})")
        elif strong:
            self.lines += [
                f"if _type({name}) is not _{python}:",
                f"    if _type({name}) is not {strong}:",
                "        return _MISS",
                f"    {name} = _{python}({name})",
            ]
        else:
            self._miss_if([f"_type({name}) is not _{python}"])
        if dtype in _INT_LIMITS:
            low, high = _INT_LIMITS[dtype]
            self._miss_if([f"not {low} <= {name} <= {high}"])
        if dtype in (dtypes.f16, dtypes.bf16):
            self.names |= {"_half": half_of, f"_ir_{dtype}": dtype}
            self.lines.append(f"{name} = _half({name}, _ir_{dtype})")

    def _constexpr(self, param: PythonParam) -> None:
        from pyasc.runtime.arguments import constant_key

        name = param.name
        self.names |= {
            f"_c_{name}": param.value,
            "_key": constant_key,
            f"_k_{name}": constant_key(param.value),
        }
        self._miss_if([f"{name} is not _c_{name} and _key({name}) != _k_{name}"])

    def _sizes(self) -> None:
        twins = self._twins()
        for param in self.given:
            self.lines.append(f"_s_{param.name} = {param.name}.shape")
        self._miss_if(f"_s_{name} != _s_{twin}" for name, twin in twins.items())
        self._miss_if(f"_len(_s_{p.name}) != {len(p.shape)}" for p in self.given if p.name not in twins)
        steps = size_steps(self.abi)
        for step in steps:
            if isinstance(step, Bind):
                extent = f"_s_{step.param}[{step.axis}]"
                shifted = f"({extent} - {step.offset})" if step.offset else extent
                self.lines.append(f"_n_{step.size} = {'' if step.sign == 1 else '-'}{shifted}")
        solved = [s for s in steps if isinstance(s, Bind) and (s.offset or s.sign != 1)]
        self._miss_if(f"_n_{step.size} < 0" for step in solved)
        self._miss_if(
            f"_s_{step.param}[{step.axis}] != {_extent(step.extent)}"
            for step in steps
            if not isinstance(step, Bind) and step.param not in twins
        )

    def _assumptions(self) -> None:
        assumed = self.abi.assumptions
        self._miss_if(f"{_extent(each)} < 0" for each in assumed.not_negative)
        for a, b in assumed.equal:
            left, right = (_extent(each) for each in (a, b))
            self._miss_if([f"{left} != {right} and ({left} == 1 or {right} == 1)"])

    def _twins(self) -> dict[str, str]:
        """From an array to an earlier one that is declared with the same shape."""
        first: dict[tuple[Extent, ...], str] = {}
        names = {p.name: first.setdefault(p.shape, p.name) for p in self.given if p.shape}
        return {name: twin for name, twin in names.items() if name != twin}

    def _addresses(self) -> None:
        for param in self.given:
            self.lines.append(f"_p_{param.name} = _address(_id({param.name}) + _offset).value")
            self.lines.append(f"_b_{param.name} = {param.name}.nbytes")

    def _overlaps(self) -> None:
        given = self.given
        for number, first in enumerate(given):
            self._miss_if(
                f"_p_{first.name} < _p_{other.name} + _b_{other.name} and "
                f"_p_{other.name} < _p_{first.name} + _b_{first.name}"
                for other in given[number + 1 :]
                if first.written or other.written
            )

    def _results(self) -> None:
        for param in self.abi.returned:
            symbolic = [e for e in param.shape if not isinstance(e, int) and e.as_name is None]
            self._miss_if(f"{_extent(extent)} < 0" for extent in symbolic)
            shape = "".join(f"{_extent(extent)}, " for extent in param.shape)
            self.lines += [
                f"_r_{param.name} = _empty(({shape}), {self._dtype(param.dtype)})",
                f"_p_{param.name} = _address(_id(_r_{param.name}) + _offset).value",
            ]

    def _call(self) -> None:
        arguments = [p.name if isinstance(p, ScalarParam) else f"_p_{p.name}" for p in self.abi.params]
        arguments += [f"_n_{name}" for name in self.abi.sizes]
        total = " + ".join(f"_b_{p.name}" for p in self.given) or "0"
        choice = f"(_holding if {total} <= {HOLD_BYTES} else _releasing)"
        if self.entry.can_fail:
            self.names |= {"_Fault": Fault, "_byref": ctypes.byref, "_fail": self.entry.fail}
            self.lines += [
                "_fault = _Fault()",
                f"_status = {choice}({', '.join([*arguments, '_byref(_fault)'])})",
                "if _status:",
                "    _fail(_status, _fault.values)",
            ]
        else:
            self.lines.append(f"{choice}({', '.join([*arguments, 'None'])})")
        self._return()

    def _return(self) -> None:
        results = [self._result(each) for each in self.abi.returned]
        if self.abi.container == "list":
            self.lines.append(f"return [{', '.join(results)}]")
        elif self.abi.container == "tuple" or len(results) > 1:
            self.lines.append(f"return ({''.join(f'{each}, ' for each in results)})")
        elif results:
            self.lines.append(f"return {results[0]}")

    def _result(self, param: ArrayParam) -> str:
        """The new array, or the number in one without axes; NumPy has no bfloat16, so that one is a Python float."""
        if param.shape:
            return f"_r_{param.name}"
        if param.dtype is not dtypes.bf16:
            return f"_r_{param.name}[()]"
        self.names["_bfloat16"] = bfloat16_of
        return f"_bfloat16(_r_{param.name})"


def _extent(extent: Extent) -> str:
    if isinstance(extent, int):
        return str(extent)
    return f"_n_{extent.as_name}" if extent.as_name is not None else f"({_polynomial(extent)})"


def _polynomial(expr: SizeExpr) -> str:
    terms = [" * ".join([str(c), *(f"_n_{name}" for name in monomial)]) for monomial, c in expr.terms]
    return " + ".join(terms) if terms else "0"
