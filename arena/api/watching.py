"""Watching matches: their events are encoded once for all watchers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import grpc
import trio
from arena_client.v1 import matches_pb2

from arena.api.codec import encode_report, interruption_number
from arena.api.statuses import refused
from arena.match.effects import Over
from arena.protobuf.fields import FieldPrefix
from arena.protobuf.rows import pack
from arena.server.arena import Arena
from arena.server.matches.live import LiveEvent, LiveMatch, Push
from arena.store.ladder.seasons import named
from engine.game import RoundReport
from trio_grpc.grpc.call import SEND_LIMIT, Call, CallRefused, Stream
from trio_grpc.limits.connection_limits import OpenByOrigin, TooManyOpen, origin_of_peer

RUNNING_AT_ONCE: Final = 100
"""Maximum number of running matches in the first message to a watcher."""
FULL_RETRY: Final = 60.0
"""Seconds before a watcher should return after a refusal for too many watchers."""

_EVENTS: Final = FieldPrefix(matches_pb2.WatchMatchesResponse, "events")
_ROUND: Final = FieldPrefix(matches_pb2.MatchEvent, "round")
_CAUGHT_UP: Final = matches_pb2.WatchMatchesResponse(caught_up=True).SerializeToString()


class Watching:
    """The sender of match events to all watchers."""

    def __init__(self, arena: Arena) -> None:
        self._live = arena.live
        limits = arena.config.limits
        self._open = OpenByOrigin(limits.watchers, limits.watchers_per_address)

    async def watch(
        self, wants: Callable[[LiveMatch], bool] | None, stream: Stream[object, matches_pb2.WatchMatchesResponse]
    ) -> None:
        """Send the running matches that the watcher wants, then their events, until the watcher leaves.

        Raises:
            CallRefused: there are too many watchers, or this one does not read.
        """
        with self._admitted(stream), self._live.watch() as watcher:
            with watcher.scope:
                running = [each for each in self._live.running if wants is None or wants(each)]
                for first in range(0, len(running), RUNNING_AT_ONCE):
                    began = (encode_began(each, each.rounds) for each in running[first : first + RUNNING_AT_ONCE])
                    await _send(stream, b"".join(_EVENTS.of(len(each)) + each for each in began))
                await _send(stream, _CAUGHT_UP)
                while True:
                    message = encode_push(await watcher.next(), wants)
                    if message:
                        await _send(stream, message)
            assert watcher.dropped, "nobody else cancels it"
            raise _not_reading("too much was left unread")

    @contextmanager
    def _admitted(self, call: Call) -> Iterator[None]:
        """Count a watcher while the `with` block runs. Raises: CallRefused."""
        try:
            with self._open.counted(origin_of_peer(call.peer)):
                yield
        except TooManyOpen as full:
            setting = "watchers" if full.origin is None else "watchers_per_address"
            text = f"streams that watch matches: {full} ({setting}); try again in {FULL_RETRY:.0f} s"
            raise refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_WATCHERS", text, FULL_RETRY) from full


def encode_push(push: Push, wants: Callable[[LiveMatch], bool] | None) -> bytes:
    """Encode the pushed events of the wanted matches, or of all matches if `wants` is None. Empty if there are none."""
    if wants is not None:
        wanted = [each for each in push.events if wants(each.match)]
        return _CAUGHT_UP + _message(wanted) if wanted else b""
    if not push.encoded:
        push.encoded = _CAUGHT_UP + _message(push.events)
    return push.encoded


def encode_began(match: LiveMatch, rounds: Sequence[RoundReport]) -> bytes:
    """Encode a running match with the given rounds as a serialized MatchEvent."""
    ladder, season = named(match.ladder_id, match.game)
    points = [pack(each, matches_pb2.RoundPoints) for each in rounds]
    began = pack(match, matches_pb2.RunningMatch, started=None, ladder=ladder, season=season, rounds=points)
    began.started.FromMicroseconds(match.started)
    return matches_pb2.MatchEvent(began=began).SerializeToString()


def _message(events: Iterable[LiveEvent]) -> bytes:
    return b"".join(map(_encoded, events))


def _encoded(event: LiveEvent) -> bytes:
    """Encode an event, only once, as a serialized WatchMatchesResponse that contains nothing else."""
    if not event.encoded:
        encoded = _encode(event)
        event.encoded = _EVENTS.of(len(encoded)) + encoded
    return event.encoded


def _encode(event: LiveEvent) -> bytes:
    match, what = event.match, event.what
    if what is None:
        return encode_began(match, ())
    if isinstance(what, Over):
        interruption = interruption_number(what.interrupted)
        over = pack(what, matches_pb2.MatchEnd, match_id=match.match_id, interruption=interruption)
        return matches_pb2.MatchEvent(over=over).SerializeToString()
    report = encode_report(match.match_id, what)
    return _ROUND.of(len(report)) + report


async def _send(stream: Stream[object, matches_pb2.WatchMatchesResponse], message: bytes) -> None:
    with trio.move_on_after(SEND_LIMIT) as limit:
        await stream.send(message)  # type: ignore[arg-type]  # serialized already, as handlers may
    if limit.cancelled_caught:
        raise _not_reading(f"nothing was read for {SEND_LIMIT:.0f} s")


def _not_reading(what: str) -> CallRefused:
    text = f"{what}; come back for what runs then"
    return refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "NOT_READING", text)
