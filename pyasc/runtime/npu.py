# SPDX-License-Identifier: Apache-2.0
"""The `npu` device: an Ascend NPU through AscendCL. Its back end comes with the Ascend code generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyasc import knobs
from pyasc.runtime.device import DeviceMissing

if TYPE_CHECKING:
    from pyasc.runtime.compiler import LoweredKernel
    from pyasc.runtime.launcher import Launch


@dataclass(frozen=True, eq=False)
class NpuDevice:
    """An Ascend NPU."""

    name: str = "npu"
    pipeline: str = "ascend"

    def unavailable(self) -> str:
        """Always a reason, for now."""
        if knobs.read().ascend_home is None:
            return (
                "CANN was not found (ASCEND_HOME_PATH is not set). Install CANN and source its set_env.sh; "
                'until then use asc.set_device("cpu")'
            )
        return 'this version of pyasc has no Ascend back end yet; use asc.set_device("cpu")'

    def build(self, kernels: Sequence[LoweredKernel]) -> list[Launch]:
        """Raises DeviceMissing."""
        raise DeviceMissing(f"the npu device is not available: {self.unavailable()}")
