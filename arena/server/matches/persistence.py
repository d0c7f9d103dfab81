"""Match persistence: stores each match's start, journal and result, and loads the unfinished matches of an earlier
server.

A failed write is retried until it succeeds. Until then, no message that depends on the write is sent. Old replays are
pruned a few at a time, so that results need not wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

import structlog
import trio
from sqlalchemy import Connection

from arena.ladder import live
from arena.ladder.ladder import Quota
from arena.log.head import LogEntry, LogHead
from arena.match.effects import Over
from arena.match.inputs import Input
from arena.replay.header import Header, MatchKind
from arena.replay.read import read_unfinished
from arena.replay.record import Draft
from arena.replay.replay import ReplayError
from arena.replay.thinking import Thinking
from arena.server.config import Config, quota_in_force
from arena.server.matches.driver import MatchDriver
from arena.server.nodes.node import ThisNode
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.player import Player
from arena.store.base import leaves as log_store
from arena.store.base.errors import MatchNotPlaying, ServerUnusable, StoreError, UnknownMatch
from arena.store.base.rows import Interruption
from arena.store.bots import bots
from arena.store.matches import matches
from arena.store.moderation import parking
from arena.store.replays.replays import prune
from arena.store.store import Store
from arena.store.writer.group_commit import AtEnd, Job
from engine.game import Option

RETRY: Final = 2.0
"""Number of seconds between attempts to store a match."""
Figures: TypeAlias = tuple[float, float, float, float, tuple[tuple[int, int], ...]]
"""For one seat: the rating and its deviation before and after a match. Then the seats of bots with which this bot's
quota is used up, as pairs of seat and first day on which matches count again.
"""

PRUNED_AT_ONCE: Final = 50
"""Number of replays pruned in one transaction."""
PRUNE_EVERY: Final = 60.0
"""Seconds between two checks for replays to prune."""

log = structlog.get_logger(__name__)


class Unfinished(NamedTuple):
    """An unfinished match of an earlier server."""

    header: Header
    bots: Sequence[bots.Bot]
    """The bots' rows, by seat."""
    inputs: Sequence[Input]
    """The inputs so far."""


class Recorded(NamedTuple):
    """The stored end of a match."""

    over: Over
    changes: tuple[live.RatingChange, ...]
    """The rating changes by seat; empty if the match has no result."""
    parked: tuple[bots.Bot, ...]
    """Bots that were parked because of the match: they get no more seats."""
    entry: LogEntry | None
    """The result's entry in the log; None on a server without a log."""


class MatchPersistence:
    """Storage of one server's matches."""

    def __init__(self, config: Config, store: Store, node: ThisNode | None = None) -> None:
        """`node`: this server as one of several nodes."""
        self._config = config
        self._store = store
        self._node = node
        self._last_end = trio.Event()
        """Set when the latest write of a match's end has returned."""
        self._last_end.set()
        self._in_doubt: set[int] = set()
        """Matches not started here but perhaps stored as started, because the database server did not answer."""

    async def begin(self, header: Header, options: Mapping[str, Option], players: Sequence[Player]) -> None:
        """Store the start of a match with the options of its offer.

        Raises: StoreError: Nothing has been stored.
        """
        if self._node is not None:
            self._node.require()
        for number in self._in_doubt.copy():
            await self._store.write(partial(_take_back, match_id=number, at=now_us()))
            self._in_doubt.discard(number)
        self._store.journal.begin(header)
        try:
            await self._store.write(
                partial(
                    matches.begin,
                    game=header.game.name,
                    options=options,
                    bots=[bots.BotId(player.bot_id) for player in players],
                    said=[player.version for player in players],
                    at=header.started,
                    match_id=header.match_id,
                    kind=header.kind,
                    ladder_id=header.ladder,
                    event=header.event,
                    node=None if self._node is None else self._node.number,
                )
            )
        except StoreError as error:
            self._store.journal.forget(header.match_id)
            if isinstance(error, ServerUnusable):
                self._in_doubt.add(header.match_id)
            raise
        names = [player.name for player in players]
        log.debug("match began", match_id=header.match_id, game=header.game.name, bots=names)

    async def unfinished(self) -> Sequence[Unfinished]:
        """Return the unfinished matches of an earlier server. A match with an unreadable journal is interrupted."""
        found = []
        for number, lines in self._store.unfinished.items():
            try:
                header, inputs = read_unfinished(lines, f"the journal of match {number}")
            except ReplayError as error:
                await self.void_unfinished(number, error)
            else:
                found.append(
                    Unfinished(header, await self._store.read(partial(matches.seated, match_id=number)), inputs)
                )
        return found

    async def void_unfinished(self, number: int, why: Exception) -> None:
        """Record that a match of an earlier server cannot continue. Retry until this is stored."""
        log.error("match is void", match_id=number, error=str(why))
        await self.void(number, f"{Interruption.NOT_RESTORED.in_words()}: {why}")
        self._store.journal.forget(number)

    async def record(self, match_id: int, over: Over, recording: MatchDriver) -> Recorded:
        """Store the end of a match. Retry until this succeeds."""
        number, at, troubles = matches.MatchId(match_id), now_us(), recording.troubles(over)
        delayed = False
        while True:
            try:
                finish = partial(
                    _finish,
                    match_id=number,
                    at=at,
                    over=tuple(over),
                    draft=tuple(recording.draft()),
                    thinking=[tuple(each) for each in recording.thinking],
                    troubles=troubles,
                    park_after=self._config.park_after,
                    quota=tuple(quota_in_force(self._config)),
                    kind=recording.header.kind,
                    ladder=recording.header.further_ladder,
                )
                figures, parked, entry = await self._write_end(finish)
            except StoreError as error:
                log.error("result not stored yet", match_id=number, error=str(error), retry_in=RETRY)
                if not delayed:
                    delayed = True
                    recording.delayed()
                await trio.sleep(RETRY)
            # The lease of this node had expired, and another node has ended the match. Or the database was replaced by
            # a standby that lacks the match.
            except (MatchNotPlaying, UnknownMatch) as error:
                log.error("match is not ours any more", match_id=number, error=str(error))
                reason = Interruption.JOURNAL_LOST.in_words()
                break
            except Exception:
                log.exception("a fault of the server: the match is void", match_id=number)
                reason = over.interrupted or Interruption.NOT_RECORDED.in_words()
                break
            else:
                recording.stored()
                log.debug("match over", match_id=number, scores=over.scores, places=over.places)
                return Recorded(over, tuple(map(_change, figures)), parked, _entry(entry))
        voided = await self.void(number, reason)
        recording.stored()
        return Recorded(Over((), (), over.forced, over.troubled, (), reason), (), (), voided)

    async def void(self, number: int, reason: str) -> LogEntry | None:
        """Record that a match has no result, and return its entry in the log. Retry until this is stored."""
        while True:
            try:
                return _entry(await self._write_end(partial(_interrupt, match_id=number, reason=reason, at=now_us())))
            except StoreError as error:
                log.error("void match not stored yet", match_id=number, error=str(error), retry_in=RETRY)
                await trio.sleep(RETRY)

    async def _write_end(self, job: Job) -> Any:
        """Write the end of a match.

        Calls return in the order in which they began, so bots get reports in the log's order.
        """
        before, written = self._last_end, trio.Event()
        self._last_end = written
        try:
            return await self._store.write(job)
        finally:
            try:
                if not before.is_set():
                    await before.wait()
            finally:
                written.set()


