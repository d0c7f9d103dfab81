"""Endpoints for single matches, for running matches, and for the TV page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

from arena.analysis.game_review import ReviewDocument
from arena.analysis.timeline_builder import timelines
from arena.analysis.timeline_document import TimelineDocument, timeline_document
from arena.analysis.verdict import VerdictDocument, verdict_document
from arena.match.effects import Cause
from arena.queries.json_form import as_objects
from arena.queries.live import PointsRow, RoundRow, StatusRow
from arena.queries.log_rows import LogEntryRow, entry_rows
from arena.queries.programme import programme
from arena.queries.source import DataSource
from arena.replay.render.renderer import StepWords, TableScene
from arena.replay.render.show import ShowError, seat_text, step_words, table_scene
from arena.replay.steps import LegalActions, legal_actions
from arena.store.base.rows import MatchRow, MatchState, microseconds
from arena.store.matches.search import MatchFilter
from arena.web.api.endpoint import Endpoint, Reply, Sources, limit
from arena.web.api.parameters import (
    BEFORE_MATCH,
    MATCH,
    OF_BOT,
    OF_GAME,
    SEASON,
    Asked,
    BadParameterError,
    instant,
    number,
    one_of,
    ticked,
    words,
)
from arena.web.live.feed import LiveTable
from arena.web.reading.reader import Missing
from arena.web.reading.ready_replays import match_row, replay_file
from arena.web.reading.reviews import Review


class MadeDocument(TypedDict):
    """The choice that led to a step."""

    seat: int
    decision: int
    action: int
    name: str
    forced: Cause | None
    """The reason why the server or a house bot made the choice. Null if the bot made it."""


class StepDocument(TypedDict):
    """A match after one of its choices, with all hands open or as one seat saw it."""

    match: int
    step: int
    """Number of the step, from 1: the first deal."""
    steps: int
    """Number of steps of the match."""
    round: int
    """Number of the round, from 0."""
    at_ms: float
    """Time since the start of the match, in milliseconds."""
    made: MadeDocument | None
    """The choice; null for the first deal, and in a seat's view for another seat's choice."""
    words: StepWords | None
    """The step in words. Null in a game without tricks, as is the table."""
    table: TableScene | None
    text: str | None
    """The view of the seat in words, with its legal actions. Null with all hands open, and in a game without texts."""
    legal: list[LegalActions]
    """The legal actions of every seat that chooses next; in a seat's view, only those of that seat."""


class AnalysisDocument(TypedDict):
    """The analysis of a match so far."""

    match: int
    state: str
    """One of none, running, over and failed. A button on the match's page starts the analysis."""
    reason: str
    """The reason for a failure. Empty if the analysis did not fail."""
    found: ReviewDocument | None
    """The answer of `arena why --game`. Null before the first result."""


async def _matches(sources: Sources, asked: Asked) -> Reply:
    most, since, until = asked["limit"], asked["since"], asked["until"]
    wanted = MatchFilter(
        game=asked["game"],
        bot=asked["bot"],
        opponent=asked["opponent"],
        seats=asked["seats"],
        since=None if since is None else microseconds(since),
        until=None if until is None else microseconds(until),
        faults=asked["faults"],
        lost=asked["lost"],
        state=MatchState(asked["state"]) if asked["state"] else None,
    )
    if not wanted.bot and (wanted.opponent or wanted.faults or wanted.lost):
        raise BadParameterError("bot", "", "is required with opponent, faults or lost")
    ladder, season = asked["ladder"], asked["season"] or 0
    found = await sources.read(lambda source: source.search(wanted, most, asked["before"], ladder, season))
    return Reply({"matches": found.matches}, None if found.next is None else {"before": found.next})


async def _match(sources: Sources, asked: Asked) -> Reply:
    return Reply(await sources.read(lambda source: match_row(source, asked["match"])))


async def _replay(sources: Sources, asked: Asked) -> Reply:
    return Reply(await sources.read(lambda source: replay_file(source, asked["match"])))


