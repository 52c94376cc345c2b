# SPDX-License-Identifier: Apache-2.0
"""The NumPy-like tensor and its lazy graph."""
