"""The result of a match of more than two bots: each pair by itself, and a table of each bot against each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Final

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.workbench.match_report import SURE, measured, quantity
from arena.local.match.comparison import LEAST_SETS, Comparison, SequentialOutcome
from arena.local.match.design import Pairing

if TYPE_CHECKING:
    from arena.local.match.ordered_sets import OrderedPairs, OrderedSets
    from arena.local.match.sets import Subject

TITLES: Final = {Pairing.GAUNTLET: "Gauntlet", Pairing.ROUND_ROBIN: "Round robin"}
BETTER: Final = ">"
WORSE: Final = "<"
UNDECIDED: Final = "?"


def pairs_report(subject: Subject, comparisons: Sequence[Comparison], ordered: OrderedPairs) -> RenderableType:
    """Draw a match of more than two bots in which every pair has at least one set."""
    title = f"{TITLES[subject.pairing]} of {subject.compared}"
    rows = list(zip(ordered.pairs, comparisons, strict=True))
    parts: list[RenderableType] = [
        Text.assemble((title, "bold"), (f" · {subject.game} for {subject.seats}, seed {subject.seed}", "dim")),
        Text(f"Tested is each pair by itself, in {quantity(subject)}.", "dim"),
        _undecided(rows),
    ]
    if subject.pairing is Pairing.ROUND_ROBIN:
        parts.append(_crosstable(subject, rows))
    return Group(*parts, _pairs_table(rows))


def verdict(ordered: OrderedSets, comparison: Comparison) -> str:
    """Return whether the first of a pair is better, worse, or not told apart from the other.

    With a test that is what it decided; "not better" is worse only where the interval says so, too.
    """
    state = ordered.state
    if state is not None and state.outcome is SequentialOutcome.UNDECIDED:
        return UNDECIDED
    if state is not None and state.outcome is SequentialOutcome.BETTER:
        return BETTER
    likely = comparison.likely
    if likely is None or comparison.sets < LEAST_SETS:
        return UNDECIDED
    if state is not None:
        return WORSE if likely <= 1 - SURE else "≤"
    return BETTER if likely >= SURE else WORSE if likely <= 1 - SURE else UNDECIDED


def standings(subject: Subject, rows: Sequence[tuple[OrderedSets, Comparison]]) -> list[tuple[int, float]]:
    """Return the bots of a round robin, the best first, each with its mean difference to the others."""
    found: dict[int, list[float]] = {bot: [] for bot in range(subject.compared)}
    for ordered, comparison in rows:
        one, other = ordered.pair
        found[one].append(comparison.difference.value)
        found[other].append(-comparison.difference.value)
    return sorted(((bot, fmean(values)) for bot, values in found.items()), key=lambda row: -row[1])


def _undecided(rows: Sequence[tuple[OrderedSets, Comparison]]) -> Text:
    open_pairs = [" – ".join(ordered.names) for ordered, each in rows if verdict(ordered, each) == UNDECIDED]
    if not open_pairs:
        return Text("Every pair is decided.", "bold green")
    return Text(f"Undecided, more sets would tell: {', '.join(open_pairs)}.", "bold yellow")


def _crosstable(subject: Subject, rows: Sequence[tuple[OrderedSets, Comparison]]) -> RenderableType:
    """Draw the points of each against each, the row's bot less the column's."""
    cells: dict[tuple[int, int], Text] = {}
    for ordered, comparison in rows:
        one, other = ordered.pair
        said, value = verdict(ordered, comparison), comparison.difference.value
        cells[one, other] = _cell(value, said)
        cells[other, one] = _cell(-value, {BETTER: WORSE, WORSE: BETTER, "≤": "≥"}.get(said, said))
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
    return FittedTable(f"Points against each ({UNDECIDED} undecided)", columns, ())


def _cell(value: float, said: str) -> Text:
    colour = {BETTER: "green", WORSE: "red"}.get(said, "dim")
    return Text(f"{value:+.2f} {said}", colour)


def _pairs_table(rows: Sequence[tuple[OrderedSets, Comparison]]) -> RenderableType:
    columns = [
        TableColumn("One", [Text(ordered.names[0]) for ordered, _ in rows], "left", folds=True, style="bold"),
        TableColumn("", [Text(verdict(ordered, each)) for ordered, each in rows]),
        TableColumn("Other", [Text(ordered.names[1]) for ordered, _ in rows], "left", folds=True, style="bold"),
        *(TableColumn(name, [Text(text) for text in column]) for name, column in _figures(rows).items()),
    ]
    return FittedTable("Pairs", columns, ("Gain", "Place", "Points", "Normalised Elo", "Sets"))


def _figures(rows: Sequence[tuple[OrderedSets, Comparison]]) -> Mapping[str, Sequence[str]]:
    def of(figure: str) -> Iterator[str]:
        for ordered, each in rows:
            measure = getattr(each, figure)
            yield "–" if measure is None else measured(measure, 0 if figure != "gain" else 1, len(ordered.scores))

    found = {
        "Difference": [measured(each.difference, 2, each.sets) for _, each in rows],
        "Elo": [*of("elo")],
        "Normalised Elo": [*of("normalised")],
        "LOS": ["–" if each.likely is None else f"{each.likely:.1%}" for _, each in rows],
        "W/D/L": [f"{each.won}/{each.drawn}/{each.lost}" for _, each in rows],
        "Sets": [str(each.sets) for _, each in rows],
        "Points": [" : ".join(f"{bot.points.value:.1f}" for bot in each.bots) for _, each in rows],
        "Place": [" : ".join(f"{bot.place.value:.2f}" for bot in each.bots) for _, each in rows],
        "Gain": [*of("gain")],
    }
    states = [ordered.state for ordered, _ in rows]
    if any(state is not None for state in states):
        found["LLR"] = ["–" if state is None else f"{state.ratio:+.2f}" for state in states]
    return found
