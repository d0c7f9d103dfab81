"""What is known of a match beside what happened in it: who sat where, under which rules, what it did to the ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from arena.match.effects import Effect
from arena.match.inputs import Input
from arena.match.match import Match
from arena.match.policy import Policy
from engine.deal import SeededDecks, match_key
from engine.game import Decks, Game, Option, RoundReport, SeatView, State


class Bot(NamedTuple):
    """Who sat in a seat."""

    name: str
    house: bool
    """Whether it is one of the server's own."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a match was before its first input. Secret until it is over."""

    match: int
    game: Game
    options: Mapping[str, Option]
    bots: tuple[Bot, ...]
    """By seat."""
    seed: bytes = field(repr=False)
    """The server's, 32 bytes."""
    commitment: bytes
    """SHA-256 of the seed, as it was published before any nonce was accepted."""
    nonces: tuple[bytes, ...] = field(repr=False)
    """The bots' 16 bytes, by seat; a house bot's are zero."""
    stand_in: str
    """The house bot that plays on for bots that are gone, with its version."""
    policy: Policy
    started: int
    """Microseconds since 1970 (UTC)."""
    server: str
    """The server's version."""

    def new_match(self) -> Match:
        """The match before its first input."""
        return Match(self.game, len(self.bots), self.options, self._decks(), self.policy)

    def new_game(self) -> State[SeatView, RoundReport]:
        """The game before its first choice."""
        return self.game.new(len(self.bots), self._decks(), **self.options)

    def _decks(self) -> Decks:
        return SeededDecks(match_key(self.seed, self.nonces))


class RatingLike(Protocol):
    """A strength in Elo and the standard deviation of its error."""

    @property
    def value(self) -> float: ...  # noqa: D102 - the class says it

    @property
    def deviation(self) -> float: ...  # noqa: D102


class ChangeLike(Protocol):
    """What a match did to the rating of the bot in one seat."""

    @property
    def before(self) -> RatingLike: ...  # noqa: D102

    @property
    def after(self) -> RatingLike: ...  # noqa: D102


Entry: TypeAlias = tuple[Input, Sequence[Effect]]
"""An input and what it caused."""
