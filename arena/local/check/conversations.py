"""Checks that play scripted conversations from files: the server plays its part, and the bot must respond as scripted.

Every SDK plays these files in its tests (clients/conformance). A bot under check has its own games, capacity and
choices. Therefore catalogues and decisions come from its first game, and any legal action is a valid answer.
Conversations that need the tests' own bot or clock are omitted.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import grpc
import trio
from arena_client.v1 import play_pb2
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError

from arena.api.codec import encode_view
from arena.api.game_codecs import encode_catalog
from arena.api.statuses import refused
from arena.local.check.check import CONNECTED, Check
from arena.local.check.stage import START, FaultError, Stage
from arena.local.errors import LocalMatchError
from engine.deal import KEY_BYTES, SeededDecks
from engine.registry import GAMES
from trio_grpc.grpc.call import CallRefused, PeerVanished, Stream

PAGE: Final = "clients/conformance/README.md"
MESSAGES: Final = "messages.json"
STEPS: Final = frozenset({"opens", "server", "bytes", "says", "told", "breaks", "comes_back", "ends"})
"""Steps that any program can follow."""
LATER: Final = 5.0
"""Maximum number of seconds from the end of the script's pause to the bot's return."""
PATIENCE: Final = 10.0
"""Longest pause of a script, in seconds. Conversations with longer pauses need the tests' clock."""
WATCHED: Final = 2.0
"""Number of seconds for which a bot that should not return must stay away."""
QUIET: Final = 0.1
"""Seconds of silence that end a conversation."""


class ConversationsUnreadable(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """Error for a folder without conversations, or with an invalid conversation."""


def read_conversations(folder: Path) -> list[Check]:
    """Return a check for each of a folder's conversations that any program can follow.

    Raises:
        ConversationsUnreadable: the folder has no valid conversations.
    """
    files = sorted((folder / "conversations").glob("*.json"))
    if not files:
        raise ConversationsUnreadable(f"there are no conversations in {folder}: name the folder clients/conformance")
    file = folder / MESSAGES
    try:
        known = json.loads(file.read_text("utf-8"))
        found = []
        for file in files:
            for number, each in enumerate(json.loads(file.read_text("utf-8")), 1):
                if "bot" in each or not all(step.keys() <= STEPS for step in each["steps"]):
                    continue
                steps = _resolved(each["steps"], known)
                shown = all(_asks_what_is_shown(value) for name, value in steps if name == "server")
                if shown and all(0 <= _pause(value) <= PATIENCE for name, value in steps if name == "breaks"):
                    found.append(_check(f"{file.stem}-{number}", each["title"], steps))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ParseError) as error:
        raise ConversationsUnreadable(f"{file} has no conversations: {error}") from error
    return found


