"""Real bots and matches without a server, for the studies of luck and of the ladder's constants.

The field of a game consists of its house bots, the SDK's sample bots, and variants of house bots. One kind of variant
bids like one bot and plays like another. The other kind makes a percentage of its decisions at random. Deals and random
numbers come from seeds, so that all figures are reproducible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from multiprocessing import get_context
from random import Random
from typing import Final, NamedTuple, Protocol, TypeVar, cast

from arena_client import Bot, Catalog, Decision
from arena_client.samples.counter_bot import CounterBot
from arena_client.samples.rule_bot import RuleBot
from arena_client.v1.play_pb2 import PlayResponse

from arena.api.codec import encode
from arena.api.game_codecs import encode_catalog
from arena.house import HOUSE_BOTS
from arena.match.effects import Ask
from arena.server.sessions.messages import Outgoing, Question
from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, SeatView
from engine.registry import GAMES

SOFT: Final = 1_000_000
BANK: Final = 30_000_000
"""Soft time limit and time bank in the sample bots' messages, in microseconds. The bots ignore both."""
JobT = TypeVar("JobT")
DoneT = TypeVar("DoneT")

FIRST_CHOICES: Final = frozenset({"predict", "bid"})
"""Kinds of actions with which a player predicts its number of tricks."""


class Player(Protocol):
    """A bot with the interface of a house bot."""

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """Choose one of the legal actions. `chance` is 32 random bytes."""


@dataclass(frozen=True, slots=True)
class Slips:
    """A bot that chooses at random in a percentage of its decisions."""

    bot: Player
    percent: int

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """Choose as the underlying bot does, or sometimes at random."""
        if int.from_bytes(chance[:4], "big") % 100 < self.percent:
            return legal[int.from_bytes(chance[4:12], "big") % len(legal)]
        return self.bot.decide(view, legal, chance)


@dataclass(frozen=True, slots=True)
class Mixed:
    """A bot that bids like one bot and plays like another."""

    game: str
    bids: Player
    plays: Player

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """Let the bot that is responsible for this kind of action choose."""
        first = GAMES[self.game].actions[legal[0]].kind in FIRST_CHOICES
        return (self.bids if first else self.plays).decide(view, legal, chance)


@dataclass(frozen=True, slots=True)
class Sample:
    """An SDK bot, called through protocol messages."""

    game: str
    bot: Bot

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """Return the bot's answer to the message that a server would send."""
        question = Question(1, Ask(0, 1, legal, view, SOFT, BANK))
        asked = PlayResponse.FromString(encode(Outgoing(questions=[question]))).decisions[0]
        seen = getattr(asked, asked.WhichOneof("view") or "")
        decision = Decision(1, 1, _catalog(self.game), seen, list(asked.legal), asked.soft_ms, asked.bank_ms)
        return cast("int", self.bot.decide(decision))


@cache
def _catalog(game: str) -> Catalog:
    return Catalog.of(encode_catalog(GAMES[game]))


def house_names(game: str) -> tuple[str, ...]:
    """Return the names of a game's house bots. The first is the random bot, which is the weakest."""
    return tuple(bot.name.removeprefix("house-") for bot in HOUSE_BOTS[game])


@cache
def field(game: str) -> dict[str, Player]:
    """Return the bots of a game by name, house bots first."""
    house = dict(zip(house_names(game), HOUSE_BOTS[game], strict=True))
    careful, counter = house["careful"], house["counter"]
    return {
        **house,
        "sample rules": Sample(game, RuleBot()),
        "sample counter": Sample(game, CounterBot()),
        "careful bids, counter plays": Mixed(game, careful, counter),
        "counter bids, careful plays": Mixed(game, counter, careful),
        "counter, 2 % slips": Slips(counter, 2),
        "counter, 5 % slips": Slips(counter, 5),
        "counter, 10 % slips": Slips(counter, 10),
        "counter, 25 % slips": Slips(counter, 25),
        "careful, 10 % slips": Slips(careful, 10),
    }


class Deal(NamedTuple):
    """The key from which the cards of a match are dealt."""

    key: bytes

    @classmethod
    def draw(cls, chance: Random) -> Deal:
        """Draw a random deal."""
        return cls(chance.randbytes(KEY_BYTES))


class Played(NamedTuple):
    """Result of a match by seat."""

    scores: tuple[int, ...]
    places: tuple[int, ...]


def play(game: str, players: Sequence[Player], deal: Deal, chance: Random) -> Played:
    """Play one match. Bots are not called when only one action is legal."""
    state = GAMES[game].new(len(players), SeededDecks(deal.key))
    while (seat := state.player) != OVER:
        legal = state.legal(seat)
        action = legal[0]
        if len(legal) > 1:
            action = players[seat].decide(state.view(seat), legal, chance.randbytes(32))
        state.apply(action, seat)
    return Played(tuple(state.scores), state.ranking())


def spread(work: Callable[[JobT], DoneT], jobs: Iterable[JobT], processes: int) -> Iterator[DoneT]:
    """Apply `work` to each job in several processes. Yield the results in the order of the jobs."""
    if processes == 1:
        yield from map(work, jobs)
        return
    waiting = iter(jobs)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        while batch := list(islice(waiting, 64 * processes)):
            yield from pool.map(work, batch, chunksize=8)
