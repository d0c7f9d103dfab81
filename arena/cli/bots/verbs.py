"""`arena bots`: list bots, challenge, make invitations, replace and revoke tokens, un-park bots, moderation."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, Literal, TypeAlias

import click
from sqlalchemy import Connection

from arena.cli.authorization import AuthorizedChange, takes_authorization, takes_own_token
from arena.cli.bots.profile import drawn_profile, opponents_table
from arena.cli.data_source import (
    LARGEST_MATCH,
    DataPlace,
    chooses_ladder,
    chosen_games,
    chosen_ladders,
    known_bot,
    limit_option,
    season_option,
    takes_data,
    takes_server,
    takes_source,
    time_span,
)
from arena.cli.terminal.screen import answer, json_option, json_rows, print_json, print_rows, screen
from arena.cli.terminal.tables import bot_events_table, bots_table, invitations_table
from arena.queries.profile import BotProfile, gathered
from arena.queries.source import ChosenLadder
from arena.store.base.rows import BotEventRow, BotRow, InvitationRow, OpponentRow
from arena.store.bots import bots, entry
from arena.store.bots.entry import MOST_AT_ONCE, NewInvitations
from arena.store.moderation import moderation, parking

MOST_MATCHES: Final = 100_000
"""Maximum number of matches that one profile covers."""


@click.group(epilog="Example: arena bots list")
def command() -> None:
    """List bots, challenge, invite, change tokens, un-park, moderate."""


@command.command("list", epilog="Example: arena bots list --server 127.0.0.1:50051")
@takes_source
@json_rows(BotRow)
def list_bots(place: DataPlace, as_json: bool) -> None:
    """List the registered bots, except bots that the operator has hidden or deleted.

    \b
    JSON: {"bots": [BotRow]}
    Fields that only a running server knows (connected, playing, round_trip_ms, declined,
    silent, pace_ms) are null with --data. "parked" is the reason why a bot gets no seats,
    "banned" the reason why its owner's bots may not connect; each may be empty.
    """
    with place.open() as source:
        rows = source.bots()
    table = partial(bots_table, "Bots", rows, datetime.now(UTC))
    print_rows("bots", rows, table, as_json, "No bot is registered yet.")


@command.command(epilog="Example: arena bots invite --owner alice --data ./arena-data")
@click.option("--owner", metavar="NAME", default="", help="The bot's owner; bots of one owner meet in challenges only.")
@click.option("--owner-prefix", metavar="TEXT", default="", help="Instead, new owners: TEXT1, TEXT2, …")
@click.option(
    "--count", metavar="N", type=click.IntRange(1, MOST_AT_ONCE), help="The number of new owners, one invitation each."
)
@click.option("--ladder", metavar="NAME", default="", help="The ladder that the bot can enter with it.")
@click.option("--expires", metavar="TIME", callback=time_span, help="Its validity, such as 12h, 14d or 8w.")
@click.option(
    "--csv", "as_csv", is_flag=True, help="Print a line OWNER,CODE for each, below the header owner,invitation."
)
@takes_data
@json_option
def invite(
    owner: str,
    owner_prefix: str,
    count: int | None,
    ladder: str,
    expires: int | None,
    as_csv: bool,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Make invitations; each registers one bot, and lets it enter a ladder.

    For servers with --registration invited, and for ladders with invitations. A registered bot enters a ladder with
    `arena bots join`. Only the operator can do this, with write access to the data directory. A code is shown only
    once.

    \b
    JSON: {"owner", "invitation"}; with --count: {"invitations": [{"owner", "invitation"}]}
    """
    if owner and owner_prefix:
        raise click.UsageError("--owner is for one invitation and --owner-prefix for many: choose one")
    if bool(owner) == bool(owner_prefix) or bool(owner_prefix) != (count is not None):
        raise click.UsageError("say for whom: --owner NAME, or --owner-prefix TEXT with --count N")
    if as_csv and as_json:
        raise click.UsageError("--csv and --json are different forms: choose one")
    now = time.time_ns() // 1000
    new = NewInvitations(owner, owner_prefix, count or 0, ladder, None if expires is None else now + expires)
    asked = True

    def here(connection: Connection) -> tuple[tuple[str, str], ...]:
        nonlocal asked
        asked = False
        return entry.create(connection, new, now)

    made = AuthorizedChange(place).change(here, lambda server, token: server.invite(new, token))
    named = [{"owner": name, "invitation": code} for name, code in made]
    if as_json:
        print_json(named[0] if owner else {"invitations": named})
    elif as_csv:
        click.echo("\n".join(["owner,invitation", *map(",".join, made)]))
    else:
        click.echo("\n".join([code if owner else f"{name} {code}" for name, code in made]))
    if ladder and not asked:
        click.echo(f"No server works on {place.data}: whether it has the ladder {ladder} was not checked.", err=True)
    if owner and not (as_csv or as_json):
        code = made[0][1]
        on, also = (f" --ladder {ladder}", f", ladders=['{ladder}']") if ladder else ("", "")
        typed = f"python -m arena_client my_bot:MyBot HOST:PORT --invitation {code}{on}"
        click.echo(f"{owner} registers one bot with it: {typed}, or run(…, invitation='{code}'{also})", err=True)


