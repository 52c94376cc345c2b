# SPDX-License-Identifier: Apache-2.0
"""What a kernel may mention: dtypes, tensors, loops, mathematics, memory and debugging."""
