# SPDX-License-Identifier: Apache-2.0
"""From C++ text to an object file or a shared library, by one run of a compiler.

A result appears under its name when it is whole; until then it lives in a scratch directory beside
it, which is removed whatever happens. The compiler's own temporary files go there too.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Literal

from pyasc import __version__
from pyasc.runtime.cache import CacheEntry, CacheKey, KernelCache
from pyasc.runtime.files import (
    DiskFullError,
    naming_full_disk,
    private_temporary_directory,
    put_in_place,
    scratch_directory,
)
from pyasc.runtime.host import processor
from pyasc.runtime.toolchain import BuildError, Toolchain

INCLUDE_DIR = Path(__file__).resolve().parents[1] / "codegen" / "cpp" / "include"

_SUFFIXES = {"object": ".o", "library": ".so"}
_ELF_MAGIC = b"\x7fELF"
_DISK_FULL_MESSAGES = ("No space left on device", "Disk quota exceeded")


@dataclass(frozen=True)
class BuildOptions:
    """How to compile.

    `opt_level` is 0 to 3. `save_temps` is a directory that receives the source, the assembly and the
    result of every unit; `keep_failed` one that receives sources that do not compile (by default a
    private temporary directory).
    """

    opt_level: int = 3
    extra_flags: tuple[str, ...] = ()
    include_dirs: tuple[Path, ...] = (INCLUDE_DIR,)
    save_temps: Path | None = None
    keep_failed: Path | None = None

    def __post_init__(self) -> None:
        if self.opt_level not in (0, 1, 2, 3):
            raise ValueError(f"opt_level is {self.opt_level}, expected 0 to 3")

    @property
    def identity(self) -> str:
        """Text that differs whenever the options may change the result. Part of cache keys."""
        return "\n".join((f"-O{self.opt_level}", *self.extra_flags))


@dataclass(frozen=True)
class BuildUnit:
    """One piece of C++ text and the file to make of it."""

    source: str
    output: Path
    product: Literal["object", "library"] = "library"


class _Stopped(Exception):
    """A unit was given up because another one failed; only `build_many` sees it."""


class CompilerRuns:
    """The compilers that one build has running, so that an interrupt can end them all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._stopped = False

    def run(self, command: Sequence[str], directory: Path) -> tuple[int, str]:
        """Runs `command` in `directory`; returns its exit status and all that it printed.

        Raises BuildError if it cannot be started. An interrupt ends it before it is passed on.
        """
        process: subprocess.Popen[str] | None = None
        try:
            with _interrupts_deferred():
                process = self._start(command, directory)
            output, _ = process.communicate()
            status = process.returncode
        finally:
            if process is not None:
                self._end(process)
        if self._stopped:
            raise _Stopped
        return status, output

    def stop(self) -> None:
        """Ends what is running and lets nothing more start."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _kill(process)

    def _end(self, process: subprocess.Popen[str]) -> None:
        _kill(process)
        if process.stdout is not None:
            process.stdout.close()
        with self._lock:
            self._running.discard(process)

    def _start(self, command: Sequence[str], directory: Path) -> subprocess.Popen[str]:
        # Messages are searched for English text, and temporary files must not outlive the build.
        environment = os.environ | {"LC_ALL": "C", "TMPDIR": str(directory)}
        with self._lock:
            if self._stopped:
                raise _Stopped
            try:
                process = subprocess.Popen(
                    command,
                    cwd=directory,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    # A group of its own, so that the driver's children end with it.
                    start_new_session=True,
                )
            except OSError as error:
                raise BuildError(f"the C++ compiler could not be started: {error}", command, "") from error
            self._running.add(process)
        return process


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Lets an interrupt wait: one between the start of a process and our holding it would leave it running."""
    handler = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: arrived.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if arrived:
        handler(*arrived[0])


