# SPDX-License-Identifier: Apache-2.0
"""A log-log plot as SVG text, with the line of linear growth through its last point."""

from __future__ import annotations

import math
from collections.abc import Sequence

WIDTH, HEIGHT, MARGIN = 480, 360, 56


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The exponent of growth between the first and the last point."""
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


def log_log(title: str, x_name: str, y_name: str, sizes: Sequence[float], values: Sequence[float]) -> str:
    """The plot of positive values against positive sizes."""
    linear = [values[-1] * size / sizes[-1] for size in sizes]
    x_low, x_high = math.log10(sizes[0]), math.log10(sizes[-1])
    y_low = math.floor(math.log10(min(*values, *linear)))
    y_high = math.ceil(math.log10(max(*values, *linear)))

    def at(size: float, value: float) -> tuple[float, float]:
        across = (math.log10(size) - x_low) / (x_high - x_low)
        up = (math.log10(value) - y_low) / (y_high - y_low)
        return MARGIN + across * (WIDTH - 2 * MARGIN), HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)

    def line(points: Sequence[float], style: str) -> str:
        places = " ".join("{:.1f},{:.1f}".format(*at(*pair)) for pair in zip(sizes, points, strict=True))
        return f'<polyline points="{places}" fill="none" {style}/>'

    def label(x: float, y: float, text: str, anchor: str = "middle") -> str:
        return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'

    ticks = [label(at(size, 1)[0], HEIGHT - MARGIN + 18, f"{size:g}") for size in sizes]
    for power in range(y_low, y_high + 1):
        y = at(sizes[0], 10**power)[1]
        ticks.append(f'<path d="M{MARGIN} {y:.1f}H{WIDTH - MARGIN}" stroke="#ddd"/>')
        ticks.append(label(MARGIN - 6, y + 4, f"{10.0**power:g}", "end"))
    dots = [
        '<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="#06c"/>'.format(*at(*pair))
        for pair in zip(sizes, values, strict=True)
    ]
    namespace = 'xmlns="http://www.w3.org/2000/svg"'
    return "\n".join(
        [
            f'<svg {namespace} width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
            *ticks,
            line(linear, 'stroke="#999" stroke-dasharray="4 4"'),
            line(values, 'stroke="#06c" stroke-width="2"'),
            *dots,
            label(WIDTH / 2, 24, title),
            label(WIDTH / 2, HEIGHT - 14, f"{x_name} (dashed: linear growth)"),
            label(MARGIN, MARGIN - 14, y_name),
            "</svg>\n",
        ]
    )
