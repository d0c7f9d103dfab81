"""Base of the renderers of trick-taking games: rounds, tricks and steps as tables.

In tables, a card is its colour's letter and its value. A legend below each table explains the other signs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from arena.replay.header import Header, SeatedBot
from arena.replay.render.picture import PLAYS, Marks, Picture
from arena.replay.render.renderer import CardFace, Faces, SeatScene, StepWords, TableScene, forced_sign
from arena.replay.render.scores import plain_table, points_by_round, seat_in_words, seat_name
from arena.replay.steps import Course, Made
from engine.game import Game, RoundReport, SeatView, State

PictureT = TypeVar("PictureT", bound=Picture)
MarksT = TypeVar("MarksT", bound=Marks)


@dataclass(frozen=True, slots=True)
class Scene(Generic[PictureT, MarksT]):
    """A round at a step, as seen from a seat."""

    header: Header
    seen: PictureT
    made: MarksT
    seat: int | None
    """The seat whose knowledge is shown. None shows all hands."""


class Fitted:
    """A drawing that fits the available columns."""

    def __init__(self, draw: Callable[[int], RenderableType]) -> None:
        self.drawn = draw
        """A function that returns the drawing for a number of columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.drawn(options.max_width)


class TrickRenderer(ABC, Generic[PictureT, MarksT]):
    """Renderer of a trick-taking game, an implementation of `arena.replay.render.renderer.Renderer`."""

    part: str = "trick"
    _called_word: str
    """The game's word for a seat's bid or prediction."""

    def __init__(self, game: Game, legend: str) -> None:
        self._faces = Faces(game)
        self._legend = Text(legend, style="dim")

    def picture(self, course: Course, index: int, seat: int | None) -> PictureT:
        """Return the round at a step. After a choice that ended a round, return that round and not the next."""
        step = course.steps[index]
        if step.made is None or step.ended is None:
            return self._pictured(step.state, seat)
        return self._ended(self._pictured(course.steps[index - 1].state, seat), step.made, step.ended, seat)

    def _pictured(self, state: State[SeatView, RoundReport], seat: int | None) -> PictureT:
        return self._from_views([state.view(each) for each in (range(len(state.scores)) if seat is None else (seat,))])

    def stops(self, course: Course, number: int) -> list[int]:
        """Return the steps at which tricks were completed. An unfinished last trick ends with the round."""
        seats, actions = len(course.replay.header.bots), course.replay.header.game.actions
        first, last = course.begins(number) + 1, course.ends(number)
        plays = [step for step, made in enumerate(course.choices(last), first) if actions[made.action].kind in PLAYS]
        return [*plays[seats - 1 :: seats], *([last] if len(plays) % seats else [])]

    def rounds(self, course: Course) -> RenderableType:
        """Draw the points of the finished rounds."""
        return points_by_round(course)

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """Draw one round: predictions or bids, tricks taken, hands as dealt, and all tricks."""
        dealt = self._pictured(course.steps[course.begins(number)].state, seat)
        scene = self._scene(course, course.ends(number), seat)
        return Group(
            self._title(scene, f"Round {number + 1}"),
            Text(),
            self._seats(scene),
            Text(),
            self._hands(scene.header, "was dealt", dealt),
            Text(),
            self._tricks_table(scene, range(scene.seen.begun)),
            Text(),
            self._legend,
        )

    def passage(self, course: Course, stop: int, seat: int | None) -> RenderableType:
        """Draw one trick, card by card, and its outcome."""
        number = course.steps[stop].round
        trick = self.stops(course, number).index(stop)
        scene = self._scene(course, course.ends(number), seat)
        title = self._title(scene, f"Round {number + 1}, trick {trick + 1}")
        return Group(title, Text(), self._trick_table(scene, trick), Text(), *self._outcome(scene, trick))

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """Draw the position at a step: the last choice, the hands, and the last two tricks."""
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
            parts += [Text(), self._tricks_table(scene, range(max(0, begun - 2), begun)), Text(), self._legend]
        return Group(*parts)

    def table(self, course: Course, index: int, seat: int | None) -> TableScene:
        """Return the table at a step, with the trick that began last."""
        scene, made = self._scene(course, index, seat), course.steps[index].made
        chose = made.seat if made is not None and self._may_know(scene, made) else None
        return self._table(scene.seen, scene.header.bots, seat, chose)

    def seen(self, view: SeatView, bots: Sequence[SeatedBot]) -> TableScene:
        """Return the table that one seat's view shows, with the trick that began last."""
        return self._table(self._from_views([view]), bots, view.seat, None)

    def _table(self, seen: PictureT, bots: Sequence[SeatedBot], below: int | None, chose: int | None) -> TableScene:
        trick = seen.begun - 1 if seen.begun else None
        cards: dict[int, CardFace] = {}
        if trick is not None:
            places = range(len(seen.trick(trick)))
            cards = {seen.player(trick, place): self._face(seen, trick, place) for place in places}
        taker = None if trick is None else seen.taker(trick)
        seats = tuple(
            SeatScene(
                name=bot.name,
                house=bot.house,
                hand=None if hand is None else tuple(map(self._faces.face, hand)),
                called=self._called(seen, number),
                target=self._target(seen, number),
                held=seen.held(number, self._aside(seen)),
                turn=number == seen.turn,
                taken=seen.taken[number],
                score=seen.scores[number],
                points=None if seen.points is None else seen.points[number],
                card=cards.get(number),
                deals=number == seen.dealer,
                leads=trick is not None and number == seen.leaders[trick],
                takes=number == taker,
                chose=number == chose,
            )
            for number, (bot, hand) in enumerate(zip(bots, seen.hands, strict=True))
        )
        turned = None if seen.turned is None else self._faces.face(seen.turned)
        return TableScene(seats, turned, trick, self._called_word, below or 0)

    def words(self, course: Course, index: int, seat: int | None) -> StepWords:
        """Describe a step in words: the round, the last choice, and the outcome of a trick that it ended."""
        scene, step = self._scene(course, index, seat), course.steps[index]
        seen, begun = scene.seen, scene.seen.begun
        details = [f"Round {step.round + 1}", *([f"trick {begun}"] if begun else []), *self._title_details(seen)]
        trump = "no card turned" if seen.turned is None else f"trump {self._faces.colour(seen.turned)}"
        title = " · ".join([*details, trump, f"{scene.header.bots[seen.dealer].name} deals"])
        if step.made is None:
            return StepWords(title, "The cards are dealt.", ())
        ended = begun > 0 and len(seen.plays) == begun * seen.seats and seen.taker(begun - 1) is not None
        outcome = [line.plain for line in self._outcome(scene, begun - 1)] if ended else []
        return StepWords(title, self._choice(scene, step.made).plain, tuple(outcome))

    @abstractmethod
    def _from_views(self, views: Sequence[SeatView]) -> PictureT:
        """Return the round that these views of one position show."""

    @abstractmethod
    def _ended(self, before: PictureT, made: Made, report: RoundReport, seat: int | None) -> PictureT:
        """Return the end of a round as the seat sees it. `before` is the picture before the last choice."""

    @abstractmethod
    def _marks(self, course: Course, index: int) -> MarksT:
        """Collect the forced choices of the round up to a step."""

    @abstractmethod
    def _target(self, seen: PictureT, seat: int) -> tuple[int, ...]:
        """Return the numbers of tricks that fulfil a seat's bid or prediction. Empty if unknown."""

    def _aside(self, seen: PictureT) -> int:
        """Return the number of cards that each seat has laid aside from its hand."""
        return 0

    @abstractmethod
    def _face(self, seen: PictureT, number: int, place: int) -> CardFace:
        """Return a play as a card on the table."""

    @abstractmethod
    def _called(self, seen: PictureT, seat: int) -> str:
        """Return a seat's bid or prediction. Empty if unknown."""

    def _may_know(self, scene: Scene[PictureT, MarksT], made: Made) -> bool:
        """Return True if the scene's seat may know which seat made the last choice."""
        return True

    @abstractmethod
    def _title_details(self, seen: PictureT) -> list[str]:
        """Return the parts of a round's title before its trump."""

    @abstractmethod
    def _seats(self, scene: Scene[PictureT, MarksT]) -> RenderableType:
        """Draw predictions or bids, tricks taken and points by seat."""

    @abstractmethod
    def _card_code(self, scene: Scene[PictureT, MarksT], number: int, place: int) -> Text:
        """Return a play as a short code for the table of tricks."""

    @abstractmethod
    def _taker_cell(self, seen: PictureT, number: int, taker: int) -> str:
        """Return the cell with the winner of a trick and the signs for its special outcome."""

    @abstractmethod
    def _card_name(self, scene: Scene[PictureT, MarksT], number: int, place: int) -> Text:
        """Return a play's name for the table of one trick."""

    @abstractmethod
    def _notes(self, scene: Scene[PictureT, MarksT], number: int, place: int) -> list[str]:
        """Return remarks on a play, besides leading, winning the trick and being forced."""

    @abstractmethod
    def _outcome(self, scene: Scene[PictureT, MarksT], number: int) -> list[Text]:
        """Describe the outcome of a trick, one sentence per line."""

    @abstractmethod
    def _choice(self, scene: Scene[PictureT, MarksT], made: Made) -> Text:
        """Describe the choice that led to a step, as far as the scene's seat may know it."""

    def _hands(self, header: Header, verb: str, seen: PictureT) -> RenderableType:
        """Draw the hands that are not hidden."""
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
        return Scene(header, self.picture(course, index, seat), self._marks(course, index), seat)

    def _title(self, scene: Scene[PictureT, MarksT], what: str) -> Text:
        header, seen, seat = scene.header, scene.seen, scene.seat
        title = Text.assemble((what, "bold"), *(f" · {words}" for words in self._title_details(seen)), " · ")
        if seen.turned is None:
            title.append("no card turned")
        else:
            title.append("trump ").append(self._faces.colour(seen.turned), self._faces.style(seen.turned))
            title.append(f" ({self._faces.name(seen.turned)} turned)")
        title.append(f" · {header.bots[seen.dealer].name} deals")
        return title if seat is None else title.append(f"\nAs {seat_in_words(header, seat)} sees it", "italic")

    def _tricks_table(self, scene: Scene[PictureT, MarksT], numbers: Sequence[int]) -> RenderableType:
        """Draw a table with a row for each trick and a column for each seat. On a narrow screen the columns are
        narrower.
        """
        return Fitted(lambda columns: self._tricks(scene, numbers, columns))

    def _tricks(self, scene: Scene[PictureT, MarksT], numbers: Sequence[int], columns: int) -> Table:
        seen, table = scene.seen, plain_table()
        # The other cells need some columns, and each seat needs two for spacing.
        width = max(4, min(9, (min(columns, 80) - 6) // seen.seats - 2))
        table.add_column("#", justify="right")
        for seat in range(seen.seats):
            name = seat_name(scene.header, seat)
            table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=width, max_width=width)
        table.add_column("by", no_wrap=True)
        for number in numbers:
            row = [Text() for _ in range(seen.seats)]
            for place in range(len(seen.trick(number))):
                play = Text(" " if place else "▸").append_text(self._card_code(scene, number, place))
                row[seen.player(number, place)] = play.append_text(forced_sign(scene.made.play(seen, number, place)))
            taker = seen.taker(number)
            if taker is not None and taker < seen.seats:
                row[taker].stylize("bold reverse", 1)
            table.add_row(f"{number + 1}", *row, "" if taker is None else self._taker_cell(seen, number, taker))
        return table

    def _trick_table(self, scene: Scene[PictureT, MarksT], number: int) -> Table:
        """Draw a table of one trick with a row for each play."""
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
            face = self._card_name(scene, number, place)
            if takes:
                face.stylize("bold reverse")
            table.add_row(f"{place + 1}", seat_name(scene.header, player), face, ", ".join(notes))
        return table
