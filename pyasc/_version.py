# SPDX-License-Identifier: Apache-2.0
"""The version of pyasc, stated once."""

from __future__ import annotations

RELEASE = "0.1.0"
