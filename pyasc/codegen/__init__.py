# SPDX-License-Identifier: Apache-2.0
"""Emitters from the IR to source text, one package to a target language."""