def _kill(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def build_object(
    source: str, output: Path, toolchain: Toolchain, options: BuildOptions | None = None
) -> Path:
    """Compiles C++ text to the relocatable object `output`. Raises as `build_unit`."""
    return build_unit(BuildUnit(source, output, "object"), toolchain, options)


def build_shared(
    source: str, output: Path, toolchain: Toolchain, options: BuildOptions | None = None
) -> Path:
    """Compiles and links C++ text to the shared library `output`. Raises as `build_unit`."""
    return build_unit(BuildUnit(source, output, "library"), toolchain, options)


def build_unit(
    unit: BuildUnit,
    toolchain: Toolchain,
    options: BuildOptions | None = None,
    runs: CompilerRuns | None = None,
) -> Path:
    """Makes `unit.output` and returns it.

    Raises BuildError if the compiler fails, DiskFullError if the disk is full, and other OSErrors if
    the output's directory cannot be written. A file that was there before is then unchanged.
    """
    options = options or BuildOptions()
    output = unit.output.absolute()
    with naming_full_disk(output.parent, output.name), scratch_directory(output.parent, ".pyasc-") as scratch:
        source = scratch / f"{output.stem}.cpp"
        source.write_text(unit.source, encoding="utf-8")
        built = scratch / f"{output.stem}{_SUFFIXES[unit.product]}"
        command = compile_command(unit.product, source, built, toolchain, options)
        try:
            _run_checked(command, built, runs or CompilerRuns())
        except BuildError as error:
            raise _with_kept_source(error, source, options) from None
        if options.save_temps is not None:
            if toolchain.kind == "zig":
                # It keeps nothing of what it makes on the way, so that the assembly takes a run of its own.
                assembly = ["-S", str(source), "-o", str(source.with_suffix(".s"))]
                (runs or CompilerRuns()).run([*_compiler_and_options(toolchain, options), *assembly], scratch)
            _save_temps(scratch, options.save_temps)
        put_in_place(built, output)
    return output


def compile_command(
    product: Literal["object", "library"],
    source: Path,
    built: Path,
    toolchain: Toolchain,
    options: BuildOptions,
) -> list[str]:
    """The one command that makes `built` of `source`."""
    command = _compiler_and_options(toolchain, options)
    if options.save_temps is not None and toolchain.kind != "zig":
        command.append("-save-temps=obj")
    if product == "object":
        return [*command, "-c", str(source), "-o", str(built)]
    return [*command, "-shared", str(source), "-o", str(built), "-Wl,--as-needed", "-lm"]


def _compiler_and_options(toolchain: Toolchain, options: BuildOptions) -> list[str]:
    command = [*toolchain.argv, *toolchain.flags, f"-O{options.opt_level}", *options.extra_flags]
    return [*command, *(f"-I{directory}" for directory in options.include_dirs)]


def link_shared(objects: Sequence[Path], output: Path, toolchain: Toolchain) -> Path:
    """Links relocatable objects to the shared library `output`. Raises as `build_unit`."""
    output = output.absolute()
    with naming_full_disk(output.parent, output.name), scratch_directory(output.parent, ".pyasc-") as scratch:
        built = scratch / f"{output.stem}.so"
        inputs = [str(path.absolute()) for path in objects]
        command = [*toolchain.argv, "-shared", *inputs, "-o", str(built), "-Wl,--as-needed", "-lm"]
        _run_checked(command, built, CompilerRuns())
        put_in_place(built, output)
    return output


def build_many(
    units: Sequence[BuildUnit],
    toolchain: Toolchain,
    options: BuildOptions | None = None,
    jobs: int | None = None,
) -> list[Path]:
    """Builds several units, `jobs` at a time (one for each processor by default).

    The first failure, or an interrupt, stops the others; outputs finished by then stay. Raises as
    `build_unit`.
    """
    # Costs as much as the rest of this module to import, and most processes build one unit.
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

    runs = CompilerRuns()
    workers = min(len(units), jobs or len(os.sched_getaffinity(0))) or 1
    with ThreadPoolExecutor(workers, thread_name_prefix="pyasc-build") as pool:
        futures = [pool.submit(build_unit, unit, toolchain, options, runs) for unit in units]
        try:
            done, unfinished = wait(futures, return_when=FIRST_EXCEPTION)
            failed = next((each for each in futures if each in done and each.exception()), None)
            if failed is not None:
                failed.result()
            assert not unfinished
            return [each.result() for each in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            runs.stop()
            raise


def cached_library(
    key: CacheKey,
    source: str,
    cache: KernelCache,
    toolchain: Toolchain,
    options: BuildOptions,
    companions: Mapping[str, str] | None = None,
) -> CacheEntry:
    """The cache's entry of `key`, with `kernel.so` built from `source`, which is kept as `kernel.cpp`.

    `companions` are further text files to put beside them, by name. `key` has to cover the source and
    `environment_parts`. Sources that do not compile are kept in the cache's directory. Raises as
    `build_unit` and `KernelCache.get_or_build`.
    """
    if options.keep_failed is None:
        options = replace(options, keep_failed=cache.failed_dir)

    def fill(directory: Path) -> None:
        library = build_shared(source, directory / "kernel.so", toolchain, options)
        for name, text in {"kernel.cpp": source, **(companions or {})}.items():
            library.with_name(name).write_text(text, encoding="utf-8")

    return cache.get_or_build(key, fill)


def environment_parts(toolchain: Toolchain, options: BuildOptions) -> list[tuple[str, str]]:
    """The parts of a cache key that do not come from the kernel: tools, options, machine, headers."""
    return [
        ("pyasc version", __version__),
        ("compiler", toolchain.identity),
        ("build options", options.identity),
        ("processor", processor().identity),
        ("runtime headers", "\n".join(map(_headers_digest, options.include_dirs))),
    ]


@lru_cache(maxsize=8)
def _headers_digest(directory: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(directory.rglob("*.h")):
        digest.update(f"{path.relative_to(directory)}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _run_checked(command: Sequence[str], built: Path, runs: CompilerRuns) -> None:
    """Runs a compiler in the directory of `built`, and makes sure that it has made it."""
    status, output = runs.run(command, built.parent)
    complete = status == 0 and _is_elf(built)
    if not complete and (any(text in output for text in _DISK_FULL_MESSAGES) or _is_full(built.parent)):
        raise DiskFullError(built.parent.parent, built.name)
    if status < 0:
        name = signal.Signals(-status).name
        raise BuildError(f"the C++ compiler was killed by {name} (out of memory?)", command, output)
    if status != 0:
        raise BuildError(f"the C++ compiler failed (exit status {status})", command, output)
    if not complete:
        raise BuildError("the C++ compiler reported success but wrote no ELF file", command, output)


def _is_full(directory: Path) -> bool:
    """Whether no block is left, as compilers that end without a word about it find."""
    return os.statvfs(directory).f_bavail == 0


def _is_elf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == _ELF_MAGIC
    except OSError:
        return False


def _with_kept_source(error: BuildError, source: Path, options: BuildOptions) -> BuildError:
    """The error with its source, and a log of what was run, in a place that stays."""
    try:
        text = source.read_bytes()
        directory = options.keep_failed or private_temporary_directory() / "failed"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = directory / f"{source.stem}-{hashlib.sha256(text).hexdigest()[:16]}.cpp"
        kept.write_bytes(text)
        command = [str(kept) if word == str(source) else word for word in error.command]
        kept_error = BuildError(error.reason, command, error.output, kept)
        kept.with_suffix(".log").write_text(f"{kept_error}\n", encoding="utf-8")
        return kept_error
    except OSError:
        return error


def _save_temps(scratch: Path, directory: Path) -> None:
    with naming_full_disk(directory, "intermediate files"):
        directory.mkdir(parents=True, exist_ok=True)
        for path in filter(Path.is_file, scratch.iterdir()):
            shutil.copyfile(path, directory / path.name)
