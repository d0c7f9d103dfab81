"""The contract a game fulfils: `Game` says what the game is, `State` is one game in progress.

A card is an index into `Game.cards`, an action an index into `Game.actions`; replay, wire, journal and learning
code use these indices and nothing else. A `State` is mutable, cheap to clone and trusts its caller: whoever has
input from outside checks it against `legal` first. It takes any whole number for an action or a seat, numpy's too,
and can be pickled and copied. Nothing here reads a clock, draws chance or does input or output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, SupportsIndex, TypeAlias, TypeVar

from engine.observation import Field

OVER: Final = -1
"""`State.player` of a game that is over."""

LARGEST_DIE: Final = 20
"""Faces at most: libraries that build the tree of a game want to know beforehand how many outcomes chance has."""

Option: TypeAlias = bool | int


class Decks(Protocol):
    """The source of a match's deals and dice: the same at every call, in any order. `engine.deal.SeededDecks` is it."""

    def __call__(self, round: int, size: int, count: int, /) -> Sequence[int]:  # noqa: A002 - the field's word
        """The first `count` cards of the round's shuffled deck 0 … size−1; rounds are counted from 0."""

    def roll(self, round: int, number: int, faces: int, /) -> int:  # noqa: A002 - the field's word
        """The face, 0 … faces−1, of a die of at most `LARGEST_DIE` faces; a round's rolls are numbered from 0."""


class Chance(Protocol):
    """A source of random numbers; a `random.Random` is one."""

    def randrange(self, stop: int, /) -> int:
        """One of 0 … stop−1, each equally likely; `stop` may have hundreds of bits."""

    def randbytes(self, n: int, /) -> bytes:
        """So many bytes."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a game."""

    name: str
    colour: int
    """Index into `Game.colours`."""
    values: tuple[int, ...]
    """The values it can count as: one, or several where its player says which."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a game; what does not apply is None."""

    name: str
    kind: str
    """The kind of choice it answers, in the game's own word, such as "play", "bid" or "raise"."""
    card: int | None = None
    value: int | None = None
    """The value of a played card, the number predicted or bid, or 1 for yes and 0 for no."""
    place: int | None = None
    """The place in the trick, from 0, of the card it blocks."""


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option of a game: its type is that of its default."""

    name: str
    default: Option
    description: str


class SeatView(Protocol):
    """Everything one seat may know: a `NamedTuple` of plain values, built up in one function from what it may see.

    Each game has one. Its fields are numbers, flags, None, and lists of numbers as bytes or tuples.
    """

    @property
    def seat(self) -> int:
        """The seat whose view this is."""

    def __iter__(self) -> Iterator[Any]: ...

    def _asdict(self) -> dict[str, Any]: ...


class RoundReport(Protocol):
    """A round that is over with everything face up, the same for all seats: a `NamedTuple` as a view is."""

    def __hash__(self) -> int: ...

    @property
    def round(self) -> int:
        """Number, from 0."""

    @property
    def points(self) -> tuple[int, ...]:
        """Points of this round, by seat."""

    @property
    def scores(self) -> tuple[int, ...]:
        """Points after this round, by seat."""

    def _asdict(self) -> dict[str, Any]: ...


ViewT_co = TypeVar("ViewT_co", bound=SeatView, covariant=True)
ReportT_co = TypeVar("ReportT_co", bound=RoundReport, covariant=True)


class State(Protocol[ViewT_co, ReportT_co]):
    """One game in progress. Secret: only `view` and `report` may leave the house before the game is over."""

    @property
    def player(self) -> int:
        """The next seat to ask (the lowest of several), or `OVER`."""

    @property
    def round(self) -> int:
        """The round being played, from 0; after the end the last one."""

    @property
    def scores(self) -> Sequence[int]:
        """Points after the rounds that are over, by seat."""

    @property
    def report(self) -> ReportT_co | None:
        """The last round that is over; None during the first."""

    def waiting(self) -> tuple[int, ...]:
        """Every seat that owes a choice, in rising order: several where they choose at once, none after the end."""

    def legal(self, seat: SupportsIndex) -> Sequence[int]:
        """The actions open to a seat that owes a choice, in rising order, never empty.

        Immutable; it may be `bytes`, which cannot be asked about numbers beyond 255.
        """

    def fallback(self, seat: SupportsIndex) -> int:
        """The action the server plays for a seat that does not: fixed and dull.

        A prediction or bid: nearest to hand size ÷ seats (ties: the lower; of equal values the first card in card
        order). A play: the first legal action. A yes/no: no.
        """

    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        """Apply a seat's choice. Simultaneous ones may come in any order and stay invisible until all are in."""

    def clone(self) -> State[ViewT_co, ReportT_co]:
        """Return an independent copy."""

    def view(self, seat: SupportsIndex) -> ViewT_co:
        """Return what the seat may know now."""

    def vector(self, seat: SupportsIndex) -> list[float]:
        """Return the seat's view as numbers, laid out as `Game.observation` describes."""

    def vector_into(self, seat: SupportsIndex, array: Any) -> None:
        """Write the vector into an array of one dimension: whatever has a writable buffer, as a numpy row has.

        Of float32 it takes the same numbers, of uint8 what `Field.unit` and `Field.zero` say, as far as it fits.
        Raises `engine.observation.VectorError` for any other array.
        """

    def ranking(self) -> tuple[int, ...]:
        """Places by seat, 1 the best; equal scores share a place."""


