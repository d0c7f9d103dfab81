"""Real bots and real matches without a server, for the benchmarks of luck and of the ladder's constants.

The field of a game is its house bots, the SDK's sample bots, and variants of the house's: one that bids like the one
and plays like the other, and bots that slip, which choose at random in so many percent of their decisions. Deals and
chance come from seeds, so that every figure can be had again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import islice
from multiprocessing import get_context
from random import Random
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from arena_client import Bot, Catalog, Decision, NullernView, SixthSenseView
from arena_client.samples.counter_bot import CounterBot
from arena_client.samples.rule_bot import RuleBot

from arena.house import HOUSE_BOTS
from arena.wire.catalog import encode_catalog
from arena.wire.nullern import encode_view as encode_nullern
from arena.wire.sixth_sense import encode_view as encode_sixth_sense
from engine.deal import KEY_BYTES, SeededDecks
from engine.game import OVER, SeatView
from engine.registry import GAMES

JobT = TypeVar("JobT")
DoneT = TypeVar("DoneT")

FIRST_CHOICES: Final = frozenset({"predict", "bid"})
"""The kinds of choices that say how many tricks a bot will take."""
ENCODERS: Final[dict[str, tuple[Any, Callable[[Any], Any]]]] = {
    "sixth_sense": (SixthSenseView, encode_sixth_sense),
    "nullern": (NullernView, encode_nullern),
}


class Player(Protocol):
    """Decides as a house bot does."""

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """One of the legal actions; `chance` is 32 bytes to draw from."""


@dataclass(frozen=True, slots=True)
class Slips:
    """A bot that chooses at random in so many percent of its decisions."""

    bot: Player
    percent: int

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """What the bot says, or any action."""
        if int.from_bytes(chance[:4], "big") % 100 < self.percent:
            return legal[int.from_bytes(chance[4:12], "big") % len(legal)]
        return self.bot.decide(view, legal, chance)


@dataclass(frozen=True, slots=True)
class Mixed:
    """A bot that bids like one and plays like another."""

    game: str
    bids: Player
    plays: Player

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """What the one or the other says."""
        first = GAMES[self.game].actions[legal[0]].kind in FIRST_CHOICES
        return (self.bids if first else self.plays).decide(view, legal, chance)


@dataclass(frozen=True, slots=True)
class Sample:
    """A bot of the SDK, which is asked by messages."""

    game: str
    bot: Bot

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """What the bot answers to the message that a server would send."""
        message, encode = ENCODERS[self.game]
        seen = message.FromString(encode(view).SerializeToString())
        return self.bot.decide(Decision(1, 1, _catalog(self.game), seen, list(legal), 1000, 30_000))


@cache
def _catalog(game: str) -> Catalog:
    return Catalog.of(encode_catalog(GAMES[game]))  # type: ignore[arg-type]  # the server's message for the client's


@cache
def field(game: str) -> dict[str, Player]:
    """The bots of a game by name, the house's first."""
    random, careful, counter = HOUSE_BOTS[game][:3]
    return {
        "random": random,
        "careful": careful,
        "counter": counter,
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
    """The cards of a match."""

    key: bytes

    @classmethod
    def draw(cls, chance: Random) -> Deal:
        """Any deal."""
        return cls(chance.randbytes(KEY_BYTES))


class Played(NamedTuple):
    """What a match came to, by seat."""

    scores: tuple[int, ...]
    places: tuple[int, ...]


def play(game: str, players: Sequence[Player], deal: Deal, chance: Random) -> Played:
    """One match; a choice of one is not asked for."""
    state = GAMES[game].new(len(players), SeededDecks(deal.key))
    while (seat := state.player) != OVER:
        legal = state.legal(seat)
        action = legal[0]
        if len(legal) > 1:
            action = players[seat].decide(state.view(seat), legal, chance.randbytes(32))
        state.apply(action, seat)
    return Played(tuple(state.scores), state.ranking())


def spread(work: Callable[[JobT], DoneT], jobs: Iterable[JobT], processes: int) -> Iterator[DoneT]:
    """What the work makes of the jobs, in their order, in so many processes."""
    if processes == 1:
        yield from map(work, jobs)
        return
    waiting = iter(jobs)
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        while batch := list(islice(waiting, 64 * processes)):
            yield from pool.map(work, batch, chunksize=8)
