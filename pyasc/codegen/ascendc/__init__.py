# SPDX-License-Identifier: Apache-2.0
"""Ascend C from the ascend level of the IR."""
