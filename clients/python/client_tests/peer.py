"""A small real gRPC server for the tests. It registers bots according to the protocol, and its streams follow a script.

A script is a generator. It yields the server's messages and reads the bot's messages from its `Talk`.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
from arena_client import Bot, Decision, run
from arena_client.v1 import bots_pb2, bots_pb2_grpc, game_pb2, play_pb2, play_pb2_grpc, sixth_sense_pb2
from google.rpc import error_details_pb2, status_pb2

PATIENCE = 20.0
"""Maximum number of seconds for which a test waits for an event."""

CATALOG = game_pb2.GameCatalog(
    name="sixth_sense",
    title="6th Sense",
    min_seats=2,
    max_seats=6,
    colours=["red", "blue"],
    cards=[
        game_pb2.Card(name="red 0", colour=0, values=[0]),
        game_pb2.Card(name="blue 6/9", colour=1, values=[6, 9]),
    ],
    actions=[
        game_pb2.Action(name="predict red 0", kind="predict", card=0),
        game_pb2.Action(name="red 0", kind="play", card=0, value=0),
        game_pb2.Action(name="blue 6 as 9", kind="play", card=1, value=9),
        game_pb2.Action(name="a 0 blocks place 1", kind="block", value=0, place=0),
    ],
)


VIEW = sixth_sense_pb2.SixthSenseView(
    seat=1,
    seats=4,
    hand=[0, 1],
    prediction=0,
    leaders=[1],
    taken=[0] * 4,
    scores=[0] * 4,
    known_predictions={1: 0},
)


RATED = play_pb2.MatchKind.MATCH_KIND_RATED
PROMISED = sha256(bytes(64)).digest()
"""The commitment in every invitation, computed from a salt and a match commitment that are all zeros."""


def welcome(*games: game_pb2.GameCatalog) -> play_pb2.PlayResponse:
    return play_pb2.PlayResponse(welcome=play_pb2.Welcome(server="0.1", bot="bot", games=games or [CATALOG]))


def asks(*decisions: tuple[int, int], legal: tuple[int, ...] = (0, 1, 2), heartbeat: int | None = None) -> Any:
    """Return a message with decisions, given as pairs of match and decision number."""
    return play_pb2.PlayResponse(
        heartbeat=heartbeat,
        decisions=[
            play_pb2.Decision(
                match_id=match,
                decision_id=number,
                legal=legal,
                soft_ms=1000,
                bank_ms=30000,
                sixth_sense=VIEW,
            )
            for match, number in decisions
        ],
    )


def invites(*matches: int, commitment: bytes = PROMISED) -> play_pb2.PlayResponse:
    return play_pb2.PlayResponse(
        invitations=[
            play_pb2.Invitation(invitation_id=match, game="sixth_sense", kind=RATED, commitment=commitment)
            for match in matches
        ]
    )


def starts(*matches: int, commitment: bytes = bytes(32), salt: bytes = bytes(32)) -> play_pb2.PlayResponse:
    """Return the start messages of matches that have the same numbers as their invitations."""
    return play_pb2.PlayResponse(
        starts=[
            play_pb2.MatchStart(
                match_id=match,
                invitation_id=match,
                game="sixth_sense",
                kind=RATED,
                seat=1,
                bots=["a", "bot"],
                commitment=commitment,
                salt=salt,
            )
            for match in matches
        ]
    )


def reports(*matches: int, interrupted: str = "", rated: bool = True) -> play_pb2.PlayResponse:
    return play_pb2.PlayResponse(
        reports=[
            play_pb2.MatchReport(match_id=match, seat=1, interrupted=interrupted)
            if interrupted
            else play_pb2.MatchReport(
                match_id=match,
                seat=1,
                scores=[-3, 12],
                places=[2, 1],
                rating=play_pb2.RatingChange(before=1500, after=1512.5) if rated else None,
            )
            for match in matches
        ]
    )


def notice(kind: play_pb2.NoticeKind.ValueType, **fields: Any) -> play_pb2.PlayResponse:
    return play_pb2.PlayResponse(notices=[play_pb2.Notice(kind=kind, **fields)])


class First(Bot):
    """A bot that plays the first legal action."""

    name = "bot"

    def decide(self, decision: Decision) -> int:
        return decision.legal[0]


@dataclass
class Talk:
    """The server's side of one stream."""

    requests: Iterator[play_pb2.PlayRequest]
    context: Any
    token: str

    def next(self) -> play_pb2.PlayRequest:
        """Return the bot's next message.

        Raises:
            StopIteration: the bot has closed its side.
        """
        return next(self.requests)

    def wait_for_goodbye(self) -> None:
        """Wait until the bot has closed its side properly."""
        for request in self.requests:
            raise AssertionError(f"the bot said {request} instead of goodbye")

    def fail(self, code: grpc.StatusCode, details: str, reason: str = "") -> None:
        status = status_pb2.Status(code=code.value[0], message=details)
        if reason:
            status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain="arena"))
        self.context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        self.context.abort(code, details)


Script = Callable[[Talk], Iterator[play_pb2.PlayResponse]]


def begun(talk: Talk, *matches: int) -> Iterator[play_pb2.PlayResponse]:
    """Send a welcome, then an invitation and the start of each match."""
    talk.next()
    yield welcome()
    for match in matches:
        yield invites(match)
        talk.next()
        yield starts(match)