@command.command(epilog="Example: arena bots invitations --data ./arena-data")
@takes_data
@json_rows(InvitationRow)
def invitations(place: DataPlace, as_json: bool) -> None:
    """List invitations, without their codes.

    Only the operator can do this, with write access to the data directory.

    \b
    JSON: {"invitations": [InvitationRow]}
    """
    rows = AuthorizedChange(place).change(entry.list_invitations, lambda server, token: server.invitations(token))
    table = partial(invitations_table, "Invitations", rows, datetime.now(UTC))
    print_rows("invitations", rows, table, as_json, "No invitation was made yet.")


@command.command("revoke-invitation", epilog="Example: arena bots revoke-invitation 7 --data ./arena-data")
@click.argument("number", type=click.IntRange(1, LARGEST_MATCH))
@takes_data
@json_option
def revoke_invitation(number: int, place: DataPlace, as_json: bool) -> None:
    """Revoke an invitation that no bot has used.

    `arena bots invitations` has the numbers. Only the operator can do this, with write access to the data directory.

    \b
    JSON: {"number"}
    """
    AuthorizedChange(place).change(
        lambda connection: entry.revoke(connection, number, time.time_ns() // 1000),
        lambda server, token: server.revoke_invitation(number, token),
    )
    answer({"number": number}, f"Invitation {number} is no longer valid.", as_json)


@command.command(epilog="Example: arena bots join nullern-slow CODE --token-file ./my-bot.token")
@click.argument("ladder")
@click.argument("code")
@takes_own_token("The file with the token of the bot that enters the ladder.")
@takes_server
@json_option
def join(ladder: str, code: str, token_file: Path, place: DataPlace, as_json: bool) -> None:
    """Let a registered bot enter a ladder with the code of an invitation.

    After that the bot names the ladder when it connects (--ladder, or ladders=[…]).

    \b
    JSON: {"ladder"}
    """
    with place.reached_server() as server:
        server.join(ladder, code, token_file.read_text().strip())
    answer({"ladder": ladder}, f"The bot may play on {ladder} now.", as_json)


@command.command(epilog="Example: arena bots show counter --game nullern --last 500")
@click.argument("name")
@chooses_ladder
@click.option(
    "--last",
    type=click.IntRange(1, MOST_MATCHES),
    default=1000,
    show_default=True,
    help="Maximum number of latest matches of a ladder.",
)
@takes_source
@json_rows(BotProfile)
def show(
    name: str,
    game: str | None,
    ladder: str | None,
    season: int | None,
    last: int,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Show a profile of a bot from its latest matches.

    The profile has results by seat and against every opponent, each with a 95 % interval, faults, and the best and
    worst matches. Points are counted above the mean of the others at the table. The score against an opponent is 1 for
    a better place, ½ for the same place and 0 for a worse place.

    \b
    JSON: {"games": [BotProfile]}
    "ladder" and "season" are absent in the first season of the game's default ladder.
    """
    with place.open() as source:
        if game or ladder or season:
            chosen = chosen_ladders(source.ladders(), game, ladder, season)
        else:
            chosen = tuple(ChosenLadder(each.game, each.name, each.seasons[-1].number) for each in source.ladders())
        profiles = [gathered(source, each.game, name, last, each.ladder, each.season) for each in chosen]
        found = [each for each in profiles if each is not None]
        if not found:
            known_bot(source, name)
    if as_json:
        print_json({"games": found})
        return
    if not found:
        of = f" of {chosen[0].words}" if game or ladder else ""
        click.echo(f"{name} has finished no match{of} yet.")
        return
    for each in found:
        screen().print(drawn_profile(each))
    click.echo(f"Why a match was lost: arena why {found[0].worst[0].match_id} --game{place.typed}")


@command.command(epilog="Example: arena bots opponents counter --game nullern --limit 20")
@click.argument("name")
@click.option("--game", metavar="NAME", help="The game, if no --ladder is named.")
@click.option("--ladder", metavar="NAME", help="The ladder.  [default: that of the game]")
@season_option
@limit_option("bots", 50)
@click.option(
    "--after", type=click.IntRange(0, (1 << 31) - 1), default=0, help="Skip this number of bots, for the next page."
)
@click.option(
    "--last",
    type=click.IntRange(1, 1000),
    default=1000,
    show_default=True,
    help="Maximum number of latest matches to sum up.",
)
@takes_source
@json_rows(OpponentRow)
def opponents(
    name: str,
    game: str | None,
    ladder: str | None,
    season: int | None,
    limit: int,
    after: int,
    last: int,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Show a bot's results against each other bot, most frequent opponents first.

    A score is a mean over matches: 1 for a better place than the opponent's, ½ for the same place, 0 for a worse place.

    \b
    JSON: {"bot", "game", "opponents": [OpponentRow]}; "ladder" and "season", too, except in
    the first season of the game's default ladder.
    """
    if not (game or ladder):
        raise click.UsageError("say where: --game NAME or --ladder NAME")
    with place.open() as source:
        [chosen] = chosen_ladders(source.ladders(), game, ladder, season)
        rows = source.opponents(name, chosen.game, limit, after, last, chosen.ladder, chosen.season)
    if as_json:
        print_json({"bot": name, **chosen.named, "opponents": rows})
        return
    if not rows:
        click.echo(f"{name} has met no {'further ' if after else ''}bot in a match of {chosen.words} that counts.")
        return
    screen().print(opponents_table(f"{name}, {chosen.words}, by opponent", rows))
    if len(rows) == limit:
        click.echo(f"The next ones: --after {after + limit}")


@command.command(epilog="Example: arena bots unpark my-bot --token-file ./my-bot.token")
@click.argument("name")
@takes_authorization
@json_option
def unpark(name: str, authorized: AuthorizedChange, as_json: bool) -> None:
    """Un-park a bot, so that it gets seats again.

    A bot is parked after three matches in a row in which it was suspended or a house bot took over its seat; `arena
    bots list` shows which bots are parked. The author un-parks a bot with its token, the operator with the data
    directory.

    \b
    JSON: {"bot"}
    """
    authorized.change(
        lambda connection: parking.unpark(connection, name), lambda server, token: server.unpark(name, token)
    )
    answer({"bot": name}, f"{name} is given seats again.", as_json)


@command.command(epilog="Example: arena bots rotate my-bot --token-file ./my-bot.token")
@click.argument("name")
@takes_authorization
@json_option
def rotate(name: str, authorized: AuthorizedChange, as_json: bool) -> None:
    """Replace a bot's token.

    The old token is invalid at once, and the bot's connection is closed. The new token is shown only once; with
    --token-file it is also written to the file.

    \b
    JSON: {"bot", "token"}
    """
    token = authorized.change(
        lambda connection: bots.rotate(connection, name).token, lambda server, present: server.rotate(name, present)
    )
    answer({"bot": name, "token": token}, token, as_json)
    if authorized.token_file is not None:
        try:
            authorized.token_file.write_text(token)
        except OSError as error:
            raise click.ClickException(f"keep the new token: it could not be put in the file ({error})") from error
    click.echo(f"The old token of {name} is no longer valid.", err=True)


@command.command(epilog="Example: arena bots revoke my-bot --data ./arena-data")
@click.argument("name")
@takes_authorization
@json_option
def revoke(name: str, authorized: AuthorizedChange, as_json: bool) -> None:
    """Revoke a bot's token and close its connection.

    The bot, its matches and its ratings stay. Only the operator can give it a new token (`arena bots rotate`).

    \b
    JSON: {"bot"}
    """
    authorized.change(
        lambda connection: bots.revoke(connection, name), lambda server, token: server.revoke(name, token)
    )
    answer({"bot": name}, f"The token of {name} is no longer valid.", as_json)


Decision: TypeAlias = Literal["ban", "unban", "hide", "show", "delete", "rename"]
"""Name of a function in `moderation`, and of the decision passed to `Client.decide`."""

takes_reason = click.option(
    "--reason", metavar="TEXT", default="", help="The public reason, in at most 200 characters."
)


@command.command(epilog='Example: arena bots ban mallory --reason "one bot under many names" --data ./arena-data')
@click.argument("owner")
@takes_reason
@takes_data
@json_option
def ban(owner: str, reason: str, place: DataPlace, as_json: bool) -> None:
    """Ban an owner, even one without bots: no bot of that owner may connect.

    Their streams end at once, house bots finish their matches, and the owner cannot register bots. Results count as
    before; `arena ladder void` removes them. Only the operator can do this, with write access to the data directory.
    `arena bots events` shows the ban publicly.

    \b
    JSON: {"owner", "reason", "bots"}, "bots" names the owner's listed bots
    """
    _decide(place, "ban", owner=owner, reason=reason)
    with place.open() as source:
        own = [row.name for row in source.bots() if row.owner.lower() == owner.lower()]
    his = f"with {', '.join(own)}" if own else "who has no bot that is listed: see `arena bots list` for the spelling"
    answer({"owner": owner, "reason": reason, "bots": own}, f"{owner} is banned, {his}.", as_json)


@command.command(epilog="Example: arena bots unban mallory --data ./arena-data")
@click.argument("owner")
@takes_reason
@takes_data
@json_option
def unban(owner: str, reason: str, place: DataPlace, as_json: bool) -> None:
    """Lift the ban of an owner, so that the owner's bots may connect again.

    \b
    JSON: {"owner", "reason"}
    """
    _decide(place, "unban", owner=owner, reason=reason)
    answer({"owner": owner, "reason": reason}, f"{owner} is not banned any more.", as_json)


@command.command(epilog="Example: arena bots hide my-probe --data ./arena-data")
@click.argument("name")
@takes_reason
@takes_data
@json_option
def hide(name: str, reason: str, place: DataPlace, as_json: bool) -> None:
    """Take a bot off the list of bots.

    It continues to play. Ladder and matches still show its name, marked as hidden and without its owner.

    \b
    JSON: {"bot", "reason"}
    """
    _decide(place, "hide", name=name, reason=reason)
    answer({"bot": name, "reason": reason}, f"{name} is hidden.", as_json)


@command.command(epilog="Example: arena bots unhide my-probe --data ./arena-data")
@click.argument("name")
@takes_reason
@takes_data
@json_option
def unhide(name: str, reason: str, place: DataPlace, as_json: bool) -> None:
    """Put a hidden bot on the list of bots again.

    \b
    JSON: {"bot", "reason"}
    """
    _decide(place, "show", name=name, reason=reason)
    answer({"bot": name, "reason": reason}, f"{name} is listed.", as_json)


@command.command(epilog='Example: arena bots delete my-bot --reason "its author wished it" --data ./arena-data')
@click.argument("name")
@takes_reason
@takes_data
@json_option
def delete(name: str, reason: str, place: DataPlace, as_json: bool) -> None:
    """Delete a bot permanently: its token and its owner are erased.

    Its connection is closed at once, and it is no longer listed. Matches, ladder and replays show its name, marked as
    deleted; no other bot can have the name. Results count as before.

    \b
    JSON: {"bot", "reason"}
    """
    _decide(place, "delete", name=name, reason=reason)
    answer({"bot": name, "reason": reason}, f"{name} is deleted.", as_json)


@command.command(epilog="Example: arena bots rename my-bot our-bot --data ./arena-data")
@click.argument("name", metavar="OLD")
@click.argument("new_name", metavar="NEW")
@takes_reason
@takes_data
@json_option
def rename(name: str, new_name: str, reason: str, place: DataPlace, as_json: bool) -> None:
    """Give a bot another name.

    Its results are shown under the new name, its replays under the old one. Token and connection stay, and its current
    matches end under the old name. The old name still finds the bot; no other bot can have it.

    \b
    JSON: {"bot", "new_name", "reason"}
    """
    _decide(place, "rename", name=name, new_name=new_name, reason=reason)
    answer({"bot": name, "new_name": new_name, "reason": reason}, f"{name} is {new_name} now.", as_json)


@command.command(epilog="Example: arena bots events --limit 5 --before 100")
@limit_option("events", 20)
@click.option(
    "--before", metavar="EVENT", type=click.IntRange(1, LARGEST_MATCH), help="Only events older than this one."
)
@takes_source
@json_rows(BotEventRow)
def events(limit: int, before: int | None, place: DataPlace, as_json: bool) -> None:
    """List the operator's decisions about bots and owners, newest first.

    \b
    JSON: {"events": [BotEventRow]}
    """
    with place.open() as source:
        rows = source.bot_events(limit=limit, before=before)
    hint = f"Older ones: arena bots events --before {rows[-1].number}{place.typed}" if len(rows) == limit else ""
    table = partial(bot_events_table, "What the operator did", rows)
    print_rows("events", rows, table, as_json, "No such event.", hint)


def _decide(place: DataPlace, decision: Decision, **fields: str) -> None:
    """Make a moderation decision, in the store or through a running server."""
    AuthorizedChange(place).change(
        lambda connection: getattr(moderation, decision)(connection, **fields, at=time.time_ns() // 1000),
        lambda server, token: server.decide(decision, token, **fields),
    )


@command.command(epilog="Example: arena bots challenge bert --game nullern --token-file ./anna.token")
@click.argument("opponents", metavar="OPPONENT...", nargs=-1, required=True)
@click.option("--game", metavar="NAME", help="The game to play, on its default ladder without --ladder.")
@click.option("--ladder", metavar="NAME", help="The ladder whose tables and limits the match has.")
@takes_own_token("The file with the token of the bot that challenges.")
@takes_server
@json_option
def challenge(
    opponents: tuple[str, ...],
    game: str | None,
    ladder: str | None,
    token_file: Path,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Have a bot challenge others to an unrated match of these bots only.

    All of them must be connected, take challenges (--challenges, or challenges=True) and accept this one. House bots
    always accept, and may be named several times. The command waits up to half a minute for all of them to have room,
    and returns when the match begins.

    \b
    JSON: {"match", "game", "opponents"}, and "ladder" with --ladder
    """
    if game is None and ladder is None:
        raise click.UsageError("name the game with --game, or a ladder with --ladder")
    with place.reached_server() as server:
        if game is not None or ladder is None:
            [game] = chosen_games(server.games(), game)
        match_id = server.challenge(opponents, game or "", token_file.read_text().strip(), ladder or "")
        row, _ = server.match(match_id)
    of_ladder = {} if ladder is None else {"ladder": ladder}
    document = {"match": match_id, "game": row.game, **of_ladder, "opponents": opponents}
    answer(document, f"Match {match_id} begins. Once it is over: arena replay show {match_id}{place.typed}", as_json)
