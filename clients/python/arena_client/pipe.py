"""A bot that is a command and speaks JSON lines: `arena-bot pipe -- COMMAND`.

The command reads the server's messages from standard input, one `PlayResponse` per line in protobuf's JSON mapping. It
writes its answers to standard output as `PlayRequest` messages, in the same form. This module handles invitations,
heartbeats and reconnecting.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, cast

from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from google.protobuf.message import Message

from arena_client.bot import Bot
from arena_client.command import SERVER_HELP, add_options, run_with
from arena_client.decision import GAMES, Decision
from arena_client.descriptors import pool_of
from arena_client.engine import MISSING, round_text
from arena_client.errors import ArgumentError, BadAnswerError
from arena_client.v1 import play_pb2
from arena_client.v1.play_pb2 import MatchReport, MatchStart, Notice, PlayRequest, PlayResponse, RoundReport

MOST_CLOSED = 10_000
"""Maximum number of closed decisions to remember; the command may still answer them."""
_OWN_GROUP: dict[str, Any]
"""Arguments of `Popen` for a process that Ctrl-C in this program's terminal does not reach."""
if sys.platform == "win32":
    _OWN_GROUP = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    _OWN_GROUP = {"process_group": 0}
END = 2.0
"""Maximum time in seconds for the command to end after its standard input is closed."""


