# SPDX-License-Identifier: Apache-2.0
"""Bridges to other array libraries and to AscendCL."""
