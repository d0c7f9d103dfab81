"""What rounds, tricks and steps of a game of tricks have in common; each game fills in what is its own.

In tables a card is its colour's letter and its value. The other signs are explained under each table.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.replay.header import Header
from arena.replay.render.cards import Faces, forced_sign
from arena.replay.render.picture import Marks, Picture
from arena.replay.render.scores import plain_table, points_by_round, seat_in_words, seat_name
from arena.replay.steps import Course, Made

PictureT = TypeVar("PictureT", bound=Picture)
MarksT = TypeVar("MarksT", bound=Marks)


@dataclass(frozen=True, slots=True)
class Scene(Generic[PictureT, MarksT]):
    """A round at a step as somebody looks at it."""

    header: Header
    seen: PictureT
    made: MarksT
    seat: int | None
    """Who looks; None sees everything."""


class TrickRenderer(ABC, Generic[PictureT, MarksT]):
    """Draws a game of tricks: `arena.replay.render.renderer.Renderer`."""

    def __init__(
        self,
        faces: Faces,
        legend: str,
        picture: Callable[[Course, int, int | None], PictureT],
        dealt: Callable[[Course, int, int | None], PictureT],
        marks: Callable[[Course, int], MarksT],
    ) -> None:
        """What is to be seen of the round at a step, by a seat or by all; of a round, from 0, when it is dealt; and
        the choices of the round up to a step.
        """
        self._faces = faces
        self._legend = Text(legend, style="dim")
        self._picture, self._dealt, self._marks = picture, dealt, marks

    def tricks(self, course: Course, number: int) -> int:
        """How many tricks of a round were begun."""
        return self._picture(course, course.ends(number), 0).begun

    def rounds(self, course: Course) -> RenderableType:
        """The points of the rounds that were played out."""
        return points_by_round(course)

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """One round: what was foretold or bid and taken, hands as dealt, and all tricks."""
        scene = self._scene(course, course.ends(number), seat)
        return Group(
            self._title(scene, f"Round {number + 1}"),
            Text(),
            self._seats(scene),
            Text(),
            self._hands(scene.header, "was dealt", self._dealt(course, number, seat)),
            Text(),
            self._tricks(scene, range(scene.seen.begun)),
            Text(),
            self._legend,
        )

    def trick(self, course: Course, number: int, trick: int, seat: int | None) -> RenderableType:
        """One trick, card by card, and what came of it."""
        scene = self._scene(course, course.ends(number), seat)
        title = self._title(scene, f"Round {number + 1}, trick {trick + 1}")
        return Group(title, Text(), self._cards(scene, trick), Text(), *self._outcome(scene, trick))

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """The position at a step: the last choice, what is in hand, and the last two tricks."""
        scene, step = self._scene(course, index, seat), course.steps[index]
        parts: list[RenderableType] = [
            self._title(scene, f"Round {step.round + 1}"),
            Text("The cards are dealt.") if step.made is None else self._choice(scene, step.made),
            Text(),
            self._seats(scene),
            Text(),
            self._hands(scene.header, "holds", scene.seen),
        ]
        if begun := scene.seen.begun:
            parts += [Text(), self._tricks(scene, range(max(0, begun - 2), begun)), Text(), self._legend]
        return Group(*parts)

    @abstractmethod
    def _about(self, seen: PictureT) -> list[str]:
        """What the title says of a round before its trump."""

    @abstractmethod
    def _seats(self, scene: Scene[PictureT, MarksT]) -> RenderableType:
        """Who foretold or bid what, took how much and has how many points."""

    @abstractmethod
    def _card(self, scene: Scene[PictureT, MarksT], number: int, place: int) -> Text:
        """A play in the table of tricks."""

    @abstractmethod
    def _by(self, seen: PictureT, number: int, taker: int) -> str:
        """Who took a trick, with the signs of what was special about it."""

    @abstractmethod
    def _face(self, scene: Scene[PictureT, MarksT], number: int, place: int) -> Text:
        """A play in the table of one trick."""

    @abstractmethod
    def _notes(self, scene: Scene[PictureT, MarksT], number: int, place: int) -> list[str]:
        """What is to be said of a play beside who leads, takes the trick or was forced by the server."""

    @abstractmethod
    def _outcome(self, scene: Scene[PictureT, MarksT], number: int) -> list[Text]:
        """What a trick led to, a sentence a line."""

    @abstractmethod
    def _choice(self, scene: Scene[PictureT, MarksT], made: Made) -> Text:
        """The choice that led to a step, as far as who looks may know it."""

    def _hands(self, header: Header, verb: str, seen: PictureT) -> RenderableType:
        """The hands that are not hidden."""
        table = plain_table()
        table.add_column("seat and bot", no_wrap=True, overflow="ellipsis", max_width=14)
        table.add_column(verb)
        for seat, hand in enumerate(seen.hands):
            if hand is not None:
                table.add_row(seat_name(header, seat), self._faces.hand(hand))
        return table

    def _is_trump(self, seen: PictureT, card: int) -> bool:
        return seen.turned is not None and self._faces.colour(card) == self._faces.colour(seen.turned)

    def _scene(self, course: Course, index: int, seat: int | None) -> Scene[PictureT, MarksT]:
        header = course.replay.header
        return Scene(header, self._picture(course, index, seat), self._marks(course, index), seat)

    def _title(self, scene: Scene[PictureT, MarksT], what: str) -> Text:
        header, seen, seat = scene.header, scene.seen, scene.seat
        title = Text.assemble((what, "bold"), *(f" · {words}" for words in self._about(seen)), " · ")
        if seen.turned is None:
            title.append("no card turned")
        else:
            title.append("trump ").append(self._faces.colour(seen.turned), self._faces.style(seen.turned))
            title.append(f" ({self._faces.name(seen.turned)} turned)")
        title.append(f" · {header.bots[seen.dealer].name} deals")
        return title if seat is None else title.append(f"\nAs {seat_in_words(header, seat)} sees it", "italic")

    def _tricks(self, scene: Scene[PictureT, MarksT], numbers: Iterable[int]) -> Table:
        """A row a trick, a column a seat."""
        seen, table = scene.seen, plain_table()
        width = min(9, 74 // seen.seats - 2)  # of 80 columns some are for the rest, and two a seat lie between
        table.add_column("#", justify="right")
        for seat in range(seen.seats):
            name = seat_name(scene.header, seat)
            table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=width, max_width=width)
        table.add_column("by", no_wrap=True)
        for number in numbers:
            row = [Text() for _ in range(seen.seats)]
            for place in range(len(seen.trick(number))):
                play = Text(" " if place else "▸").append_text(self._card(scene, number, place))
                row[seen.player(number, place)] = play.append_text(forced_sign(scene.made.play(seen, number, place)))
            taker = seen.taker(number)
            if taker is not None and taker < seen.seats:
                row[taker].stylize("bold reverse", 1)
            table.add_row(f"{number + 1}", *row, "" if taker is None else self._by(seen, number, taker))
        return table

    def _cards(self, scene: Scene[PictureT, MarksT], number: int) -> Table:
        """A row a play."""
        seen, table = scene.seen, plain_table()
        table.add_column("place", justify="right")
        table.add_column("seat and bot", no_wrap=True, overflow="ellipsis", max_width=24)
        table.add_column("card", no_wrap=True)
        table.add_column("")
        for place in range(len(seen.trick(number))):
            player, cause = seen.player(number, place), scene.made.play(seen, number, place)
            takes = player == seen.taker(number)
            notes = [
                *(["leads"] if place == 0 else []),
                *self._notes(scene, number, place),
                *([f"forced by {cause.value}"] if cause else []),
                *(["takes the trick"] if takes else []),
            ]
            face = self._face(scene, number, place)
            if takes:
                face.stylize("bold reverse")
            table.add_row(f"{place + 1}", seat_name(scene.header, player), face, ", ".join(notes))
        return table
