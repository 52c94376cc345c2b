# SPDX-License-Identifier: Apache-2.0
"""Facts about the IR that passes ask for: affine forms, ranges, dependences, memory effects."""
