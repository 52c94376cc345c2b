# SPDX-License-Identifier: Apache-2.0
"""From Python source to the py level of the IR: source lookup, AST visitor, type rules, diagnostics."""
