"""The declarations of the endpoints, one for each address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from arena.queries.game_rows import GameRow, game_row
from arena.queries.log_rows import LogHeadRow, head_row
from arena.queries.profile import BotProfile, gathered
from arena.queries.source import LARGEST_MATCH, LARGEST_PAGE, ChosenLadder, DataSource, choose_ladders
from arena.store.base.rows import (
    BotEventRow,
    BotRow,
    EventRow,
    LadderEntryRow,
    LadderRows,
    OpponentRow,
    PastLadder,
    RatedRow,
    VersionRow,
)
from arena.store.ladder.opponents import LAST as LAST_SUMMED
from arena.web.api.endpoint import Endpoint, Reply, Sources, limit
from arena.web.api.match_endpoints import MATCH_ENDPOINTS
from arena.web.api.parameters import BOT, LADDER, OF_GAME, OF_LADDER, SEASON, Asked, instant, number, words
from arena.web.reading.reader import Missing, event_found
from engine.registry import GAMES

PROFILED: Final = 500
"""Default number of a ladder's newest matches in a profile."""


async def _games(sources: Sources, _: Asked) -> Reply:
    names = await sources.read(lambda source: source.games())
    return Reply({"games": [game_row(name) for name in names if name in GAMES]})


async def _ladders(sources: Sources, _: Asked) -> Reply:
    return Reply({"ladders": await sources.live.ladders()})


async def _ladder(sources: Sources, asked: Asked) -> Reply:
    name, number = asked["ladder"], asked["season"] or 0
    if asked["seats"] is not None:
        return Reply(await sources.table_ladders.ladder("", name, number, asked["seats"]))
    return Reply(await sources.read(lambda source: source.ladder(ladder=name, season=number)))


async def _past_ladder(sources: Sources, asked: Asked) -> Reply:
    name, number = asked["ladder"], asked["season"] or 0
    return Reply(await sources.read(lambda source: source.past_ladder("", asked["at"], name, number)))


async def _bots(sources: Sources, asked: Asked) -> Reply:
    after = asked["after"].lower()
    rows = [row for row in await sources.read(lambda source: source.bots()) if row.name.lower() > after]
    page = rows[: asked["limit"]]
    return Reply({"bots": page}, {"after": page[-1].name} if len(rows) > len(page) else None)


