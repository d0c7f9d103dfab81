"""The list of matches, one match, and its replay step by step."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena.client.source import DataSource
from arena.replay.read import read
from arena.replay.render.show import ShowError, part_name, show_match, show_step, stops, table_scene
from arena.replay.render.table_svg import table_svg
from arena.replay.replay import Replay
from arena.replay.steps import Course
from arena.store.rows import MatchRow, MatchState
from arena.web.asked import known_game, number_asked
from arena.web.reader import Missing
from arena.web.replay_file import replay_file
from arena.web.responses import page
from arena.web.rich_html import html

LISTED: Final = 50
KEPT: Final = 16
"""Replays kept ready to be stepped through."""


class ReadyReplay:
    """A replay played through, and where one goes in it."""

    def __init__(self, replay: Replay) -> None:
        self.course = course = Course(replay)
        self._parts = [stop + 1 for stop in stops(course)]
        self._rounds = [course.begins(each) + 1 for each in range(course.rounds)]
        self._forced = [place for place, each in enumerate(course.steps, 1) if each.made and each.made.forced]

    def ways(self, index: int) -> dict[str, int | None]:
        """Return the steps to go to from one, by what they are called; None where there is none."""
        return {
            "previous round": _before(self._rounds, index),
            "previous part": _before(self._parts, index),
            "previous": index - 1 or None,
            "next": index + 1 if index < len(self.course.steps) else None,
            "next part": _after(self._parts, index),
            "next round": _after(self._rounds, index),
            "next forced": _after(self._forced, index),
        }


class ReadyReplays:
    """The replays that were looked at last, ready to be stepped through. For several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, ReadyReplay] = OrderedDict()
        self._lock = Lock()

    def ready(self, source: DataSource, number: int) -> ReadyReplay:
        """Return a finished match's replay; Refused if it has none."""
        with self._lock:
            if number in self._kept:
                self._kept.move_to_end(number)
                return self._kept[number]
        made = ReadyReplay(read(source.replay(number)))
        with self._lock:
            self._kept[number] = made
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return made


async def matches(request: Request) -> Response:
    """List matches, the newest first."""
    game, bot = request.query_params.get("game", ""), request.query_params.get("bot", "")
    before = number_asked(request, "before")
    if game:
        known_game(game)
    rows = await request.app.state.reader.read(
        lambda source: source.matches(game=game, bot=bot, limit=LISTED, before=before)
    )
    older = rows[-1].match_id if len(rows) == LISTED else None
    return page(request, "matches.html", matches=rows, game=game, bot=bot, older=older)


async def match(request: Request) -> Response:
    """Show one match: its result, and points by round where its replay is kept."""
    number = request.path_params["number"]

    def query(source: DataSource) -> tuple[MatchRow, Markup | None, int]:
        row = _row(source, number)
        if row.state is not MatchState.FINISHED or row.pruned:
            return row, None, 0
        course = request.app.state.replays.ready(source, number).course
        return row, html(show_match(course)), course.rounds

    row, drawn, rounds = await request.app.state.reader.read(query)
    return page(request, "match.html", match=row, drawn=drawn, rounds=rounds)


async def step(request: Request) -> Response:
    """Show one step of a match as a seat saw it, or with all hands open."""
    number, index = request.path_params["number"], request.path_params["step"]
    seat = number_asked(request, "seat", 100)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        course = ready.course
        frame = _frame(course, index, seat)
        return {
            "frame": frame,
            "header": course.replay.header,
            "round": course.steps[index - 1].round + 1,
            "last": len(course.steps),
            "part": part_name(course),
            "ways": ready.ways(index),
        }

    shown = await request.app.state.reader.read(_named(query))
    return page(request, "step.html", number=number, index=index, seat=seat, **shown)


async def round_frames(request: Request) -> Response:
    """Return all steps of a round as they are drawn, for a page that steps through them without asking again."""
    number, wanted = request.path_params["number"], request.path_params["round"]
    seat = number_asked(request, "seat", 100)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        course = ready.course
        if not 1 <= wanted <= course.rounds:
            raise ShowError(f"the replay has rounds 1 to {course.rounds}, not round {wanted}")
        first = course.begins(wanted - 1) + (2 if wanted > 1 else 1)
        steps = range(first, course.ends(wanted - 1) + 2)
        frames = [{"html": _frame(course, each, seat), "ways": ready.ways(each)} for each in steps]
        return {"first": first, "frames": frames}

    return JSONResponse(await request.app.state.reader.read(_named(query)))


async def replay(request: Request) -> Response:
    """Return the replay file of a finished match."""
    number = request.path_params["number"]
    content = await request.app.state.reader.read(lambda source: source.replay(number))
    return replay_file(request, number, content)


def _named(query: Any) -> Any:
    def named(source: DataSource) -> Any:
        try:
            return query(source)
        except ShowError as error:
            raise Missing(str(error)) from error

    return named


def _row(source: DataSource, number: int) -> MatchRow:
    rows = source.matches(limit=1, before=number + 1) if number < (1 << 63) - 1 else ()
    if not rows or rows[0].match_id != number:
        raise Missing(f"there is no match {number}")
    return rows[0]


def _frame(course: Course, index: int, seat: int | None) -> Markup:
    """Return one step as HTML: the table, and below it the same in words."""
    words = html(show_step(course, index, seat))
    scene = table_scene(course, index, seat)
    if scene is None:
        return words
    picture = Markup(table_svg(scene, f"The table at step {index}"))  # noqa: S704 - it escapes what it is given
    return Markup('<figure class="seats">{}</figure>{}').format(picture, words)


def _before(places: Sequence[int], index: int) -> int | None:
    at = bisect_left(places, index)
    return places[at - 1] if at else None


def _after(places: Sequence[int], index: int) -> int | None:
    at = bisect_right(places, index)
    return places[at] if at < len(places) else None
