# SPDX-License-Identifier: Apache-2.0
"""What tests on the model device share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyasc.runtime import model


@pytest.fixture(scope="session")
def model_library() -> Iterator[None]:
    """The model's library, which takes a minute to build, is kept from one session to the next."""
    folder = Path(tempfile.gettempdir()) / f"pyasc-model-tests-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "model_cache", lambda: folder)
        yield
