"""Chart of rank correlation against games per bot, on a log scale, as self-contained SVG."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final
from xml.sax.saxutils import escape

from bench.ladder.ranking import ENOUGH, FIT, Curve

WIDTH: Final = 860
HEIGHT: Final = 430
LEFT: Final = 60
RIGHT: Final = 210
TOP: Final = 40
BOTTOM: Final = 50
LOWEST: Final = 0.4
APART: Final = 17
"""Minimum distance between two labels, in pixels."""
COLOURS: Final = ("#ff6b6b", "#fad75a", "#5fd7eb", "#ce8cff", "#6ede78", "#62a0ff")
LADDER: Final = "#ffffff"


def draw(curves: Sequence[Curve]) -> str:
    """Draw the curves and return the SVG file."""
    first, last = curves[0].games[0], curves[0].games[-1]

    def across(games: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * log(games / first) / log(last / first)

    def down(correlation: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - correlation) / (1 - LOWEST)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="system-ui, sans-serif" font-size="13" fill="#dee2e8">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#12141a"/>',
        f'<text x="{LEFT}" y="25" font-size="15">Rank correlation with the true order: 40 bots, 4 seats, '
        f"mean of {len(curves[0].correlations)} worlds</text>",
    ]
    for correlation in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        y = down(correlation)
        lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#2c313c"/>')
        lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{correlation:.1f}</text>')
    for games in (20, 50, 100, 200, 560, 1_000, 2_000, 3_200):
        if first <= games <= last:
            x = across(games)
            lines.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#2c313c"/>')
            lines.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 20}" text-anchor="middle">{games:,}</text>')
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">games a bot</text>')
    y = down(ENOUGH)
    lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#dee2e8" stroke-dasharray="4 4"/>')
    lines.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{ENOUGH}</text>')
    colours = iter(COLOURS)
    label = float(TOP) - APART
    for curve in sorted(curves, key=lambda curve: -curve.means[-1]):
        colour, width = (LADDER, 3) if curve.system == FIT else (next(colours), 1.6)
        points = " ".join(
            f"{across(games):.1f},{down(mean):.1f}"
            for games, mean in zip(curve.games, curve.means.tolist(), strict=True)
            if mean >= LOWEST
        )
        lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        label = max(label + APART, down(curve.means[-1]) + 4)
        name = f"{escape(curve.system)}: {curve.means[-1]:.2f}"
        lines.append(f'<text x="{WIDTH - RIGHT + 8}" y="{label:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])
