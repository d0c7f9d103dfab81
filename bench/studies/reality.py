"""Study of the ladder on real matches: influence of the deal, goodness of fit of the model, number of games needed.

    python -m bench.studies.reality [--game nullern …] [--seats 2 …] [--games 240] [--duplicates 150] [--json]

Bots of the field play at random tables of different bots, on the engine without a server. The deal's share of variance
is estimated by repeating matches: with all bots replaced, with all but one replaced, and with the same bots on another
deal. Calibration and weight are compared with their values in simulated worlds with the same tables and an exact model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from random import Random
from typing import Final, NamedTuple

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from arena.ladder.ladder import ESTABLISHED_MAX_ERROR
from bench.studies._calibration import Results
from bench.studies._field import Deal, Played, field, house_names, play, spread
from bench.studies._fitted import Fitted, fitted
from bench.studies._shares import Shares, decompose
from engine.registry import GAMES

SEATS: Final = (2, 4, 6)


class Job(NamedTuple):
    """A match to play. Some are repeated three times for the variance components."""

    game: str
    seats: int
    number: int
    duplicate: bool


class Quad(NamedTuple):
    """Four matches: the original, its deal with other bots, its deal with only seat 0's bot unchanged, and its bots on
    a new deal.
    """

    base: Played
    replaced: Played
    kept: Played
    other_deal: Played


class Done(NamedTuple):
    """Result of a job: the bots' numbers and places by seat, and the four matches if the job was repeated."""

    bots: tuple[int, ...]
    places: tuple[int, ...]
    quad: Quad | None


def work(job: Job) -> Done:
    """Play the matches of one job."""
    chance = Random(f"reality {job}")
    bots = field(job.game)
    names = list(bots)

    def match(seated: Sequence[int], cards: Deal) -> Played:
        return play(job.game, [bots[names[bot]] for bot in seated], cards, chance)

    def table() -> list[int]:
        # repeated matches do not include the random bot
        return chance.sample(range(job.duplicate, len(names)), job.seats)

    cards, seated = Deal.draw(chance), table()
    base = match(seated, cards)
    if not job.duplicate:
        return Done(tuple(seated), base.places, None)
    others = [bot for bot in chance.sample(range(1, len(names)), job.seats) if bot != seated[0]]
    replacing = table()
    while any(bot == before for bot, before in zip(replacing, seated, strict=True)):
        replacing = table()
    replaced = match(replacing, cards)
    kept = match([seated[0], *others[: job.seats - 1]], cards)
    return Done(tuple(seated), base.places, Quad(base, replaced, kept, match(seated, Deal.draw(chance))))


def shares(game: str, seats: int, done: Sequence[Done]) -> list[Shares]:
    """Estimate the variance components of points, of points minus the table's mean, and of relative ranks."""
    quads = [each.quad for each in done if each.quad]
    bots = np.array([each.bots for each in done if each.quad])
    scores = [np.array([match.scores for match in kind], float) for kind in zip(*quads, strict=True)]
    ranks = [np.array([match.places for match in kind], float) for kind in zip(*quads, strict=True)]
    kinds = {
        "points": scores,
        "points about the table's mean": [each - each.mean(axis=1, keepdims=True) for each in scores],
        "relative rank": [(each - 1) / (seats - 1) for each in ranks],
    }
    return [decompose(game, seats, of, bots, values) for of, values in kinds.items()]


def measure(
    tables: Sequence[tuple[str, int]], games: int, duplicates: int, processes: int
) -> tuple[list[Shares], list[Fitted]]:
    """Measure all kinds of tables, given by game and seats."""
    jobs = []
    for game, seats in tables:
        matches = round(games * len(field(game)) / seats)
        jobs += [Job(game, seats, number, number >= matches) for number in range(matches + duplicates)]
    parts: dict[tuple[str, int], list[Done]] = {kind: [] for kind in tables}
    for job, done in zip(jobs, spread(work, jobs, processes), strict=True):
        parts[job.game, job.seats].append(done)
    found = [share for (game, seats), part in parts.items() for share in shares(game, seats, part)]
    return found, [
        fitted(game, once(part), list(field(game)), len(house_names(game))) for (game, _), part in parts.items()
    ]


def once(done: Sequence[Done]) -> Results:
    """Collect the matches that were not repeated."""
    plain = [each for each in done if each.quad is None]
    return Results(np.array([each.bots for each in plain]), np.array([each.places for each in plain]))


