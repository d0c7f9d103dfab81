"""Display of a replay: the whole match, a round, a part of a round or a step, for one seat or with all hands open.

A part is a game's division of its rounds, such as a trick. Rounds, parts and steps are numbered from 1, or from the end
with −1, −2 …; seats are numbered from 0. Drawings are for a Rich console of at least 80 columns, with or without
colours. All functions raise ShowError.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from typing import Final, NamedTuple

from rich.console import Console, RenderableType

from arena.replay.render.nullern import NullernRenderer
from arena.replay.render.renderer import Renderer, StepWords, TableScene
from arena.replay.render.scores import drawn_match
from arena.replay.render.sixth_sense import SixthSenseRenderer
from arena.replay.steps import Course
from engine.game import Game
from engine.registry import Texts, texts_of
from engine.words import counted

RENDERERS: Final[Mapping[str, Renderer]] = {
    "nullern": NullernRenderer(),
    "sixth_sense": SixthSenseRenderer(),
}
"""Renderers by name of the game."""


class RoundResult(NamedTuple):
    """One round of a match, by seat."""

    points: tuple[int, ...]
    kept: tuple[bool, ...]
    """True if the seat won exactly as many tricks as it had bid or predicted. Empty in a game without bids."""


def round_results(course: Course) -> tuple[RoundResult, ...]:
    """Return the results of the finished rounds in order."""
    renderer = renderer_of(course.replay.header.game)
    return tuple(
        [RoundResult(tuple(renderer.worth(each)), tuple(renderer.kept(each) or ())) for each in course.reports]
    )


def bids_kept(rounds: Iterable[RoundResult], seats: Sequence[int]) -> list[bool]:
    """Return, for each bid of these seats, True if it was fulfilled."""
    return [each.kept[seat] for each in rounds for seat in seats if each.kept]


class ShowError(LookupError):
    """Error of a replay without the requested round, part, step or seat, or of a game without a renderer.

    The message names the valid range.
    """

    def __str__(self) -> str:
        return str(self.args[0])


def show_match(course: Course) -> RenderableType:
    """Draw the result and the points by round."""
    return drawn_match(course, _renderer(course).rounds(course))


def show_round(course: Course, number: int = -1, seat: int | None = None) -> RenderableType:
    """Draw one round with all its choices."""
    return _renderer(course).round(course, _index("round", number, course.rounds), _seat(course, seat))


def show_part(course: Course, number: int = -1, part: int = -1, seat: int | None = None) -> RenderableType:
    """Draw one part of a round, choice by choice."""
    renderer = _renderer(course)
    found = renderer.stops(course, _index("round", number, course.rounds))
    return renderer.passage(course, found[_index(renderer.part, part, len(found))], _seat(course, seat))


def part_name(course: Course) -> str:
    """Return the game's word for a part of a round, such as "trick"."""
    return _renderer(course).part


def stops(course: Course) -> list[int]:
    """Return the last step of each part of all rounds, numbered from 0."""
    renderer = _renderer(course)
    return [stop for number in range(course.rounds) for stop in renderer.stops(course, number)]


def show_step(course: Course, number: int, seat: int | None = None) -> RenderableType:
    """Draw the position after `number` − 1 choices: step 1 is the first deal."""
    return _renderer(course).step(course, _index("step", number, len(course.steps)), _seat(course, seat))


def in_plain_text(drawn: RenderableType) -> str:
    """Return a drawing as text without colours, a hundred columns wide."""
    console = Console(width=100, color_system=None, file=StringIO())
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().rstrip()


def table_scene(course: Course, number: int, seat: int | None = None) -> TableScene | None:
    """Return the table at a step, or None for a game without tricks."""
    return _renderer(course).table(course, _index("step", number, len(course.steps)), _seat(course, seat))


def step_words(course: Course, number: int, seat: int | None = None) -> StepWords | None:
    """Describe a step in words. For the last step, include the winner. Return None for a game without tricks."""
    index = _index("step", number, len(course.steps))
    words = _renderer(course).words(course, index, _seat(course, seat))
    if words is None or index + 1 < len(course.steps):
        return words
    return words._replace(outcome=(*words.outcome, *_winner(course)))


def _winner(course: Course) -> Iterator[str]:
    """Yield a sentence with the winner of the match, or with the winners of a tie. Yield nothing for a match without a
    result.
    """
    header, result = course.replay.header, course.replay.result
    first = [seat for seat, place in enumerate(result.places) if place == 1]
    if first:
        names = " and ".join(header.bots[seat].name for seat in first)
        verb = "wins" if len(first) == 1 else "win"
        yield f"The match is over: {names} {verb} with {counted(result.scores[first[0]], 'point')}."


def seat_text(course: Course, number: int, seat: int) -> str | None:
    """Return the text that a seat could read at a step, in the format of `decision.text()` of the Python SDK. Return
    None if the game has no texts.
    """
    state = course.steps[_index("step", number, len(course.steps))].state
    texts, seat = _texts(course), _seat(course, seat) or 0
    legal = state.legal(seat) if seat in state.waiting() else ()
    return None if texts is None else texts.view_text(state.view(seat), legal)


def show_round_text(course: Course, number: int = -1) -> str:
    """Return a finished round as text, with all cards."""
    texts, reports, game = _texts(course), course.reports, course.replay.header.game
    if texts is None:
        raise ShowError(f"{game.title} has no texts: write engine/{game.name}/text.py")
    return texts.round_text(reports[_index("finished round", number, len(reports))])


def _texts(course: Course) -> Texts | None:
    try:
        return texts_of(course.replay.header.game)
    except ModuleNotFoundError:
        return None


def _renderer(course: Course) -> Renderer:
    return renderer_of(course.replay.header.game)


def renderer_of(game: Game) -> Renderer:
    """Return a game's renderer. Raises: ShowError: It has none."""
    if game.name not in RENDERERS:
        where = f"write arena/replay/render/{game.name}.py and name it in arena/replay/render/show.py"
        raise ShowError(f"{game.title} has no renderer to show it: {where}")
    return RENDERERS[game.name]


def _index(what: str, number: int, count: int) -> int:
    if not 1 <= abs(number) <= count:
        has = f"{what}s 1 to {count}" if count else f"no {what}s there"
        raise ShowError(f"the replay has {has}, not {what} {number}")
    return number - 1 if number > 0 else count + number


def _seat(course: Course, seat: int | None) -> int | None:
    seats = len(course.replay.header.bots)
    if seat is not None and not 0 <= seat < seats:
        raise ShowError(f"the replay has seats 0 to {seats - 1}, not seat {seat}")
    return seat
