"""The strength over time as a picture: a line for each opponent, with the 95 % interval of each measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

WIDTH: Final = 720
HEIGHT: Final = 300
LEFT, RIGHT, TOP, BOTTOM = 48, 130, 12, 40
COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
"""Colours that colour-blind people can distinguish (Okabe and Ito, 2008)."""


def draw(curve: Sequence[Mapping[str, Any]]) -> str:
    """Return the SVG of a checkpoint's curve.

    Raises: ValueError: there are no measurements.
    """
    if not curve:
        raise ValueError("nothing was measured: train for as many batches as are between two measurements")
    longest = max(each["seconds"] for each in curve)
    names = [each["opponent"] for each in curve[-1]["strengths"]]

    def x(seconds: float) -> float:
        return float(LEFT + (WIDTH - LEFT - RIGHT) * seconds / longest)

    def y(won: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - won)

    parts = [_text(WIDTH - RIGHT, HEIGHT - 6, f"{longest / 60:.0f} minutes of processor time", "end")]
    for percent in range(0, 101, 20):
        parts.append(_text(LEFT - 6, y(percent / 100) + 4, f"{percent} %", "end"))
        dashes = "" if percent in (0, 100) else ' stroke-dasharray="2 4"'
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(percent / 100):.1f}" y2="{y(percent / 100):.1f}" '
            f'stroke="#888888"{dashes}/>'
        )
    ends: list[float] = []
    for number, name in enumerate(names):
        colour = COLOURS[number % len(COLOURS)]
        points = [(each["seconds"], next(s for s in each["strengths"] if s["opponent"] == name)) for each in curve]
        line = " ".join(f"{x(at):.1f},{y(found['won']):.1f}" for at, found in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for at, found in points:
            low, high = y(found["won"] - found["interval"]), y(found["won"] + found["interval"])
            parts.append(f'<line x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{low:.1f}" y2="{high:.1f}" stroke="{colour}"/>')
        end = y(points[-1][1]["won"]) + 4
        while any(abs(end - other) < 15 for other in ends):
            end += 1
        ends.append(end)
        parts.append(_text(WIDTH - RIGHT + 6, end, name, "start", colour))
    title = f"Share of matches won against {', '.join(names)}, over {longest / 60:.0f} minutes of processor time"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img" font-family="system-ui, sans-serif" font-size="12"><title>{title}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def _text(x: float, y: float, words: str, anchor: str, colour: str = "#444444") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>'
