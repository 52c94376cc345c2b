# SPDX-License-Identifier: Apache-2.0
"""Collects the lit tests: every file below here with a RUN line, one pytest item a file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import litrun
import pytest

SUFFIXES = {".ir", ".py", ".c", ".cpp", ".test"}


def _is_lit_test(path: Path) -> bool:
    return path.suffix in SUFFIXES and bool(litrun.run_lines(path.read_text(encoding="utf-8")))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    return LitFile.from_parent(parent, path=file_path) if _is_lit_test(file_path) else None


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Keeps pytest from importing a kernel file that is named on its command line."""
    return Nothing.from_parent(parent, path=module_path) if _is_lit_test(module_path) else None


class Nothing(pytest.Module):
    """A module without tests of pytest's own."""

    def collect(self) -> Iterator[pytest.Item]:
        return iter(())


class LitFile(pytest.File):
    """A file with RUN lines."""

    def collect(self) -> Iterator[pytest.Item]:
        yield LitItem.from_parent(self, name="RUN")


class LitItem(pytest.Item):
    """The RUN lines of one file."""

    def runtest(self) -> None:
        update = bool(self.config.getoption("--update-golden"))
        with tempfile.TemporaryDirectory(prefix="pyasc-lit-") as directory:
            litrun.run_test(self.path, Path(directory) / f"{self.path.name}.tmp", update_golden=update)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> object:
        if isinstance(excinfo.value, litrun.LitFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, str(self.path.name)