@dataclass
class Peer(bots_pb2_grpc.BotServiceServicer, play_pb2_grpc.PlayServiceServicer):
    """The server. The first stream follows the first script, the second stream the second, and so on. The last script
    serves all later streams.
    """

    scripts: list[Script]
    port: int = 0
    tokens: dict[str, str] = field(default_factory=dict)
    """Names of bots by token."""
    invitation: str = ""
    options: tuple[tuple[str, int], ...] = ()
    credentials: grpc.ServerCredentials | None = None
    registrations: list[bots_pb2.RegisterBotRequest] = field(default_factory=list)
    joined: list[tuple[str, str]] = field(default_factory=list)
    unparked: list[str] = field(default_factory=list)
    """Names of the bots that were un-parked."""
    most: int = 100
    """Maximum number of bots."""
    failures: queue.SimpleQueue[BaseException] = field(default_factory=queue.SimpleQueue)
    streams: int = 0

    def __enter__(self) -> Peer:
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(8)
        self._server = grpc.server(self._threads, options=(("grpc.so_reuseport", 0), *self.options))
        bots_pb2_grpc.add_BotServiceServicer_to_server(self, self._server)
        play_pb2_grpc.add_PlayServiceServicer_to_server(self, self._server)
        address = f"localhost:{self.port}" if self.credentials else f"127.0.0.1:{self.port}"
        self.port = (
            self._server.add_secure_port(address, self.credentials)
            if self.credentials
            else self._server.add_insecure_port(address)
        )
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End abruptly and cut off running streams."""
        self._server.stop(None).wait(PATIENCE)
        self._threads.shutdown()
        if not self.failures.empty():
            raise self.failures.get()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def RegisterBot(self, request: bots_pb2.RegisterBotRequest, context: Any) -> bots_pb2.RegisterBotResponse:
        self.registrations.append(request)
        if request.invitation != self.invitation:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "registration is by invitation")
        if not request.name.replace("-", "").isalnum():
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"the name {request.name!r} is not allowed")
        if request.name in self.tokens.values() and self.tokens.get(request.token) != request.name:
            context.abort(grpc.StatusCode.ALREADY_EXISTS, f"the name {request.name!r} is taken")
        if len(self.tokens) == self.most:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"me has {self.most} bots")
        self.tokens[request.token] = request.name
        return bots_pb2.RegisterBotResponse(name=request.name, token=request.token)

    def ListBots(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    def CreateInvitation(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    def _known(self, name: str, context: Any) -> str:
        """Return the token of a call about a bot, after checking that it is the bot's."""
        token = str(dict(context.invocation_metadata()).get("authorization", "")).removeprefix("Bearer ")
        if self.tokens.get(token) != name:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, f"this token is not that of {name}")
        return token

    def RotateToken(self, request: bots_pb2.RotateTokenRequest, context: Any) -> bots_pb2.RotateTokenResponse:
        token = f"new-{self._known(request.name, context)}"
        self.tokens = {token: request.name}
        return bots_pb2.RotateTokenResponse(token=token)

    def RevokeToken(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    def ChallengeBots(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    def JoinLadder(self, request: bots_pb2.JoinLadderRequest, context: Any) -> bots_pb2.JoinLadderResponse:
        if request.invitation != "CODE":
            context.abort(grpc.StatusCode.PERMISSION_DENIED, "there is no such invitation")
        self.joined.append((request.ladder, request.invitation))
        return bots_pb2.JoinLadderResponse()

    def EnterEvent(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    def ListBotEvents(self, request: Any, context: Any) -> Any:
        raise NotImplementedError

    def UnparkBot(self, request: bots_pb2.UnparkBotRequest, context: Any) -> bots_pb2.UnparkBotResponse:
        self._known(request.name, context)
        self.unparked.append(request.name)
        return bots_pb2.UnparkBotResponse()

    def Play(self, request_iterator: Any, context: Any) -> Iterator[play_pb2.PlayResponse]:
        token = dict(context.invocation_metadata()).get("authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "no bot has this token")
        with self._lock:
            script = self.scripts[min(self.streams, len(self.scripts) - 1)]
            self.streams += 1
        try:
            yield from script(Talk(request_iterator, context, token))
        except AssertionError as failure:
            self.failures.put(failure)
            raise


QUIET_RUN = partial(run, verbose=False)


class Playing:
    """A bot that plays in a separate thread. `by`: the function that plays; it takes the arguments of `play`."""

    def __init__(
        self,
        bot: Bot,
        address: str,
        token_file: Path,
        by: Callable[..., None] = QUIET_RUN,
        **told: Any,
    ) -> None:
        self._end: Future[None] = Future()
        call = partial(by, bot, address, token_file=token_file, **told)
        self._thread = threading.Thread(target=self._run, args=(call,), daemon=True)
        self._thread.start()

    def _run(self, call: Callable[[], None]) -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - the test judges it
            self._end.set_exception(error)
        else:
            self._end.set_result(None)

    def result(self, patience: float = PATIENCE) -> None:
        """Wait for the end of the run. Raise its exception, if any."""
        self._end.result(patience)
        self._thread.join(PATIENCE)
