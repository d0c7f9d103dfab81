"""The plot of a line with its band: it has the requested size and shows the given values."""

from __future__ import annotations

from math import sin

import pytest

from arena.cli.terminal.plot import Point, plot


def rows(points: list[Point], width: int = 60, height: int = 14) -> list[str]:
    return plot(points, width, height).plain.split("\n")


def line_of(text: str) -> list[int]:
    """Return the columns in which the line has dots."""
    return [place for place, sign in enumerate(text) if "\u2800" < sign <= "\u28ff"]


@pytest.mark.parametrize("count", [1, 2, 3, 59, 1000])
@pytest.mark.parametrize(("width", "height"), [(20, 5), (60, 14), (143, 24)])
def test_it_fills_its_room_and_no_more(count: int, width: int, height: int) -> None:
    text = rows([Point(1500 + 90 * sin(number / 7), 40) for number in range(count)], width, height)
    assert len(text) == height
    assert {len(each) for each in text} == {width}
    columns = {place for each in text[:-2] for place in line_of(each)}
    assert columns == set(range(min(columns), width)), "the line has no gap"


def test_a_rising_line_rises() -> None:
    text = rows([Point(1000 + 10 * number, 20) for number in range(50)])
    middles = [(row, sum(dots) / len(dots)) for row, each in enumerate(text) if (dots := line_of(each))]
    assert len(middles) > 8
    assert [middle for _, middle in middles] == sorted((middle for _, middle in middles), reverse=True)


def test_one_match_among_a_thousand_is_seen() -> None:
    points = [Point(1500, 5)] * 1000
    points[512] = Point(1900, 5)
    top = next(each for each in rows(points) if line_of(each))
    assert len(line_of(top)) == 1


def test_the_band_is_as_wide_as_the_margin() -> None:
    def shaded(margin: float) -> int:
        last = [Point(1500, margin), Point(1700, margin)]
        return sum(each.count("░") for each in rows([Point(1500, 100)] * 9 + last))

    assert shaded(0.1) < shaded(50) < shaded(200)
    narrowing = rows([Point(1500, 400 - 4 * number) for number in range(100)])
    assert all(each[10] == "░" or line_of(each[10]) for each in narrowing[:-2]), "a wide band is cut"
    assert narrowing[0][-1] == " "


def test_labels_are_round_and_where_they_belong() -> None:
    text = rows([Point(value, 1) for value in (1400.0, 1600.0)], 60, 20)
    labels = {int(each[:4]): row for row, each in enumerate(text[:-2]) if each[:4].strip()}
    assert set(labels) == {1400, 1450, 1500, 1550, 1600}
    assert labels[1600] < labels[1500] < labels[1400]
    assert abs(labels[1500] - 9) <= 1
    assert text[-1].split() == ["1", "2"]
    assert rows([Point(1500.4, 0)])[-1].split() == ["1"], "one match, and no error at all"
