# SPDX-License-Identifier: Apache-2.0
"""Transformations of the IR, one to a module, and the named pipelines.

Passes never import each other: what they share stands in `rewriter` and in `analysis`. `docs/passes.md` is made
from their docstrings.
"""
