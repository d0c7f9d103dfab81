"""One match: its replay step by step, the check of that replay, and the analysis of its choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from arena.analysis.verdict import checked, prove, unchecked
from arena.queries.figures import CONFIDENCE
from arena.queries.source import DataSource
from arena.replay.render.rich_html import html
from arena.replay.render.show import ShowError, part_name, show_match, show_step, table_scene
from arena.replay.render.table_svg import table_svg
from arena.replay.steps import Course
from arena.store.base.errors import Refused
from arena.store.base.rows import MatchRow, MatchState
from arena.web.answers.responses import conditional, page, replay_download
from arena.web.drawing.match_picture import PicturedMatch, PicturedSeat
from arena.web.pages.asked import number_asked
from arena.web.reading.reader import Busy, Missing, NotShown
from arena.web.reading.ready_replays import ReadyReplay, match_row, replay_file
from arena.web.reading.reviews import Review, TooManyReviews
from engine.registry import GAMES
from trio_grpc.limits.connection_limits import origin_of

PICTURE_FRESH: Final = 300
"""Seconds for which a picture may be cached: few, as a name in it may be removed."""


class Shown(NamedTuple):
    """The parts of a match that its page draws."""

    match: MatchRow
    drawn: Markup | None
    """Drawing of the points by round; None without a replay."""
    rounds: Sequence[int]
    """The step with which each round begins."""
    why_not: str
    """The reason why the replay cannot be shown here; empty if it can, or if there is no replay."""


async def match(request: Request) -> Response:
    """Show one match: its result, and points by round if it has a replay."""
    number = request.path_params["number"]

    def query(source: DataSource) -> Shown:
        row = match_row(source, number)
        if row.state is not MatchState.FINISHED or row.pruned:
            return Shown(row, None, (), "")
        try:
            ready = request.app.state.replays.ready(source, number)
            return Shown(row, html(show_match(ready.course)), ready.rounds, "")
        except (NotShown, ShowError) as error:
            return Shown(row, None, (), str(error))

    shown = await request.app.state.reader.read(query)
    return page(request, "match.html", **shown._asdict())


async def step(request: Request) -> Response:
    """Show one step of a match as a seat saw it, or with all hands open."""
    number, index = request.path_params["number"], request.path_params["step"]
    seat = number_asked(request, "seat", 100)
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        course, costly = ready.course, _costly(ready, review, seat)
        frame = _frame(course, index, seat, costly)
        return {
            "frame": frame,
            "header": course.replay.header,
            "round": course.steps[index - 1].round + 1,
            "rounds": ready.rounds,
            "last": len(course.steps),
            "part": part_name(course),
            "ways": ready.ways(index, sorted(costly)),
        }

    shown = await request.app.state.reader.read(_named(query))
    return page(request, "step.html", number=number, index=index, seat=seat, review=review, **shown)


async def round_frames(request: Request) -> Response:
    """Return all drawn steps of a round, for a page that steps through them without further requests."""
    number, wanted = request.path_params["number"], request.path_params["round"]
    seat = number_asked(request, "seat", 100)
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        course, costly = ready.course, _costly(ready, review, seat)
        if not 1 <= wanted <= course.rounds:
            raise ShowError(f"the replay has rounds 1 to {course.rounds}, not round {wanted}")
        first = course.begins(wanted - 1) + (2 if wanted > 1 else 1)
        places, sure = sorted(costly), range(first, course.ends(wanted - 1) + 2)
        frames = [{"html": _frame(course, each, seat, costly), "ways": ready.ways(each, places)} for each in sure]
        return {"first": first, "frames": frames}

    return JSONResponse(await request.app.state.reader.read(_named(query)))


async def first_fault(request: Request) -> Response:
    """Redirect to the first choice that the server made for a seat, or for any seat. Raises: Missing."""
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


async def picture(request: Request) -> Response:
    """Return a picture of a finished match, for sites that show links to the match. Raises: Missing."""
    number = request.path_params["number"]

    row = await request.app.state.reader.read(lambda source: match_row(source, number))
    if row.state is not MatchState.FINISHED:
        raise Missing(f"match {number} has no result to draw")
    seats = [PicturedSeat(seat.place or 0, seat.bot, seat.score or 0) for seat in row.seats]
    game = GAMES[row.game].title if row.game in GAMES else row.game
    pictured = PicturedMatch(f"Match {number}", game, tuple(sorted(seats, key=lambda seat: seat.place)))
    content = await request.app.state.pictures.picture(pictured)
    return conditional(request, content, "image/png", {"cache-control": f"public, max-age={PICTURE_FRESH}"})


async def replay(request: Request) -> Response:
    """Return the replay file of a finished match."""
    number = request.path_params["number"]
    content = await request.app.state.reader.read(lambda source: replay_file(source, number))
    return replay_download(request, number, content)


def _named(query: Any) -> Any:
    def named(source: DataSource) -> Any:
        try:
            return query(source)
        except ShowError as error:
            raise Missing(str(error)) from error

    return named


def _costly(ready: ReadyReplay, review: Review | None, seat: int | None) -> dict[int, Mapping[str, Any]]:
    """Return the costly choices by step, for one seat or for all."""
    if review is None or review.found is None:
        return {}
    of_seats = [each for each in review.found["seats"] if seat is None or each["seat"] == seat]
    choices = [choice for each in of_seats for choice in each["costly"] or ()]
    return {place: each for each in choices if (place := ready.step_of(each["decision"])) is not None}


def _frame(course: Course, index: int, seat: int | None, costly: Mapping[int, Mapping[str, Any]]) -> Markup:
    """Return one step as HTML: a drawing of the table, its description in words, and the legal actions."""
    words = html(show_step(course, index, seat))
    scene = table_scene(course, index, seat)
    after = _cost(costly.get(index)) + _legal(course, index, seat)
    if scene is None:
        return words + after
    picture = Markup(table_svg(scene, f"The table at step {index}"))  # noqa: S704 - its input is escaped
    return Markup('<figure class="seats">{}</figure>{}{}').format(picture, words, after)


def _cost(choice: Mapping[str, Any] | None) -> Markup:
    """Describe the cost of the choice that led to this step; empty if the analysis has none."""
    if choice is None:
        return Markup("")
    return Markup('<p class="costly">This choice, {}, cost {:.1f} ± {:.1f} points against {}.</p>').format(
        choice["name"], choice["cost"], CONFIDENCE * choice["error"], choice["better_name"]
    )


def _legal(course: Course, index: int, seat: int | None) -> Markup:
    """List the legal actions and mark the one chosen next; if one seat is shown, only that seat's actions."""
    step, parts = course.steps[index - 1], Markup("")
    names, bots = course.replay.header.game.actions, course.replay.header.bots
    following = {each.made.seat: each.made.action for each in reversed(course.steps[index:]) if each.made is not None}
    for owing in step.state.waiting():
        if seat not in (None, owing):
            continue
        choices = Markup(" · ").join(
            Markup("<strong>{}</strong>").format(names[action].name)
            if action == following.get(owing)
            else escape(names[action].name)
            for action in step.state.legal(owing)
        )
        when = "In the next round " if step.ended is not None else ""
        parts += Markup('<p class="legal">{}{} {} may choose: {}</p>').format(when, owing, bots[owing].name, choices)
    return parts


async def check(request: Request) -> Response:
    """Show the check of a replay: its steps, its omissions and the first difference."""
    number = request.path_params["number"]

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        replay, verdict = ready.course.replay, ready.verdict
        try:
            proofs = prove(replay, None, source)
        except Refused as error:  # the directory has no log
            proofs, why = prove(replay, None, None), str(error)
        else:
            why = ""
        sound = verdict.verified and not proofs.problem
        return {
            "header": replay.header,
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
    """Show an analysis as far as it has come, or a button that starts it."""
    number = request.path_params["number"]
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        found = None if review is None else review.found
        decisions = [each["decision"] for seat in (found or {"seats": []})["seats"] for each in seat["costly"] or ()]
        return {"header": ready.course.replay.header, "steps": {each: ready.step_of(each) for each in decisions}}

    shown = await request.app.state.reader.read(query)
    return page(request, "analysis.html", number=number, review=review, **shown)


async def ask(request: Request) -> Response:
    """Start the analysis of a match, and show it.

    Raises:
        SiteRefused: a page of another site asks.
        Busy: too many analyses wait, in total or for the reader's address.
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