async def _log_entries(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> tuple[LogEntryRow, ...]:
        entries = source.log_entries(asked["match"])
        return entry_rows(source.log_state(), entries)

    rows = await sources.read(query)
    if not rows:
        raise Missing(f"the log has no entry for match {asked['match']}")
    return Reply({"entries": rows})


async def _step(sources: Sources, asked: Asked) -> Reply:
    index, seat = asked["step"], asked["seat"]

    def query(source: DataSource) -> StepDocument:
        course = sources.replays.ready(source, asked["match"]).course
        try:
            table, said = table_scene(course, index, seat), step_words(course, index, seat)
        except ShowError as error:
            raise Missing(str(error)) from error
        step = course.steps[index - 1]
        made = step.made if step.made is None or seat in (None, step.made.seat) else None
        return {
            "match": asked["match"],
            "step": index,
            "steps": len(course.steps),
            "round": step.round,
            "at_ms": step.at / 1000,
            "made": None
            if made is None
            else {
                "seat": made.seat,
                "decision": made.decision,
                "action": made.action,
                "name": course.replay.header.game.actions[made.action].name,
                "forced": made.forced,
            },
            "words": as_objects(said),
            "table": as_objects(table),
            "text": None if seat is None else seat_text(course, index, seat),
            "legal": as_objects(legal_actions(course, index, seat)),
        }

    return Reply(await sources.read(query))


async def _why(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> TimelineDocument:
        replay = sources.replays.ready(source, asked["match"]).course.replay
        return timeline_document(replay.header, timelines(replay.header, replay.inputs))

    return Reply(await sources.read(query))


async def _check(sources: Sources, asked: Asked) -> Reply:
    def query(source: DataSource) -> VerdictDocument:
        ready = sources.replays.ready(source, asked["match"])
        return verdict_document(ready.course.replay, ready.verdict, ready.proofs(source)[0])

    return Reply(await sources.read(query))


async def _analysis(sources: Sources, asked: Asked) -> Reply:
    await sources.read(lambda source: sources.replays.ready(source, asked["match"]))
    review: Review | None = sources.reviews.of(asked["match"])
    if review is None:
        return Reply(AnalysisDocument(match=asked["match"], state="none", reason="", found=None))
    state = "failed" if review.failed else "over" if review.over else "running"
    found: Any = review.found
    return Reply(AnalysisDocument(match=asked["match"], state=state, reason=review.failed, found=found))


async def _status(sources: Sources, _: Asked) -> Reply:
    return Reply(await sources.live.status())


async def _live(sources: Sources, _: Asked) -> Reply:
    tables = sources.live.feed.tables
    rows = [_running(tables[number]) | {"rounds": tables[number].points} for number in sorted(tables, reverse=True)]
    return Reply({"matches": rows, "silent": sources.live.feed.silent})


async def _live_match(sources: Sources, asked: Asked) -> Reply:
    table = await sources.live.table(asked["match"])
    if table is None:
        raise Missing(f"match {asked['match']} is not being played")
    return Reply(_running(table) | {"rounds": table.rounds})


def _running(table: LiveTable) -> dict[str, object]:
    ladder = {"ladder": table.ladder} if table.ladder else {}
    season = {"season": table.season} if table.season else {}
    return {"match": table.match_id, "game": table.game, **ladder, **season, "kind": table.kind, "bots": table.bots}


async def _tv(sources: Sources, asked: Asked) -> Reply:
    rows = await sources.fresh.read(("tv", asked["game"]), lambda source: programme(source, asked["game"]))
    return Reply({"matches": rows})


SEATS: Final = number("seats", "Only matches with this number of seats.", 0, 100, 0)
SINCE: Final = instant("since", "Only matches that began then or later.", required=False)
UNTIL: Final = instant("until", "Only matches that began before; a day counts as a whole.", required=False, ends=True)
STATE: Final = one_of("state", "Only matches in this state.", tuple(each.value for each in MatchState))
OPPONENT: Final = words("opponent", "Only matches in which this bot played, too; needs `bot`.", default="")
LADDER_OF_MATCH: Final = words("ladder", "Only matches of this ladder; without it, of any ladder.", default="")
FAULTS: Final = ticked("faults", "Only matches in which the server made decisions for `bot`.")
LOST: Final = ticked("lost", "Only matches in which `bot` came last.")
STEP: Final = number("step", "The step's number, from 1.", 1, 1_000_000, where="path", required=True)
EYES: Final = number("seat", "As this seat saw it; without it, with all hands open.", 0, 100)
RUNNING: Final[Mapping[str, Any]] = {
    "match": int,
    "game": str,
    "ladder?": str,
    "season?": int,
    "kind": str,
    "bots": [str],
}
"""The fields of a running match. Ladder and season are absent in the first season of the game's default ladder."""

MATCH_ENDPOINTS: Final = (
    Endpoint(
        "/matches",
        "matches",
        "Matches, the newest first. A page covers 2,000 matches at a time; it may be empty without being the last.",
        {"matches": [MatchRow]},
        _matches,
        (
            OF_GAME,
            LADDER_OF_MATCH,
            SEASON,
            OF_BOT,
            OPPONENT,
            SEATS,
            SINCE,
            UNTIL,
            STATE,
            FAULTS,
            LOST,
            limit("Matches"),
            BEFORE_MATCH,
        ),
        example="/matches?bot=counter&lost=1&limit=5",
    ),
    Endpoint("/matches/{match}", "match", "One match.", MatchRow, _match, (MATCH,), example="/matches/1"),
    Endpoint(
        "/matches/{match}/steps/{step}",
        "step",
        "A match after one of its choices: the table, and in words what happened.",
        StepDocument,
        _step,
        (MATCH, STEP, EYES),
        fresh=60,
        of_replay=True,
        example="/matches/1/steps/5?seat=0",
    ),
    Endpoint(
        "/matches/{match}/why",
        "why",
        "Where the time of a match and its lost decisions went.",
        TimelineDocument,
        _why,
        (MATCH,),
        fresh=60,
        of_replay=True,
        example="/matches/1/why",
    ),
    Endpoint(
        "/matches/{match}/check",
        "check",
        "The check of a replay, also with the log of results.",
        VerdictDocument,
        _check,
        (MATCH,),
        of_replay=True,
        example="/matches/1/check",
    ),
    Endpoint(
        "/matches/{match}/analysis",
        "analysis",
        "The analysis of a match so far. A button on its page starts it.",
        AnalysisDocument,
        _analysis,
        (MATCH,),
        of_replay=True,
        example="/matches/1/analysis",
    ),
    Endpoint(
        "/matches/{match}/replay",
        "replay",
        "The replay of a finished match, a file.",
        None,
        _replay,
        (MATCH,),
        of_replay=True,
        example="/matches/1/replay",
    ),
    Endpoint(
        "/matches/{match}/log",
        "logOfMatch",
        "The entries of a match in the log of results, with proofs.",
        {"entries": [LogEntryRow]},
        _log_entries,
        (MATCH,),
        example="/matches/1/log",
    ),
    Endpoint("/status", "status", "The state of the server; 503 without a server.", StatusRow, _status),
    Endpoint(
        "/live",
        "live",
        "The matches that are being played, the newest first, with the points of their finished rounds; `silent` says"
        " why some are missing or old.",
        {"matches": [{**RUNNING, "rounds": [PointsRow]}], "silent": str},
        _live,
    ),
    Endpoint(
        "/live/matches/{match}",
        "liveMatch",
        "The finished rounds of a match that is being played, with all cards.",
        {**RUNNING, "rounds": [RoundRow]},
        _live_match,
        (MATCH,),
        example="/live/matches/17",
    ),
    Endpoint(
        "/tv",
        "tv",
        "The matches that the TV shows, in turn.",
        {"matches": [MatchRow]},
        _tv,
        (OF_GAME,),
        example="/tv?game=nullern",
    ),
)