def tables(found: Sequence[Shares], fits: Sequence[Fitted]) -> list[Table]:
    """Draw five tables: variance components, calibration, games needed, the scale, ratings."""
    parts = Table(title="Where the variance of a seat's result comes from")
    for heading in ("", "seats", "", "variance", "bot", "deal", "bot × deal", "opponents", "rest"):
        parts.add_column(heading, justify="left" if not heading else "right")
    for each in found:
        numbers = (each.bot_and_deal, each.opponents, each.rest)
        deal = f"{each.deal:.1%} ± {each.deal_error:.1%}"
        shown = (each.of, f"{each.total:.3g}", f"{each.bot:.1%}", deal, *(f"{number:.1%}" for number in numbers))
        parts.add_row(each.game, str(each.seats), *shown)
    model = Table(title="Does the model fit? Predictions are fitted to the other half of the matches")
    for heading in ("", "seats", "matches", "slope", "if exact", "favourites: predicted → observed", "weight"):
        model.add_column(heading, justify="left" if not heading else "right")
    for heading in ("if exact", "used"):
        model.add_column(heading, justify="right")
    games = Table(title="Games needed, a bot")
    headings = ("", "seats", "spread in Elo (without random)", f"error ≤ {ESTABLISHED_MAX_ERROR:.0f}: median, most")
    for heading in (*headings, "neighbours told apart: median, ¾", "rank correlation after games"):
        games.add_column(heading, justify="left" if not heading else "right")
    scales = Table(title="Who holds the scale, and where all but the random bot then stand")
    for heading in ("", "seats", "anchors", "mean", "distance from 1500", "standard error"):
        scales.add_column(heading, justify="left" if heading in ("", "anchors") else "right")
    ratings = Table(title="Ratings ± standard error")
    for heading in ("", "bot", *(f"{seats} seats" for seats in sorted({each.seats for each in fits}))):
        ratings.add_column(heading, justify="right" if "seats" in heading else "left")
    for fit in fits:
        model.add_row(
            fit.game,
            str(fit.seats),
            str(fit.matches),
            "{:.2f} ({:.2f} – {:.2f})".format(*fit.slope),
            f"{fit.slope_if_exact:.2f}",
            ", ".join(f"{each.predicted:.2f} → {each.observed:.2f}" for each in fit.bins),
            "{:.2f} ({:.2f} – {:.2f})".format(*fit.weight),
            f"{fit.weight_if_exact:.2f}",
            f"{fit.weight_used:.2f}",
        )
        games.add_row(
            fit.game,
            str(fit.seats),
            f"{fit.spread:.0f} ({fit.spread_without_random:.0f})",
            "{:.0f}, {:.0f}".format(*fit.games_settled),
            "{:.0f}, {:.0f}".format(*fit.games_neighbours),
            ", ".join(f"{count}: {value:.2f}" for count, value in fit.correlation.items()),
        )
        for anchors, figures in fit.scales.items():
            scales.add_row(fit.game, str(fit.seats), anchors, *(f"{figure:.0f}" for figure in figures))
    for game in dict.fromkeys(fit.game for fit in fits):
        for bot in field(game):
            own = [fit.ratings[bot] for fit in fits if fit.game == game]
            ratings.add_row(game, bot, *("{:.0f} ± {:.0f}".format(*each) for each in own))
    return [parts, model, games, scales, ratings]


@click.command(help="Measure the ladder's model on real matches.")
@click.option(
    "--game", "only", type=click.Choice([*GAMES]), multiple=True, help="Game to measure; repeatable; by default all."
)
@click.option("--seats", type=click.IntRange(2), multiple=True, default=SEATS, show_default=True, help="Repeatable.")
@click.option(
    "--games", default=240, show_default=True, type=click.IntRange(10), help="Games per bot and kind of table."
)
@click.option("--duplicates", default=150, show_default=True, type=click.IntRange(10), help="Deals played four times.")
@click.option("--processes", default=2, show_default=True, type=click.IntRange(1))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(only: Sequence[str], seats: Sequence[int], games: int, duplicates: int, processes: int, as_json: bool) -> None:
    """Print the tables."""
    kinds = [(game, each) for game in only or GAMES for each in seats]
    found, fits = measure(kinds, games, duplicates, processes)
    if as_json:
        click.echo(json.dumps({"shares": [asdict(each) for each in found], "fits": [asdict(each) for each in fits]}))
        return
    for each in tables(found, fits):
        Console(width=160).print(each)


if __name__ == "__main__":
    main()
