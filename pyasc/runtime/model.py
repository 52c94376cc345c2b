# SPDX-License-Identifier: Apache-2.0
"""The `model` device: Ascend C on pyasc's own model of a core. It comes with the Ascend code generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyasc.runtime.device import DeviceMissing

if TYPE_CHECKING:
    from pyasc.runtime.compiler import LoweredKernel
    from pyasc.runtime.launcher import Launch


@dataclass(frozen=True, eq=False)
class ModelDevice:
    """The model of an Ascend core."""

    name: str = "model"

    def unavailable(self) -> str:
        """Always a reason, for now."""
        return 'this version of pyasc has no Ascend back end yet; use asc.set_device("cpu")'

    def build(self, kernels: Sequence[LoweredKernel]) -> list[Launch]:
        """Raises DeviceMissing."""
        raise DeviceMissing(f"the model device is not available: {self.unavailable()}")
