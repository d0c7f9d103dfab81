"""The ladder as a Rich table that fits the width of the screen. It only draws rows.

On a narrow screen the least important columns are left out first; rank, interval of ranks, bot and rating always stay.
If there is room, the rating intervals are drawn on one scale, which shows which of them overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from arena.cli.ladder.flags_table import MARK
from arena.cli.terminal.frame import framed
from arena.cli.terminal.tables import bot_name, owner_name, unlisted
from arena.queries.figures import CONFIDENCE, quota_in_words, share_in_words
from arena.queries.flags import flagged
from arena.queries.leaders import SHARED, Leaders, leaders
from arena.store.base.rows import LadderRow, LadderRows, PastLadderRow

NARROWEST: Final = 15
WIDEST: Final = 41
"""Columns of the drawn intervals, at least and at most."""
MEDALS: Final = {1: "bold yellow", 2: "bold white", 3: "bold dark_orange3"}
UNKNOWN: Final = Text("–", style="dim")
INTERVALS: Final = "intervals"
LEFT_OUT_FIRST: Final = (
    "Points",
    "Mean rank",
    "Wins",
    "Owner",
    "Think 95 %",
    "Forced",
    "Opponents",
    "Luck-adjusted",
    INTERVALS,
    "Live",
    "Matches",
    "P(best)",
)
"""Columns to leave out when the screen is too narrow, in this order."""
OF_ALL_TABLES: Final = frozenset({"Wins", "Mean rank", "Points", "Luck-adjusted", "Forced", "Think 95 %", "Live"})
"""Columns that exist only for all table sizes together."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column with all its cells."""

    name: str
    cells: tuple[Text, ...]
    justify: Literal["left", "right"] = "right"

    @property
    def width(self) -> int:
        """The width of its widest cell, in characters."""
        return max(cell_len(text) for text in (self.name, *(cell.plain for cell in self.cells)))


def ladder_table(ladder: LadderRows, width: int) -> Table:
    """Draw a ladder with at least one row, at most `width` characters wide unless names are too long for that."""
    columns = _columns(ladder)
    droppable = list(LEFT_OUT_FIRST)
    while (room := width - _width(columns)) < (NARROWEST + 2 if INTERVALS in droppable else 0) and droppable:
        gone = droppable.pop(0)
        columns = [column for column in columns if column.name != gone]
    if INTERVALS in droppable:
        place = 1 + [column.name for column in columns].index("Elo ± 95 %")
        columns.insert(place, _interval_column(ladder.standings, min(room - 2, WIDEST)))
    table = framed(f"Ladder of {ladder.game}" + (f" at tables of {ladder.seats}" if ladder.seats else ""))
    table.caption = Text(_caption(ladder), style="dim")
    table.caption_justify = "left"
    for column in columns:
        folds = column.name == "Bot"
        table.add_column(column.name, justify=column.justify, no_wrap=not folds, overflow="fold")
    for cells in zip(*(column.cells for column in columns), strict=True):
        table.add_row(*cells)
    return table


def _columns(ladder: LadderRows) -> list[Column]:
    """Return all columns except the drawn intervals."""
    rows = ladder.standings

    def column(name: str, cell: Callable[[LadderRow], Text], justify: Literal["left", "right"] = "right") -> Column:
        return Column(name, tuple(map(cell, rows)), justify)

    margin, first = max(len(_margin(row)) for row in rows), leaders(rows)
    columns = [
        column("#", lambda row: Text(str(first.rank(row)), style=MEDALS.get(first.rank(row), ""))),
        column("Ranks", lambda row: Text(_ranks(row))),
        column("Bot", lambda row: _bot(row, ladder), "left"),
        column("Owner", lambda row: Text(_owner(row), style="dim"), "left"),
        column("Elo ± 95 %", lambda row: _rating(row, margin)),
        column("P(best)", lambda row: chance_of_best(first, row)),
        column("Matches", lambda row: Text(str(row.matches))),
        column("Opponents", lambda row: UNKNOWN if row.best is None else Text(str(row.opponents))),
        column("Wins", lambda row: Text(f"{row.wins} {row.wins / max(row.matches, 1):4.0%}")),
        column("Mean rank", lambda row: Text(f"{row.mean_rank:.2f}")),
        column("Points", lambda row: UNKNOWN if row.luck is None else _points(row.luck.plain, row.luck.plain_error)),
        column(
            "Luck-adjusted",
            lambda row: UNKNOWN if row.luck is None else _points(row.luck.adjusted, row.luck.adjusted_error),
        ),
        column("Forced", lambda row: _forced(row.forced_share)),
        column("Think 95 %", lambda row: _duration(row.think_95_us)),
        column("Live", lambda row: Text.assemble(f"{row.live:.0f} ", change(row.last_change))),
    ]
    owned = any(_owner(row) for row in rows)
    unknown = set(OF_ALL_TABLES if ladder.seats else ())
    if all(row.luck is None for row in rows):
        unknown |= {"Points", "Luck-adjusted"}
    return [each for each in columns if each.name not in unknown and (owned or each.name != "Owner")]


def _width(columns: Sequence[Column]) -> int:
    """Return the width of a `framed` table: two borders, and each column with a space on both sides."""
    return 2 + sum(column.width + 2 for column in columns)


