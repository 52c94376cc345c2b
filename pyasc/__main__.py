# SPDX-License-Identifier: Apache-2.0
"""`python -m pyasc`, for where the `pyasc` script is not installed."""

from __future__ import annotations

import sys

from pyasc.cli import main

sys.exit(main())
