"""The tabs of a match: its tricks round by round, and its times and lost decisions."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from arena.analysis.timeline import EventKind, SeatTimeline
from arena.analysis.timeline_builder import timelines
from arena.analysis.timeline_document import LOST, duration, instant, notices
from arena.queries.source import DataSource
from arena.replay.header import Header
from arena.replay.render.renderer import CardFace, TableScene
from arena.replay.render.show import (
    RoundResult,
    ShowError,
    in_plain_text,
    round_results,
    show_round,
    stops,
    table_scene,
)
from arena.replay.steps import Course
from arena.web.answers.responses import page
from arena.web.pages.asked import number_asked
from arena.web.reading.reader import Missing
from arena.web.reading.ready_replays import ReadyReplay, match_row

CALM: Final = 3
"""Minimum number of successive decisions by a seat's own bot that the page folds into one line."""


class PlayedTrick(NamedTuple):
    """One trick of a round."""

    step: int
    """The last step of the trick."""
    cards: tuple[CardFace | None, ...]
    """The cards by seat."""
    leader: int | None
    taker: int | None


class TimelineRow(NamedTuple):
    """One line of a seat's timeline."""

    at: int
    what: str
    step: int | None
    """The step to which a decision led."""
    took: str
    bank: str
    whose: str
    """The party responsible for the trouble; empty if the row reports none."""
    calm: bool
    """True for a decision that the bot itself made within its soft limit."""


async def tricks(request: Request) -> Response:
    """Show the tricks of one round, and the points of all rounds."""
    number, wanted = request.path_params["number"], number_asked(request, "round", 10_000)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        course, number_of_round = ready.course, 1 if wanted is None else wanted
        if not 1 <= number_of_round <= course.rounds:
            raise Missing(f"the replay has rounds 1 to {course.rounds}, not round {number_of_round}")
        last = course.ends(number_of_round - 1) + 1
        try:
            results, scene = round_results(course), table_scene(course, last)
        except ShowError as error:
            raise Missing(str(error)) from error
        return {
            "match": match_row(source, number),
            "bots": course.replay.header.bots,
            "rounds": course.rounds,
            "round": number_of_round,
            "first": course.begins(number_of_round - 1) + 1,
            "scene": scene,
            "text": "" if scene is not None else in_plain_text(show_round(course, number_of_round)),
            "tricks": [] if scene is None else _tricks(course, number_of_round - 1),
            "table": _points(course, results),
        }

    return page(request, "tricks.html", **await request.app.state.reader.read(query))


def _tricks(course: Course, number: int) -> list[PlayedTrick]:
    """Return the tricks of round `number`, counted from 0, with all hands open."""
    found = []
    for stop in stops(course):
        if course.steps[stop].round != number:
            continue
        scene = table_scene(course, stop + 1)
        assert scene is not None, "the game has tricks"
        found.append(
            PlayedTrick(
                stop + 1, tuple(seat.card for seat in scene.seats), _which(scene, "leads"), _which(scene, "takes")
            )
        )
    return found


def _which(scene: TableScene, what: str) -> int | None:
    return next((number for number, seat in enumerate(scene.seats) if getattr(seat, what)), None)


def _points(course: Course, results: tuple[RoundResult, ...]) -> list[list[tuple[int, int, bool | None]]]:
    """Return, by round and seat, the points, the score, and True if the seat fulfilled its bid or prediction."""
    return [
        [
            (points, score, result.kept[seat] if result.kept else None)
            for seat, (points, score) in enumerate(zip(result.points, report.scores, strict=True))
        ]
        for result, report in zip(results, course.reports, strict=True)
    ]


async def why(request: Request) -> Response:
    """Show each seat's timeline: its bank, its thinking times, and the parties responsible for its troubles."""
    number, wanted = request.path_params["number"], number_asked(request, "seat", 100)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        replay = ready.course.replay
        seats = timelines(replay.header, replay.inputs)
        if wanted is not None and wanted >= len(seats):
            raise Missing(f"the replay has seats 0 to {len(seats) - 1}, not seat {wanted}")
        shown = (
            max(seats, key=lambda seat: (seat.troubles.total(), not seat.bot.house)).seat if wanted is None else wanted
        )
        return {
            "match": match_row(source, number),
            "seats": [(seat, _in_figures(seat)) for seat in seats],
            "shown": seats[shown],
            "rows": _folded(_timeline(replay.header, seats[shown], ready)),
            "slowest": max((each.spent for seat in seats for each in seat.decisions), default=0),
            "policy": replay.header.policy,
            "duration": duration,
            "instant": instant,
        }

    return page(request, "why.html", **await request.app.state.reader.read(query))


def _in_figures(seat: SeatTimeline) -> dict[str, str]:
    """Return the figures of a seat by the heading of their column."""
    return {
        "Lost decisions": ", ".join(f"{count} to {cause.value}" for cause, count in seat.lost.items()) or "–",
        "Refused": str(seat.count(EventKind.REFUSED) or "–"),
        "Gone": str(seat.count(EventKind.GONE) or "–"),
        "Median": duration(seat.took(50)) or "–",
        "95 % within": duration(seat.took(95)) or "–",
        "Bank left": duration(seat.bank) or "–",
        "Whose doing": ", ".join(f"{blame.value} {count}" for blame, count in seat.troubles.most_common()) or "–",
    }


def _timeline(header: Header, seat: SeatTimeline, ready: ReadyReplay) -> list[TimelineRow]:
    rows = []
    for each in seat.decisions:
        name = "" if each.action is None else header.game.actions[each.action].name
        if each.made is None:
            what = "open when the match was broken off"
        elif each.forced is None:
            what = name
        else:
            late = f"; the answer was {duration(each.late_by)} late" if each.late_by else ""
            what = f"{LOST[each.forced]}{late}: {name}"
        rows.append(
            TimelineRow(
                each.due if each.made is None else each.made,
                f"round {each.round + 1}: {what}",
                ready.step_of.get(each.number),
                duration(each.took),
                duration(each.bank_after) if each.bank_after < each.bank else "",
                "" if each.blame is None else each.blame.value,
                each.own and each.spent <= each.soft,
            )
        )
    rows += [
        TimelineRow(
            each.at, notices(header, each), None, "", "", "" if each.blame is None else each.blame.value, calm=False
        )
        for each in seat.events
    ]
    return sorted(rows, key=lambda row: row.at)


def _folded(rows: list[TimelineRow]) -> list[tuple[TimelineRow, ...]]:
    """Group the rows. `CALM` or more successive own decisions form one group. Any other row is a separate group."""
    found: list[tuple[TimelineRow, ...]] = []
    for calm, group in groupby(rows, lambda row: row.calm):
        together = tuple(group)
        found += [together] if calm and len(together) >= CALM else [(row,) for row in together]
    return found
