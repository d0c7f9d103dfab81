"""A bot's connection to a server. It registers the bot once, connects, and reconnects when the connection is lost.

It runs in the network's thread, so the bot's computations do not delay it. It answers heartbeats and invitations
itself and puts all other messages into the bot's inbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import random
import shlex
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Unpack, cast

import grpc
import grpc.aio
from google.protobuf.message import Message

from arena_client.bot import Bot
from arena_client.channel import (
    DroppedError,
    checked_address,
    error_details,
    node_addresses,
    open_channel,
    play_failure,
    registration_failure,
)
from arena_client.errors import ArenaError, ArgumentError, ParkedError, TokenRefusedError, UnreachableError
from arena_client.inbox import Delivery, Inbox, ThreadInbox
from arena_client.log_check import LogChecker
from arena_client.network import Calls
from arena_client.options import DEFAULT_ADDRESS, Options, chosen, set_in_environment
from arena_client.probe import obstacle
from arena_client.receipts import Receipts
from arena_client.session import Goal, Progress, Session, concerns_bot
from arena_client.tokens import NewToken, default_token_file, read_token, write_token
from arena_client.v1.bots_pb2 import JoinLadderRequest, RegisterBotRequest, RotateTokenRequest, UnparkBotRequest
from arena_client.v1.bots_pb2_grpc import BotServiceStub
from arena_client.v1.log_pb2 import GetConsistencyRequest
from arena_client.v1.log_pb2_grpc import LogServiceStub
from arena_client.v1.play_pb2 import EventEntry, Hello, Node, PlayRequest, PlayResponse, Welcome
from arena_client.v1.play_pb2_grpc import PlayServiceStub
from arena_client.version import __version__

if TYPE_CHECKING:
    from arena_client.v1.bots_pb2_grpc import BotServiceAsyncStub
    from arena_client.v1.log_pb2_grpc import LogServiceAsyncStub
    from arena_client.v1.play_pb2_grpc import PlayServiceAsyncStub

    Call = grpc.aio.StreamStreamCall[PlayRequest, PlayResponse]

_log = logging.getLogger("arena_client")
_chance = random.SystemRandom()  # Does not affect the bot's own random numbers.

ANSWER_TIME = 20.0
"""Maximum time in seconds to wait for the server's answer to a call, and for its welcome."""
FIRST_WAIT = 0.1
"""Maximum time in seconds before the first try to reconnect."""
LONGEST_WAIT = 5.0
"""Maximum time in seconds between two tries while the server may just be restarting."""
LONG_OUTAGE = 120.0
"""Time without a connection, in seconds, after which a restart is no longer likely."""
LONGEST_OUTAGE_WAIT = 30.0
"""Maximum time in seconds between two tries during a long outage."""
FEATURES: tuple[str, ...] = ()
"""Features of later versions of the protocol that this client understands; none is defined yet."""
LONGEST_VERSION = 40
"""Maximum number of characters of a bot's version."""
LEAVE_TIME = 2.0
"""Maximum time in seconds to wait for the server to end the stream of a bot that leaves in the middle of matches."""
PROBES = 3
"""Maximum number of failures to diagnose before the first connection."""
FORGET_AFTER = 60.0
"""Time in seconds without a connection to a node, while others are connected, after which its matches count as lost."""
PLACE_LOOK = 0.25
"""Time in seconds between two checks of whether a place should move to another node, while nodes outnumber places."""
PLACE_WAIT = 3.0
"""Minimum time in seconds after which a place without a match moves to another node: servers need time to fill a table.

The actual time is random, up to twice as long: bots that all moved at the same pace would never meet bots of other
nodes. The minimum doubles after each such move, because a server may wait longer.
"""
LONGEST_PLACE_WAIT = 60.0
"""Limit up to which that minimum time doubles, in seconds."""
STEADY = 1.0
"""Time in seconds after which a connection counts as good, so that waiting times start again from the shortest."""

_REFUSALS = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNIMPLEMENTED,
)
"""Statuses with which a server refuses to prove the log described in its welcome."""
_ENDS = (grpc.aio.AioRpcError, asyncio.InvalidStateError)
"""Exceptions that gRPC raises if the stream ends or has already ended."""


