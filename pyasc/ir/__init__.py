# SPDX-License-Identifier: Apache-2.0
"""The intermediate representation: structures, types, dialects, printer, parser, verifier, interpreter."""
