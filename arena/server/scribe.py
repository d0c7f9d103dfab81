"""What of a match is stored: its beginning, its journal, its result; and matches that a dead server left are taken up.

Whatever the store cannot do at the moment is tried again until it can; meanwhile nothing is shown that depends on it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import structlog
import trio

from arena.house import title
from arena.house.random_bot import RandomBot
from arena.ladder import live
from arena.match.effects import Over
from arena.replay.header import Bot, Header
from arena.replay.read import read_unfinished
from arena.replay.record import Draft
from arena.replay.replay import ReplayError
from arena.replay.thinking import Thinking
from arena.server.players import HousePlayer
from arena.server.table import Table
from arena.server.wall import now_us
from arena.store import bots, matches, parking
from arena.store.errors import StoreError
from arena.version import __version__
from engine.deal import match_key
from engine.game import settle_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlalchemy import Connection

    from arena.house import HouseBot
    from arena.match.inputs import Input
    from arena.server.config import Config
    from arena.server.contestant import Contestant
    from arena.server.gathering import Gathering
    from arena.server.players import Player
    from arena.server.pool import WorkerPool
    from arena.store.store import Store

RETRY: Final = 2.0
"""Seconds after which what could not be stored is tried again."""
Figures: TypeAlias = tuple[float, float, float, float]
"""A rating and its deviation, before and after a match."""

log = structlog.get_logger(__name__)


class CannotBeRestored(Exception):  # noqa: N818 - the match is void, the server is well
    """A match that was left running cannot be continued; the message says why."""


class Recorded(NamedTuple):
    """What was stored of the end of a match."""

    over: Over
    changes: tuple[live.RatingChange, ...]
    """By seat; none where it is void."""
    parked: tuple[bots.Bot, ...]
    """Bots that are given no seats from now on."""


class Scribe:
    """Keeps the matches of one server in its store."""

    def __init__(
        self,
        config: Config,
        store: Store,
        house_bots: Mapping[str, Sequence[HouseBot]],
        pool: WorkerPool,
        watch: Callable[[Table], None],
    ) -> None:
        """`watch` is told when a table's deadline may have moved."""
        self._config = config
        self._store = store
        self._house_bots = house_bots
        self._pool = pool
        self._watch = watch

    async def begin(self, gathering: Gathering) -> Table:
        """The table of a match that everybody is ready for, its beginning stored; StoreError if that failed."""
        game, players = gathering.game, gathering.players
        header = Header(
            match=gathering.match_id,
            game=game,
            options=settle_options(game, len(players), gathering.options),
            bots=tuple(Bot(player.name, isinstance(player, HousePlayer)) for player in players),
            seed=gathering.seed,
            commitment=gathering.commitment,
            nonces=gathering.nonces,
            stand_in=title(self._stand_in(game.name)),
            policy=self._config.policy,
            started=now_us(),
            server=__version__,
        )
        self._store.journal.begin(header)
        try:
            await self._store.write(
                partial(
                    matches.begin,
                    game=game.name,
                    options=gathering.options,
                    bots=[bots.BotId(player.bot_id) for player in players],
                    said=[player.version for player in players],
                    at=header.started,
                    number=header.match,
                )
            )
        except StoreError:
            self._store.journal.forget(header.match)
            raise
        log.info("match began", match=header.match, game=game.name, bots=[player.name for player in players])
        return self._table(header, players)

    async def restore(
        self, contestant: Callable[[int, str, str], Contestant]
    ) -> Sequence[tuple[Table, Sequence[Input]]]:
        """The matches that an earlier server left running, and what happened in them; those that cannot go on are void.

        `contestant` gives the bot of a number, name and owner.
        """
        restored = []
        for number, lines in self._store.unfinished.items():
            try:
                header, inputs = read_unfinished(lines, f"the journal of match {number}")
                players = await self._players(header, contestant)
                restored.append((self._table(header, players), inputs))
                log.info("match taken up", match=number, inputs=len(inputs))
            except (ReplayError, CannotBeRestored) as error:
                log.error("match is void", match=number, error=str(error))
                await self.void(number, f"the server died and the match cannot be restored: {error}")
        return restored

    async def record(self, table: Table, over: Over) -> Recorded:
        """Stores how a match ended, as often as it takes."""
        number, at = matches.MatchId(table.match_id), now_us()
        while True:
            try:
                finish = partial(
                    _finish,
                    match=number,
                    at=at,
                    over=tuple(over),
                    draft=tuple(table.draft()),
                    thinking=[tuple(each) for each in table.thinking],
                    park_after=self._config.park_after,
                )
                figures, parked = await self._store.write(finish)
                break
            except StoreError as error:
                log.error("result not stored yet", match=number, error=str(error), retry_in=RETRY)
                await trio.sleep(RETRY)
            except Exception:
                log.exception("a fault of the server: the match is void", match=number)
                reason = "the server could not record the result"
                await self.void(number, reason)
                return Recorded(Over((), (), over.forced, over.troubled, (), reason), (), ())
        self._store.journal.forget(number)
        log.info("match over", match=number, scores=over.scores, places=over.places)
        return Recorded(over, tuple(map(_change, figures)), parked)

    async def void(self, number: int, reason: str) -> None:
        """Records that a match has no result, as often as it takes."""
        while True:
            try:
                await self._store.write(
                    partial(matches.interrupt, matches=[matches.MatchId(number)], reason=reason, at=now_us())
                )
                break
            except StoreError as error:
                log.error("void match not stored yet", match=number, error=str(error), retry_in=RETRY)
                await trio.sleep(RETRY)
        self._store.journal.forget(number)

    async def _players(self, header: Header, contestant: Callable[[int, str, str], Contestant]) -> tuple[Player, ...]:
        if header.game not in self._config.games:
            raise CannotBeRestored(f"this server does not play {header.game.name}")
        house = {bot.name: bot for bot in self._house_bots.get(header.game.name, ())}
        now = title(self._stand_in(header.game.name))
        if header.stand_in != now:
            raise CannotBeRestored(f"its stand-in was {header.stand_in}, this server has {now}")
        players: list[Player] = []
        for bot in await self._store.read(partial(matches.seated, match=header.match)):
            if not bot.house:
                players.append(contestant(bot.id, bot.name, bot.owner))
            elif bot.name in house:
                players.append(HousePlayer(bot.id, house[bot.name]))
            else:
                raise CannotBeRestored(f"this server has no {bot.name}")
        return tuple(players)

    def _stand_in(self, game: str) -> HouseBot:
        """The house bot that plays on for bots that are gone."""
        return next(reversed(self._house_bots.get(game, ())), RandomBot(game))

    def _table(self, header: Header, players: Sequence[Player]) -> Table:
        key = match_key(header.seed, header.nonces)
        stand_in = self._stand_in(header.game.name)
        journal = self._store.journal
        return Table(header.new_match(), header, players, stand_in, key, self._pool, journal, self._watch)


def _finish(
    connection: Connection,
    match: matches.MatchId,
    at: int,
    over: tuple[Any, ...],
    draft: tuple[Any, ...],
    thinking: Sequence[tuple[Any, ...]],
    park_after: int,
) -> tuple[list[Figures], tuple[bots.Bot, ...]]:
    """The result, what it does to the ladder and to those in trouble: one transaction.

    All comes and goes as plain tuples, since what has a class is pickled and unpickled in many times the time.
    """
    result = Over(*over)
    changes = matches.finish(
        connection,
        match,
        scores=result.scores,
        places=result.places,
        forced=result.forced,
        counts=result.counts,
        at=at,
        replay=Draft(*draft).rated,
        thinking=[Thinking(*each) for each in thinking],
    )
    figures = [(each.before.value, each.before.deviation, each.after.value, each.after.deviation) for each in changes]
    return figures, parking.count(connection, match, result.troubled, park_after, at)


def _change(figures: Figures) -> live.RatingChange:
    value, deviation, new_value, new_deviation = figures
    return live.RatingChange(live.Rating(value, deviation), live.Rating(new_value, new_deviation))
