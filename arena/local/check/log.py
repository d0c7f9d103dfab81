"""The results log of the server in a check: a real log in memory with its own key."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import grpc
from arena_client.v1 import log_pb2

from arena.log.head import LogEntry, LogHead, LogState, log_name
from arena.log.keys import HeadSigner, Signer, first_key_leaf
from arena.log.leaf import LeafKind, encode_leaf
from arena.log.tree import completed, consistency_proof, inclusion_proof, leaf_hash, root
from arena.match.effects import Over
from arena.protobuf.rows import pack
from arena.replay.header import Header
from arena.server.runtime.wall_clock import now_us
from trio_grpc.grpc.call import Call, CallRefused


class PartOfService:
    """A gRPC service that implements only some of its methods."""

    def __getattr__(self, method: str) -> Callable[..., Awaitable[object]]:
        """Return a handler for an unimplemented method."""

        async def refuse(*_: object) -> object:
            raise CallRefused(grpc.StatusCode.UNIMPLEMENTED, f"{method} is not available in checks")

        return refuse


class CheckLog(PartOfService):
    """A log of results with its gRPC service."""

    def __init__(self) -> None:
        signer = Signer.new()
        self._sign = HeadSigner(log_name(signer.public), signer)
        self._leaves: list[bytes] = []
        self._nodes: dict[tuple[int, int], bytes] = {}
        self._key = first_key_leaf(1, now_us(), signer)
        self._add(self._key)

    @property
    def state(self) -> LogState:
        """The current state of the log."""
        return LogState((self._key,), self._head())

    def result(self, header: Header, over: Over) -> LogEntry:
        """Add the result of a match, and return its entry."""
        number = len(self._leaves) + 1
        seats = [*range(1, len(header.bots) + 1)]
        leaf = encode_leaf(
            number,
            LeafKind.CASUAL,
            now_us(),
            match=header.match_id,
            game=header.game.name,
            bots=seats,
            names=[bot.name for bot in header.bots],
            versions=["" for _ in seats],
            places=[*over.places],
            counts=[*map(bool, over.counts)],
            points=[*over.scores],
            replay=None,
        )
        self._add(leaf)
        proof = inclusion_proof(number - 1, number, self._node)
        return LogEntry(number, leaf, self._head(), tuple(proof))

    async def GetLog(self, _: log_pb2.GetLogRequest, __: Call) -> log_pb2.GetLogResponse:
        """Return the current state of the log."""
        return log_pb2.GetLogResponse(log=pack(self.state, log_pb2.LogState))

    async def GetConsistency(self, request: log_pb2.GetConsistencyRequest, _: Call) -> log_pb2.GetConsistencyResponse:
        """Return the proof that an earlier log is a prefix of a later one."""
        if not request.first <= request.second <= len(self._leaves):
            text = f"the log has {len(self._leaves)} leaves: ask for a first size up to a second one of at most these"
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, text)
        return log_pb2.GetConsistencyResponse(proof=consistency_proof(request.first, request.second, self._node))

    def _add(self, leaf: bytes) -> None:
        index = len(self._leaves)
        self._leaves.append(leaf)
        for level, each in enumerate(completed(index, leaf_hash(leaf), self._node)):
            self._nodes[level, index >> level] = each

    def _node(self, level: int, index: int) -> bytes:
        return self._nodes[level, index]

    def _head(self) -> LogHead:
        size = len(self._leaves)
        made = root(size, self._node)
        return LogHead(size, made, self._sign(size, made))