def _take_back(connection: Connection, match_id: int, at: int) -> None:
    """Interrupt a match that no server plays, if its beginning is stored."""
    _interrupt(connection, match_id, Interruption.NOT_RECORDED.in_words(), at)


def _interrupt(connection: Connection, match_id: int, reason: str, at: int) -> Any:
    with suppress(UnknownMatch):  # A promoted standby may lack the beginnings that were not waited for.
        matches.interrupt(connection, [matches.MatchId(match_id)], reason, at)
    return AtEnd(partial(_logged, match_id=match_id))


def _finish(
    connection: Connection,
    match_id: matches.MatchId,
    at: int,
    over: tuple[Any, ...],
    draft: tuple[Any, ...],
    thinking: Sequence[tuple[Any, ...]],
    troubles: Sequence[bool | None],
    park_after: int,
    quota: tuple[int, ...],
    kind: MatchKind,
    ladder: str,
) -> Any:
    """Store the result, its effects on ratings and parking, and its log entry in one transaction.

    Arguments and results are plain tuples, because pickling instances of classes takes many times as long.
    """
    result = Over(*over)
    try:
        changes = matches.finish(
            connection,
            match_id,
            scores=result.scores,
            places=result.places,
            forced=result.forced,
            counts=result.counts,
            spoilt=result.spoilt,
            at=at,
            replay=Draft(*draft).complete,
            kind=kind,
            quota=Quota(*quota),
            thinking=[Thinking(*each) for each in thinking],
        )
    except MatchNotPlaying:
        if (stored := matches.stored_changes(connection, match_id, at)) is None:
            raise
        # The database server committed an earlier attempt, but failed before it answered.
        changes = stored
        parked = parking.parked_by(connection, match_id, at, ladder)
    else:
        parked = parking.count(connection, match_id, troubles, park_after, at, ladder)
    figures = [
        (each.before.value, each.before.deviation, each.after.value, each.after.deviation, each.counts_again)
        for each in changes
    ]
    return AtEnd(lambda connection: (figures, parked, _logged(connection, match_id)))


def _logged(connection: Connection, match_id: int) -> tuple[Any, ...] | None:
    """Return a match's entry in the log as a plain tuple."""
    entry = log_store.outcome(connection, match_id)
    return None if entry is None else (*entry[:2], tuple(entry.head), entry.proof)


def _entry(logged: tuple[Any, ...] | None) -> LogEntry | None:
    if logged is None:
        return None
    number, leaf, head, proof = logged
    return LogEntry(number, leaf, LogHead(*head), proof)


def _change(figures: Figures) -> live.RatingChange:
    value, deviation, new_value, new_deviation, again = figures
    return live.RatingChange(live.Rating(value, deviation), live.Rating(new_value, new_deviation), (), again)


async def prune_replays(store: Store, keep: int) -> None:
    """Prune old replays, keeping the newest `keep` (see `store.replays`), until cancelled."""
    after = 0
    while True:
        try:
            pruned = await store.write(partial(prune, keep=keep, at=now_us(), after=after, limit=PRUNED_AT_ONCE))
        except StoreError as error:
            log.error("replays not pruned", error=str(error), retry_in=PRUNE_EVERY)
            pruned = ()
        if pruned:
            after = pruned[-1]
            log.info("replays pruned", replays=len(pruned), through=after)
        if len(pruned) < PRUNED_AT_ONCE:
            await trio.sleep(PRUNE_EVERY)
