"""Play the conversations of clients/conformance with the whole package, including its connection, on a virtual clock.

Only gRPC is replaced: the script provides the streams and calls.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import selectors
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import grpc
import grpc.aio
import pytest
from arena_client import ArenaError, Bot, Decision, MatchReport, MatchStart, Notice, RoundReport, conduct_of, connection
from arena_client.caller import Caller
from arena_client.inbox import Inbox
from arena_client.network import calls_here
from arena_client.options import DRAIN, DRAIN_TERMINATED
from arena_client.running import answer
from arena_client.v1 import bots_pb2, play_pb2
from arena_client.v1.log_pb2 import GetConsistencyRequest, GetConsistencyResponse
from google.protobuf.json_format import ParseDict
from google.rpc import error_details_pb2, status_pb2

CONFORMANCE: Final = Path(__file__).parents[2] / "conformance"
MESSAGES: Final[dict[str, Any]] = json.loads((CONFORMANCE / "messages.json").read_text("utf-8"))
BOT: Final = {
    "games": ["sixth_sense"],
    "capacity": 8,
    "version": "1",
    "token": "given",
    "owner": None,
    "invitation": None,
    "matches": None,
    "challenges": False,
    "casual": False,
    "on_error": "raise",
    "give_up_after": None,
    "thinks_ms": 0,
    "batch": False,
    "gives": None,
    "ladders": None,
    "events": None,
    "receipts": False,
}
"""The default bot of a conversation."""
ADDRESS: Final = "arena:1"
"""The address that the bot is given."""
A_DAY: Final = 86400.0
ONE_NODE: Final = "one_node"
"""The topic of conversations for SDKs that connect to one node of a server."""
FOLDERS: Final = ("conversations", "every_node")
"""Folders with the conversations of SDKs that connect to every node."""


def conversations() -> dict[str, dict[str, Any]]:
    """Return all conversations by topic and title, except those for SDKs that connect to one node."""
    found = {}
    for file in sorted(file for folder in FOLDERS for file in (CONFORMANCE / folder).glob("*.json")):
        if file.stem == ONE_NODE:
            continue
        for each in json.loads(file.read_text("utf-8")):
            found[f"{file.stem}: {each['title']}"] = each
    return found


def check(conversation: Mapping[str, Any], token_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Play a conversation.

    Raises:
        AssertionError: the package deviates from the conversation.
    """
    loop = VirtualLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(_Play(conversation, token_file, loop, monkeypatch).play())


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time advances only when no other work is left."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Impatient(self))

    def time(self) -> float:
        """Return the seconds since the loop began."""
        return self.now


