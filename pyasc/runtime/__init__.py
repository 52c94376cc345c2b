# SPDX-License-Identifier: Apache-2.0
"""Devices, memory, launch and the compilation cache."""
