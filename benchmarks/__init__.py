# SPDX-License-Identifier: Apache-2.0
"""Measurements of compiled kernels against hand-written C++, Numba, NumPy and CPython."""