def waiting_time(outage: float) -> float:
    """Return the seconds before the next try: a random part of `outage`, the seconds since the last good connection.

    So waiting at most doubles an outage, and adds at most 5 s in its first two minutes and 30 s later. Bots that lost
    the server at the same time reconnect at different times.
    """
    longest = LONGEST_WAIT if outage <= LONG_OUTAGE else LONGEST_OUTAGE_WAIT
    return _chance.uniform(0.0, min(longest, max(FIRST_WAIT, outage)))


@dataclass(eq=False)
class _Node:
    """One server, with the bot's stream to it. A server that is not part of a group is the only node."""

    address: str
    progress: Progress
    listed: str = ""
    """The node's address in the latest list; empty if no list has contained the node."""
    number: int = 0
    """The number of the node; 0 if it is the only one, or before its first welcome."""
    task: asyncio.Task[None] | None = None
    session: Session | None = None
    stream: _Stream | None = None
    next_try: float = 0.0
    """The time of the latest try, or of the next one, in seconds of `time.monotonic`."""
    place_until: float | None = None
    """Time at which this node's place moves to another node unless a match begins, in seconds of `time.monotonic`.
    None if the node has no place, or if there are enough places for all nodes.
    """
    place_used: bool = False
    """True if a match has begun at that place."""


