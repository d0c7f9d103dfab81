"""The interface of a game's renderer, the table of a trick-taking game at one step, and the text of cards.

A card's text is its colour's letter and its value, such as R0, G6/9 or P12.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple, Protocol

from rich.console import RenderableType
from rich.text import Text

from arena.match.effects import Cause
from arena.replay.header import SeatedBot
from arena.replay.steps import Course
from engine.game import Game, RoundReport, SeatView
from engine.words import standing

_STYLES: Final = {
    "red": "red",
    "yellow": "yellow",
    "green": "green",
    "blue": "bright_blue",
    "purple": "magenta",
}
"""Rich styles by name of the colour. Other colours have no style."""
_FORCED: Final = {Cause.TIME: "!t", Cause.ILLEGALITY: "!i", Cause.SUSPENSION: "!s", Cause.ABSENCE: "!a"}


class CardFace(NamedTuple):
    """The visible side of a card on the table."""

    colour: str
    """Name of its colour, such as "red". Empty for a card that is face down."""
    text: str
    """The card's value, or the value that its player chose for it."""
    note: str = ""
    """A sign beside the card, such as "*" for trump."""
    blocked: bool = False


class SeatScene(NamedTuple):
    """One seat of a table."""

    name: str
    house: bool
    hand: tuple[CardFace, ...] | None
    """The hand, or None if hidden."""
    called: str
    """The bot's bid or prediction in a few characters. Empty if unknown."""
    taken: int
    score: int
    points: int | None
    """Points of the round, or None until the round is over."""
    card: CardFace | None
    """The seat's card in the shown trick, or None before it has played."""
    deals: bool
    leads: bool
    takes: bool
    """True if the seat won the shown trick."""
    chose: bool
    """True if the seat made the choice that led to this step."""
    target: tuple[int, ...] = ()
    """The numbers of tricks that fulfil the seat's bid or prediction. Empty if unknown."""
    held: int = 0
    """Number of cards in the seat's hand, even if it is hidden."""
    turn: bool = False
    """True if the seat must play a card next."""

    @property
    def standing(self) -> str:
        """The number of tricks that the seat's bid or prediction still needs, in words. Empty if unknown."""
        return standing(self.target, self.taken, self.points is not None) if self.target else ""


class TableScene(NamedTuple):
    """A table at one step."""

    seats: tuple[SeatScene, ...]
    turned: CardFace | None
    """The card turned up for trump."""
    trick: int | None
    """Number of the shown trick, from 0. None before the first trick."""
    called: str = "called"
    """The game's word for a seat's bid or prediction, such as "foretold"."""
    below: int = 0
    """The seat that is drawn at the bottom."""


class StepWords(NamedTuple):
    """A step in words, as far as the viewing seat may know it."""

    title: str
    """The round, its trump and its dealer."""
    happened: str
    """The choice that led to the step."""
    outcome: tuple[str, ...]
    """The outcome of the trick that the choice ended, in sentences. Empty if it ended no trick."""


class Renderer(Protocol):
    """Renderer of one game. It shows what `seat` knows at the step, or all hands if `seat` is None.

    Rounds and steps are numbered from 0, and callers pass only existing ones. A game divides its rounds into parts,
    such as tricks or betting rounds. A round without parts counts as one part.
    """

    def kept(self, report: RoundReport) -> Sequence[bool] | None:
        """Return, for each seat, True if it won exactly as many tricks as it had bid or predicted. Return None in a
        game without bids.
        """

    def worth(self, report: RoundReport) -> Sequence[int]:
        """Return a round's points by seat, including costs that are charged at the end of the game."""

    @property
    def part(self) -> str:
        """The word for a part of a round, such as "trick". Its plural is formed with an s."""

    def stops(self, course: Course, number: int) -> Sequence[int]:
        """Return the last step of each part of a round, in order. The last part may be unfinished."""

    def rounds(self, course: Course) -> RenderableType:
        """Draw the points of the finished rounds."""

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """Draw one round with all its choices."""

    def passage(self, course: Course, stop: int, seat: int | None) -> RenderableType:
        """Draw the part of a round that ends with a step of `stops`."""

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """Draw the position at a step and the choice that led to it."""

    def words(self, course: Course, index: int, seat: int | None) -> StepWords | None:
        """Describe a step in words. Return None for a game without tricks."""

    def table(self, course: Course, index: int, seat: int | None) -> TableScene | None:
        """Return the table at a step, or None for a game without tricks."""

    def seen(self, view: SeatView, bots: Sequence[SeatedBot]) -> TableScene | None:
        """Return the table that one seat's view shows, or None for a game without tricks."""


class Faces:
    """Names of a game's cards in tables and sentences."""

    def __init__(self, game: Game) -> None:
        self._cards = game.cards
        self._colours = game.colours

    def colour(self, card: int) -> str:
        """Return the name of a card's colour."""
        return self._colours[self._cards[card].colour]

    def letter(self, card: int) -> str:
        """Return the letter of a card's colour."""
        return self.colour(card)[0].upper()

    def style(self, card: int) -> str:
        """Return the Rich style of a card's colour."""
        return _STYLES.get(self.colour(card), "")

    def name(self, card: int) -> Text:
        """Return a card's name for a sentence."""
        return Text(self._cards[card].name, style=self.style(card))

    def code(self, card: int) -> Text:
        """Return a card's short code for a table."""
        return Text(f"{self.letter(card)}{self._values(card)}", style=self.style(card))

    def hand(self, hand: bytes) -> Text:
        """List the cards of a hand by colour: each colour's letter once, then the values."""
        text = Text("" if hand else "nothing")
        for _, group in groupby(hand, self.colour):
            cards = list(group)
            values = " ".join(map(self._values, cards))
            text.append(f"{'  ' if text else ''}{self.letter(cards[0])} {values}", self.style(cards[0]))
        return text

    def face(self, card: int) -> CardFace:
        """Return a card's appearance on a table."""
        return CardFace(self.colour(card), self._values(card))

    def _values(self, card: int) -> str:
        return "/".join(map(str, self._cards[card].values))


def forced_sign(cause: Cause | None) -> Text:
    """Return the mark of a forced choice in a table, or an empty text for a bot's own choice."""
    return Text() if cause is None else Text(_FORCED[cause], style="red")


def forced_words(cause: Cause | None) -> str:
    """Return the remark on a forced choice at the end of a sentence, or an empty text for a bot's own choice."""
    return "" if cause is None else f" (forced by {cause.value})"
