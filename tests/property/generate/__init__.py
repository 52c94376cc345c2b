# SPDX-License-Identifier: Apache-2.0
"""Generators of random programs: every program follows from its kind and one integer."""
