"""`arena match`: compare bots on this machine, on the same deals, under the ladder's referee."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Final

import click

from arena.cli.terminal.screen import json_option, print_json, screen
from arena.cli.workbench.match_report import MatchProgress, match_report, plot_match
from arena.cli.workbench.options import (
    SandboxCommand,
    exit_interrupted,
    match_subject,
    probed_sandbox,
    refuse_apart,
    refuse_without_commands,
    sandbox_option,
    sequential_test,
)
from arena.local.match.comparison import OrderedPairs, adjusted_chances
from arena.local.match.sequential import SequentialState, SequentialTest
from arena.local.match.sets import SetsFile, Subject
from engine.registry import GAMES

SETS: Final = 200
"""Default number of sets."""
SETS_OF_TEST: Final = 10_000
"""Default maximum number of sets with a test. The test usually ends the match earlier."""
STATUSES: Final = {"better": 0, "not better": 3, "undecided": 4}
"""Exit statuses with --sprt, by the test's outcome."""


@click.command(
    cls=SandboxCommand,
    epilog="Example: arena match better.py bot.py --game nullern --seats 4 --sprt elo0=0,elo1=20 --out better.sets",
)
@click.argument("one")
@click.argument("other")
@click.argument("more", nargs=-1)
@click.option("--gauntlet", is_flag=True, help="More than two bots: ONE against each of the others.")
@click.option("--round-robin", is_flag=True, help="More than two bots: each against every other.")
@click.option("--event", type=click.Choice(["race", "all"]), help="Find the best of all bots, instead of pairs.")
@click.option(
    "--budget", metavar="N", type=click.IntRange(1), help="Maximum matches of --event.  [default: 60 of each bot]"
)
@click.option(
    "--game", type=click.Choice([*GAMES]), default=next(iter(GAMES)), show_default=True, help="The game to play."
)
@click.option("--seats", metavar="N", type=int, help="Seats at a table.  [default: 4, or the game's nearest]")
@click.option("--option", "options", metavar="NAME=VALUE", multiple=True, help="An option of the game; repeatable.")
@click.option(
    "--field",
    metavar="BOT",
    multiple=True,
    help="A bot for the other seats; repeatable.  [default: the strongest house bot]",
)
@click.option(
    "--design",
    type=click.Choice(["same-seats", "one-table", "independent"]),
    help="See above.  [default: the one that needs the fewest games, mostly one-table]",
)
@click.option("--sets", metavar="N", type=click.IntRange(1), help=f"Maximum number of sets to play.  [default: {SETS}]")
@click.option(
    "--sprt",
    "test",
    metavar="elo0=,elo1=",
    callback=sequential_test,
    help="Stop as soon as this test decides, or after --sets; also points0=,points1= or t0=,t1=.",
)
@click.option(
    "--concurrency",
    metavar="N",
    type=click.IntRange(1, 256),
    help="Games at once.  [default: one per core, 8 with commands]",
)
@click.option("--dask", metavar="ADDRESS", help="Play on the workers of a Dask scheduler: tcp://10.0.0.5:8786.")
@sandbox_option
@click.option("--seed", metavar="N", type=int, help="Seed of the deals.  [default: a random one, which is shown]")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="File for all sets.")
@click.option(
    "--replays", metavar="DIR", type=click.Path(path_type=Path, file_okay=False), help="Folder for all games' replays."
)
@click.option(
    "--plot",
    "picture",
    metavar="FILE.svg",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File for a plot of the difference over time, with its 95 % band.",
)
@json_option
def command(
    one: str,
    other: str,
    more: tuple[str, ...],
    gauntlet: bool,
    round_robin: bool,
    event: str | None,
    budget: int | None,
    game: str,
    seats: int | None,
    options: tuple[str, ...],
    field: tuple[str, ...],
    design: str | None,
    sets: int | None,
    test: SequentialTest | None,
    concurrency: int | None,
    dask: str | None,
    sandbox: str | None,
    seed: int | None,
    out: Path | None,
    replays: Path | None,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Compare bots on this machine: is ONE better than OTHER?

    A bot is FILE.py or FILE.py:CLASS, with a class that extends arena_client.Bot, or house:NAME, or any command:
    'cmd:./mybot --flag' connects to ARENA_SERVER with ARENA_TOKEN, 'pipe:node bot.js' speaks JSON lines. It plays in
    processes of its own, by the rules and the referee of a server, without clocks.

    The design decides what is compared. With same-seats, each of the two plays the same seat of the same deals against
    the same field; its points above the mean of the others count. With one-table, both play each other, twice, with
    their seats exchanged; their points count. With independent, deals are independent as on a ladder, which needs the
    most games. Seats rotate from set to set.

    The test with --sprt is about Elo from the places of two at one table (elo0=0,elo1=20), about the difference in
    points (points0=0,points1=2), or about t, that difference in standard deviations of a set (t0=0,t1=0.1). The units
    are never converted into each other. If the truth is one of the bounds, the test errs in some 5 % of matches;
    between them it may decide either way. Telling 20 Elo apart takes some 1,000 sets.

    With more than two bots, all pairs are played until all are decided. All verdicts together err as rarely as a single
    test.

    --event looks for the best of many bots, each match on deals of its own. With race, bots that can hardly be the best
    are out at looks; with all, everybody plays the same number. It ends decided or undecided (docs/events.md).

    Exit status: 0 done, 1 failed, 2 wrong usage; with --sprt 0 better, 3 not better, 4 undecided, and of more than two
    bots 0 if every pair is decided, else 4; with --event 0 decided, 4 undecided; 130 interrupted.

    \b
    JSON: {"match": {"game", "options", "seats", "design", "seed", "bots",
    "versions", "compared", "pairing"}, "comparison": {"sets", "games",
    "difference", "interval", "likely", "normalised", "elo", "won", "drawn",
    "lost", "gain", "bots"}, "test": {"outcome", "ratio", "sets"} or null}
    With more than two bots: {"match", "pairs": [{"one", "other", "comparison",
    "test", "p_holm"}]}. With --event as `arena event verify --json`.
    """
    compared = (one, other, *more)
    if dask is not None and concurrency is not None:
        raise click.UsageError("--concurrency is for this machine, and the workers of --dask are what they are")
    if event is None and budget is not None:
        raise click.UsageError("--budget is for --event; a comparison has --sets")
    if event is not None:
        refused = {
            "--gauntlet": gauntlet, "--round-robin": round_robin, "--field": field, "--design": design, "--sets": sets,
            "--sprt": test, "--dask": dask, "--plot": picture,
        }  # fmt: skip
        if wrong := [name for name, given in refused.items() if given]:
            raise click.UsageError(f"{wrong[0]} compares pairs: leave it out, or leave out --event")
        if sandbox is not None:
            refuse_without_commands(compared)
        subject = match_subject(compared, False, game, seats, options, (), "independent", seed, out)
        from arena.cli.workbench.event import play_event  # It loads SQLAlchemy.

        play_event(subject, event, budget, concurrency, sandbox, out, replays, as_json)
    if (gauntlet and round_robin) or (more and not (gauntlet or round_robin)):
        raise click.UsageError(
            f"{len(compared)} bots: choose --gauntlet, the first against each, or --round-robin, each against each"
        )
    if sandbox is not None:
        refuse_without_commands((*compared, *field))
    subject = match_subject(compared, round_robin, game, seats, options, field, design, seed, out)
    if test is not None:
        refuse_apart(test, subject.design)
    ordered = OrderedPairs(subject, sets or (SETS if test is None else SETS_OF_TEST), test)
    with closing(SetsFile(out, subject)) as file:
        interrupted = _play(subject, file, ordered, concurrency, dask, sandbox, out, replays)
        if picture is not None and ordered.sets:
            plot_match(picture, subject, ordered)
    _print(subject, file, ordered, as_json)
    if interrupted:
        exit_interrupted(subject, out)
    sys.exit(_status([each.state for each in ordered.pairs]))


def _print(subject: Subject, file: SetsFile, ordered: OrderedPairs, as_json: bool) -> None:
    comparisons = [each.comparison(file.found) for each in ordered.pairs]
    if as_json and subject.compared == 2:
        print_json({"match": subject, "comparison": comparisons[0], "test": ordered.pairs[0].state})
    elif as_json:
        chances = adjusted_chances(comparisons)
        rows = [
            {
                "one": each.names[0],
                "other": each.names[1],
                "comparison": comparison,
                "test": each.state,
                "p_holm": chance,
            }
            for each, comparison, chance in zip(ordered.pairs, comparisons, chances, strict=True)
        ]
        print_json({"match": subject, "pairs": rows})
    elif all(comparison is None for comparison in comparisons):
        return
    elif subject.compared == 2:
        assert comparisons[0] is not None, "there is a set"
        screen().print(match_report(subject, comparisons[0], ordered.pairs[0]))
    else:
        from arena.cli.workbench.crosstable import pairs_report

        screen().print(pairs_report(subject, [each for each in comparisons if each is not None], ordered))


def _status(states: list[SequentialState | None]) -> int:
    """Return the exit status for the outcome of the tests, if there are tests."""
    outcomes = [STATUSES[state.outcome.value] for state in states if state is not None]
    if len(outcomes) <= 1:
        return outcomes[0] if outcomes else 0
    undecided = STATUSES["undecided"]
    return undecided if undecided in outcomes else 0


def _play(
    subject: Subject,
    file: SetsFile,
    ordered: OrderedPairs,
    concurrency: int | None,
    dask: str | None,
    sandbox: str | None,
    out: Path | None,
    replays: Path | None,
) -> bool:
    """Play the missing sets. Return True if Ctrl-C ended the match."""
    from arena.local.match.replays import write_replays
    from arena.local.match.runner import default_concurrency, play_sets
    from arena.local.server.command_bot import CommandPlace

    workers = concurrency or default_concurrency(subject)
    place = CommandPlace(
        None if out is None else out.with_name(f"{out.name}.logs"),
        sandbox=None if sandbox is None else probed_sandbox(sandbox),
    )
    missing = [number for number in range(ordered.most) if number not in file.found]
    with MatchProgress(screen(stderr=True), ordered) as progress:
        if replays is not None:
            for each in file.found.values():
                write_replays(subject, each, replays)
        ordered.take(file.found)
        progress.show()
        if ordered.enough:
            return False
        try:
            with closing(play_sets(subject, missing, workers, dask, place, progress.name_slow)) as played:
                for each in played:
                    file.add(each)
                    if replays is not None:
                        write_replays(subject, each, replays)
                    ordered.take(file.found)
                    progress.show()
                    if ordered.enough:
                        return False
        except KeyboardInterrupt:
            return True
    return False
