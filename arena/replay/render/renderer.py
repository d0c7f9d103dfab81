"""The interface of a game's renderer, and the table of a trick-taking game at one step, as one seat may see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rich.console import RenderableType

from arena.replay.header import SeatedBot
from arena.replay.steps import Course
from engine.game import RoundReport, SeatView
from engine.words import standing


class CardFace(NamedTuple):
    """The visible side of a card on the table."""

    colour: str
    """Name of its colour, such as "red"; empty for a card that is face down."""
    text: str
    """The card's value, or the value as which it was played."""
    note: str = ""
    """A sign beside the card, such as "*" for trump."""
    blocked: bool = False


class SeatScene(NamedTuple):
    """One seat of a table."""

    name: str
    house: bool
    hand: tuple[CardFace, ...] | None
    """The hand; None if hidden."""
    called: str
    """The bot's bid or prediction, in a few characters; empty if unknown."""
    taken: int
    score: int
    points: int | None
    """Points of the round; None until the round is over."""
    card: CardFace | None
    """The seat's card in the shown trick; None before it has played."""
    deals: bool
    leads: bool
    takes: bool
    """True if the seat took the shown trick."""
    chose: bool
    """True if the seat made the choice that led to this step."""
    target: tuple[int, ...] = ()
    """The numbers of tricks that fulfil the seat's bid or prediction; empty if unknown."""
    held: int = 0
    """Number of cards in the seat's hand, also if the hand is hidden."""
    turn: bool = False
    """True if the seat is to play a card."""

    @property
    def standing(self) -> str:
        """The number of tricks that the seat's bid or prediction still needs, in words; empty if unknown."""
        return standing(self.target, self.taken, self.points is not None) if self.target else ""


class TableScene(NamedTuple):
    """A table at one step."""

    seats: tuple[SeatScene, ...]
    turned: CardFace | None
    """The card turned up for trump."""
    trick: int | None
    """Number of the shown trick, from 0; None before the first."""
    called: str = "called"
    """The game's word for a seat's bid or prediction, such as "foretold"."""
    below: int = 0
    """The seat that is drawn at the bottom."""


class StepWords(NamedTuple):
    """A step in words, as far as the seat may know it."""

    title: str
    """The round, its trump and its dealer."""
    happened: str
    """The choice that led to the step."""
    outcome: tuple[str, ...]
    """The outcome of the trick that the choice ended, in sentences; empty if it ended no trick."""


class Renderer(Protocol):
    """Renderer of one game. It shows what `seat` knew at that step, or all hands if `seat` is None.

    Rounds and steps are numbered from 0, and callers pass only existing ones. A game divides its rounds into parts,
    such as tricks or betting rounds; a round without parts counts as one part.
    """

    def kept(self, report: RoundReport) -> Sequence[bool] | None:
        """Return for each seat whether it took the tricks that it had bid or predicted; None in a game without bids."""

    def worth(self, report: RoundReport) -> Sequence[int]:
        """Return a round's points by seat, including costs that are charged at the end of the game."""

    @property
    def part(self) -> str:
        """The word for a part of a round, such as "trick"; its plural is formed with s."""

    def stops(self, course: Course, number: int) -> Sequence[int]:
        """Return the last step of each part of a round, in order; the last part may be unfinished."""

    def rounds(self, course: Course) -> RenderableType:
        """Draw the points of the finished rounds."""

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """Draw one round with all its choices."""

    def passage(self, course: Course, stop: int, seat: int | None) -> RenderableType:
        """Draw the part of a round that ends with a step of `stops`."""

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """Draw the position at a step and the choice that led to it."""

    def words(self, course: Course, index: int, seat: int | None) -> StepWords | None:
        """Describe a step in words; None for a game without tricks."""

    def table(self, course: Course, index: int, seat: int | None) -> TableScene | None:
        """Return the table at a step; None for a game without tricks."""

    def seen(self, view: SeatView, bots: Sequence[SeatedBot]) -> TableScene | None:
        """Return the table that one seat's view shows; None for a game without tricks."""