class Truth(NamedTuple):
    """A round that a view allows: its deal and the choices up to the view."""

    deck: Sequence[int]
    """The first cards of the round's deck, as many as are dealt."""
    choices: Sequence[tuple[int, int]]
    """Seat and action of every choice of the round so far, in an order in which `State.apply` takes them."""


class Game(Protocol):
    """A kind of game."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """The name programs use, such as "sixth_sense"."""

    @property
    def title(self) -> str:
        """The name people use."""

    @property
    def seats(self) -> range:
        """The numbers of seats it can be played with."""

    @property
    def colours(self) -> tuple[str, ...]:
        """The colours' names."""

    @property
    def cards(self) -> tuple[Card, ...]:
        """Every card."""

    @property
    def actions(self) -> tuple[Action, ...]:
        """Every action."""

    @property
    def options(self) -> tuple[OptionSpec, ...]:
        """The options `new` takes."""

    def observation(self, seats: int) -> tuple[Field, ...]:
        """Describe the fields of `State.vector` with so many seats, whatever the options."""

    def longest(self, seats: int, **options: Option) -> int:
        """Return an upper bound of a game's choices, all seats together; OptionError as in `new`."""

    def points(self, seats: int, **options: Option) -> range:
        """Return a range that no score ever leaves; OptionError as in `new`."""

    def new(self, seats: int, decks: Decks, **options: Option) -> State[SeatView, RoundReport]:
        """A game about to begin, its first round dealt.

        Raises `OptionError` for a number of seats, an option, a value or a combination that the game does not have.
        """

    def sample(self, view: SeatView, rng: Chance) -> State[SeatView, RoundReport]:
        """Sample a game, to be played on by a search, that the seat could be in for all its view tells.

        Every truth of this round that fits the view is equally likely: the hands, what lies face down and what is
        still to be turned. A card that play has ruled out is never dealt; what a choice might betray beyond the rules
        is not guessed at. Of choices made at once, the others' are still to be made. Later rounds are dealt by `rng`,
        earlier ones are forgotten: `report` is None until the round is over. `sample(view, rng).view(view.seat)`
        equals the view. Views that look alike to a seat whoever is asked are taken for those at its own choice.

        Raises `ViewError` for a view of another game, one that no truth fits, and one from after the end, unless that
        looks to the seat as if a last choice were still due.
        """

    def sample_many(self, view: SeatView, rng: Chance, count: int) -> Sequence[State[SeatView, RoundReport]]:
        """Sample several games as `sample` does, each independent of the others, for less each; ViewError as there.

        The same `rng` gives the same games, which need not be those that `sample` makes of it.
        """

    def truth(self, view: SeatView, rng: Chance) -> Truth:
        """Sample what `sample` plays: for the same `rng`, the same deal and choices; ViewError as there."""


class UnknownGameError(KeyError):
    """There is no game of that name; the message says which there are."""

    def __str__(self) -> str:
        return str(self.args[0])


class OptionError(ValueError):
    """Unknown seats or options for a game; the message names the value and what is allowed."""


class ViewError(ValueError):
    """No game in progress can have shown the view: it is another game's, from after the end, or contradicts itself."""


def places(scores: Sequence[int]) -> tuple[int, ...]:
    """Return places by seat, 1 the best: one more than the number of higher scores, so that ties share a place."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def option_text(value: Option) -> str:
    """Return an option's value as people and protocols write it: "true", "false", "50"."""
    return str(value).lower()


def settle_options(game: Game, seats: int, given: Mapping[str, Any]) -> dict[str, Option]:
    """Return all options of a game, `given` over the defaults; OptionError for what the game does not have."""
    if type(seats) is not int or seats not in game.seats:
        raise OptionError(f"{game.title} is for {game.seats.start} to {game.seats.stop - 1} seats, not {seats!r}")
    settled = {spec.name: spec.default for spec in game.options}
    for name, value in given.items():
        if name not in settled:
            raise OptionError(f"{game.title} has no option {name!r}; it has {', '.join(sorted(settled)) or 'none'}")
        if type(value) is not type(settled[name]):
            raise OptionError(f"option {name} takes a {type(settled[name]).__name__}, not {value!r}")
        settled[name] = value
    return settled
