"""The declarations of the endpoints, one for each address."""

from __future__ import annotations

from typing import Final

from arena.queries.game_rows import GameRow, game_row
from arena.queries.log_rows import LogHeadRow, head_row
from arena.queries.profile import BotProfile, gathered
from arena.queries.source import LARGEST_MATCH, LARGEST_PAGE, DataSource
from arena.store.base.rows import (
    BotEventRow,
    BotRow,
    LadderRows,
    OpponentRow,
    PastLadder,
    RatedRow,
    VersionRow,
)
from arena.store.ladder.opponents import LAST as LAST_SUMMED
from arena.web.api.endpoint import Endpoint, Reply, Sources, limit
from arena.web.api.match_endpoints import MATCH_ENDPOINTS
from arena.web.api.parameters import BOT, OF_GAME, Asked, game, instant, number, words
from arena.web.reading.reader import Missing
from engine.registry import GAMES

PROFILED: Final = 500
"""Default number of a game's newest matches in a profile."""


async def _games(sources: Sources, _: Asked) -> Reply:
    names = await sources.read(lambda source: source.games())
    return Reply({"games": [game_row(name) for name in names if name in GAMES]})


async def _ladder(sources: Sources, asked: Asked) -> Reply:
    if asked["seats"] is not None:
        return Reply(await sources.table_ladders.ladder(asked["game"], asked["seats"]))
    return Reply(await sources.read(lambda source: source.ladder(asked["game"])))


async def _past_ladder(sources: Sources, asked: Asked) -> Reply:
    return Reply(await sources.read(lambda source: source.past_ladder(asked["game"], asked["at"])))


async def _bots(sources: Sources, asked: Asked) -> Reply:
    after = asked["after"].lower()
    rows = [row for row in await sources.read(lambda source: source.bots()) if row.name.lower() > after]
    page = rows[: asked["limit"]]
    return Reply({"bots": page}, {"after": page[-1].name} if len(rows) > len(page) else None)


async def _bot(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> list[BotProfile]:
        profiles = [gathered(source, name, asked["name"], asked["last"]) for name in _named(source, asked)]
        found = [each for each in profiles if each is not None]
        return found if found or _listed(source, asked["name"]) else _no_bot(asked["name"])

    return Reply({"games": await sources.read(query)})


async def _history(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> list[dict[str, object]]:
        bot, most = asked["name"], asked["limit"]
        return [{"game": name, "matches": source.history(bot, name, most)} for name in _named(source, asked)]

    return Reply({"bot": asked["name"], "histories": await sources.read(query)})


async def _versions(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> list[dict[str, object]]:
        bot, most = asked["name"], asked["limit"]
        return [{"game": name, "versions": source.versions(bot, name, most)} for name in _named(source, asked)]

    return Reply({"bot": asked["name"], "games": await sources.read(query)})


async def _opponents(sources: Sources, asked: Asked) -> Reply:
    most, after = asked["limit"], asked["after"]

    def query(source: DataSource) -> tuple[OpponentRow, ...]:
        return source.opponents(asked["name"], asked["game"], most, after, asked["last"])

    rows = await sources.read(query)
    following = {"after": after + most} if len(rows) == most else None
    return Reply({"bot": asked["name"], "game": asked["game"], "opponents": rows}, following)


async def _bot_events(sources: Sources, asked: Asked) -> Reply:
    most = asked["limit"]
    rows = await sources.read(lambda source: source.bot_events(most, asked["before"]))
    return Reply({"events": rows}, {"before": rows[-1].number} if len(rows) == most else None)


async def _log_head(sources: Sources, _: Asked) -> Reply:
    return Reply(await sources.read(lambda source: head_row(source.log_state())))


def _named(source: DataSource, asked: Asked) -> tuple[str, ...]:
    return (asked["game"],) if asked["game"] else source.games()


def _listed(source: DataSource, name: str) -> bool:
    return name.lower() in [row.name.lower() for row in source.bots()]


def _no_bot(name: str) -> list[BotProfile]:
    raise Missing(f"there is no bot {name!r}")


BEFORE_EVENT: Final = number("before", "Only decisions older than the one of this number.", 1, LARGEST_MATCH)
SEATS: Final = number("seats", "Only from results at tables of this size; fitted for who asks.", 1, 99)
AT: Final = instant("at", "As it was last published until then; UTC unless it names another zone.")
AFTER: Final = words("after", "Only names that come after this one.", default="")
LAST: Final = number("last", "Its latest matches of a game that are summed up, at most.", 1, LARGEST_PAGE, PROFILED)
AFTER_OPPONENTS: Final = number("after", "Number of opponents to skip.", 0, (1 << 31) - 1, 0)
LAST_RESULTS: Final = number("last", "Its latest matches that are summed up, at most.", 1, LAST_SUMMED, LAST_SUMMED)

ENDPOINTS: Final = (
    Endpoint("/games", "games", "The games with their options and sizes.", {"games": [GameRow]}, _games, fresh=60),
    Endpoint(
        "/ladder/{game}",
        "ladder",
        "A ladder, best first.",
        LadderRows,
        _ladder,
        (game("path"), SEATS),
        example="/ladder/sixth_sense?seats=3",
    ),
    Endpoint(
        "/ladder/{game}/past",
        "pastLadder",
        "A ladder of the past.",
        PastLadder,
        _past_ladder,
        (game("path"), AT),
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
        (BOT, OF_GAME, LAST),
        fresh=10,
        example="/bots/counter?game=sixth_sense",
    ),
    Endpoint(
        "/bots/{name}/history",
        "botHistory",
        "How a bot's live rating moved, by match.",
        {"bot": str, "histories": [{"game": str, "matches": [RatedRow]}]},
        _history,
        (BOT, OF_GAME, limit("Newest matches of a game", 1000)),
        example="/bots/counter/history?limit=10",
    ),
    Endpoint(
        "/bots/{name}/versions",
        "botVersions",
        "A bot's versions, each beside the one before.",
        {"bot": str, "games": [{"game": str, "versions": [VersionRow]}]},
        _versions,
        (BOT, OF_GAME, limit("Newest versions in a game", 1000)),
        example="/bots/counter/versions",
    ),
    Endpoint(
        "/bots/{name}/opponents/{game}",
        "opponents",
        "How a bot did against each other one, those met most often first.",
        {"bot": str, "game": str, "opponents": [OpponentRow]},
        _opponents,
        (BOT, game("path"), limit("Opponents"), AFTER_OPPONENTS, LAST_RESULTS),
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
    *MATCH_ENDPOINTS,
    Endpoint("/log/head", "logHead", "The newest signed head of the log of results.", LogHeadRow, _log_head),
)