def _interval_column(rows: Sequence[LadderRow], width: int) -> Column:
    """Draw the rating intervals on one scale, which fits those of settled bots; wider ones are cut with an arrow."""
    settled = [row for row in rows if not row.provisional] or rows
    ratings = [row.rating for row in rows]
    low = min(*ratings, *(row.rating - CONFIDENCE * row.deviation for row in settled))
    high = max(*ratings, *(row.rating + CONFIDENCE * row.deviation for row in settled), low + 1)
    lines = tuple(_interval(row, low, high, width) for row in rows)
    return Column(f"{low:.0f}{high:>{width - len(f'{low:.0f}')}.0f}", lines, "left")


def _interval(row: LadderRow, low: float, high: float, width: int) -> Text:
    margin = CONFIDENCE * row.deviation
    begin, middle, end = (
        round((value - low) / (high - low) * (width - 1))
        for value in (row.rating - margin, row.rating, row.rating + margin)
    )
    left, right = max(begin, 0), min(end, width - 1)
    line = list(" " * left + "━" * (right - left + 1))
    if begin < 0:
        line[0] = "◂"
    if end >= width:
        line[-1] = "▸"
    line[middle] = "○" if row.provisional else "●"
    return Text("".join(line), style=("blue" if row.house else "green") + (" dim" if row.provisional else ""))


def _caption(ladder: LadderRows) -> str:
    return " · ".join([*_signs(ladder), *_about_the_fit(ladder)])


def _signs(ladder: LadderRows) -> list[str]:
    """Explain the signs and words in the rows."""
    rows, words = ladder.standings, list[str]()
    if any(row.provisional for row in rows):
        words.append("? provisional: too few matches or opponents yet")
    if any(row.house for row in rows):
        words.append("⌂ house bot")
    if leaders(rows).names:
        words.append(SHARED)
    if any(flagged(ladder.flags, row.bot, row.version) for row in rows):
        words.append(f"{MARK} results stand out, which is no verdict: --flags")
    if any(row.luck is not None for row in rows):
        words.append("points: mean score of a match; luck-adjusted: without the luck of the deals")
    if ladder.through is not None and any(row.best is None for row in rows):
        words.append("– not in the fit yet")
    return words


def _about_the_fit(ladder: LadderRows) -> list[str]:
    """Tell what all ratings have in common, and how old they are."""
    rows, words = ladder.standings, list[str]()
    if len(rows) == 1:
        words.append("a rating needs a second bot to compare with")
    elif ladder.scale_error:
        words.append(f"all ratings together ± {CONFIDENCE * ladder.scale_error:.0f}: 1500 is the house bots' mean")
    if ladder.pair_quota or ladder.pair_week_quota:
        words.append(quota_in_words(ladder.pair_quota, ladder.pair_week_quota, ladder.pair_young_days))
    if ladder.through is None:
        words.append("not fitted yet: ratings are the live ones")
    elif ladder.published is not None:
        words.append(f"fitted {ladder.published.astimezone():%d %b %H:%M:%S} up to event {ladder.through}")
    else:
        words.append(f"fitted now up to event {ladder.through}")
    if ladder.not_fitted_since is not None:
        since = f"{ladder.not_fitted_since.astimezone():%d %b %H:%M:%S}"
        words.append(f"newer results are not fitted since {since}: {ladder.not_fitted_why}")
    return words


def _bot(row: LadderRow, ladder: LadderRows) -> Text:
    name = bot_name(row.bot, row.house).append(unlisted(row), style="dim default")
    return name.append(f" {MARK}", style="yellow") if flagged(ladder.flags, row.bot, row.version) else name


def _owner(row: LadderRow) -> str:
    return owner_name(row.owner, row.bot, row.house)


def _ranks(row: LadderRow) -> str:
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}–{row.rank_high}"


def _margin(row: LadderRow) -> str:
    return f"{CONFIDENCE * row.deviation:.0f}"


def _rating(row: LadderRow, width: int) -> Text:
    mark = ("?", "yellow") if row.provisional else " "
    return Text.assemble((f"{row.rating:.0f}", "bold"), (f" ± {_margin(row):>{width}}", "dim"), mark)


def chance_of_best(first: Leaders, row: LadderRow | PastLadderRow) -> Text:
    """Format P(best): of the bots that share the first rank, in the first row of them."""
    if row.bot in first.names:
        return Text(first.chance(row), style="dim" if row.bot != first.names[0] else "")
    return UNKNOWN if row.best is None else share(row.best)


def share(share: float) -> Text:
    """Format a share in percent, a tiny one dimly."""
    return Text(share_in_words(share), style="dim" if 0 < share < 0.005 else "")


def _points(mean: float, error: float | None) -> Text:
    """Format a mean score with its 95 % interval."""
    return Text.assemble(f"{mean:.1f}", ("" if error is None else f" ± {CONFIDENCE * error:.1f}", "dim"))


def _forced(share: float | None) -> Text:
    if share is None:
        return UNKNOWN
    if not share:
        return Text("0 %", style="dim")
    return Text("<0.1 %" if share < 0.001 else f"{100 * share:.1f} %", style="yellow" if share < 0.05 else "red")


def _duration(microseconds: int | None) -> Text:
    """Format a duration with two digits in a suitable unit."""
    if microseconds is None:
        return UNKNOWN
    for size, unit in ((1_000_000, "s"), (1_000, "ms"), (1, "µs")):
        if microseconds >= size:
            amount = microseconds / size
            return Text(f"{amount:.1f} {unit}" if amount < 10 and size > 1 else f"{amount:.0f} {unit}")
    return Text("<1 µs")


def change(amount: float) -> Text:
    """Format a change of a rating, in Elo."""
    if round(abs(amount), 1) == 0:
        return Text("  0.0", style="dim")
    return Text(f"▲ {amount:.1f}", style="green") if amount > 0 else Text(f"▼ {-amount:.1f}", style="red")