async def _bot(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> list[BotProfile]:
        bot, last = asked["name"], asked["last"]
        profiles = [gathered(source, each.game, bot, last, each.ladder, each.season) for each in _chosen(source, asked)]
        found = [each for each in profiles if each is not None]
        if not found and bot.lower() not in [row.name.lower() for row in source.bots()]:
            raise Missing(f"there is no bot {bot!r}")
        return found

    return Reply({"games": await sources.read(query)})


async def _history(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> list[dict[str, object]]:
        bot, most = asked["name"], asked["limit"]
        return [
            each.named | {"matches": source.history(bot, each.game, most, each.ladder, each.season)}
            for each in _chosen(source, asked)
        ]

    return Reply({"bot": asked["name"], "histories": await sources.read(query)})


async def _versions(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> list[dict[str, object]]:
        bot, most = asked["name"], asked["limit"]
        return [
            each.named | {"versions": source.versions(bot, each.game, most, each.ladder, each.season)}
            for each in _chosen(source, asked)
        ]

    return Reply({"bot": asked["name"], "games": await sources.read(query)})


async def _opponents(sources: Sources, asked: Asked) -> Reply:
    most, after = asked["limit"], asked["after"]

    def query(source: DataSource) -> tuple[ChosenLadder, tuple[OpponentRow, ...]]:
        [each] = choose_ladders(source.ladders(), "", asked["ladder"], asked["season"] or 0)
        return each, source.opponents(asked["name"], each.game, most, after, asked["last"], each.ladder, each.season)

    chosen, rows = await sources.read(query)
    following = {"after": after + most} if len(rows) == most else None
    return Reply({"bot": asked["name"], **chosen.named, "opponents": rows}, following)


async def _bot_events(sources: Sources, asked: Asked) -> Reply:
    most = asked["limit"]
    rows = await sources.read(lambda source: source.bot_events(most, asked["before"]))
    return Reply({"events": rows}, {"before": rows[-1].number} if len(rows) == most else None)


async def _events(sources: Sources, asked: Asked) -> Reply:
    most, before = asked["limit"], asked["before"]
    rows = await sources.fresh.read(("events", most, before), lambda source: source.events(most, before))
    return Reply({"events": rows}, {"before": rows[-1].number} if len(rows) == most else None)


async def _event(sources: Sources, asked: Asked) -> Reply:
    return Reply(await event_found(sources.fresh, asked["name"]))


async def _log_head(sources: Sources, _: Asked) -> Reply:
    return Reply(await sources.read(lambda source: head_row(source.log_state())))


def _chosen(source: DataSource, asked: Asked) -> tuple[ChosenLadder, ...]:
    return choose_ladders(source.ladders(), asked["game"], asked["ladder"], asked["season"] or 0)


BEFORE_EVENT: Final = number("before", "Only decisions older than the one of this number.", 1, LARGEST_MATCH)
SEATS: Final = number("seats", "Only from results at tables of this size; fitted for who asks.", 1, 99)
AT: Final = instant("at", "As it was last published until then; UTC unless it names another zone.")
BEFORE_NUMBER: Final = number("before", "Only events announced before the one of this number.", 1, LARGEST_MATCH)
EVENT: Final = words("name", "The event's name.", where="path", required=True)
EVENT_TABLE: Final = {"number": int, "match": int, "state": str, "bots": [str], "points": [int]}
"""A table of an event, numbered from 0. A house bot's name is empty."""
NAMED: Final = {"game": str, "ladder?": str, "season?": int}
"""The fields that identify a season. The last two are absent in the first season of the game's default ladder."""
AFTER: Final = words("after", "Only names that come after this one.", default="")
LAST: Final = number("last", "Its latest matches on a ladder that are summed up, at most.", 1, LARGEST_PAGE, PROFILED)
AFTER_OPPONENTS: Final = number("after", "Number of opponents to skip.", 0, (1 << 31) - 1, 0)
LAST_RESULTS: Final = number("last", "Its latest matches that are summed up, at most.", 1, LAST_SUMMED, LAST_SUMMED)

ENDPOINTS: Final = (
    Endpoint("/games", "games", "The games with their options and sizes.", {"games": [GameRow]}, _games, fresh=60),
    Endpoint(
        "/ladders",
        "ladders",
        "The ladders with their seasons; terms such as the clock are null if only a data directory is read.",
        {"ladders": [LadderEntryRow]},
        _ladders,
    ),
    Endpoint(
        "/ladder/{ladder}",
        "ladder",
        "A ladder, best first.",
        LadderRows,
        _ladder,
        (LADDER, SEASON, SEATS),
        example="/ladder/sixth_sense?seats=3",
    ),
    Endpoint(
        "/ladder/{ladder}/past",
        "pastLadder",
        "A ladder of the past.",
        PastLadder,
        _past_ladder,
        (LADDER, SEASON, AT),
        example="/ladder/sixth_sense/past?at=2999-01-31",
    ),
    Endpoint(
        "/bots",
        "bots",
        "The bots by name.",
        {"bots": [BotRow]},
        _bots,
        (limit("Bots", 1000), AFTER),
        example="/bots?limit=10",
    ),
    Endpoint(
        "/bots/{name}",
        "bot",
        "What a bot's latest matches say of it.",
        {"games": [BotProfile]},
        _bot,
        (BOT, OF_GAME, OF_LADDER, SEASON, LAST),
        fresh=10,
        example="/bots/counter?game=sixth_sense",
    ),
    Endpoint(
        "/bots/{name}/history",
        "botHistory",
        "How a bot's live rating moved, by match.",
        {"bot": str, "histories": [NAMED | {"matches": [RatedRow]}]},
        _history,
        (BOT, OF_GAME, OF_LADDER, SEASON, limit("Newest matches on a ladder", 1000)),
        example="/bots/counter/history?limit=10",
    ),
    Endpoint(
        "/bots/{name}/versions",
        "botVersions",
        "A bot's versions, each beside the one before.",
        {"bot": str, "games": [NAMED | {"versions": [VersionRow]}]},
        _versions,
        (BOT, OF_GAME, OF_LADDER, SEASON, limit("Newest versions on a ladder", 1000)),
        example="/bots/counter/versions",
    ),
    Endpoint(
        "/bots/{name}/opponents/{ladder}",
        "opponents",
        "How a bot did against each other one, those met most often first.",
        {"bot": str} | NAMED | {"opponents": [OpponentRow]},
        _opponents,
        (BOT, LADDER, SEASON, limit("Opponents"), AFTER_OPPONENTS, LAST_RESULTS),
        fresh=10,
        example="/bots/counter/opponents/sixth_sense",
    ),
    Endpoint(
        "/bot-events",
        "botEvents",
        "The operator's decisions about bots and owners, the newest first.",
        {"events": [BotEventRow]},
        _bot_events,
        (limit("Decisions"), BEFORE_EVENT),
        example="/bot-events?limit=10",
    ),
    Endpoint(
        "/events",
        "events",
        "The events, the newest first.",
        {"events": [EventRow]},
        _events,
        (limit("Events"), BEFORE_NUMBER),
        example="/events?limit=10",
    ),
    Endpoint(
        "/events/{name}",
        "event",
        "An event with its entrants, tables, leaves of the log, and its standings as of the last look or its result.",
        {
            "event": EventRow,
            "reason": str,
            "entrants": [{"bot": str, "checked_in": bool}],
            "earlier": Mapping[str, Any],
            "rounds": int,
            "tables": [EVENT_TABLE],
            "leaves": [int],
            "result": Mapping[str, Any] | None,
        },
        _event,
        (EVENT,),
        fresh=3,
        example="/events/friday",
    ),
    *MATCH_ENDPOINTS,
    Endpoint("/log/head", "logHead", "The newest signed head of the log of results.", LogHeadRow, _log_head),
)
