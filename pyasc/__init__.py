# SPDX-License-Identifier: Apache-2.0
"""pyasc compiles Python functions to Ascend C and to C++, and runs them.

The public names are loaded on first use: importing the package starts nothing.
"""

from __future__ import annotations

from importlib import import_module as _import_module

from pyasc._version import __version__ as __version__
from pyasc._version import version_info as version_info


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# The one table of public names, by the module that defines them.
_EXPORTS: dict[str, tuple[str, ...]] = {
    "pyasc.knobs": ("KnobError",),
    "pyasc.language.dtypes": _words(
        "bfloat16 bool bool_ constexpr dims float16 float32 float64 int8 int16 int32 int64 tensor "
        "uint8 uint16 uint32 uint64"
    ),
    "pyasc.language.loops": _words("parallel_for parallel_for_grid unroll"),
    "pyasc.language.math": _words(
        "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt cbrt sin cos tan asin acos atan sinh cosh "
        "tanh asinh acosh atanh erf erfc floor ceil trunc rint absolute abs fabs negative positive sign "
        "isnan isinf isfinite signbit logical_not invert bitwise_not add subtract multiply divide "
        "floor_divide remainder mod fmod power minimum maximum atan2 hypot copysign greater "
        "greater_equal less less_equal equal not_equal logical_and logical_or logical_xor bitwise_and "
        "bitwise_or bitwise_xor left_shift right_shift"
    ),
    "pyasc.language.arrays": _words(
        "all any arange argmax argmin argsort broadcast_to clip concatenate cumprod "
        "cumsum dot einsum empty empty_like eye full full_like gelu layer_norm log_softmax matmul max "
        "mean min ones ones_like pad prod reciprocal relu reshape rms_norm sigmoid silu "
        "softmax sort split square stack std sum take topk transpose var where zeros zeros_like"
    ),
    "pyasc.language.windows": _words("avg_pool2d conv2d max_pool2d"),
    "pyasc.language.constants": _words("e inf nan pi"),
    "pyasc.language": ("random",),
    "pyasc.language.precision": ("precision",),
    "pyasc.language.memory": _words("aligned_alloc atomic_add atomic_max atomic_min copy shared_memory"),
    "pyasc.language.debug": _words("assert_ assert_shape breakpoint print"),
    "pyasc.ir.diagnostics": (
        "CompileError",
        "Diagnostic",
        "InternalError",
        "KernelTypeError",
        "LaunchError",
        "ResourceError",
        "ShapeError",
        "UnsupportedError",
    ),
    "pyasc.runtime.toolchain": ("BuildError", "ToolchainMissing"),
    "pyasc.runtime.decorators": _words("kernel func kernel_from_source"),
    "pyasc.runtime.kernel": ("Kernel",),
    "pyasc.runtime.batch": ("compile",),
    "pyasc.runtime.loaded": ("load",),
    "pyasc.runtime.device": _words("device set_device current_device DeviceMissing"),
}

_HOMES = {name: module for module, names in _EXPORTS.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'pyasc' has no attribute {name!r}", name=name)
    value = getattr(_import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*_HOMES, "__version__", "version_info"})