class PipeBot(Bot):
    """Bot that passes its decisions to a command."""

    games = GAMES

    def __init__(self, words: Sequence[str], texts: bool = False) -> None:
        """Start the command. Raises ArgumentError if it cannot be started.

        `texts`: add the seat's view as text to decisions and rounds.
        """
        super().__init__(name=_name(words), version=_version(words))
        self._words = words
        self._texts = texts
        self._told: set[str] = set()
        self._limits: tuple[play_pb2.Conduct | None, list[play_pb2.LadderTerms]] = None, []
        self._answers: dict[tuple[int, int], int] = {}
        self._asked: set[tuple[int, int]] = set()
        """Open decisions that were sent to the command and not yet answered."""
        self._closed: deque[tuple[int, int]] = deque(maxlen=MOST_CLOSED)
        """Decisions that were closed before the command answered. The command may still answer."""
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        """Lines from the command, then an empty one at its end. None wakes the reader when a decision is closed."""
        self._writing = Lock()
        try:
            self._command = subprocess.Popen(  # noqa: S603 - the user asked for this program
                [*words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **_OWN_GROUP
            )
        except OSError as error:
            raise ArgumentError(f"the command {words[0]!r} cannot be started: {error.strerror}") from error
        self._reader = Thread(target=self._read, name="arena-pipe", daemon=True)
        self._reader.start()

    def end(self) -> None:
        """End the command: close its input, and kill it if it does not end in time."""
        assert self._command.stdin is not None, "it is a pipe"
        with suppress(OSError):
            self._command.stdin.close()
        try:
            self._command.wait(END)
        except subprocess.TimeoutExpired:
            self._command.kill()
            self._command.wait()
        self._reader.join(END)  # a child process of the command may still hold its output open

    def decide_many(self, decisions: Sequence[Decision]) -> Iterator[int | None]:
        """Send the decisions to the command. It may answer in any order and in any number of lines."""
        conduct = self.welcome.conduct if self.welcome.HasField("conduct") else None
        limits = conduct, [*self.welcome.ladders]
        if limits != self._limits:  # the first connection, or the server's limits have changed
            self._limits = limits
            self._told.clear()
        for game in {each.game.name: each.game for each in decisions if each.game.name not in self._told}.values():
            self._told.add(game.name)
            ladders = [each for each in self.welcome.ladders if each.game == game.name]
            greeting = play_pb2.Welcome(bot=self.name, games=[game.message], conduct=conduct, ladders=ladders)
            self._tell(PlayResponse(welcome=greeting))
        self._asked.update((each.match_id, each.decision_id) for each in decisions)
        message = PlayResponse(decisions=map(_message, decisions))
        self._tell(message, [each.text() for each in decisions] if self._texts else ())
        for decision in decisions:
            if decision.closed:  # closed before the command got it
                self._on_closed(decision.match_id, [decision.decision_id])
        for decision in decisions:
            key = decision.match_id, decision.decision_id
            while key in self._asked:
                self._take()
            yield self._answers.pop(key, None)

    def on_match_start(self, start: MatchStart) -> None:
        self._tell(PlayResponse(starts=[start]))

    def on_round(self, report: RoundReport) -> None:
        if report.other.TypeName() not in {"", *(game.record_type for game in self.welcome.games)}:
            report.ClearField("other")  # no catalogue describes it
        described = report.WhichOneof("record") is not None or report.HasField("other")
        texts = [round_text(report, self.record(report))] if self._texts and described else ()
        self._tell(PlayResponse(rounds=[report]), texts)

    def on_match_end(self, report: MatchReport) -> None:
        super().on_match_end(report)
        self._tell(PlayResponse(reports=[report]))

    def on_notice(self, notice: Notice) -> None:
        super().on_notice(notice)
        self._tell(PlayResponse(notices=[notice]))

    def _on_closed(self, match_id: int, decision_ids: Sequence[int]) -> None:
        asked = [each for each in decision_ids if (match_id, each) in self._asked]
        if asked:
            self._closed.extend((match_id, each) for each in asked)
            self._asked.difference_update((match_id, each) for each in asked)
            with suppress(BadAnswerError):  # the bot's thread reports a command that has ended
                closed = [play_pb2.ClosedDecision(match_id=match_id, decision_id=each) for each in asked]
                self._tell(PlayResponse(closed=closed))
            self._lines.put(None)

    def _read(self) -> None:
        assert self._command.stdout is not None, "it is a pipe"
        with self._command.stdout as output:
            for line in output:
                self._lines.put(line)
        self._lines.put(b"")

    def _tell(self, message: PlayResponse, texts: Sequence[str] = ()) -> None:
        """Send a message; `texts`: texts for its decisions or rounds."""
        described = pool_of(self.welcome.games)
        document = {field.json_name: _mapped(value, described) for field, value in message.ListFields()}
        if texts:
            [listed] = document.values()
            for each, text in zip(cast("list[dict[str, object]]", listed), texts, strict=True):
                each["text"] = text
        assert self._command.stdin is not None, "it is a pipe"
        try:
            with self._writing:
                self._command.stdin.write(json.dumps(document, separators=(",", ":")).encode() + b"\n")
                self._command.stdin.flush()
        except (OSError, ValueError):  # closed by the command or by this program
            raise self._ended() from None

    def _take(self) -> None:
        """Handle the next line from the command, or return if a decision is closed first."""
        line = self._lines.get()
        if line is None:
            return
        if not line:
            self._lines.put(line)
            raise self._ended()
        try:
            said = ParseDict(json.loads(line), PlayRequest())
        except (ParseError, ValueError) as error:
            raise BadAnswerError(f"the command said {_short(line)}, which is no PlayRequest in JSON: {error}") from None
        for answer in said.answers:
            key = answer.match_id, answer.decision_id
            if key in self._closed:
                continue
            if key not in self._asked:
                nothing = f"nothing is open as decision {key[1]} of match {key[0]}"
                raise BadAnswerError(f"the command said {_short(line)}; {nothing}")
            self._asked.discard(key)
            self._answers[key] = answer.action

    def _ended(self) -> BadAnswerError:
        try:
            status = self._command.wait(END)
        except subprocess.TimeoutExpired:
            return BadAnswerError(f"the command {self._words[0]} has closed its standard input or output")
        how = f"was killed by signal {-status}" if status < 0 else f"ended with exit status {status}"
        return BadAnswerError(f"the command {self._words[0]} {how}")


def main(arguments: Sequence[str]) -> None:
    """Run `arena-bot pipe`."""
    parser = argparse.ArgumentParser(
        prog="arena-bot pipe",
        description="Let a command that speaks JSON lines play: what the server says on its standard input, its "
        "answers on its standard output, by the protobuf JSON mapping.",
        epilog="example: arena-bot pipe --server localhost:50051 --name my-bot --owner me -- node bot.js",
    )
    parser.add_argument("--server", metavar="HOST:PORT", help=SERVER_HELP)
    parser.add_argument(
        "--text",
        action="store_true",
        help="add the field text to decisions and rounds: what the seat sees, in words; it needs arena-engine",
    )
    add_options(parser)
    at = [*arguments, "--"].index("--")
    words = arguments[at + 1 :]
    parsed = parser.parse_args(arguments[:at])
    if not words:
        parser.error("there is no command: arena-bot pipe -- node bot.js")
    if parsed.text and find_spec("engine") is None:
        parser.error(f"--text: {MISSING}")
    try:
        bot = PipeBot(words, parsed.text)
    except ArgumentError as error:
        parser.error(str(error))
    try:
        run_with(bot, parsed.server, parsed)
    finally:
        bot.end()


def _mapped(value: Any, described: DescriptorPool) -> object:
    """Convert a message or a list of them to JSON.

    Zero and empty fields are included; absent optional fields are omitted. `described`: the descriptors of messages in
    `Any` fields.
    """
    if isinstance(value, Message):
        return MessageToDict(value, always_print_fields_with_no_presence=True, descriptor_pool=described)
    return [_mapped(each, described) for each in value]


def _message(decision: Decision) -> play_pb2.Decision:
    message = play_pb2.Decision(
        match_id=decision.match_id,
        decision_id=decision.decision_id,
        soft_ms=decision.soft_ms,
        bank_ms=decision.bank_ms,
        legal=decision.legal,
    )
    if decision.other is None:
        getattr(message, decision.game.name).CopyFrom(decision.view)
    else:
        message.other.CopyFrom(decision.other)
    return message


def _name(words: Sequence[str]) -> str:
    """Return a bot's name, from the name of the file that contains the command's program."""
    files = [word for word in words[1:] if os.path.isfile(word)]  # noqa: PTH113 - Path raises if a word is too long
    return re.sub(r"[^A-Za-z0-9._-]", "-", Path((files or words)[0]).stem).strip("-._")[:40] or "bot"


def _version(words: Sequence[str]) -> str:
    """Return a digest of the command's words and of the files that they name."""
    digest = hashlib.sha256()
    for word in words:
        digest.update(f"{len(word)} {word}".encode())
        if os.path.isfile(word):  # noqa: PTH113 - as above
            digest.update(hashlib.sha256(Path(word).read_bytes()).digest())
    return digest.hexdigest()[:16]


def _short(line: bytes) -> str:
    text = line.decode(errors="replace").strip()
    return repr(text if len(text) <= 80 else f"{text[:80]}…")
