# SPDX-License-Identifier: Apache-2.0
"""What the tests of the model share: a build cache that outlives a session, and small ways to run kernels."""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import lru_cache
from pathlib import Path

import numpy as np

from pyasc.model.build import BuiltKernel, argv_compiler, build_kernel
from pyasc.model.driver import Array, Result, Workspace
from pyasc.runtime.toolchain import default_toolchain

REFERENCE = Path(__file__).parents[1] / "kernels" / "reference"


def cache_folder() -> Path:
    """Private to the user, shared by sessions, so that the core library is built once a machine and compiler."""
    compiler = hashlib.sha256(default_toolchain().identity.encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"pyasc-model-tests-{os.getuid()}" / compiler
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@lru_cache(maxsize=256)
def built(path: Path, *options: str) -> BuiltKernel:
    """The kernel file, compiled for the model."""
    return build_kernel(
        path, cache_folder(), argv_compiler(default_toolchain().library_argv), options=options
    )


def reference(name: str) -> BuiltKernel:
    """One of the fifteen reference kernels."""
    return built(REFERENCE / "ascendc" / f"{name}.cpp")


def poisoned(shape: int | tuple[int, ...], dtype: type) -> Array:
    """An output of which no byte counts as written."""
    return Array(np.zeros(shape, dtype), defined=False, name="output")


def source(array: np.ndarray) -> Array:
    """An input that the kernel may only read."""
    return Array(array, output=False, read_only=True)


def clean(result: Result) -> Result:
    """Asserts that the model found nothing to complain about."""
    assert not result.findings, "\n".join(str(finding) for finding in result.findings)
    return result


def kinds(result: Result) -> set[str]:
    """The kinds of all findings."""
    return {finding.kind for finding in result.findings}


__all__ = [
    "Array",
    "Workspace",
    "built",
    "cache_folder",
    "clean",
    "kinds",
    "poisoned",
    "reference",
    "source",
]
