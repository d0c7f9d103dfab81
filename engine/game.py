"""The contract of a game: `Game` describes the game, `State` is one game in progress.

A card is an index into `Game.cards`, an action an index into `Game.actions`; replays, messages, journals and learning
code use these indices and nothing else. A `State` is mutable, cheap to clone and trusts its caller, who checks input
from outside against `legal` first. Actions and seats may be any whole number, numpy's too. A state can be pickled and
copied. Nothing here reads a clock, draws random numbers or does input or output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, SupportsIndex, TypeAlias, TypeVar

from engine.observation import Field

OVER: Final = -1
"""Value of `State.player` after the end of a game."""

LARGEST_DIE: Final = 20
"""Maximum number of faces of a die. Libraries that build game trees need such a maximum."""

Option: TypeAlias = bool | int


class Decks(Protocol):
    """The source of a match's deals and dice.

    Calls in any order give the same results. `engine.deal.SeededDecks` is one.
    """

    def __call__(self, round: int, size: int, count: int, /) -> Sequence[int]:  # noqa: A002 - the field's word
        """Return the first `count` cards of a round's shuffled deck 0 … size−1; rounds are counted from 0."""

    def roll(self, round: int, number: int, faces: int, /) -> int:  # noqa: A002 - the field's word
        """Roll a die with at most `LARGEST_DIE` faces: return 0 … faces−1. The rolls of a round are numbered from 0."""


class Chance(Protocol):
    """A source of random numbers; a `random.Random` is one."""

    def randrange(self, stop: int, /) -> int:
        """Return one of 0 … stop−1, each equally likely; `stop` may have hundreds of bits."""

    def randbytes(self, n: int, /) -> bytes:
        """Return `n` random bytes."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a game."""

    name: str
    colour: int
    """Index into `Game.colours`."""
    values: tuple[int, ...]
    """The values of the card; if there are several, the player of the card chooses one."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a game. Fields that do not apply are None."""

    name: str
    kind: str
    """The kind of choice that the action makes, in the game's own terms, such as "play", "bid" or "raise"."""
    card: int | None = None
    value: int | None = None
    """The value of a played card, the number predicted or bid, or 1 for yes and 0 for no."""
    place: int | None = None
    """The place in the trick, from 0, of the card that the action blocks."""


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option of a game. Its type is that of its default."""

    name: str
    default: Option
    description: str


class SeatView(Protocol):
    """Everything that one seat may know: a `NamedTuple` of plain values, built by a single function.

    Each game has one. Its fields are numbers, flags, None, and lists of numbers as bytes or tuples.
    """

    @property
    def seat(self) -> int:
        """The seat whose view this is."""

    def __iter__(self) -> Iterator[Any]: ...

    def _asdict(self) -> dict[str, Any]: ...


class RoundReport(Protocol):
    """A finished round with all cards shown, the same for all seats: a `NamedTuple` like a view."""

    def __hash__(self) -> int: ...

    @property
    def round(self) -> int:
        """Number of the round, from 0."""

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
    """One game in progress. Secret: only `view` and `report` may be shown to players before the game is over."""

    @property
    def player(self) -> int:
        """The next seat to ask (the lowest if several must choose), or `OVER`."""

    @property
    def round(self) -> int:
        """The round being played, from 0; after the end the last one."""

    @property
    def scores(self) -> Sequence[int]:
        """Points after the finished rounds, by seat."""

    @property
    def report(self) -> ReportT_co | None:
        """The last finished round; None during the first."""

    def waiting(self) -> tuple[int, ...]:
        """Every seat that owes a choice, in rising order: several if they choose at once; empty after the end."""

    def legal(self, seat: SupportsIndex) -> Sequence[int]:
        """The legal actions of a seat that owes a choice, in rising order, never empty.

        Immutable. It may be `bytes`, for which `in` fails with numbers above 255.
        """

    def fallback(self, seat: SupportsIndex) -> int:
        """Return the action that the server plays for a silent seat, by a fixed and simple rule.

        A prediction or bid is the one nearest to hand size ÷ seats: of two equally near ones the lower, of cards with
        equal values the first in card order. A play is the first legal action. The answer to a yes-or-no question is
        no.
        """

    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        """Apply a seat's choice. Simultaneous choices may come in any order and stay invisible until all are made."""

    def clone(self) -> State[ViewT_co, ReportT_co]:
        """Return an independent copy."""

    def view(self, seat: SupportsIndex) -> ViewT_co:
        """Return what the seat may know now."""

    def vector(self, seat: SupportsIndex) -> list[float]:
        """Return the seat's view as numbers, laid out as `Game.observation` describes."""

    def vector_into(self, seat: SupportsIndex, array: Any) -> None:
        """Write the numbers that `vector` returns into a one-dimensional array: anything with a writable buffer, such
        as a numpy row.

        A float32 array gets them unchanged. For a uint8 array, `Field.unit` and `Field.zero` convert them to steps,
        clipped to a byte. Raises `engine.observation.VectorError` for any other array.
        """

    def ranking(self) -> tuple[int, ...]:
        """Places by seat, 1 the best; equal scores share a place."""


