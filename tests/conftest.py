# SPDX-License-Identifier: Apache-2.0
"""What all tests share: a compilation cache of their own, verified IR, seeded random tests."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile

import hypothesis
import pytest

_CACHE = pytest.StashKey[str]()

# On a loaded machine examples take any time, which says nothing of the code.
_UNTIMED = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("default", derandomize=True, max_examples=50, **_UNTIMED)
hypothesis.settings.register_profile("fuzz", max_examples=5000, **_UNTIMED)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files of lit tests")


def pytest_configure(config: pytest.Config) -> None:
    os.environ["PYASC_VERIFY"] = "1"
    os.environ["NO_COLOR"] = "1"
    if "PYASC_CACHE_DIR" not in os.environ:
        config.stash[_CACHE] = os.environ["PYASC_CACHE_DIR"] = tempfile.mkdtemp(prefix="pyasc-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if cache := config.stash.get(_CACHE, None):
        shutil.rmtree(cache, ignore_errors=True)
        del os.environ["PYASC_CACHE_DIR"]


def pytest_sessionstart() -> None:
    """Let an interrupt raise KeyboardInterrupt also where the suite was started in the background.

    A shell without job control starts background jobs with the signal ignored, and Python keeps it so.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
