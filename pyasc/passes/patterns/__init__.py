# SPDX-License-Identifier: Apache-2.0
"""Local rewrites that `canonicalize` applies, grouped by what they rewrite."""