class Connection:
    """A bot's connection, with the arguments of `play` and `run`. It has at most one stream at a time to each node."""

    def __init__(self, bot: Bot, address: str | None, **told: Unpack[Options]) -> None:
        """Read omitted arguments from the environment.

        These are ARENA_SERVER, ARENA_TOKEN_FILE, ARENA_OWNER, ARENA_LADDERS and ARENA_EVENTS.
        """
        if address is None:
            address = set_in_environment("ARENA_SERVER") or DEFAULT_ADDRESS
        token, matches, receipts = told.get("token"), told.get("matches"), told.get("receipts", True)
        token_file, tls, challenges = told.get("token_file"), told.get("tls"), told.get("challenges", False)
        if token is None and token_file is None:
            token_file = set_in_environment("ARENA_TOKEN_FILE")
        if isinstance(challenges, str):
            raise ArgumentError(f"challenges is {challenges!r}: it takes True, False or a list of names")
        if matches is not None and matches < 1:
            raise ArgumentError(f"matches is {matches}: it takes 1 or more, or None for no end")
        if bot.capacity < 1:
            raise ArgumentError(f"the bot's capacity is {bot.capacity}: it takes 1 or more")
        if bot.version is not None and not (len(bot.version) <= LONGEST_VERSION and bot.version.isprintable()):
            most = f"it takes at most {LONGEST_VERSION} printable characters"
            raise ArgumentError(f"the bot's version is {bot.version!r}: {most}")
        if token is not None and not (token.isascii() and token.isprintable() and token.strip() == token != ""):
            raise ArgumentError(
                f"the token is {'empty' if not token.strip() else 'not one line of printable characters'}: "
                "give it as the server did, or None (no --token) for the one in the token file"
            )
        # These variables were set by the program that started this one, such as `arena match`, not by the author.
        if started_for := os.environ.get("ARENA_TOKEN"):
            address, token, token_file, tls = os.environ.get("ARENA_SERVER", address), started_for, None, None
        self._bot = bot
        self._version = bot.version
        """The bot's version; None until the first hello if it is the digest of the bot's code."""
        self._name = bot.name or type(bot).__name__
        self._address = checked_address(address)
        self._token = token
        self._token_file = Path(token_file) if token_file else default_token_file(address, self._name)
        self._invitation = told.get("invitation") or ""
        self._owner = told.get("owner") or bot.owner or set_in_environment("ARENA_OWNER") or ""
        self._tls = tls
        self._give_up_after = told.get("give_up_after")
        self._goal = Goal(matches)
        self._casual = told.get("casual", False)
        self._ladders = chosen(told.get("ladders"), "ARENA_LADDERS")
        self._events = chosen(told.get("events"), "ARENA_EVENTS")
        self._challengers = None if isinstance(challenges, bool) else frozenset(each.lower() for each in challenges)
        """Lower-case names of the bots whose challenges the bot accepts; None if it accepts all challenges or none."""
        self._challenges = challenges if isinstance(challenges, bool) else bool(self._challengers)
        beside = None if token is not None and token_file is None else self._token_file
        kept = None if beside is None else beside.with_name(f"{beside.name}.receipts")
        self._receipts = Receipts(kept) if receipts else None
        self._log_checker = None if self._receipts is None else LogChecker(self._receipts)
        self._nodes = [_Node(self._address, Progress(self._goal))]
        """The nodes, of which the first is the one at the given address."""
        self._tasks: asyncio.TaskGroup
        self._listed: Collection[int] = ()
        """The numbers of the nodes in the latest list."""
        self._event_node = 0
        """The number of the node that plays an event which the bot has entered; 0 if there is none."""
        self._missed: int | None = None
        """The leaf number after which reports of a forgotten node may be missing; the next hello asks for them."""
        self._moving: asyncio.Task[None] | None = None
        self._place_wait = PLACE_WAIT
        self._leaving = False
        self._seen = 0.0
        """The last time at which the bot was connected to any node, in seconds of `time.monotonic`."""
        self._reached = False
        """True once there has been a connection."""
        self._task: asyncio.Task[None] | None = None
        self._inbox: Inbox | ThreadInbox
        self._calls: Calls | None = None

    def soon(self, call: Callable[[], object]) -> bool:
        """Schedule a call in the connection's thread. Return false if the thread has not started."""
        if self._calls is None:
            return False
        self._calls.soon(call)
        return True

    def drain(self, seconds: float, hurry: Callable[[], object]) -> None:
        """Start no more matches and finish the current ones; after `seconds`, leave the rest and call `hurry`."""
        goal = self._goal
        goal.ending = True
        if not goal.under_way:
            self.end()
            return
        _log.info(
            "finishing %s within %.0f s, and beginning no more; once more, and it leaves at once: house bots play them "
            "on, and each counts as a last place",
            _matches(goal.under_way),
            seconds,
        )
        self._resize()

        def over() -> None:
            self.leave()
            hurry()

        asyncio.get_running_loop().call_later(seconds, over)

    def leave(self) -> None:
        """Send `leave` if the bot is playing or about to play. The server then ends the stream."""
        if not (self._goal.under_way and any(node.stream for node in self._nodes)):
            self.end()
        elif not self._leaving:
            self._leaving = True
            _log.info(
                "leaving %s in order: house bots play them on, and each counts as a last place",
                _matches(self._goal.under_way),
            )
            for node in self._nodes:
                if node.stream is not None:
                    node.stream.send(PlayRequest(leave=True))
            self._forget_absent()
            asyncio.get_running_loop().call_later(LEAVE_TIME, self.end)

    def _finish_all(self) -> None:
        """End every stream, because the bot plays no more matches."""
        for node in self._nodes:
            if node.stream is not None:
                node.stream.half_close()
        self._forget_absent()

    def _forget_absent(self) -> None:
        """Stop trying to reach nodes without a stream."""
        for node in self._nodes:
            if node.stream is None and node.task is not None and node.task is not asyncio.current_task():
                node.task.cancel()

    def end(self) -> None:
        """Cut the connection without notice."""
        if self._task is not None:
            self._task.cancel()

    def begin(self, inbox: Inbox | ThreadInbox, calls: Calls) -> None:
        """Connect, put messages into the inbox, and close the inbox at the end.

        `calls` belongs to this thread's event loop.
        """
        self._inbox, self._calls = inbox, calls
        self._task = asyncio.get_running_loop().create_task(self.stay())
        self._task.add_done_callback(lambda task: inbox.end(None if task.cancelled() else task.exception()))

    async def stay(self) -> None:
        """Stay connected to every node until the requested matches are played or the server has ended the streams.

        Raises `ArenaError`, even if only one node causes it.
        """
        try:
            async with asyncio.TaskGroup() as self._tasks:
                self._dial(self._nodes[0])
        except BaseExceptionGroup as group:
            raise _first(group) from None
        if self._goal.parked:
            raise ParkedError(self._parked())

    def _dial(self, node: _Node) -> None:
        node.task = self._tasks.create_task(self._stay_at(node))
        node.task.add_done_callback(self._stop_moving)

    def _stop_moving(self, _: object) -> None:
        """Stop moving places once all streams have ended."""
        if self._moving is not None and all(node.task is None or node.task.done() for node in self._nodes):
            self._moving.cancel()

    async def _stay_at(self, node: _Node) -> None:
        """Stay connected to a node. Raises `ArenaError`."""
        good = self._seen = time.monotonic()
        probes = 0
        while True:
            begun = time.monotonic()
            try:
                await self._connect(node)
                return
            except DroppedError as dropped:
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise asyncio.CancelledError from None  # gRPC reports only one of two simultaneous errors.
                done = self._leaving or node.progress.done or node not in self._nodes
                if done or (self._goal.ending and not node.progress.playing):
                    node.next_try = math.inf
                    return
                if not self._reached and probes < PROBES:
                    probes += 1
                    if why := await obstacle(node.address, self._tls):
                        raise UnreachableError(why) from None
                now = time.monotonic()
                if node.session is not None:
                    # The server can be reached, even if the stream ended at once and may do so again.
                    good, self._seen = now if now - begun > STEADY else max(good, now - LONGEST_WAIT), now
                    node.session = None
                    self._share_out()
                if any(other.session is not None for other in self._nodes):
                    if not self._goes_on_without(node, now - good):
                        return
                    self._seen = now
                wait = waiting_time(now - good) + dropped.pause
                node.next_try = now + wait
                if self._gives_up():
                    raise UnreachableError(f"no connection to {node.address}: {dropped}") from None
                _log.warning("no connection to %s: %s; next try in %.1f s", node.address, dropped, wait)
                await asyncio.sleep(wait)

    async def unpark(self) -> None:
        """Un-park the bot. Raises `ArenaError`."""
        await self._manage("UnparkBot", UnparkBotRequest(name=self._name))

    async def rotate(self) -> tuple[str, Path | None]:
        """Replace the bot's token; return the new token, and the file that contains it.

        No file is written if the token was given as an argument. Raises `ArenaError`.
        """
        token: str = (await self._manage("RotateToken", RotateTokenRequest(name=self._name))).token
        if self._token is not None:
            return token, None
        try:
            write_token(self._token_file, token)
        except OSError as error:
            where = f"the file {self._token_file} cannot be written ({error.strerror})"
            raise ArgumentError(f"{where}; the bot's new token is {token}: write it there yourself") from error
        return token, self._token_file

    async def join(self, ladder: str, code: str) -> None:
        """Let the bot enter a ladder with the code of an invitation. Raises `ArenaError`."""
        await self._manage("JoinLadder", JoinLadderRequest(ladder=ladder, invitation=code))

    async def _manage(self, method: str, request: Message) -> Any:
        """Make a call that manages the bot, with the bot's token, and return the answer. Raises `ArenaError`."""
        with _files():
            token = self._token or read_token(self._token_file)
            opened = open_channel(self._address, self._tls)
        if token is None:
            where = "name the bot as when it was registered, or its --token-file"
            raise ArgumentError(f"there is no token in {self._token_file}: {where}")
        async with opened as channel:
            call = getattr(BotServiceStub(channel), method)
            try:
                return await call(request, metadata=(("authorization", f"Bearer {token}"),), timeout=ANSWER_TIME)
            except grpc.aio.AioRpcError as error:
                failure = play_failure(error.code(), error.details(), *error_details(error.trailing_metadata()))
                if isinstance(failure, ArenaError):
                    raise failure from None
                raise UnreachableError(f"no connection to {self._address}: {failure}") from None

    def _parked(self) -> str:
        """Describe why the bot is parked, and give the command that un-parks it."""
        why = self._goal.parked.partition("; mend it")[0]
        file = f"{self._token_file}" if self._token is None else "FILE"
        words = ["arena-bot", "unpark", self._name, "--server", self._address, "--token-file", file]
        if self._tls:
            words += ["--tls"] if self._tls is True else ["--tls-roots", f"{self._tls}"]
        beside = "" if self._token is None else ", with its token in FILE"
        return f"{why}. Mend it, then un-park it: {shlex.join(words)}{beside}"

    async def _connect(self, node: _Node) -> None:
        with _files():
            token = self._token or read_token(self._token_file)
            opened = open_channel(node.address, self._tls)
        async with opened as channel:
            token = token or await self._register(channel)
            stub = cast("PlayServiceAsyncStub", PlayServiceStub(channel))
            stream = _Stream(stub.Play(metadata=(("authorization", f"Bearer {token}"),)))
            try:
                message = await self._greet(node, stream)
                self._reached = True
                self._name = message.welcome.bot
                node.progress.reconnect()
                calls = self._calls
                assert calls is not None, "it has begun"
                session = Session(
                    self._bot,
                    message.welcome,
                    node.progress,
                    lambda request: calls.soon(lambda: stream.send(request)),
                    self._receipts,
                    self._challengers,
                    self._ladders,
                    self._events,
                )
                node.session, node.stream = session, stream
                node.number = message.welcome.node
                self._follow(node, message.welcome.nodes)
                session.follow = partial(self._follow, node)
                checking = asyncio.create_task(self._check_log(channel, message.welcome))
                try:
                    await self._converse(node, stream, session, message)
                finally:
                    checking.cancel()
            except TokenRefusedError as refused:
                if self._token is None and refused.reason != "TOKEN_REVOKED":  # The error's text gives the remedy.
                    refused.args = (
                        f"{refused} (from {self._token_file}; remove it to register the bot anew, and under another "
                        "name if it was deleted here)",
                    )
                raise
            finally:
                if node.session is not None:
                    node.session.over = True
                    if self._inbox.wants_all:
                        self._inbox.put(Delivery(node.session, PlayResponse(), time.monotonic()))
                node.stream = None
                stream.close()

    async def _check_log(self, channel: grpc.aio.Channel, welcome: Welcome) -> None:
        """Ask the server to prove that its log has only grown. The bot continues to play in the meantime."""
        if self._log_checker is None:
            return
        stub = cast("LogServiceAsyncStub", LogServiceStub(channel))

        async def consistency(first: int, second: int) -> Sequence[bytes] | None:
            request = GetConsistencyRequest(first=first, second=second)
            try:
                return (await stub.GetConsistency(request, timeout=ANSWER_TIME)).proof
            except grpc.aio.AioRpcError as error:
                if error.code() in _REFUSALS:
                    return None
                raise

        try:
            log = welcome.log if welcome.HasField("log") else None
            await self._log_checker.check(log, consistency, one_of_several=len(welcome.nodes) > 1)
        except grpc.aio.AioRpcError as error:
            _log.info("the server's log of results was not checked: %s", error.details())

    async def _register(self, channel: grpc.aio.Channel) -> str:
        stub = cast("BotServiceAsyncStub", BotServiceStub(channel))
        with _files():
            new = NewToken(self._token_file)
        request = RegisterBotRequest(name=self._name, owner=self._owner, invitation=self._invitation, token=new.token)
        try:
            response = await stub.RegisterBot(request, timeout=ANSWER_TIME)
        except grpc.aio.AioRpcError as error:
            failure = registration_failure(error.code(), error.details(), *error_details(error.trailing_metadata()))
            if isinstance(failure, ArenaError):
                new.drop()
            raise failure from None
        with _files():
            new.keep(response.token)
        _log.info("registered %s at %s; its token is in %s", response.name, self._address, self._token_file)
        return response.token

    def _follow(self, node: _Node, nodes: Iterable[Node]) -> None:
        """Connect to the nodes that a node lists."""
        nodes = tuple(nodes)
        listed = node_addresses(nodes, node.address) if node.number else {}
        self._listed = listed.keys()
        self._event_node = next((each.number for each in nodes if each.plays_event), 0)
        known = {each.number: each for each in self._nodes}
        for number, address in () if self._goal.ending else listed.items():
            if number not in known:
                progress = Progress(self._goal, share=0, reports_after=node.progress.reports_after)
                known[number] = other = _Node(address, progress, number=number)
                self._nodes.append(other)
                self._dial(other)
            elif known[number].listed not in ("", address):
                known[number].address = address
            known[number].listed = address
        if len(self._nodes) > 1 and self._moving is None:
            self._moving = self._tasks.create_task(self._move_places())
        self._share_out()

    def _gives_up(self) -> bool:
        """Return True if even the earliest next try comes too long after the last connection."""
        if self._give_up_after is None:
            return False
        return min(node.next_try for node in self._nodes) - self._seen > self._give_up_after

    def _goes_on_without(self, node: _Node, outage: float) -> bool:
        """Return True if an unreachable node is to be tried again while the bot plays at other nodes."""
        if node.number not in self._listed:
            self._forget(node)
            return False
        if outage > FORGET_AFTER:
            node.progress.playing.clear()
            node.progress.accepted.clear()
            if node.progress.done:
                self._finish_all()
                return False
            self._resize()
        return True

    def _forget(self, node: _Node) -> None:
        """Forget a node that cannot be reached and is no longer listed, with its matches."""
        self._nodes.remove(node)
        self._goal.nodes.remove(node.progress)
        self._missed = _least(self._missed, node.progress.reports_after)
        self._share_out()

    def _share_out(self) -> None:
        """Divide the bot's capacity among the connected nodes.

        A place is room for one match. If nodes outnumber places, each place moves on after a match or a wait.
        """
        connected = [node for node in self._nodes if node.session is not None]
        capacity, count = self._bot.capacity, len(connected)
        for node in self._nodes:
            if node not in connected:
                self._place(node, has=False)
        if len(self._nodes) == 1:
            self._nodes[0].progress.share = None
        elif capacity >= count:
            for index, node in enumerate(connected):
                node.progress.share, node.place_until = capacity // count + (index < capacity % count), None
        else:
            holders = [node for node in connected if node.place_until is not None][:capacity]
            holders += [node for node in connected if node not in holders][: capacity - len(holders)]
            for node in connected:
                self._place(node, node in holders)
            self._move_due()
        self._resize()

    def _place(self, node: _Node, has: bool) -> None:
        """Give a node a place, or take it away."""
        if not has:
            node.place_until, node.progress.share = None, 0
        elif node.place_until is None:
            node.place_until = time.monotonic() + self._place_wait * _chance.uniform(1, 2)
            node.progress.share, node.place_used = 1, False

    def _resize(self) -> None:
        """Send each node the bot's capacity there."""
        for node in self._nodes:
            if node.session is not None and node.stream is not None and (request := node.session.resize()):
                node.stream.send(request)

    async def _move_places(self) -> None:
        """Move each place to another node after a wait."""
        while True:
            await asyncio.sleep(PLACE_LOOK)
            self._move_due()

    def _move_due(self) -> None:
        """If there are fewer places than nodes, move each place that has had a match or has waited long enough.

        It moves to a random node without a place. While a place's match is running, its node may start no other match
        there. The node that plays the bot's event gets a place first and does not lose it.
        """
        connected, moved = [node for node in self._nodes if node.session is not None], False
        event = next((node for node in connected if node.number == self._event_node), None)
        for node in connected:
            if node.place_until is None or node.progress.accepted:
                continue
            if node.progress.playing:
                moved |= not node.place_used
                node.place_used, node.progress.share, self._place_wait = True, 0, PLACE_WAIT
            elif event is not None and (event is node or event.place_until is None):
                self._place(node, has=False)
                self._place(event, has=True)
                moved = True
            elif node.place_used or time.monotonic() >= node.place_until:
                free = [each for each in connected if each.place_until is None]
                if not node.place_used:
                    self._place_wait = min(2 * self._place_wait, LONGEST_PLACE_WAIT)
                self._place(node, has=False)
                self._place(_chance.choice(free) if free else node, has=True)
                moved = True
        if moved:
            self._resize()

    async def _greet(self, node: _Node, stream: _Stream) -> PlayResponse:
        capacity = node.progress.room(self._bot.capacity)
        if self._version is None:
            self._version = self._bot.digest()
        progress = node.progress
        if progress.reports_after is None and self._receipts is not None:
            self._receipts.read()
            progress.reports_after = self._receipts.reports_after
        progress.reports_after, self._missed = _least(progress.reports_after, self._missed), None
        hello = Hello(
            reports_after=progress.reports_after,
            games=self._bot.games,
            capacity=capacity,
            client=f"arena-client-python {__version__}",
            version=self._version,
            casual=self._casual,
            challenges=self._challenges,
            features=dict.fromkeys((*FEATURES, *self._bot.features)),
            ladders=self._ladders,
            events=[EventEntry(event=event, nonce=os.urandom(16)) for event in self._events],
        )
        stream.send(PlayRequest(hello=hello))
        try:
            async with asyncio.timeout(ANSWER_TIME):
                message = await stream.read()
        except TimeoutError:
            raise DroppedError(f"no welcome within {ANSWER_TIME:.0f} s") from None
        _log.info("%s is connected to %s (Arena %s)", message.welcome.bot, node.address, message.welcome.server)
        return message

    async def _converse(self, node: _Node, stream: _Stream, session: Session, message: PlayResponse) -> None:
        self._hear(node, stream, session, message)
        del message
        while not node.progress.done:
            self._hear(node, stream, session, await stream.read())
        self._finish_all()
        with contextlib.suppress(DroppedError, ArenaError, TimeoutError):  # Errors after the goodbye are ignored.
            async with asyncio.timeout(ANSWER_TIME):
                await stream.finish()

    def _hear(self, node: _Node, stream: _Stream, session: Session, message: PlayResponse) -> None:
        """Apply a message, reply at once if necessary, and pass the message on if it concerns the bot."""
        received = time.monotonic()
        if (reply := session.receive(message)) is not None:
            stream.send(reply)
        if len(self._nodes) > 1 and not node.progress.done:
            if node.place_until is not None and node.place_used is not bool(node.progress.playing):
                self._move_due()
            elif self._goal.wanted is not None or self._goal.ending:
                self._resize()
        if concerns_bot(message) or (message.closed and self._inbox.wants_all):
            self._inbox.put(Delivery(session, message, received))


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error of a group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _least(*numbers: int | None) -> int | None:
    return min((each for each in numbers if each is not None), default=None)


