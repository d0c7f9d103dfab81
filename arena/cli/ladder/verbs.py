"""`arena ladder` shows the ladder or a bot's rating history, annuls matches, and rebuilds the ladder.

`arena matches` lists matches.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import islice
from shlex import quote
from typing import TYPE_CHECKING, Final

import click
from rich.console import RenderableType

from arena.cli.authorization import AuthorizedChange
from arena.cli.data_source import (
    LARGEST_MATCH,
    ChosenLadder,
    DataPlace,
    chooses_ladder,
    chooses_matches,
    chosen_ladders,
    chosen_matches,
    known_bot,
    takes_data,
    takes_source,
    typed_choice,
)
from arena.cli.ladder.history import history, versions_table
from arena.cli.ladder.rebuild import rebuild
from arena.cli.ladder.table import flags_table, ladder_table, past_ladder_table
from arena.cli.terminal.screen import answer, json_option, json_rows, print_json, print_rows, screen
from arena.cli.terminal.tables import ladders_table, matches_table
from arena.queries.figures import ladder_in_words
from arena.queries.source import DataSource
from arena.store.base.errors import NoSuchLadder
from arena.store.base.rows import LadderEntryRow, LadderRows, MatchRow, PastLadder, RatedRow, VersionRow
from engine.registry import GAMES

if TYPE_CHECKING:
    from sqlalchemy import Connection

DEFAULT_HEIGHT = 60
"""Number of rows of the drawing if the output is not a terminal."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _past_instant(_: click.Context, __: click.Parameter, text: str | None) -> datetime | None:
    """Parse a past date or time in ISO 8601 and return it in UTC. Without a zone, it is local time."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        at = datetime.min.replace(tzinfo=UTC)
    if at < EPOCH:
        raise click.BadParameter(f"{text!r} is no time since 1970, such as 2026-01-31 or 2026-01-31T18:00:00Z")
    if at > (now := datetime.now(UTC)):
        raise click.BadParameter(f"{text!r} is in the future: here it is {now:%Y-%m-%dT%H:%M:%SZ}")
    return at


@click.group(
    invoke_without_command=True, epilog="Example: arena ladder --game sixth_sense --seats 4 --data ./arena-data"
)
@chooses_ladder
@click.option(
    "--seats", metavar="N", type=click.IntRange(1, 99), help="Only results at tables of this size; computed on request."
)
@click.option("--history", "bot", metavar="BOT", help="Draw the history of this bot's live rating instead.")
@click.option(
    "--versions", "changed", metavar="BOT", help="Compare every version of this bot with the one before it instead."
)
@click.option("--flags", is_flag=True, help="List results that differ from the predictions instead: ⚑ on the ladder.")
@click.option(
    "--at",
    metavar="TIME",
    callback=_past_instant,
    help="The ladder of that time: 2026-01-31T18:00 (local) or …T18:00Z.",
)
@takes_source
@json_rows(LadderRows, RatedRow, VersionRow, PastLadder)
@click.pass_context
def command(
    context: click.Context,
    game: str | None,
    ladder: str | None,
    season: int | None,
    seats: int | None,
    bot: str | None,
    changed: str | None,
    flags: bool,
    at: datetime | None,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Show the ladder: ratings in Elo with their 95 % intervals, best first.

    A rating is pulled towards the average, most strongly for bots with few results. Ranks is the 95 % interval of the
    rank: bots with intervals that do not overlap surely differ. P(best) is the probability of being the best of all.
    Bots at the top that the results cannot tell apart share rank 1 and one P(best) (--json has each bot's own). Forced
    is the share of a bot's decisions that the server made for it. Think 95 % is the time within which 95 % of its own
    decisions were made. ⚑ marks a bot with results that differ from what its ratings predict; --flags shows them. Live
    is the rating that changes after every match, with its last change. A narrow screen leaves out columns; --json has
    them all.

    \b
    JSON: {"ladders": [LadderRows]};
    "deviation" is a standard error, "fitted" the rating before it was pulled towards the
    average, "scale_error" the standard error of 1500, which all ratings share, "through"
    the last event in the ladder. "not_fitted_since" and "not_fitted_why" are present if
    newer results cannot be fitted.
    With --history: {"bot", "histories": [{"game", "matches": [RatedRow]}]}
    With --versions: {"bot", "games": [{"game", "versions": [VersionRow]}]}
    With --flags: {"games": [{"game", "flags"}]}, as in the ladder
    "ladder" and "season" are absent in the first season of the game's default ladder.
    With --at: {"ladders": [PastLadder]}; every published ladder is stored for a day, one per
    hour for a month, then one per day; "published" is null if no ladder that old is stored.
    """
    if context.invoked_subcommand is not None:
        return
    views = {"--seats": seats, "--history": bot, "--versions": changed, "--flags": flags or None, "--at": at}
    if len(shown := [name for name, value in views.items() if value is not None]) > 1:
        raise click.UsageError(f"{' and '.join(shown)} are different things to show: choose one of them")
    with place.open() as source:
        chosen = chosen_ladders(source.ladders(), game, ladder, season)
        if not (game or ladder) and seats is not None:
            able = [each for each in chosen if each.game not in GAMES or seats in GAMES[each.game].seats]
            chosen = tuple(able) or chosen
        document, drawn = _view(source, chosen, seats or 0, bot, changed, flags, at)
    if as_json:
        print_json(document)
        return
    console = screen()
    for each in drawn:
        console.print(each, soft_wrap=isinstance(each, str))


