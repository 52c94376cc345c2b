# SPDX-License-Identifier: Apache-2.0
"""Transformations of the IR, one to a module, and the named pipelines."""