def _matches(count: int) -> str:
    return "1 match" if count == 1 else f"{count} matches"


@contextlib.contextmanager
def _files() -> Iterator[None]:
    """Convert an `OSError` to an `ArgumentError` that names the file."""
    try:
        yield
    except OSError as error:
        raise ArgumentError(f"the file {error.filename} cannot be used: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ArgumentError(f"the token file has something else in it than a token: {error}") from error


class _Stream:
    """A gRPC call on which messages can be sent at any time, although gRPC itself accepts only one at a time."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._unsent: deque[PlayRequest] = deque()
        self._more = asyncio.Event()
        self._finished = False
        self._writing = asyncio.get_running_loop().create_task(self._write())

    def send(self, request: PlayRequest) -> None:
        """Send a message, unless the stream has ended."""
        self._unsent.append(request)
        self._more.set()

    async def read(self) -> PlayResponse:
        """Return the next message, or raise the error for the end of the stream."""
        try:
            message = await self._call.read()
        except _ENDS:
            await self._ended()
        if message is grpc.aio.EOF:
            await self._ended()
        return cast("PlayResponse", message)

    async def finish(self) -> None:
        """Send the waiting messages and close the bot's side of the stream.

        Then wait until the server ends it, and raise the stream's error.
        """
        self.half_close()
        while True:
            await self.read()

    def half_close(self) -> None:
        """Send the waiting messages, then accept no more."""
        self._finished = True
        self._more.set()

    def close(self) -> None:
        """End the call."""
        self._writing.cancel()
        self._call.cancel()

    async def _write(self) -> None:
        with contextlib.suppress(*_ENDS):  # The reading task receives the reason for the end.
            while True:
                while self._unsent:
                    await self._call.write(self._unsent.popleft())
                if self._finished:
                    await self._call.done_writing()
                    return
                self._more.clear()
                await self._more.wait()

    async def _ended(self) -> NoReturn:
        call = self._call
        code, details, trailers = await call.code(), await call.details(), await call.trailing_metadata()
        raise (
            play_failure(code, details, *error_details(trailers))
            if code is not grpc.StatusCode.OK
            else DroppedError("the server closed the connection")
        ) from None