class Truth(NamedTuple):
    """A possible truth behind a view: the round's deal, and its choices up to the view."""

    deck: Sequence[int]
    """The first cards of the round's deck, as many as are dealt."""
    choices: Sequence[tuple[int, int]]
    """Seat and action of every choice of the round so far, in an order that `State.apply` accepts."""


class Game(Protocol):
    """A kind of game."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """The name for programs, such as "sixth_sense"."""

    @property
    def title(self) -> str:
        """The name for people."""

    @property
    def seats(self) -> range:
        """The numbers of seats with which the game can be played."""

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
        """The options that `new` accepts."""

    def observation(self, seats: int) -> tuple[Field, ...]:
        """Describe the fields of `State.vector` with this many seats, whatever the options."""

    def longest(self, seats: int, **options: Option) -> int:
        """Return an upper bound on the number of choices in a game, over all seats. Raises: OptionError."""

    def points(self, seats: int, **options: Option) -> range:
        """Return the range of the scores: no score is ever outside it. Raises: OptionError."""

    def new(self, seats: int, decks: Decks, **options: Option) -> State[SeatView, RoundReport]:
        """Create a game and deal its first round.

        Raises `OptionError` for a number of seats, an option, a value or a combination that the game does not have.
        """

    def sample(self, view: SeatView, rng: Chance) -> State[SeatView, RoundReport]:
        """Sample a game that fits the view, for a search to continue.

        All deals of this round's hidden cards that fit the view are equally likely: hands, face-down cards and cards
        still to be turned over. A card that the rules exclude is never dealt; nothing else is inferred from choices.
        Simultaneous choices of other seats are still to be made. Later rounds are dealt by `rng`, earlier ones are
        forgotten: `report` is None until the round is over. `sample(view, rng).view(view.seat)` equals the view. If a
        view does not show which seat is asked, the sample assumes that it is the view's own seat.

        Raises `ViewError` for a view of another game, a view that no deal fits, and a view after the end of a game,
        unless a last choice could still be due in it.
        """

    def sample_many(self, view: SeatView, rng: Chance, count: int) -> Sequence[State[SeatView, RoundReport]]:
        """Sample several independent games, faster than with `sample`. Raises: ViewError.

        The same `rng` gives the same games, but not necessarily those of `sample`.
        """

    def truth(self, view: SeatView, rng: Chance) -> Truth:
        """Sample a deal and choices: those that `sample` would use with the same `rng`. Raises: ViewError."""


class UnknownGameError(KeyError):
    """Error for a name that no game has. The message lists the games."""

    def __str__(self) -> str:
        return str(self.args[0])


class OptionError(ValueError):
    """Error for a number of seats or an option that the game does not have.

    The message names the value and the allowed values.
    """


class ViewError(ValueError):
    """Error for a view that cannot come from a game in progress: it is contradictory, of another game, or from after
    the end.
    """


def places(scores: Sequence[int]) -> tuple[int, ...]:
    """Return the place of each seat: one more than the number of higher scores, so that ties share a place."""
    return tuple(1 + sum(other > score for other in scores) for score in scores)


def option_text(value: Option) -> str:
    """Format an option's value as people and protocols write it: "true", "false", "50"."""
    return str(value).lower()


def settle_options(game: Game, seats: int, given: Mapping[str, Any]) -> dict[str, Option]:
    """Return all options of a game, with defaults for missing ones. Raises: OptionError: Invalid seats or options."""
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
