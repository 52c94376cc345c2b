# SPDX-License-Identifier: Apache-2.0
"""C++ for the `cpu` device from the loop level of the IR."""
