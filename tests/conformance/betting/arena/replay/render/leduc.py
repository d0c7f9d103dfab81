"""The renderer of Leduc poker: a round as two betting rounds."""

from __future__ import annotations

from collections.abc import Sequence

from engine.leduc import LEDUC, LeducView
from engine.leduc.betting import closed
from rich.console import Group, RenderableType
from rich.text import Text

from arena.replay.header import SeatedBot
from arena.replay.render.renderer import Faces, forced_words
from arena.replay.render.scores import plain_table, points_by_round, seat_in_words, seat_name
from arena.replay.steps import Course
from engine.game import RoundReport, SeatView


class LeducRenderer:
    """Renderer of Leduc poker, an implementation of `arena.replay.render.renderer.Renderer`."""

    part: str = "betting round"

    def __init__(self) -> None:
        self._faces = Faces(LEDUC)

    def kept(self, report: RoundReport) -> None:
        """Return None, because the game has no bids."""

    def worth(self, report: RoundReport) -> Sequence[int]:
        """Return the points by seat."""
        return report.points

    def stops(self, course: Course, number: int) -> list[int]:
        """Return the steps that closed the betting rounds, or the last step of an interrupted round."""
        first, last = course.begins(number) + 1, course.ends(number)
        bets, found = b"", []
        for step, made in enumerate(course.choices(last), first):
            bets += bytes([made.action])
            if closed(bets):
                bets = b""
                found.append(step)
        return [*found, *([last] if bets else [])]

    def table(self, course: Course, index: int, seat: int | None) -> None:
        """Return None, because the game has no tricks."""

    def words(self, course: Course, index: int, seat: int | None) -> None:
        """Return None, because `step` already draws words."""

    def seen(self, view: SeatView, bots: Sequence[SeatedBot]) -> None:
        """Return None, because the game has no tricks."""

    def rounds(self, course: Course) -> RenderableType:
        """Draw the points by round."""
        return points_by_round(course)

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """Draw the cards and all actions."""
        last = course.ends(number)
        return Group(
            Text(f"Round {number + 1}", style="bold"),
            self._cards(course, max(course.begins(number), last - 1), seat),
            self._actions(course, course.begins(number) + 1, last),
        )

    def passage(self, course: Course, stop: int, seat: int | None) -> RenderableType:
        """Draw the actions of one betting round."""
        number = course.steps[stop].round
        stops = self.stops(course, number)
        place = stops.index(stop)
        first = stops[place - 1] if place else course.begins(number)
        title = Text(f"Round {number + 1}, betting round {place + 1}", style="bold")
        return Group(title, self._cards(course, first, seat), self._actions(course, first + 1, stop))

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """Draw the position at a step. After the end of a round, draw the next deal."""
        made = course.steps[index].made
        said = Text("The cards are dealt.") if made is None else self._actions(course, index, index)
        return Group(said, self._cards(course, index, seat))

    def _cards(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """Return the cards that a seat knew at a step, or all cards."""
        header, state = course.replay.header, course.steps[index].state
        table = plain_table()
        table.add_column("seat and bot", no_wrap=True, overflow="ellipsis", max_width=28)
        table.add_column("card")
        views = [state.view(each) for each in (range(len(header.bots)) if seat is None else (seat,))]
        for view in views:
            assert isinstance(view, LeducView)
            table.add_row(seat_name(header, view.seat), self._faces.name(view.card))
            board = view.board
        table.add_row("board", Text("face down") if board is None else self._faces.name(board))
        return table

    def _actions(self, course: Course, first: int, last: int) -> RenderableType:
        """Draw a line for each action."""
        header, lines = course.replay.header, []
        for step in course.steps[first : last + 1]:
            assert step.made is not None
            name = LEDUC.actions[step.made.action].name
            lines.append(Text(f"{seat_in_words(header, step.made.seat)}: {name}{forced_words(step.made.forced)}"))
        return Group(*lines)
