# SPDX-License-Identifier: Apache-2.0
"""Launching compiled kernels: checks before anything runs, layouts, overlaps, sizes, failures, results."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pyasc.ir.diagnostics import KernelTypeError, LaunchError
from pyasc.ir.parser import parse
from pyasc.runtime.abi import PythonParam, abi_of
from pyasc.runtime.compiler import LoweredKernel
from pyasc.runtime.cpu import CpuDevice
from pyasc.runtime.launcher import MISS
from pyasc.runtime.loaded import LoadedKernel

MODULE = """
func.module {
  func.func {symbol = "add", sizes = ["N"], written = [2]} {
  ^(%x: ref<N x f32>, %y: ref<N x f32>, %out: ref<N x f32>):
    %n = func.size {symbol = "N"}
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %2 = mem.load %x, [%i]
      %3 = mem.load %y, [%i]
      %4 = arith.add %2, %3
      mem.store %4, %out, [%i]
      scf.yield
    }
    func.return
  }
  func.func {symbol = "shift", sizes = ["N"], written = [1], outputs = [1]} {
  ^(%x: ref<(N + 2) x i32>, %result: ref<N x i32>):
    %n = func.size {symbol = "N"}
    %0 = arith.constant {value = 0} : i64
    %1 = arith.constant {value = 1} : i64
    scf.for %0, %n, %1, [] {
    ^(%i: i64):
      %2 = arith.add %i, %1
      %3 = mem.load %x, [%2]
      mem.store %3, %result, [%i]
      scf.yield
    }
    func.return
  }
  func.func {symbol = "inner", sizes = ["H", "W"], written = [1]} {
  ^(%x: ref<H x W x f64>, %y: ref<(H - 2) x W x f64>):
    %0 = arith.constant {value = 0} : i64
    %1 = mem.load %x, [%0, %0]
    mem.store %1, %y, [%0, %0]
    func.return
  }
  func.func {symbol = "scale", written = [3], outputs = [3]} {
  ^(%a: f32, %n: i32, %b: i1, %result: ref<f32>):
    %0 = arith.cast %n : f32
    %1 = arith.mul %a, %0
    %2 = arith.select %b, %1, %a
    mem.store %2, %result, []
    func.return
  }
  func.func {symbol = "pick", sizes = ["N"], written = [2], outputs = [2]} {
  ^(%x: ref<N x f32>, %i: i64, %result: ref<f32>):
    %n = func.size {symbol = "N"}
    %0 = arith.lt %i, %n
    py.check %0, [%i, %n] {error = "IndexError", message = "index {} is out of range for `x` of size {}"}
    %1 = mem.load %x, [%i]
    mem.store %1, %result, []
    func.return
  }
}
"""
WEAK = {"pick": {"i": "int"}}


@pytest.fixture(scope="module")
def kernels() -> dict[str, LoadedKernel]:
    lowered: list[LoweredKernel] = []
    for module in split():
        (func,) = module.functions
        abi = abi_of(func, parameters(func), WEAK.get(func.symbol, {}))
        lowered.append(LoweredKernel(abi, module, "kernels.ir"))
    return {each.abi.name: LoadedKernel(each) for each in CpuDevice().build(lowered)}


def parameters(func: Any) -> list[PythonParam]:
    return [PythonParam(v.name) for n, v in enumerate(func.params) if n not in func.outputs]


def split() -> list[Any]:
    """One module for each function."""
    texts = MODULE.split("  func.func ")[1:]
    return [parse("func.module {\n  func.func " + re.sub(r"\n}\n$", "", t) + "\n}") for t in texts]


def f32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 31, 33, 1000, 5000])
def test_adds_at_any_size(kernels: dict[str, LoadedKernel], n: int) -> None:
    x, y = np.arange(n, dtype=np.float32), np.ones(n, np.float32)
    out = np.full(n, np.nan, np.float32)
    assert kernels["add"](x, y, out) is None
    assert np.array_equal(out, x + y)


def test_takes_arguments_by_keyword(kernels: dict[str, LoadedKernel]) -> None:
    out = f32(0, 0)
    kernels["add"](f32(1, 2), out=out, y=f32(3, 4))
    assert out.tolist() == [4, 6]


def reversed_view(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return a[::-1]


def stepped_view(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.repeat(a, 2)[::2]


def big_endian(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return a.astype(a.dtype.newbyteorder(">"))


def unaligned(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    buffer = np.zeros(a.nbytes + 1, np.uint8)
    view = np.frombuffer(buffer.data, a.dtype, a.size, 1)
    view[:] = a
    return view


@pytest.mark.parametrize("form", [reversed_view, stepped_view, big_endian, unaligned])
@pytest.mark.parametrize("which", [0, 2])
def test_takes_arrays_of_any_layout(
    kernels: dict[str, LoadedKernel], form: Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]], which: int
) -> None:
    arguments = [np.arange(9, dtype=np.float32), np.ones(9, np.float32), np.zeros(9, np.float32)]
    arguments[which] = form(arguments[which])
    expected = arguments[0] + arguments[1]
    kernels["add"](*arguments)
    assert np.array_equal(arguments[2], expected)


def test_writes_into_a_strided_output_and_nowhere_else(kernels: dict[str, LoadedKernel]) -> None:
    whole = np.full((4, 3), -1, np.float32)
    kernels["add"](f32(1, 2, 3, 4), f32(1, 1, 1, 1), whole[:, 1])
    assert whole.tolist() == [[-1, 2, -1], [-1, 3, -1], [-1, 4, -1], [-1, 5, -1]]


def test_an_output_may_be_an_input(kernels: dict[str, LoadedKernel]) -> None:
    x = f32(1, 2, 3)
    kernels["add"](x, x, x)
    assert x.tolist() == [2, 4, 6]


def test_a_partial_overlap_is_refused_where_a_loop_would_read_what_it_wrote(
    kernels: dict[str, LoadedKernel],
) -> None:
    buffer = np.arange(8, dtype=np.float32)
    with pytest.raises(LaunchError, match="`x` is read after `out` is written, and their arrays overlap"):
        kernels["add"](buffer[:-1], np.ones(7, np.float32), buffer[1:])
    assert buffer.tolist() == list(range(8))


def test_interleaved_views_do_not_overlap(kernels: dict[str, LoadedKernel]) -> None:
    buffer = np.arange(8, dtype=np.float32)
    kernels["add"](buffer[::2], f32(10, 10, 10, 10), buffer[1::2])
    assert buffer.tolist() == [0, 10, 2, 12, 4, 14, 6, 16]


def test_an_empty_view_inside_the_output_is_no_overlap(kernels: dict[str, LoadedKernel]) -> None:
    buffer = np.zeros(4, np.float32)
    kernels["add"](buffer[2:2], buffer[1:1], buffer[3:3])
    assert buffer.tolist() == [0, 0, 0, 0]


def test_returns_a_new_array_of_a_size_that_an_expression_tells(kernels: dict[str, LoadedKernel]) -> None:
    result = kernels["shift"](np.arange(5, dtype=np.int32))
    assert result.tolist() == [1, 2, 3] and result.dtype == np.int32


def test_refuses_a_size_below_zero(kernels: dict[str, LoadedKernel]) -> None:
    with pytest.raises(LaunchError, match="the size N would be -1 for `x` of shape"):
        kernels["shift"](np.zeros(1, np.int32))


def test_checks_extents_that_are_expressions(kernels: dict[str, LoadedKernel]) -> None:
    y = np.zeros((3, 2))
    kernels["inner"](np.full((5, 2), 7.0), y)
    assert y[0, 0] == 7
    message = (
        r"`y` of shape \(4, 2\), declared \(H - 2, W\): extent 0 is 4, expected \(H - 2\) = 3, as H is 5"
    )
    with pytest.raises(LaunchError, match=message):
        kernels["inner"](np.zeros((5, 2)), np.zeros((4, 2)))


def test_a_size_bound_twice_names_both_parameters(kernels: dict[str, LoadedKernel]) -> None:
    out = f32(9, 9)
    with pytest.raises(LaunchError, match=r"`y` of shape \(3,\).*the size N is 3 here, but 2 in `x`"):
        kernels["add"](f32(1, 2), f32(1, 2, 3), out)
    assert out.tolist() == [9, 9]


def test_refuses_another_rank(kernels: dict[str, LoadedKernel]) -> None:
    with pytest.raises(LaunchError, match=r"`x` takes float32 arrays of shape \(N,\), got an array of 2 dim"):
        kernels["add"](np.zeros((2, 2), np.float32), f32(), f32())


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.float16, bool])
def test_refuses_another_dtype(kernels: dict[str, LoadedKernel], dtype: type) -> None:
    with pytest.raises(
        KernelTypeError, match=r"add: parameter `y` takes float32 arrays .* got .*astype\('float32'\)"
    ):
        kernels["add"](f32(1), np.zeros(1, dtype), f32(1))


def test_a_wrong_dtype_is_a_launch_error_and_a_type_error() -> None:
    assert issubclass(KernelTypeError, LaunchError) and issubclass(KernelTypeError, TypeError)


def test_refuses_a_read_only_output(kernels: dict[str, LoadedKernel]) -> None:
    out = f32(5)
    out.flags.writeable = False
    with pytest.raises(LaunchError, match="`out` is written, and the array is read-only"):
        kernels["add"](f32(1), f32(1), out)
    assert out.tolist() == [5]


def test_reads_a_read_only_input(kernels: dict[str, LoadedKernel]) -> None:
    x, out = f32(5), f32(0)
    x.flags.writeable = False
    kernels["add"](x, np.broadcast_to(f32(1), (1,)), out)
    assert out.tolist() == [6]


def test_refuses_an_output_whose_elements_share_memory(kernels: dict[str, LoadedKernel]) -> None:
    out = np.lib.stride_tricks.as_strided(f32(0), (3,), (0,))
    with pytest.raises(LaunchError, match="elements of the array share memory"):
        kernels["add"](f32(1, 2, 3), f32(1, 2, 3), out)


@pytest.mark.parametrize("value", [[1.0], (1.0,), "x", None, 1.0, np.ma.zeros(1, np.float32), object()])
def test_refuses_what_is_not_an_array(kernels: dict[str, LoadedKernel], value: object) -> None:
    with pytest.raises(KernelTypeError, match="add: parameter `x`"):
        kernels["add"](value, f32(1), f32(1))


class FromDLPack:
    """An array behind DLPack alone."""

    def __init__(self, array: np.ndarray[Any, Any], device: tuple[int, int] = (1, 0)) -> None:
        self.array = array
        self.device = device

    def __dlpack__(self, stream: object = None) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


class WithInterface:
    """An array behind `__array_interface__` alone."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class WithArray:
    """Something that can make an array of itself."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray[Any, Any]:
        return f32(1)


@pytest.mark.parametrize("wrap", [FromDLPack, WithInterface])
def test_takes_arrays_of_other_libraries(
    kernels: dict[str, LoadedKernel], wrap: Callable[[np.ndarray[Any, Any]], object]
) -> None:
    out = f32(0, 0)
    kernels["add"](wrap(f32(1, 2)), wrap(f32(3, 4)), wrap(out))
    assert out.tolist() == [4, 6]


def test_refuses_memory_of_another_device(kernels: dict[str, LoadedKernel]) -> None:
    with pytest.raises(LaunchError, match=r"`x` lives on another device \(DLPack device 2, number 1\)"):
        kernels["add"](FromDLPack(f32(1), (2, 1)), f32(1), f32(1))


def test_array_protocol_alone_is_not_enough(kernels: dict[str, LoadedKernel]) -> None:
    with pytest.raises(KernelTypeError, match="it offers only __array__"):
        kernels["add"](WithArray(), f32(1), f32(1))


def test_scalars_come_and_go_as_numbers(kernels: dict[str, LoadedKernel]) -> None:
    result = kernels["scale"](1.5, 4, True)
    assert result == 6 and type(result) is np.float32
    assert kernels["scale"](np.float32(1.5), np.int16(4), np.bool_(False)) == 1.5
    assert kernels["scale"](np.float16(1.5), 4, False) == 1.5


@pytest.mark.parametrize("value", [1, True, np.float64(1), np.int32(1)])
def test_only_floats_convert_to_float32(kernels: dict[str, LoadedKernel], value: object) -> None:
    with pytest.raises(KernelTypeError, match=r"scale: parameter `a` takes asc\.float32, got"):
        kernels["scale"](value, 1, True)


def test_an_int_says_how_to_pass_it_as_a_float(kernels: dict[str, LoadedKernel]) -> None:
    with pytest.raises(KernelTypeError, match=r"got int \(3\), and ints do not convert .* pass 3\.0"):
        kernels["scale"](3, 1, True)


@pytest.mark.parametrize("value", [1 << 31, -(1 << 31) - 1])
def test_an_int_has_to_fit(kernels: dict[str, LoadedKernel], value: int) -> None:
    with pytest.raises(LaunchError, match=r"takes asc\.int32"):
        kernels["scale"](1.0, value, True)


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1.0, 2, True, 4), {}, r"scale\(\) takes 3 positional arguments, got 4"),
        ((1.0,), {}, r"scale\(\) misses 2 arguments: `n`, `b`"),
        ((1.0, 2), {"n": 3}, r"scale\(\) got two arguments for `n`"),
        ((1.0, 2), {"c": 3}, r"scale\(\) has no parameter `c` to be named; its parameters are a, n, b"),
    ],
)
def test_arguments_that_do_not_bind(
    kernels: dict[str, LoadedKernel], args: tuple[Any, ...], kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(LaunchError, match=message):
        kernels["scale"](*args, **kwargs)


def test_a_failed_check_raises_its_exception_with_the_values(kernels: dict[str, LoadedKernel]) -> None:
    assert kernels["pick"](f32(1, 2, 3), 2) == 3
    with pytest.raises(IndexError, match=r"index 7 is out of range for `x` of size 3\n  in kernel `pick`"):
        kernels["pick"](f32(1, 2, 3), 7)


def test_the_warm_path_misses_what_it_was_not_made_for(kernels: dict[str, LoadedKernel]) -> None:
    launch = kernels["add"]._launcher.launch
    x = f32(1, 2)
    assert launch(x, x, f32(0, 0)) is None
    for wrong in (x.astype(np.float64), x[::-1], f32(1), x.reshape(1, 2), [1.0, 2.0], 3.0):
        assert launch(x, wrong, f32(0, 0)) is MISS
    assert launch(x, x, x) is MISS
