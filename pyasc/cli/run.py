# SPDX-License-Identifier: Apache-2.0
"""`pyasc run`: one kernel on arrays from files, or made for the occasion."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from pyasc.cli.failures import USAGE, Failure
from pyasc.cli.loading import IR_SUFFIX, Request, chosen_kernels, lowered_kernels
from pyasc.cli.options import pairs, refuse_twice
from pyasc.runtime.abi import numpy_dtype
from pyasc.runtime.faults import failed_kernel
from pyasc.runtime.files import write_bytes_atomically

_HELP = """Run a kernel of FILE: an object that pyasc compiled, a Python file, or a file of IR.

\b
  pyasc run kernel.o --arg x=x.npy --arg y=zeros:float32:1024 --out y=y.npy
  pyasc run kernel.py --kernel scale --arg x=arange:float32:8 --arg s=2.5 --print y
  pyasc run kernel.cpp --arg x=random:float32:1000 --arg o=poison:float32:1000 --arg n=u64:1000 --blocks 8

An argument is one of

\b
  x=FILE.npy                   an array saved by NumPy
  x=zeros:float32:4x1024       also ones, empty, arange, random (uniform in [0, 1), seed 0)
  s=2.5, n=3, b=True           a number

Returned arrays are called `result`, or `result0`, `result1`, ... Without --out and --print a summary of every
written and returned array is printed.
"""

Kernel = Callable[..., Any]


@click.command("run", help=_HELP, short_help="Run a kernel on arrays from files.")
@click.argument("file")
@click.option("--kernel", "name", metavar="NAME", help="Which kernel, where FILE has several.")
@click.option("--arg", "arguments", multiple=True, metavar="NAME=VALUE", help="An argument (see above).")
@click.option("--out", "outputs", multiple=True, metavar="NAME=FILE.npy", help="Save an array after the run.")
@click.option("--print", "printed", multiple=True, metavar="NAME", help="Print an array after the run.")
@click.option("--device", metavar="DEVICE", help="cpu, model or npu.")
@click.option("--blocks", type=click.IntRange(1, 65535), default=1, help="Blocks to launch, for Ascend C.")
@click.option("--no-check", is_flag=True, help="Let the model only compute, which is several times as fast.")
@click.option("--time", "timed", is_flag=True, help="Print how long a second run took.")
def run_command(
    file: str,
    name: str | None,
    arguments: Sequence[str],
    outputs: Sequence[str],
    printed: Sequence[str],
    device: str | None,
    blocks: int,
    no_check: bool,
    timed: bool,
) -> None:
    """Load, run, save."""
    if file.endswith(".cpp"):
        run_ascendc(file, name, arguments, outputs, printed, blocks, not no_check)
        return
    _choose_device(device, no_check)
    values = {key: argument(key, text) for key, text in pairs("--arg", arguments)}
    kernel = load_kernel(file, name)
    before = {key: v.copy() for key, v in values.items() if isinstance(v, np.ndarray)}
    results = _results(_launch(kernel, values))
    arrays = {key: v for key, v in values.items() if isinstance(v, np.ndarray)} | results
    _save(arrays, pairs("--out", outputs))
    for key in printed:
        print(f"{key} = {_array(arrays, key)}")
    if not outputs and not printed:
        _summarise({k: v for k, v in arrays.items() if k not in before or not _same(v, before[k])})
    if timed:
        start = time.perf_counter()
        kernel(**values)
        print(f"{(time.perf_counter() - start) * 1e3:.3f} ms")


def _choose_device(name: str | None, no_check: bool) -> None:
    """Make the device that was asked for the current one. Raises UsageError if it has no checks to leave out."""
    from pyasc.runtime.device import current_device, set_device
    from pyasc.runtime.model import ModelDevice

    if name is not None:
        set_device(name)
    if no_check:
        device = current_device()
        if not isinstance(device, ModelDevice):
            raise click.UsageError("--no-check is for the model: --device model")
        device.check = False


def run_ascendc(
    file: str,
    name: str | None,
    arguments: Sequence[str],
    outputs: Sequence[str],
    printed: Sequence[str],
    blocks: int,
    check: bool = True,
) -> None:
    """Run a file of Ascend C on the model. Raises Failure with what the model found."""
    from pyasc.model.arguments import parse_argument
    from pyasc.model.driver import Array, ModelError, run
    from pyasc.runtime.model import build_file

    if not Path(file).is_file():
        raise Failure(f"cannot read {file}: no such file")
    try:
        given = [parse_argument(text) for text in arguments]
        refuse_twice("--arg", [name for name, _ in given])
        values = [value for _, value in given]
        result = run(build_file(Path(file)), values, entry=name, blocks=blocks, check=check)
    except ModelError as error:
        raise Failure(str(error)) from None
    names = [key for key, value in given if isinstance(value, Array) and value.output]
    arrays = dict(zip(names, result.outputs, strict=True))
    if result.printed:
        print(result.printed, end="")
    _save(arrays, pairs("--out", outputs))
    for key in printed:
        print(f"{key} = {_array(arrays, key)}")
    if not outputs and not printed:
        _summarise(arrays)
    print(f"predicted: {result.predicted_us:.2f} us on {blocks} block(s)")
    if result.findings:
        raise Failure("\n".join(str(finding) for finding in result.findings))


def _launch(kernel: Kernel, values: dict[str, Any]) -> Any:
    try:
        return kernel(**values)
    except Exception as error:
        if failed_kernel(error) is None:
            raise
        raise Failure(f"{type(error).__name__}: {error}") from None


def load_kernel(file: str, name: str | None) -> Kernel:
    """The kernel to run. Raises Failure when it has to be named, or is not there."""
    names = (name,) if name is not None else ()
    if file.endswith(".py"):
        found: Sequence[Any] = chosen_kernels(Request(file, names))
    elif file.endswith(IR_SUFFIX):
        found = _from_ir(Request(file, names))
    else:
        found = _from_object(file, name)
    if len(found) != 1:
        listed = ", ".join(kernel.__name__ for kernel in found)
        raise Failure(f"{file} has the kernels {listed}; say which with --kernel", USAGE)
    return found[0]


def _from_object(file: str, name: str | None) -> list[Kernel]:
    from pyasc.runtime.loaded import load

    if not Path(file).is_file():
        raise Failure(f"cannot read {file}: no such file")
    library = load(file)
    if name is not None and name not in library:
        raise Failure(f"{file} has no kernel {name!r}; it has {', '.join(library)}", USAGE)
    return [library[name]] if name is not None else list(library.values())


def _from_ir(request: Request) -> list[Kernel]:
    from pyasc.runtime.cpu import CpuDevice
    from pyasc.runtime.loaded import LoadedKernel

    return [LoadedKernel(launcher) for launcher in CpuDevice().build(lowered_kernels(request))]


def argument(name: str, text: str) -> Any:
    """The value of `--arg name=text`. Raises UsageError or Failure for one that cannot be made."""
    head, colon, rest = text.partition(":")
    if colon and head in _MAKERS:
        return _made(name, head, rest)
    if text.endswith(".npy"):
        return _loaded(text)
    numbers: dict[str, Any] = {"True": True, "true": True, "False": False, "false": False}
    for convert in (numbers.__getitem__, int, float):
        try:
            return convert(text)
        except (KeyError, ValueError):
            continue
    kinds = ", ".join(_MAKERS)
    raise click.UsageError(f"--arg {name}={text}: expected FILE.npy, a number, or KIND:DTYPE:SHAPE ({kinds})")


_MAKERS: dict[str, Callable[[tuple[int, ...], Any], Any]] = {
    "zeros": np.zeros,
    "ones": np.ones,
    "empty": np.empty,
    "arange": lambda shape, dtype: np.arange(int(np.prod(shape))).astype(dtype).reshape(shape),
    "random": lambda shape, dtype: np.random.default_rng(0).random(shape).astype(dtype),
}


def _made(name: str, kind: str, rest: str) -> Any:
    from pyasc.ir import dtypes

    dtype_name, _, shape_text = rest.partition(":")
    dtype = dtypes.BY_NUMPY.get(dtype_name) or dtypes.BY_NAME.get(dtype_name)
    parts = [part for part in shape_text.replace("x", ",").split(",") if part]
    if dtype is None or not all(part.isdigit() for part in parts):
        raise click.UsageError(
            f"--arg {name}={kind}:{rest}: expected {kind}:DTYPE:SHAPE, such as {kind}:float32:4x8"
        )
    return _MAKERS[kind](tuple(map(int, parts)), numpy_dtype(dtype))


def _loaded(file: str) -> Any:
    try:
        return np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Failure(f"cannot read {file}: {error}") from None


def _results(returned: Any) -> dict[str, Any]:
    if returned is None:
        return {}
    if not isinstance(returned, tuple | list):
        return {"result": np.asarray(returned)}
    return {f"result{number}": np.asarray(each) for number, each in enumerate(returned)}


def _save(arrays: dict[str, Any], outputs: Sequence[tuple[str, str]]) -> None:
    found = [(_array(arrays, name), file) for name, file in outputs]
    for array, file in found:
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        write_bytes_atomically(Path(file).absolute(), buffer.getvalue())


def _array(arrays: dict[str, Any], name: str) -> Any:
    if name not in arrays:
        raise Failure(f"there is no array {name!r}; there are {', '.join(arrays) or 'none'}", USAGE)
    return arrays[name]


def _same(now: Any, before: Any) -> bool:
    return now.tobytes() == before.tobytes()


def _summarise(arrays: dict[str, Any]) -> None:
    for name, array in arrays.items():
        shape = "x".join(map(str, array.shape)) or "a number"
        print(f"{name}: {array.dtype} {shape}: {np.array2string(array, threshold=12, edgeitems=3)}")
    if not arrays:
        print("no array was changed, and none was returned")