class _Impatient(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "something is still to come"
        self._loop.now += max(0.0, timeout)
        return super().select(0)


class _Scripted(Bot):
    """The bot that a conversation describes."""

    name = "bot"

    def __init__(
        self, spec: Mapping[str, Any], loop: VirtualLoop, told: list[str], meanwhile: Callable[[], object]
    ) -> None:
        """Create the bot. `meanwhile` delivers the script's messages and is called while the bot thinks."""
        super().__init__(games=spec["games"], capacity=spec["capacity"], version=spec["version"])
        self._spec, self._loop, self._told, self._meanwhile = spec, loop, told, meanwhile

    def decide(self, decision: Decision) -> int:
        self._think([decision])
        return decision.legal[0]

    def decide_many(self, decisions: Sequence[Decision]) -> Iterable[int | None]:
        if self._spec["gives"] is None and not self._spec["batch"]:
            return super().decide_many(decisions)
        self._think(decisions)
        return self._spec["gives"] or [decision.legal[0] for decision in decisions]

    def _think(self, decisions: Sequence[Decision]) -> None:
        numbers = [f"{decision.match_id}/{decision.decision_id}" for decision in decisions]
        for number, decision in zip(numbers, decisions, strict=True):
            told = f"decide {number} {decision.soft_ms}+{decision.bank_ms}"
            if decision.other is not None:
                told += f" {decision.game.name} {base64.b64encode(decision.other.value).decode()}"
            self._told.append(told)
        self._loop.now += self._spec["thinks_ms"] / 1000
        self._meanwhile()
        self._told += [f"closed {number}" for number, each in zip(numbers, decisions, strict=True) if each.closed]

    def on_match_start(self, start: MatchStart) -> None:
        limit = conduct_of(self.welcome, start).soft_limit_ms
        self._told.append(f"start {start.match_id}" + (f" {start.ladder} {limit}" if start.ladder else ""))

    def on_round(self, report: RoundReport) -> None:
        self._told.append(f"round {report.match_id}")

    def on_match_end(self, report: MatchReport) -> None:
        super().on_match_end(report)
        self._told.append(f"report {report.match_id}")

    def on_notice(self, notice: Notice) -> None:
        super().on_notice(notice)
        self._told.append(f"notice {notice.kind} {notice.match_id if notice.HasField('match_id') else '-'}")


class _Call:
    """A scripted stream that replaces a gRPC call."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.token = address, token
        self.said: list[play_pb2.PlayRequest] = []
        self.closed = False
        """True after the bot closed its side."""
        self._messages: asyncio.Queue[play_pb2.PlayResponse | None] = asyncio.Queue()
        self._status = grpc.StatusCode.OK
        self._text, self._trailers = "", grpc.aio.Metadata()

    def say(self, message: play_pb2.PlayResponse) -> None:
        self._messages.put_nowait(message)

    def end(self, status: Mapping[str, Any]) -> None:
        self._status, self._text = grpc.StatusCode[status["status"]], status.get("text", "")
        self._trailers = _trailers(status)
        self._messages.put_nowait(None)

    async def read(self) -> Any:
        message = await self._messages.get()
        return grpc.aio.EOF if message is None else message

    async def write(self, message: play_pb2.PlayRequest) -> None:
        self.said.append(message)

    async def done_writing(self) -> None:
        self.closed = True

    def cancel(self) -> None:
        pass

    async def code(self) -> grpc.StatusCode:
        return self._status

    async def details(self) -> str:
        return self._text

    async def trailing_metadata(self) -> grpc.aio.Metadata:
        return self._trailers


class _Registration:
    """A call to RegisterBot that waits for the script."""

    def __init__(self, request: bots_pb2.RegisterBotRequest) -> None:
        self.request = request
        self.answer: asyncio.Future[bots_pb2.RegisterBotResponse] = asyncio.get_running_loop().create_future()


class _Play:
    """One conversation in progress."""

    def __init__(
        self, conversation: Mapping[str, Any], token_file: Path, loop: VirtualLoop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._steps: Sequence[Mapping[str, Any]] = conversation["steps"]
        self._proofs: Mapping[str, Sequence[str]] = conversation.get("proofs", {})
        self._spec = {**BOT, **conversation.get("bot", {})}
        assert self._spec.keys() == BOT.keys(), "the conversation describes its bot by words that there are"
        self._token_file, self._loop = token_file, loop
        self._receipts = token_file.with_name(f"{token_file.name}.receipts")
        self._lines: list[str] = []
        """Calls to the bot's code since the last `told` step."""
        self._warnings: list[str] = []
        """Logged warnings since the last `warns` step."""
        self._tries: list[_Call | _Registration] = []
        """Connection attempts that no step has handled yet."""
        self._call: _Call | None = None
        """The stream to which the steps refer."""
        self._calls: list[_Call] = []
        """All open streams."""
        self._registration: _Registration | None = None
        self._tokens: dict[str, str] = {}
        """Tokens by their names in the conversation."""
        self._nonces: set[bytes] = set()
        self._meanwhile: list[tuple[_Call, play_pb2.PlayResponse]] = []
        """Messages that will arrive during the bot's next decision."""
        self._stopped = False
        self._tried: asyncio.Future[None] = loop.create_future()
        """Future that the next connection attempt completes."""
        monkeypatch.setattr(connection, "time", SimpleNamespace(monotonic=loop.time))
        monkeypatch.setattr(connection, "_chance", SimpleNamespace(uniform=lambda _, longest: longest, choice=_last))
        monkeypatch.setattr(connection, "open_channel", lambda address, _: _Channel(address))
        monkeypatch.setattr(connection, "obstacle", _none)
        monkeypatch.setattr(
            connection, "PlayServiceStub", lambda channel: SimpleNamespace(Play=partial(self._open, channel))
        )
        monkeypatch.setattr(connection, "BotServiceStub", lambda _: SimpleNamespace(RegisterBot=self._register))
        monkeypatch.setattr(connection, "LogServiceStub", lambda _: SimpleNamespace(GetConsistency=self._prove))

    def _try(self, one: _Call | _Registration) -> None:
        self._tries.append(one)
        if not self._tried.done():
            self._tried.set_result(None)

    def _open(self, channel: _Channel, metadata: Sequence[tuple[str, str]]) -> _Call:
        call = _Call(channel.address, dict(metadata)["authorization"].removeprefix("Bearer "))
        self._try(call)
        return call

    async def _register(self, request: bots_pb2.RegisterBotRequest, timeout: float) -> bots_pb2.RegisterBotResponse:
        registration = _Registration(request)
        self._try(registration)
        async with asyncio.timeout(timeout):
            return await registration.answer

    async def _prove(self, request: GetConsistencyRequest, timeout: float) -> GetConsistencyResponse:
        proof = self._proofs.get(f"{request.first} {request.second}")
        if proof is None:
            raise grpc.aio.AioRpcError(grpc.StatusCode.NOT_FOUND, grpc.aio.Metadata(), grpc.aio.Metadata())
        return GetConsistencyResponse(proof=map(base64.b64decode, proof))

    async def play(self) -> None:
        log, handler = logging.getLogger("arena_client"), _Warnings(self._warnings)
        log.addHandler(handler)
        try:
            await self._play()
        finally:
            log.removeHandler(handler)

    async def _play(self) -> None:
        self._start()
        for number, step in enumerate(self._steps, 1):
            [(name, wanted)] = ((key, value) for key, value in step.items() if key != "at")
            try:
                if "at" in step:
                    self._look_at(step["at"])
                await getattr(self, f"_{name}")(wanted)
                await self._settle()
                following = self._steps[number] if number < len(self._steps) else {}
                if "says" not in following:
                    assert not [call.said for call in self._calls if call.said], "nothing is said"
            except AssertionError as error:
                error.add_note(f"in step {number}: {json.dumps(step)}")
                raise
        self._task.cancel()
        await asyncio.wait([self._task])
        assert not self._meanwhile, "it has thought since"
        assert not self._tries, "it tries nothing more"

    def _start(self) -> None:
        spec = self._spec
        told: dict[str, Any] = {name: spec[name] for name in ("token", "owner", "invitation", "matches", "on_error")}
        told |= {name: spec[name] for name in ("challenges", "casual", "give_up_after", "ladders")}
        told |= {name: spec[name] for name in ("events", "receipts")}
        bot = _Scripted(spec, self._loop, self._lines, self._arrive)
        self._caller = Caller(bot, spec["on_error"], self._loop.time)
        self._connection = connection.Connection(bot, ADDRESS, token_file=self._token_file, **told)
        self._stopped = False
        self._task = self._loop.create_task(self._run(self._connection))

    async def _run(self, one: connection.Connection) -> None:
        inbox = Inbox()
        one.begin(inbox, calls_here())
        try:
            await answer(self._caller, inbox)
        finally:
            one.end()
            await inbox.ended()

    async def _settle(self) -> None:
        """Run the loop until it can only wait for the clock to advance."""
        for _ in range(60):
            await asyncio.sleep(0)

    async def _next(self, kind: type[Any]) -> Any:
        await self._settle()
        assert self._tries, f"it tries nothing, and should have a {kind.__name__.strip('_').lower()}; {self._state()}"
        found = self._tries.pop(0)
        assert isinstance(found, kind), f"it made a {type(found).__name__.strip('_').lower()}"
        return found

    def _state(self) -> str:
        return f"its end: {self._task.exception()!r}" if self._task.done() and not self._task.cancelled() else "it runs"

    def _same_token(self, name: str, token: str) -> None:
        taken = {other for label, other in self._tokens.items() if label != name}
        assert token not in taken, "it is another token"
        assert self._tokens.setdefault(name, token) == token, "it is the same token"

    async def _registers(self, wanted: Mapping[str, Any]) -> None:
        self._registration = await self._next(_Registration)
        request = self._registration.request
        self._same_token(wanted["token"], request.token)
        expected = ParseDict({**wanted, "token": request.token}, bots_pb2.RegisterBotRequest())
        assert request == expected

    async def _registered(self, given: Mapping[str, str]) -> None:
        assert self._registration is not None
        request = self._registration.request
        if "token" in given:
            self._tokens[given["token"]] = given["token"]
        answered = bots_pb2.RegisterBotResponse(name=request.name, token=given.get("token", request.token))
        self._registration.answer.set_result(answered)

    async def _refused(self, status: Mapping[str, Any]) -> None:
        assert self._registration is not None
        error = grpc.aio.AioRpcError(
            grpc.StatusCode[status["status"]], grpc.aio.Metadata(), _trailers(status), status.get("text")
        )
        self._registration.answer.set_exception(error)

    def _look_at(self, address: str) -> None:
        self._call = next((call for call in self._calls if call.address == address), None)
        assert self._call is not None, f"a stream to {address} is open"

    def _forget_call(self) -> None:
        self._calls.remove(self._open_call())
        self._call = None

    async def _opens(self, wanted: Mapping[str, Any]) -> None:
        self._call = call = await self._next(_Call)
        self._calls.append(call)
        assert call.address == wanted.get("address", ADDRESS)
        self._same_token(wanted["token"], call.token)
        [first] = call.said
        call.said.clear()
        assert first.hello.client, "it says which library it is"
        first.hello.client = ""
        for entry in first.hello.events:
            self._take_nonce(entry)
        assert first == ParseDict({"hello": wanted["hello"]}, play_pb2.PlayRequest())

    def _open_call(self) -> _Call:
        assert self._call is not None, "a stream is open"
        return self._call

    async def _server(self, said: str | Mapping[str, Any]) -> None:
        self._open_call().say(_message(said))

    async def _while_thinking(self, said: Sequence[str | Mapping[str, Any]]) -> None:
        self._meanwhile += [(self._open_call(), _message(each)) for each in said]

    def _arrive(self) -> None:
        """Deliver the messages for a thinking bot. In a real program, the network thread does this."""
        arriving, self._meanwhile[:] = self._meanwhile[:], []
        for call, message in arriving:
            [node] = [each for each in self._connection._nodes if each.address == call.address]
            assert node.stream is not None, "a stream is open"
            assert node.session is not None, "it has had its welcome"
            self._connection._hear(node, node.stream, node.session, message)

    async def _bytes(self, encoded: str) -> None:
        self._open_call().say(play_pb2.PlayResponse.FromString(base64.b64decode(encoded)))

    async def _says(self, wanted: Sequence[Mapping[str, Any]]) -> None:
        said = self._open_call().said[:]
        self._open_call().said.clear()
        for each in said:
            for ready in each.ready:
                self._take_nonce(ready)
        assert said == [ParseDict(dict(each), play_pb2.PlayRequest()) for each in wanted]

    def _take_nonce(self, said: play_pb2.Ready | play_pb2.EventEntry) -> None:
        assert len(said.nonce) == 16, "its own chance are 16 bytes"
        assert said.nonce not in self._nonces, "each time others"
        self._nonces.add(said.nonce)
        said.nonce = b""

    async def _told(self, wanted: Sequence[str]) -> None:
        lines = self._lines[:]
        self._lines.clear()
        assert lines == wanted

    async def _warns(self, wanted: Sequence[str]) -> None:
        warnings = [each.replace(str(self._receipts), "FILE") for each in self._warnings]
        self._warnings.clear()
        assert warnings == wanted

    async def _keeps(self, wanted: Sequence[str]) -> None:
        lines = map(json.loads, self._receipts.read_text("utf-8").splitlines())
        kept = [
            f"match {line['match']} {line['number']}" if "match" in line else f"log {line['head']['size']}"
            for line in lines
        ]
        assert kept == wanted

    async def _breaks(self, status: Mapping[str, Any]) -> None:
        self._open_call().end(status)
        self._forget_call()

    async def _comes_back(self, wanted: Mapping[str, int]) -> None:
        since, self._tried = self._loop.now, self._loop.create_future()
        await asyncio.wait([self._tried, self._task], timeout=A_DAY, return_when=asyncio.FIRST_COMPLETED)
        assert self._tries, f"it comes back; {self._state()}"
        took = self._loop.now - since
        assert round(took * 1000) == wanted["after_ms"], f"it came back after {took} s"

    async def _passes(self, wanted: Mapping[str, int]) -> None:
        await asyncio.sleep(wanted["ms"] / 1000)

    async def _closes(self, _: bool) -> None:
        assert self._open_call().closed, "it says goodbye"
        self._open_call().end({"status": "OK"})
        self._forget_call()

    async def _stops(self, signal: str) -> None:
        seconds = DRAIN if signal == "SIGINT" else DRAIN_TERMINATED
        if self._stopped:
            self._connection.leave()
        else:
            self._stopped = True
            self._connection.drain(seconds, lambda: None)

    async def _restarts(self, _: bool) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        self._calls.clear()
        self._start()

    async def _ends(self, wanted: Mapping[str, Any]) -> None:
        assert self._task.done(), "it has ended"
        assert not self._tries, "it does not come back"
        self._calls.clear()
        error = None if self._task.cancelled() else self._task.exception()
        if error is not None and not isinstance(error, ArenaError):
            raise error
        assert (word(error), 0 if error is None else error.status) == (wanted["error"], wanted["status"])


def _message(said: str | Mapping[str, Any]) -> play_pb2.PlayResponse:
    """Return the server's message in a step."""
    message: dict[str, Any] = MESSAGES[said] if isinstance(said, str) else dict(said)
    if "like" in message:
        message = MESSAGES[message.pop("like")] | message
    return ParseDict(message, play_pb2.PlayResponse())


def word(error: ArenaError | None) -> str | None:
    """Return the word for an error in the conversations: the name of its class in capitals, without "Error"."""
    if error is None:
        return None
    name = type(error).__name__.removesuffix("Error")
    return "".join(f"_{each}" if each.isupper() else each for each in name).strip("_").upper()


def _trailers(status: Mapping[str, Any]) -> grpc.aio.Metadata:
    details = status_pb2.Status()
    if "pause" in status:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.seconds = int(status["pause"].get("seconds", 0))
        retry.retry_delay.nanos = status["pause"].get("nanos", 0)
        details.details.add().Pack(retry)
    if "reason" in status:
        details.details.add().Pack(error_details_pb2.ErrorInfo(reason=status["reason"], domain="arena"))
    return grpc.aio.Metadata(("grpc-status-details-bin", details.SerializeToString()))


class _Channel:
    def __init__(self, address: str) -> None:
        self.address = address

    async def __aenter__(self) -> _Channel:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class _Warnings(logging.Handler):
    """A log handler that adds each warning to a list."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())


async def _none(*_: object) -> str:
    return ""


def _last(nodes: Sequence[Any]) -> Any:
    return nodes[-1]
