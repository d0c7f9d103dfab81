"""The list of matches, and the pages of one match: its replay by steps, its check and its analysis."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.analysis.verdict import checked, unchecked
from arena.queries.figures import CONFIDENCE
from arena.queries.source import DataSource
from arena.replay.render.show import ShowError, in_plain_text, part_name, show_step, step_words, table_scene
from arena.replay.render.table_svg import table_svg
from arena.replay.steps import Course, legal_actions
from arena.store.base.errors import NoSuchLadder
from arena.store.base.rows import MatchRow, MatchState, microseconds
from arena.store.matches.search import SEARCHED, MatchFilter, MatchPage
from arena.web.answers.responses import fragment, packed, page, replay_download
from arena.web.pages.asked import instant_asked, known_game, ladders_listed, number_asked
from arena.web.reading.reader import Busy, Missing, NotShown
from arena.web.reading.ready_replays import ReadyReplay, match_row, replay_file
from arena.web.reading.reviews import Review, TooManyReviews
from arena.web.requests.numbers import MOST_SEASONS
from trio_grpc.limits.connection_limits import origin_of

LISTED: Final = 50
STATES: Final = {"": "all", "finished": "finished", "playing": "being played", "interrupted": "interrupted"}
NAMES: Final = ("game", "ladder", "season", "bot", "opponent", "seats", "since", "until", "state", "faults", "lost")
"""Names of the filters, in the order used in addresses."""
SCORES_WIDTH: Final = 1000
SCORES_HEIGHT: Final = 100
SCORES_EDGE: Final = 8
"""Empty margin above and below the lines in the drawing of scores, for the marks."""


async def match(request: Request) -> Response:
    """Show one match: its result, and its table at the first step if it has a replay."""
    number = request.path_params["number"]
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> dict[str, Any]:
        row = match_row(source, number)
        shown: dict[str, Any] = {"match": row, "named": False, "frame": "", "why_not": "", "played_on": {}}
        if row.state is not MatchState.FINISHED or row.pruned:
            return shown
        try:
            ready = request.app.state.replays.ready(source, number)
            return shown | board(ready, row, 1, None, review) | {"named": False}
        except (NotShown, ShowError) as error:
            return shown | {"why_not": str(error)}

    return page(request, "match.html", **await request.app.state.reader.read(query))


async def step(request: Request) -> Response:
    """Show one step of a match as a seat saw it, or with all hands open."""
    number, index = request.path_params["number"], request.path_params["step"]
    seat = number_asked(request, "seat", 100)
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        return board(ready, match_row(source, number), index, seat, review)

    return page(request, "match.html", **await request.app.state.reader.read(named(query)))


def board(ready: ReadyReplay, row: MatchRow, index: int, seat: int | None, review: Review | None) -> dict[str, Any]:
    """Return the values for a page that shows a step.

    Raises:
        ShowError: there is no such step or seat.
    """
    course, costly = ready.course, _costly(review, seat)
    return {
        "match": row,
        "named": True,
        "frame": frame(course, index, seat, costly),
        "index": index,
        "seat": seat,
        "bots": course.replay.header.bots,
        "round": course.steps[index - 1].round + 1,
        "rounds": ready.ways.rounds,
        "last": len(course.steps),
        "part": part_name(course),
        "ways": ready.ways.at(index, sorted(costly)),
        "line": score_line(course, ready.ways.forced, sorted(costly)),
        "review": review,
        "played_on": {(row.match_id, row.seats[seat].bot): first for seat, first in ready.course.played_on.items()},
    }


async def round_frames(request: Request) -> Response:
    """Return all drawn steps of a round, for a page that steps through them without further requests."""
    number, wanted = request.path_params["number"], request.path_params["round"]
    seat = number_asked(request, "seat", 100)
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> bytes:
        ready: ReadyReplay = request.app.state.replays.ready(source, number)
        costly = _costly(review, seat)
        return ready.drawn((wanted, seat, *sorted(costly)), lambda: _drawn_round(ready, wanted, seat, costly))

    content: bytes = await request.app.state.reader.read(named(query))
    return packed(request, content, "application/json")


def _drawn_round(ready: ReadyReplay, number: int, seat: int | None, costly: Mapping[int, Mapping[str, Any]]) -> bytes:
    """Draw the steps of a round as JSON.

    Raises:
        ShowError: there is no such round or seat.
    """
    course = ready.course
    if not 1 <= number <= course.rounds:
        raise ShowError(f"the replay has rounds 1 to {course.rounds}, not round {number}")
    first = course.begins(number - 1) + (2 if number > 1 else 1)
    frames = [
        {
            "html": frame(course, each, seat, costly),
            "ways": ready.ways.at(each, sorted(costly)),
            "ms": ready.pace[each - 1],
        }
        for each in range(first, course.ends(number - 1) + 2)
    ]
    return json.dumps({"first": first, "frames": frames}, ensure_ascii=False, separators=(",", ":")).encode()


async def first_fault(request: Request) -> Response:
    """Redirect to the first choice that the server made for a seat, or for any seat.

    Raises:
        Missing: there is no such choice.
    """
    number, seat = request.path_params["number"], number_asked(request, "seat", 100)

    def query(source: DataSource) -> int:
        steps = request.app.state.replays.ready(source, number).course.steps
        made = [(place, each.made) for place, each in enumerate(steps, 1) if each.made is not None]
        found = next((place for place, each in made if each.forced and seat in (None, each.seat)), None)
        if found is None:
            raise Missing(
                f"in match {number} the server made no choice" + ("" if seat is None else f" for seat {seat}")
            )
        return found

    place = await request.app.state.reader.read(query)
    eyes = "" if seat is None else f"?seat={seat}"
    return RedirectResponse(f"{request.scope['root']}/matches/{number}/steps/{place}{eyes}", 303)


async def replay(request: Request) -> Response:
    """Return the replay file of a finished match."""
    number = request.path_params["number"]
    content = await request.app.state.reader.read(lambda source: replay_file(source, number))
    return replay_download(request, number, content)


def named(query: Any) -> Any:
    """Wrap a query so that it raises Missing if the replay does not have the requested step, round or seat."""

    def asking(source: DataSource) -> Any:
        try:
            return query(source)
        except ShowError as error:
            raise Missing(str(error)) from error

    return asking


def _costly(review: Review | None, seat: int | None) -> dict[int, Mapping[str, Any]]:
    """Return the costly choices by step, for one seat or for all."""
    seats = [] if review is None or review.found is None else review.found["seats"]
    return {each["step"]: each for of in seats if seat in (None, of["seat"]) for each in of["costly"] or ()}


async def check(request: Request) -> Response:
    """Show the check of a replay: the steps checked and omitted, and the first difference."""
    number = request.path_params["number"]

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        replay, verdict = ready.course.replay, ready.verdict
        proofs, why = ready.proofs(source)
        sound = verdict.verified and not proofs.problem
        return {
            "match": match_row(source, number),
            "sound": sound,
            "difference": verdict.difference,
            "problem": proofs.problem,
            "borne_out": proofs.log is not None,
            "void": "" if proofs.log is None else proofs.log.void,
            "checked": checked(replay, verdict, proofs) if sound else [],
            "unchecked": unchecked(replay, proofs) if sound else [],
            "no_log": why,
        }

    return page(request, "check.html", number=number, **await request.app.state.reader.read(query))


async def analysis(request: Request) -> Response:
    """Show an analysis with its results so far, or a button that starts it."""
    number = request.path_params["number"]
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> dict[str, Any]:
        request.app.state.replays.ready(source, number)  # Raises the error that names the problem.
        return {"match": match_row(source, number)}

    shown = await request.app.state.reader.read(query)
    return page(request, "analysis.html", number=number, review=review, **shown)


async def ask(request: Request) -> Response:
    """Start the analysis of a match. Then show it.

    Raises:
        SiteRefused: the request comes from a page of another site.
        Busy: too many analyses are waiting, in total or for the reader's address.
    """
    request.app.state.sites.check(request.headers)
    number = request.path_params["number"]
    address = request.client.host if request.client is not None else ""
    content = await request.app.state.reader.read(lambda source: replay_file(source, number))
    try:
        request.app.state.reviews.ask(number, content, origin_of(address))
    except TooManyReviews as error:
        raise Busy(str(error)) from error
    return RedirectResponse(f"{request.scope['root']}/matches/{number}/analysis", 303)


def frame(course: Course, index: int, seat: int | None, costly: Mapping[int, Mapping[str, Any]]) -> str:
    """Return a step as HTML, as one seat saw it or with all hands open."""
    scene, words = table_scene(course, index, seat), step_words(course, index, seat)
    after = (_cost(costly.get(index)), legal_actions(course, index, seat))
    if scene is None or words is None:
        return fragment("board.html", "in_words", in_plain_text(show_step(course, index, seat)), *after)
    drawn = table_svg(scene, f"The table at step {index}")
    return fragment("board.html", "frame", drawn, scene, words, *after)


def _cost(choice: Mapping[str, Any] | None) -> str:
    """Describe the cost of the choice that led to a step; empty without an analysed cost."""
    if choice is None:
        return ""
    margin = CONFIDENCE * choice["error"]
    cost = f"{choice['cost']:.1f} ± {margin:.1f} points"
    return f"This choice, {choice['name']}, cost {cost} against {choice['better_name']}."


async def matches(request: Request) -> Response:
    """List matches, newest first."""
    wanted, before = _wanted(request), number_asked(request, "before")
    ladder, season = request.query_params.get("ladder", ""), number_asked(request, "season", MOST_SEASONS) or 0
    listed = await ladders_listed(request)

    def query(source: DataSource) -> MatchPage:
        try:
            return source.search(wanted, LISTED, before, ladder, season)
        except NoSuchLadder:
            if ladder not in [each.name for each in listed]:
                raise
            return MatchPage((), None)  # The server plays the ladder, but the directory has no match of it yet.

    found = await request.app.state.reader.read(query)
    typed = {name: request.query_params.get(name, "") for name in NAMES}
    kept = {name: value for name, value in typed.items() if value}
    return page(
        request,
        "matches.html",
        matches=found.matches,
        typed=typed,
        ladders=listed if any(each.name != each.game or len(each.seasons) > 1 for each in listed) else (),
        states=STATES,
        filtered=bool(kept),
        searched=SEARCHED,
        older=None if found.next is None else urlencode(kept | {"before": str(found.next)}),
        newest=urlencode(kept) if before is not None else None,
    )


def _wanted(request: Request) -> MatchFilter:
    """Return the filters in the address.

    Raises:
        Missing: a filter is invalid.
    """
    given = request.query_params
    game, state = known_game(given.get("game", "")), given.get("state", "")
    if state not in STATES:
        raise Missing(f"a match is {', '.join(filter(None, STATES))}, not {state[:40]!r}")
    since, until = instant_asked(request, "since", begins=True), instant_asked(request, "until")
    return MatchFilter(
        game=game,
        bot=given.get("bot", "").strip(),
        opponent=given.get("opponent", "").strip(),
        seats=number_asked(request, "seats", 100) or 0,
        since=None if since is None else microseconds(since),
        until=None if until is None else microseconds(until),
        faults=_ticked(request, "faults"),
        lost=_ticked(request, "lost"),
        state=MatchState(state) if state else None,
    )


def _ticked(request: Request, name: str) -> bool:
    typed = request.query_params.get(name, "")
    if typed not in {"", "0", "1"}:
        raise Missing(f"{name} is 1 or 0, not {typed[:40]!r}")
    return typed == "1"


def score_line(course: Course, forced: Iterable[int], costly: Iterable[int]) -> Markup:
    """Draw each seat's score by step as lines under the slider, and marks for rounds, forced choices and costly
    choices.

    The drawing is hidden from screen readers, because the words beside the table contain the scores. The style sheet
    stretches it and sets the colours. So marks are drawn as stroke ends, which are not stretched.
    """
    last = max(len(course.steps) - 1, 1)
    scores = [tuple(0 for _ in course.replay.header.bots), *(report.scores for report in course.reports)]
    flat = [each for row in scores for each in row]
    low, high = min(flat), max(*flat, min(flat) + 1)

    def x(step: int) -> float:
        return SCORES_WIDTH * step / last

    def y(score: int) -> float:
        return SCORES_HEIGHT - SCORES_EDGE - (SCORES_HEIGHT - 2 * SCORES_EDGE) * (score - low) / (high - low)

    rounds = "".join(f"M{x(course.ends(number)):.1f} 0V{SCORES_HEIGHT}" for number in range(course.rounds - 1))
    parts = [f'<path class="rounds" d="{rounds}"/>']
    for seat in range(len(course.replay.header.bots)):
        path = f"M0 {y(0):.1f}" + "".join(
            f"H{x(course.ends(number)):.1f}V{y(row[seat]):.1f}" for number, row in enumerate(scores[1:])
        )
        parts.append(f'<path class="line of-seat-{seat}" d="{path}"/>')
    parts += _step_marks("forced", [x(step - 1) for step in forced], SCORES_HEIGHT - SCORES_EDGE / 2)
    parts += _step_marks("costly", [x(step - 1) for step in costly], SCORES_EDGE / 2)
    return Markup(
        '<svg class="scores" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}</svg>'
    ).format(SCORES_WIDTH, SCORES_HEIGHT, Markup("".join(parts)))  # noqa: S704 - numbers only


def _step_marks(name: str, places: Sequence[float], y: float) -> list[str]:
    if not places:
        return []
    return [f'<path class="mark {name}" d="{"".join(f"M{each:.1f} {y:g}h0" for each in places)}"/>']
