"""The sequential test of `arena match`, as its command line names it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from arena.local.match.design import Design
    from arena.local.match.sequential import SequentialTest

BOUND: Final = re.compile(r"(elo|points|t)([01])=(.+)")
LARGEST: Final = {"elo": 2000.0, "points": 1e6, "t": 100.0}
"""The largest bound of each unit; none means more, and arithmetic stays finite."""
DEFAULTS: Final = {"t": {"0": 0.0, "1": 0.1}}
"""The bounds that may be left out, by unit."""


def sequential_test(_: click.Context, __: click.Parameter, text: str | None) -> SequentialTest | None:
    """Parse two bounds of one unit: elo0=0,elo1=20 or points0=0,points1=2 or t0=0,t1=0.1.

    Raises:
        click.BadParameter: the text is no such test.
    """
    if text is None:
        return None
    from arena.local.match.sequential import ScoreUnit, SequentialTest

    found: dict[str, dict[str, float]] = {}
    for word in text.split(","):
        bound = BOUND.fullmatch(word)
        try:
            if bound is None:
                raise ValueError
            found.setdefault(bound[1], {})[bound[2]] = float(bound[3])
        except ValueError:
            names = "elo0=, elo1=, points0=, points1=, t0= or t1="
            raise click.BadParameter(f"{word!r} is not {names} with a number, such as elo0=0,elo1=20") from None
    if len(found) > 1:
        raise click.BadParameter(f"{text!r} mixes {' and '.join(found)}: write both bounds in one unit")
    [(unit, given)] = found.items()
    bounds = DEFAULTS.get(unit, {}) | given
    if missing := {"0", "1"} - bounds.keys():
        raise click.BadParameter(f"{unit}{missing.pop()} is missing: write {unit}0=NUMBER,{unit}1=NUMBER")
    lower, upper, largest = bounds["0"], bounds["1"], LARGEST[unit]
    if not lower < upper or not max(abs(lower), abs(upper)) < largest:
        between = f"{unit}0 must be less than {unit}1, and both between -{largest:g} and {largest:g}"
        raise click.BadParameter(f"{between}; they are {lower:g} and {upper:g}")
    return SequentialTest(lower, upper, ScoreUnit(unit))


def refuse_apart(test: SequentialTest, design: Design) -> None:
    """Refuse a test of Elo by places where the two never sit at one table.

    Raises:
        click.UsageError: this design cannot answer it; the message names one that can.
    """
    from arena.local.match.design import Design
    from arena.local.match.sequential import ScoreUnit

    if test.unit is ScoreUnit.ELO and design is not Design.ONE_TABLE:
        raise click.UsageError(
            f"elo0 and elo1 are of two bots at one table, where {design.value} never seats them together: "
            "choose --design one-table, or test points0=,points1= or t0=,t1="
        )
