# SPDX-License-Identifier: Apache-2.0
"""pyasc's own model of an Ascend core: functional, checking and timing."""