def _view(
    source: DataSource,
    chosen: Sequence[ChosenLadder],
    seats: int,
    bot: str | None,
    changed: str | None,
    flags: bool,
    at: datetime | None,
) -> tuple[dict[str, object], Iterable[RenderableType]]:
    """Read what the options choose. Return it as a document and, for each ladder, as a drawing or a sentence."""
    document: dict[str, object]
    if at is not None:
        past = [source.past_ladder(each.game, at, each.ladder, each.season) for each in chosen]
        return {"ladders": past}, (_drawn_past(each, at) for each in past)
    if bot is not None:
        histories = [source.history(bot, each.game, ladder=each.ladder, season=each.season) for each in chosen]
        document = {"bot": bot, "histories": _named(chosen, "matches", histories)}
        return document, map(partial(_drawn_history, bot), chosen, histories)
    if changed is not None:
        versions = [source.versions(changed, each.game, ladder=each.ladder, season=each.season) for each in chosen]
        document = {"bot": changed, "games": _named(chosen, "versions", versions)}
        return document, map(partial(_drawn_versions, changed), chosen, versions)
    ladders = [source.ladder(each.game, seats, each.ladder, each.season) for each in chosen]
    if flags:
        document = {"games": _named(chosen, "flags", [each.flags for each in ladders])}
        return document, map(_drawn_flags, chosen, ladders)
    return {"ladders": ladders}, map(_drawn_ladder, chosen, ladders)


def _named(chosen: Sequence[ChosenLadder], key: str, values: Sequence[object]) -> list[dict[str, object]]:
    return [each.named | {key: value} for each, value in zip(chosen, values, strict=True)]


def _drawn_past(ladder: PastLadder, at: datetime) -> RenderableType:
    if ladder.published is not None:
        return past_ladder_table(ladder)
    name = ladder_in_words(ladder.game, ladder.ladder, ladder.season)
    return f"No ladder of {name} is kept that was published until {at.astimezone():%Y-%m-%d %H:%M:%S}."


def _drawn_history(bot: str, chosen: ChosenLadder, matches: Sequence[RatedRow]) -> RenderableType:
    if not matches:
        return f"{bot} has no rated match of {chosen.words} yet."
    console = screen()
    height = console.height if console.is_terminal else DEFAULT_HEIGHT
    return history(bot, chosen.words, matches, console.width, height)


def _drawn_versions(bot: str, chosen: ChosenLadder, rows: Sequence[VersionRow]) -> RenderableType:
    return versions_table(bot, chosen.words, rows) if rows else f"{bot} has no rated match of {chosen.words} yet."


def _drawn_flags(chosen: ChosenLadder, ladder: LadderRows) -> RenderableType:
    return flags_table(chosen.words, ladder.flags) if ladder.flags else f"Nothing stands out in {chosen.words}."


def _drawn_ladder(chosen: ChosenLadder, ladder: LadderRows) -> RenderableType:
    if ladder.standings:
        return ladder_table(ladder)
    where = f" at a table for {ladder.seats}" if ladder.seats else ""
    return f"No match of {chosen.words}{where} is finished yet."


@command.command("list", epilog="Example: arena ladder list --server 127.0.0.1:50051")
@takes_source
@json_rows(LadderEntryRow)
def list_ladders(place: DataPlace, as_json: bool) -> None:
    """List the ladders with their seasons; a server also has their clocks and who may play.

    \b
    JSON: {"ladders": [LadderEntryRow]}
    What only a running server knows (seats and all after it) is null with --data, which
    lists only default ladders and those with a match. The last season is the current one.
    """
    with place.open() as source:
        rows = source.ladders()
    print_rows("ladders", rows, lambda: ladders_table("Ladders", rows), as_json)


