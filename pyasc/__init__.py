# SPDX-License-Identifier: Apache-2.0
"""pyasc compiles Python functions to Ascend C and to C++, and runs them."""

from __future__ import annotations
