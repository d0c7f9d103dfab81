"""The header of a match, known before its first input: game, bots, seed, policy; and the types of its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, Protocol, TypeAlias

from arena.match.effects import Effect
from arena.match.inputs import Input
from arena.match.match import Match
from arena.match.policy import Policy
from arena.match.result import RATING_RULE
from engine.deal import SeededDecks, match_key
from engine.game import Decks, Game, Option, RoundReport, SeatView, State


class MatchKind(Enum):
    """A kind of match."""

    RATED = "rated"
    CASUAL = "casual"
    """The match changes no rating."""
    CHALLENGE = "challenge"
    """The match changes no rating. Its bots were named in advance and agreed to play."""
    EVENT = "event"
    """The match is a table of an event and changes no rating."""


class OfferOutcome(Enum):
    """The result of offering a seat to a bot."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    SILENT = "silent"
    """The bot did not answer in time."""
    LEFT = "left"
    """The bot disconnected before it answered."""


class SeatOffer(NamedTuple):
    """A seat that an invitation offered to a bot."""

    seat: int
    bot: str
    """The bot's name."""
    outcome: OfferOutcome
    invitation_id: int
    salt: bytes
    """The 32 bytes of the salt. The invitation contained the SHA-256 of the salt followed by the match's commitment."""


DEALT_BY_SERVER: Final = "server"
"""Value of `dealt_by` if the server drew the seed and committed to it before the bots sent their nonces."""


DEALT_BY_MATCH_RUNNER: Final = "match runner"
"""Value of `dealt_by` for games of `arena match`: there is no commitment, and nonces are zero."""


class SeatedBot(NamedTuple):
    """The bot in a seat."""

    name: str
    house: bool
    """True if the bot is a house bot."""
    newcomer: bool = False
    """True if the bot had not yet finished a match, which gives it less time to return."""


@dataclass(frozen=True, slots=True)
class Header:
    """Description of a match before its first input. It is secret until the match is over."""

    match_id: int
    game: Game
    options: Mapping[str, Option]
    bots: tuple[SeatedBot, ...]
    """Bots by seat."""
    seed: bytes = field(repr=False)
    """The server's seed, 32 bytes."""
    commitment: bytes
    """The commitment to the seed, published before any nonce was accepted."""
    nonces: tuple[bytes, ...] = field(repr=False)
    """The bots' nonces by seat, 16 bytes each. The bytes of a house bot's nonce are zero."""
    stand_in: str
    """The house bot that plays for absent bots, with its version."""
    policy: Policy
    started: int
    """Start of the match in microseconds since 1970 (UTC)."""
    server: str
    """Version of the server."""
    kind: MatchKind = MatchKind.RATED
    dealt_by: str = DEALT_BY_SERVER
    """The party that drew the seed."""
    rating_rule: int = RATING_RULE
    """Number of the rule that determines how ratings follow from the result; see `arena.match.result`."""
    offers: tuple[SeatOffer, ...] = ()
    """The seats offered to bots, in the order of the answers. Unknown before format 4."""
    ladder: str = ""
    """Id of the ladder. Empty for the game's default ladder."""
    event: str = ""
    """The event and the number of its table, such as "friday/12". Empty for matches of other kinds."""

    @property
    def ladder_id(self) -> str:
        """Id of the ladder, including that of a default ladder."""
        return self.ladder or self.game.name

    @property
    def further_ladder(self) -> str:
        """Name of the ladder. Empty for the game's default ladder in any season."""
        name = self.ladder.partition("/")[0]
        return "" if name == self.game.name else name

    def new_match(self) -> Match:
        """Create the match before its first input. Raises: OptionError: The game lacks an option."""
        newcomers = [seat for seat, bot in enumerate(self.bots) if bot.newcomer]
        return Match(self.game, len(self.bots), self.options, self._decks(), self.policy, newcomers, self.rating_rule)

    def new_game(self) -> State[SeatView, RoundReport]:
        """Create the game before its first choice. Raises: OptionError: The game lacks an option."""
        return self.game.new(len(self.bots), self._decks(), **self.options)

    def _decks(self) -> Decks:
        return SeededDecks(match_key(self.seed, self.nonces))


class RatingLike(Protocol):
    """A rating in Elo and its standard deviation."""

    @property
    def value(self) -> float: ...  # noqa: D102 - the class says it

    @property
    def deviation(self) -> float: ...  # noqa: D102


class ChangeLike(Protocol):
    """Ratings of the bot in one seat before and after a match."""

    @property
    def before(self) -> RatingLike: ...  # noqa: D102

    @property
    def after(self) -> RatingLike: ...  # noqa: D102

    @property
    def beyond_quota(self) -> Sequence[int]: ...  # noqa: D102


Entry: TypeAlias = tuple[Input, Sequence[Effect]]
"""An input and its effects."""