def _resolved(steps: Sequence[Mapping[str, Any]], known: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the steps with the messages in place of their names."""
    resolved = []
    for step in steps:
        [(name, value)] = step.items()
        if name == "server":
            value = known[value] if isinstance(value, str) else dict(value)
            value = {**known[value["like"]], **value} if "like" in value else value
            value = {key: each for key, each in value.items() if key != "like"}
            ParseDict(value, play_pb2.PlayResponse())
        resolved.append((name, value))
    return resolved


def _asks_what_is_shown(message: Mapping[str, Any]) -> bool:
    """Return True if every decision is for 6th Sense, the scripts' game, for which the bot's own is substituted."""
    return all("sixthSense" in decision for decision in message.get("decisions", ()))


def _pause(status: Mapping[str, Any]) -> float:
    """Return the pause in seconds that a status requires."""
    pause = status.get("pause", {})
    return float(int(pause.get("seconds", 0)) + int(pause.get("nanos", 0)) / 1e9)


def _check(name: str, title: str, steps: Sequence[tuple[str, Any]]) -> Check:
    async def ask(stage: Stage) -> None:
        await _Conversation(stage, steps).play()

    wants = f"The conversation {name.rpartition('-')[0]}.json, number {name.rpartition('-')[2]}."
    return Check(name, f"{title}.", wants, "Play the file in your own tests, step by step.", PAGE, CONNECTED, True, ask)


class _Talk:
    """One stream of the bot."""

    def __init__(self, stream: Stream[bytes, bytes]) -> None:
        self.stream = stream
        self.heard: list[play_pb2.PlayRequest] = []
        self.over = False
        self._scope = trio.CancelScope()
        self._end: CallRefused | None = None

    async def attend(self) -> None:
        """Receive the bot's messages until the script ends the stream. Then raise the stream's final status."""
        try:
            with self._scope:
                while (message := await self.stream.receive()) is not None:
                    self.heard.append(play_pb2.PlayRequest.FromString(message))
                await trio.sleep_forever()
        except PeerVanished:
            return
        finally:
            self.over = True
        if self._end is not None:
            raise self._end

    async def say(self, message: bytes) -> None:
        """Send a message after the previous message has been sent."""
        while self.stream.busy:
            await trio.sleep(0.005)
        if not self.over:
            self.stream.hand_over(message)

    def end(self, status: Mapping[str, Any]) -> None:
        """End the stream with the script's status, which includes the pause that the bot must make, if any."""
        code, reason, text = grpc.StatusCode[status["status"]], status.get("reason", ""), status.get("text", "")
        if code is not grpc.StatusCode.OK:
            explained = reason or "pause" in status
            self._end = refused(code, reason, text, _pause(status)) if explained else CallRefused(code, text)
        self._scope.cancel()


class _Conversation:
    """One conversation, with a newly started bot."""

    def __init__(self, stage: Stage, steps: Sequence[tuple[str, Any]]) -> None:
        self._stage = stage
        self._steps = steps
        self._talks: list[_Talk] = []
        self._opened = 0
        """Number of the bot's streams that the script has used."""
        self._back_at = 0.0
        """The earliest time at which the bot may return."""
        self._game = ""
        self._last_report: int | None = None
        """The number of the last report that the bot should send when it returns."""
        self._does: Mapping[str, Callable[[Any], Awaitable[None]]] = {
            "opens": self._opens, "server": self._server, "bytes": self._bytes, "says": self._says,
            "breaks": self._breaks, "comes_back": self._comes_back, "ends": self._ends,
        }  # fmt: skip

    async def play(self) -> None:
        """Play the conversation.

        Raises:
            FaultError: the bot deviates from the script.
        """
        server = self._stage.server
        server.script = self._attend
        try:
            await self._stage.start_bot()
            for number, (name, value) in enumerate(self._steps, 1):
                if name == "told":
                    continue
                try:
                    await self._does[name](value)
                    await self._silent(number)
                except FaultError as fault:
                    raise FaultError(f"step {number}, {name}: {fault}") from None
        finally:
            server.script = None
            await self._stage.end_bot()

    async def _attend(self, stream: Stream[bytes, bytes]) -> None:
        talk = _Talk(stream)
        self._talks.append(talk)
        await talk.attend()

    @property
    def _talk(self) -> _Talk:
        """The latest stream that a step has used."""
        return self._talks[self._opened - 1]

    async def _silent(self, number: int) -> None:
        """Raise FaultError if the bot sends a message that the next step does not expect."""
        following = self._steps[number][0] if number < len(self._steps) else ""
        if following == "says" or self._talk.over:
            return
        await trio.sleep(QUIET)
        if self._talk.heard:
            raise FaultError(f"it should send nothing, and it sent {_short(self._talk.heard[0])}")

    async def _opens(self, _: Mapping[str, Any]) -> None:
        stage = self._stage
        await stage.until(lambda: any(talk.heard for talk in self._talks[self._opened :]), "it opened no stream", START)
        self._opened += 1
        said = self._talk.heard.pop(0)
        self._game = next((name for name in said.hello.games if name in GAMES), "")
        if not self._game:
            raise FaultError(f"its first message is no hello with a known game: {_short(said)}")
        found = said.hello.reports_after if said.hello.HasField("reports_after") else None
        if self._opened == 1:
            self._last_report = found  # the bot may have reports from an earlier conversation
        elif found != self._last_report:
            text = f"hello.reports_after should be {_number(self._last_report)}, and is {_number(found)}"
            raise FaultError(text)

    async def _server(self, said: Mapping[str, Any]) -> None:
        message = ParseDict(dict(said), play_pb2.PlayResponse())
        if message.HasField("welcome") and message.welcome.games:
            del message.welcome.games[:]
            catalogue = encode_catalog(GAMES[self._game]).SerializeToString()
            message.welcome.games.add().ParseFromString(catalogue)
        for invitation in message.invitations:
            invitation.game = self._game
        for start in message.starts:
            start.game = self._game
        for decision in message.decisions:
            legal, view = _question(self._game)
            decision.ClearField("view")
            decision.legal[:] = legal
            decision.MergeFromString(view)
        if message.welcome.HasField("log"):
            size = message.welcome.log.head.size
            self._last_report = size if self._last_report is None else min(self._last_report, size)
        for report in message.reports:
            if report.HasField("entry"):
                self._last_report = report.entry.number
        await self._talk.say(message.SerializeToString())

    async def _bytes(self, encoded: str) -> None:
        await self._talk.say(b64decode(encoded))

    async def _says(self, wanted: Sequence[Mapping[str, Any]]) -> None:
        expected, heard, talk = play_pb2.PlayRequest(), play_pb2.PlayRequest(), self._talk
        for each in wanted:
            expected.MergeFrom(ParseDict(dict(each), play_pb2.PlayRequest()))

        def through() -> bool:
            while talk.heard:
                heard.MergeFrom(talk.heard.pop(0))
            return _comparable(heard) == _comparable(expected)

        try:
            await self._stage.until(through, "")
        except FaultError as fault:
            raise FaultError(f"it should say {_short(expected)}, and said {_short(heard)}{fault}") from None
        legal, _ = _question(self._game)
        wrong = [answer.action for answer in heard.answers if answer.action not in legal]
        if wrong:
            raise FaultError(f"it answered with {wrong[0]}, which is not legal")

    async def _breaks(self, status: Mapping[str, Any]) -> None:
        self._back_at = trio.current_time() + _pause(status)
        self._talk.end(status)

    async def _comes_back(self, wanted: Mapping[str, int]) -> None:
        within = wanted["after_ms"] / 1000 + LATER
        await self._stage.until(lambda: len(self._talks) > self._opened, "it did not come back", within)
        early = self._back_at - trio.current_time()
        if early > 0:
            raise FaultError(
                f"it came back {early:.1f} s before the pause was over that the server asked for (RetryInfo)"
            )

    async def _ends(self, _: object) -> None:
        end, stage = trio.current_time() + WATCHED, self._stage
        while trio.current_time() < end and not (stage.program and stage.program.ended()):
            if len(self._talks) > self._opened:
                raise FaultError("it came back, and trying again changes nothing")
            await trio.sleep(0.02)


def _number(number: int | None) -> str:
    return "absent" if number is None else str(number)


def _question(game: str) -> tuple[list[int], bytes]:
    """Return the legal actions of a game's first decision, and its view."""
    state = GAMES[game].new(GAMES[game].seats[0], SeededDecks(bytes(KEY_BYTES)))
    seat = next(iter(state.waiting()))
    view = state.view(seat)
    return [*state.legal(seat)], encode_view(view)


def _comparable(message: play_pb2.PlayRequest) -> play_pb2.PlayRequest:
    """Return a message without the parts that the bot may choose freely: actions, nonces and the order of entries."""
    plain = play_pb2.PlayRequest.FromString(message.SerializeToString())
    for answer in plain.answers:
        answer.action = 0
    for ready in plain.ready:
        ready.nonce = b""
    plain.answers.sort(key=lambda answer: (answer.match_id, answer.decision_id))
    plain.ready.sort(key=lambda ready: ready.invitation_id)
    return plain


def _short(message: play_pb2.PlayRequest) -> str:
    text = json.dumps(MessageToDict(message))
    return text if len(text) <= 200 else f"{text[:200]}…"
