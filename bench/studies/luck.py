"""Benefit of the luck column, from matches of real bots whose deals are replayed by house bots.

    python -m bench.studies.luck [--game nullern …] [--seats 2 …] [--matches 250] [--processes 2] [--json]

For every game and several table sizes, random bots of the field play. Then every house bot except the random one, and a
counter that errs in 10 % of its choices, play the same deals in every seat. Scores are adjusted match by match as on a
server, from earlier matches only, so the cost of learning is included. "Games needed" is the fraction of games that
suffices for the same standard error as without adjustment: of a bot's mean score, and of the difference between two
bots at one table. 95 % intervals are bootstrapped over matches. The shares of variance explained come from least
squares over all matches at once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from time import process_time
from typing import Final, NamedTuple

import click
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from arena.ladder.luck import Luck
from bench.studies._field import Deal, Player, Slips, field, house_names, play, spread
from engine.registry import GAMES

Floats = NDArray[np.float64]

SEATS: Final = (2, 4, 6)
REPETITIONS: Final = 4
BOOTSTRAPS: Final = 1000
SLIPPING: Final = "slipping counter"


class Job(NamedTuple):
    """One match to play and replay."""

    game: str
    seats: int
    number: int


class Dealt(NamedTuple):
    """A match and the replays of its deals."""

    bots: tuple[str, ...]
    scores: tuple[int, ...]
    replays: dict[str, list[tuple[int, ...]]]
    """Scores in every replay, by house bot."""
    ms: dict[str, float]
    """Processor time of one replay in milliseconds, by house bot. The key "" stands for the match itself."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Benefit of one kind of baseline at one kind of table."""

    game: str
    seats: int
    baseline: str
    explained: float
    """Share of the variance of a bot's score that the baseline explains."""
    explained_difference: float
    """Share of the variance of the difference between score and table mean that the baseline explains."""
    share: float
    """Final adjustment coefficient β, if the baseline is a mean."""
    table: float
    """Final value of δ."""
    games_mean: tuple[float, float, float]
    """Games needed for a mean score, as a fraction of those without luck adjustment, and its interval."""
    games_difference: tuple[float, float, float]
    """Games needed to distinguish two bots, as a fraction of those without luck adjustment, and its interval."""
    shift: float
    """Mean difference of adjusted minus plain scores, in points."""
    shift_error: float
    """Standard error of `shift`."""
    ms: float
    """Processor time of a match's replays, in milliseconds."""
    match_ms: float
    """Processor time of the match itself, including its bots, in milliseconds."""


def deal(job: Job) -> Dealt:
    """Play a match between bots of the field and replay its deals."""
    chance = Random(f"luck {job}")
    bots = field(job.game)
    names = [name for name in bots if name != "random"]
    house: dict[str, tuple[Player, int]] = {
        **{name: (bots[name], 1) for name in house_names(job.game)[1:]},
        SLIPPING: (Slips(bots["counter"], 10), REPETITIONS),
    }
    seated = tuple(chance.choice(names) for _ in range(job.seats))
    cards = Deal.draw(chance)
    began = process_time()
    scores = play(job.game, [bots[name] for name in seated], cards, chance).scores
    ms = {"": 1e3 * (process_time() - began)}
    replays = {}
    for name, (bot, repetitions) in house.items():
        began = process_time()
        replays[name] = [play(job.game, [bot] * job.seats, cards, chance).scores for _ in range(repetitions)]
        ms[name] = 1e3 * (process_time() - began) / repetitions
    return Dealt(seated, scores, replays, ms)


def baselines(match: Dealt) -> dict[str, tuple[list[float], float]]:
    """Compute each kind of baseline for a match: the points by seat, and the processor time in milliseconds."""

    def mean(replays: Sequence[Sequence[int]]) -> list[float]:
        return [sum(scores) / len(replays) for scores in zip(*replays, strict=True)]

    house = [name for name in match.replays if name != SLIPPING]
    kinds = {name: (mean(match.replays[name]), match.ms[name]) for name in house}
    for size in range(2, len(house) + 1):
        some = house[:size]
        points = mean([match.replays[name][0] for name in some])
        kinds[" and ".join(some)] = points, sum(match.ms[name] for name in some)
    for repetitions in (1, 2, REPETITIONS):
        slips = mean(match.replays[SLIPPING][:repetitions])
        kinds[f"{SLIPPING} × {repetitions}"] = slips, repetitions * match.ms[SLIPPING]
    return kinds


