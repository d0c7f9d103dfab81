"""The result of a match between more than two bots: every pair, and a table of every bot against every other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.workbench.match_report import errors_in_words, in_words, measured, quantity
from arena.local.match.comparison import Comparison, OrderedPairs, OrderedSets, adjusted_chances
from arena.local.match.design import Pairing
from arena.local.match.sequential import LEAST_SETS, SequentialOutcome
from arena.local.match.sets import Subject

TITLES: Final = {Pairing.GAUNTLET: "Gauntlet", Pairing.ROUND_ROBIN: "Round robin"}
BETTER: Final = ">"
WORSE: Final = "<"
UNDECIDED: Final = "?"
NOT_BETTER: Final = "≤"
MIRRORED: Final = {BETTER: WORSE, WORSE: BETTER, NOT_BETTER: "≥"}
DOUBT: Final = 0.05
"""Maximum p-value at which a difference counts as significant."""


class Pair(NamedTuple):
    """A pair of bots with the result to draw."""

    ordered: OrderedSets
    comparison: Comparison
    chance: float | None
    """The p-value of the difference, from `adjusted_chances`."""


def pairs_report(subject: Subject, comparisons: Sequence[Comparison], ordered: OrderedPairs) -> RenderableType:
    """Draw a match between more than two bots in which every pair has at least one set."""
    title = f"{TITLES[subject.pairing]} of {subject.compared}"
    rows = [*map(Pair, ordered.pairs, comparisons, adjusted_chances(comparisons))]
    told = f"Tested are {quantity(subject)}. Verdicts are as sure together as that of one pair alone (Holm)."
    parts: list[RenderableType] = [
        Text.assemble((title, "bold"), (f" · {subject.game} for {subject.seats}, seed {subject.seed}", "dim")),
        Text(told, "dim"),
    ]
    if ordered.test is not None:
        parts.append(Text(f"Test: {in_words(ordered.test)}; errors: {errors_in_words(ordered.test)}.", "dim"))
    parts.append(_undecided(rows))
    if subject.pairing is Pairing.ROUND_ROBIN:
        parts.append(_crosstable(subject, rows))
    return Group(*parts, _pairs_table(rows))


def verdict(pair: Pair) -> str:
    """Return the verdict on the first bot of a pair: better, worse, or not distinguished from the other.

    If the match has a test, the test decides. "Not better" becomes "worse" only if the difference is also significant.
    """
    state, likely, chance = pair.ordered.state, pair.comparison.likely, pair.chance
    if state is not None and state.outcome is not SequentialOutcome.NOT_BETTER:
        return BETTER if state.outcome is SequentialOutcome.BETTER else UNDECIDED
    if likely is None or chance is None or chance > DOUBT:
        return UNDECIDED if state is None else NOT_BETTER
    return WORSE if likely < 0.5 else BETTER if state is None else NOT_BETTER


def standings(subject: Subject, rows: Sequence[Pair]) -> list[tuple[int, float]]:
    """Return the bots of a round robin, best first, each with its mean difference from the others."""
    found: dict[int, list[float]] = {bot: [] for bot in range(subject.compared)}
    for pair in rows:
        one, other = pair.ordered.pair
        found[one].append(pair.comparison.difference.value)
        found[other].append(-pair.comparison.difference.value)
    return sorted(((bot, fmean(values)) for bot, values in found.items()), key=lambda row: -row[1])


def _undecided(rows: Sequence[Pair]) -> Text:
    open_pairs = [" – ".join(each.ordered.names) for each in rows if verdict(each) == UNDECIDED]
    if not open_pairs:
        return Text("Every pair is decided.", "bold green")
    return Text(f"Undecided, more sets would tell: {', '.join(open_pairs)}.", "bold yellow")


def _crosstable(subject: Subject, rows: Sequence[Pair]) -> RenderableType:
    """Draw the difference in points for each pair: the row's bot minus the column's."""
    cells: dict[tuple[int, int], Text] = {}
    for pair in rows:
        one, other = pair.ordered.pair
        said, value = verdict(pair), pair.comparison.difference.value
        cells[one, other] = _cell(value, said)
        cells[other, one] = _cell(-value, MIRRORED.get(said, said))
    ranked = standings(subject, rows)
    order = [bot for bot, _ in ranked]
    columns = [
        TableColumn("#", [Text(str(place)) for place in range(1, len(order) + 1)]),
        TableColumn("Bot", [Text(subject.bots[bot]) for bot in order], "left", folds=True, style="bold"),
        TableColumn("Mean", [Text(f"{mean:+.2f}") for _, mean in ranked]),
        *(
            TableColumn(str(place), [cells.get((bot, against), Text("·", "dim")) for bot in order])
            for place, against in enumerate(order, start=1)
        ),
    ]
    return FittedTable(f"Points against each ({UNDECIDED} undecided; at least {LEAST_SETS} sets)", columns, ())


def _cell(value: float, said: str) -> Text:
    colour = {BETTER: "green", WORSE: "red"}.get(said, "dim")
    return Text(f"{value:+.2f} {said}", colour)


def _pairs_table(rows: Sequence[Pair]) -> RenderableType:
    names = [each.ordered.names for each in rows]
    columns = [
        TableColumn("One", [Text(one) for one, _ in names], "left", folds=True, style="bold"),
        TableColumn("", [Text(verdict(each)) for each in rows]),
        TableColumn("Other", [Text(other) for _, other in names], "left", folds=True, style="bold"),
        *(TableColumn(name, [Text(text) for text in column]) for name, column in _figures(rows).items()),
    ]
    return FittedTable("Pairs", columns, ("Gain", "Place", "Points", "Normalised Elo", "LOS", "Sets"))


def _chance(chance: float | None) -> str:
    if chance is None:
        return "–"
    return "<0.001" if chance < 0.001 else f"{chance:.3f}"


def _figures(rows: Sequence[Pair]) -> Mapping[str, Sequence[str]]:
    comparisons = [each.comparison for each in rows]

    def of(figure: str) -> list[str]:
        measures = [getattr(each, figure) for each in comparisons]
        digits = 1 if figure == "gain" else 0
        return [
            "–" if measure is None else measured(measure, digits, each.sets)
            for measure, each in zip(measures, comparisons, strict=True)
        ]

    found = {
        "Difference": [measured(each.difference, 2, each.sets) for each in comparisons],
        "p": [_chance(each.chance) for each in rows],
        "Elo": of("elo"),
        "Normalised Elo": of("normalised"),
        "LOS": ["–" if each.likely is None else f"{each.likely:.1%}" for each in comparisons],
        "W/D/L": [f"{each.won}/{each.drawn}/{each.lost}" for each in comparisons],
        "Sets": [str(each.sets) for each in comparisons],
        "Points": [" : ".join(f"{bot.points.value:.1f}" for bot in each.bots) for each in comparisons],
        "Place": [" : ".join(f"{bot.place.value:.2f}" for bot in each.bots) for each in comparisons],
        "Gain": of("gain"),
    }
    states = [each.ordered.state for each in rows]
    if any(state is not None for state in states):
        found["LLR"] = ["–" if state is None else f"{state.ratio:+.2f}" for state in states]
    return found