@command.command(epilog='Example: arena ladder void 4711 --reason "the deal was known" --data ./arena-data')
@click.argument("match_id", metavar="[MATCH]", required=False, type=click.IntRange(1, LARGEST_MATCH))
@click.option("--bot", metavar="NAME", help="All results of this bot that count, from --since on.")
@click.option(
    "--since",
    metavar="TIME",
    callback=_past_instant,
    help="With --bot: 2026-01-31, 2026-01-31T18:00 (local) or …T18:00Z.",
)
@click.option("--reason", metavar="TEXT", required=True, help="The public reason, in at most 200 characters.")
@takes_data
@json_option
def void(
    match_id: int | None, bot: str | None, since: datetime | None, reason: str, place: DataPlace, as_json: bool
) -> None:
    """Permanently void the result of a match, or all results of a bot since a given time.

    A void result no longer counts. Matches and their replays stay. Only the operator can do this, with write access to
    the data directory. If a server uses the directory, it fits the ladder again at once; otherwise the next start does.

    \b
    JSON: {"match", "reason"}; with --bot: {"bot", "since", "matches", "reason"}
    """
    if (match_id is None) == (bot is None) or (bot is None) != (since is None):
        raise click.UsageError("say which: MATCH, or --bot NAME with --since TIME")
    if bot is not None and since is not None:
        _void_results(bot, since, reason, place, as_json)
        return
    assert match_id is not None, "one of the two is there"
    from arena.store.matches import matches

    AuthorizedChange(place).change(
        lambda connection: matches.void(connection, match_id, reason, time.time_ns() // 1000),
        lambda server, token: server.void(match_id, reason, token),
    )
    answer({"match": match_id, "reason": reason}, f"The result of match {match_id} no longer counts.", as_json)


@command.command(epilog="Example: arena ladder reset nullern --data ./arena-data")
@click.argument("ladder")
@takes_data
@json_option
def reset(ladder: str, place: DataPlace, as_json: bool) -> None:
    """Begin the next season of a ladder: its ratings begin anew.

    Earlier seasons stay as they are. Running matches count for the season in which they began. The log of results gets
    a leaf about it. Only the operator can do this, with write access to the data directory.

    \b
    JSON: {"ladder", "season"}
    """
    from arena.store.ladder import seasons

    def here(connection: Connection) -> int:
        if ladder not in (known := seasons.games_of(connection)):
            raise NoSuchLadder(ladder, known)
        return seasons.begin(connection, ladder, time.time_ns() // 1000).number

    season = AuthorizedChange(place).change(here, lambda server, token: server.begin_season(ladder, token))
    answer({"ladder": ladder, "season": season}, f"Season {season} of {ladder} begins.", as_json)


command.add_command(rebuild)


def _void_results(bot: str, since: datetime, reason: str, place: DataPlace, as_json: bool) -> None:
    from arena.store.matches import matches

    first, now = (since - EPOCH) // timedelta(microseconds=1), time.time_ns() // 1000
    voided = AuthorizedChange(place).change(
        lambda connection: [*matches.void_results(connection, bot, first, reason, now)],
        lambda server, token: server.void_results(bot, first, reason, token),
    )
    document = {"bot": bot, "since": since, "matches": voided, "reason": reason}
    results = f"{len(voided)} results" if len(voided) != 1 else "1 result"
    answer(document, f"{results} of {bot} no longer count{'s' if len(voided) == 1 else ''}.", as_json)


@click.command(epilog="Example: arena matches --bot counter --limit 5 --before 100")
@chooses_matches
@click.option("--lost", "only_lost", is_flag=True, help="With --bot: only those that it finished and did not win.")
@takes_source
@json_rows(MatchRow)
def matches_command(
    game: str,
    ladder: str | None,
    season: int | None,
    bot: str,
    limit: int,
    before: int | None,
    only_lost: bool,
    place: DataPlace,
    as_json: bool,
) -> None:
    """List matches, newest first.

    \b
    JSON: {"matches": [MatchRow]}
    State is playing, finished or interrupted; the result's fields are null until there is
    a result. Kind is rated, casual or challenge. Voided is the reason why a result is void,
    empty if it counts. Ladder and season are absent in the first season of the game's
    default ladder.
    """
    if only_lost and not bot:
        raise click.UsageError("--lost needs a bot that lost: name it with --bot")
    with place.open() as source:
        of_game, of_ladder, of_season = chosen_matches(source, game, ladder, season)
        if only_lost:
            from arena.queries.profile import lost  # Loads the games.

            found = source.all_matches(of_game, bot, before, of_ladder, of_season)
            rows = tuple(islice((row for row in found if lost(row, bot)), limit))
        else:
            rows = source.matches(of_game, bot, limit, before, of_ladder, of_season)
        if bot and not rows:
            known_bot(source, bot)
    hint = ""
    if len(rows) == limit:
        chosen = typed_choice(game, ladder, season)
        chosen += "".join([f" --bot {quote(bot)}" if bot else "", " --lost" * only_lost])
        hint = f"Older ones: arena matches{chosen} --before {rows[-1].match_id}{place.typed}"
    print_rows("matches", rows, lambda: matches_table("Matches", rows), as_json, "No such match.", hint)