def gains(game: str, seats: int, matches: Sequence[Dealt]) -> list[Gain]:
    """Compute the benefit of every kind of baseline."""
    scores = np.array([match.scores for match in matches], dtype=float)
    bots = np.array([match.bots for match in matches])
    kinds = [baselines(match) for match in matches]
    found = []
    for name in kinds[0]:
        house = np.array([kind[name][0] for kind in kinds])
        luck = Luck(seats)
        adjusted = np.array(
            [luck.take(match.scores, kind[name][0]) for match, kind in zip(matches, kinds, strict=True)]
        )
        shifts = (adjusted - scores).mean(axis=1)
        found.append(
            Gain(
                game=game,
                seats=seats,
                baseline=name,
                explained=explained(residuals(scores, bots), [about_table(house), of_table(house)]),
                explained_difference=explained(about_table(residuals(scores, bots)), [about_table(house)]),
                share=float(luck.coefficients.share),
                table=float(luck.coefficients.table),
                games_mean=ratio(residuals(adjusted, bots), residuals(scores, bots)),
                games_difference=ratio(about_table(residuals(adjusted, bots)), about_table(residuals(scores, bots))),
                shift=float(shifts.mean()),
                shift_error=float(shifts.std() / np.sqrt(len(shifts))),
                ms=float(np.mean([kind[name][1] for kind in kinds])),
                match_ms=float(np.mean([match.ms[""] for match in matches])),
            )
        )
    return found


def residuals(scores: Floats, bots: NDArray[np.str_]) -> Floats:
    """Subtract each bot's mean from its scores."""
    rest = scores.copy()
    for bot in np.unique(bots):
        rest[bots == bot] -= scores[bots == bot].mean()
    return rest


def about_table(values: Floats) -> Floats:
    """Subtract the table's mean from each value."""
    difference: Floats = values - values.mean(axis=1, keepdims=True)
    return difference


def of_table(values: Floats) -> Floats:
    """Return, for every seat, the mean of its table minus the mean over all matches."""
    means = np.repeat(values.mean(axis=1, keepdims=True), values.shape[1], axis=1)
    difference: Floats = means - means.mean()
    return difference


def explained(values: Floats, by: Sequence[Floats]) -> float:
    """Compute R² of a least-squares fit of `values` by `by`, adjusted for the number of regressors."""
    design = np.column_stack([each.ravel() for each in by])
    wanted = values.ravel()
    fitted = design @ np.linalg.lstsq(design, wanted, rcond=None)[0]
    left = float(((wanted - fitted) ** 2).sum()) / float((wanted**2).sum())
    return 1 - left * (wanted.size / (wanted.size - len(by)))


def ratio(after: Floats, before: Floats) -> tuple[float, float, float]:
    """Compute the variance of `after` divided by that of `before`, with an interval bootstrapped over matches."""
    sums = np.stack([(after**2).sum(axis=1), (before**2).sum(axis=1)], axis=1)
    chosen = np.random.default_rng(6).integers(len(sums), size=(BOOTSTRAPS, len(sums)))
    totals = sums[chosen].sum(axis=1)
    low, high = np.quantile(totals[:, 0] / totals[:, 1], (0.025, 0.975))
    return float(sums[:, 0].sum() / sums[:, 1].sum()), float(low), float(high)


def measure(tables: Sequence[tuple[str, int]], matches: int, processes: int) -> list[Gain]:
    """Measure all kinds of tables, given by game and seats."""
    jobs = [Job(game, seats, number) for game, seats in tables for number in range(matches)]
    dealt = list(spread(deal, jobs, processes))
    return [
        gain
        for place, (game, seats) in enumerate(tables)
        for gain in gains(game, seats, dealt[place * matches : (place + 1) * matches])
    ]


def table(found: Sequence[Gain], matches: int) -> Table:
    """Draw a row for each game, number of seats and kind of baseline."""
    result = Table(title=f"Luck-adjusted scores, {matches} matches of each kind")
    headings = ("", "seats", "baseline", "explained", "of differences", "β, δ", "games for a mean")
    for heading in (*headings, "games for a difference", "shift ± error", "ms (match)"):
        result.add_column(heading, justify="left" if heading in ("", "baseline") else "right")
    for gain in found:
        result.add_row(
            gain.game,
            str(gain.seats),
            gain.baseline,
            f"{gain.explained:.1%}",
            f"{gain.explained_difference:.1%}",
            f"{gain.share:.2f}, {gain.table:.2f}",
            "{:.2f} ({:.2f} – {:.2f})".format(*gain.games_mean),
            "{:.2f} ({:.2f} – {:.2f})".format(*gain.games_difference),
            f"{gain.shift:+.2f} ± {gain.shift_error:.2f}",
            f"{gain.ms:.0f} ({gain.match_ms:.0f})",
            end_section=gain.baseline.endswith(f" {REPETITIONS}"),
        )
    return result


@click.command(help="Measure the benefit of the luck column.")
@click.option(
    "--game", "games", type=click.Choice([*GAMES]), multiple=True, help="Game to measure; repeatable; by default all."
)
@click.option("--seats", type=click.IntRange(2), multiple=True, default=SEATS, show_default=True, help="Repeatable.")
@click.option(
    "--matches",
    default=250,
    show_default=True,
    type=click.IntRange(10),
    help="Matches of each game and number of seats.",
)
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(games: Sequence[str], seats: Sequence[int], matches: int, processes: int, as_json: bool) -> None:
    """Print the table."""
    found = measure([(game, each) for game in games or GAMES for each in seats], matches, processes)
    if as_json:
        click.echo(json.dumps([asdict(gain) for gain in found], indent=2))
    else:
        Console(width=160).print(table(found, matches))


if __name__ == "__main__":
    main()
