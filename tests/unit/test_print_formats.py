# SPDX-License-Identifier: Apache-2.0
"""Formats of debug prints as the print function of a device takes them."""

from __future__ import annotations

import pytest

from pyasc.ir.dtypes import DType, f32, i1, i64
from pyasc.passes.analysis.print_formats import NoDeviceFormat, device_format


@pytest.mark.parametrize(
    ("text", "dtypes", "expected"),
    [
        ("x = {}", [f32], "x = %f\n"),
        ("{:.3f} {}", [f32, i64], "%.3f %lld\n"),
        ("{:4d}|{:04}|{:d}", [i64, i64, i64], "%4lld|%04lld|%lld\n"),
        ("100% {{}} {}", [i1], "100%% {} %lld\n"),
        ("nothing", [], "nothing\n"),
    ],
)
def test_formats(text: str, dtypes: list[DType], expected: str) -> None:
    assert device_format(text, dtypes) == expected


@pytest.mark.parametrize(("text", "dtype"), [("{:>10}", f32), ("{:x}", i64), ("{:.2e}", f32), ("{:+}", i64)])
def test_formats_that_a_device_does_not_have(text: str, dtype: DType) -> None:
    with pytest.raises(NoDeviceFormat, match="the format"):
        device_format(text, [dtype])
