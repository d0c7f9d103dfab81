"""Stories about a log of results. Each lists messages to the bot, and the lines that the bot stores and logs.

All clients use the same stories.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from arena_client.log_check import LogChecker
from arena_client.receipts import Receipts
from arena_client.v1.log_pb2 import LogState
from arena_client.v1.play_pb2 import MatchReport
from client_tests.test_client_log import AT, SEAT, Log
from google.protobuf.json_format import MessageToDict

from arena.log.keys import Signer, first_key_leaf


class Story:
    """One bot with its file and its log lines. The package plays each step, and the story records the result."""

    def __init__(self, folder: Path) -> None:
        self.log = Log()
        self.steps: list[dict[str, Any]] = []
        self._file = folder / "bot.receipts"
        self._said: list[str] = []
        self.start()

    def start(self) -> None:
        """Restart the bot with its existing file."""
        self._receipts = Receipts(self._file)
        self._checker = LogChecker(self._receipts)
        self._note("starts", True)

    def welcome(self, shows: bool = True, of_node: LogState | None = None) -> None:
        """Send a Welcome message with or without the log. `of_node`: the log of one of several nodes."""
        proofs: dict[str, list[str] | None] = {}

        async def consistency(first: int, second: int) -> Sequence[bytes] | None:
            proof = await self.log.consistency(first, second)
            proofs[f"{first} {second}"] = None if proof is None else [base64.b64encode(each).decode() for each in proof]
            return proof

        state = of_node or self.log.state if shows else None
        asyncio.run(self._checker.check(state, consistency, one_of_several=of_node is not None))
        nodes = {"one_of_several": True} if of_node is not None else {}
        self._note("shows", None if state is None else MessageToDict(state), proofs=proofs, **nodes)

    def result(self, match: int, change: Callable[[MatchReport], object] = lambda _: None) -> None:
        """Add a match to the log and send its report."""
        report = self.log.result(match)
        change(report)
        self._receipts.take(report, SEAT)
        self._note("reports", MessageToDict(report))

    def tear(self, size: int) -> None:
        """Remove the last `size` bytes of the bot's file, as a crash in the middle of a line would."""
        os.truncate(self._file, self._file.stat().st_size - size)
        self._note("tears", size)

    def hear(self, record: logging.LogRecord) -> bool:
        """Record a log line of the bot."""
        text = record.getMessage().replace(str(self._file), "FILE")
        self._said.append(f"{record.levelname.lower().removesuffix('ing')}: {text}")
        return False

    def _note(self, name: str, value: object, **more: object) -> None:
        self.steps.append({name: value, **more, "says": self._said[:]})
        self._said.clear()

    def ended(self, title: str) -> dict[str, Any]:
        """Return the story in the format of the file."""
        kept = self._file.read_text("utf-8") if self._file.exists() else ""
        without_checks = title not in CHECKS_DECIDE
        return {"title": title, "without_checks": without_checks, "steps": self.steps, "kept": kept.splitlines()}


def stories() -> Iterator[dict[str, Any]]:
    """Yield every story."""
    logger = logging.getLogger("arena_client")
    for title, tell in STORIES.items():
        with tempfile.TemporaryDirectory() as folder:
            story = Story(Path(folder))
            logger.addFilter(story.hear)
            try:
                tell(story)
            finally:
                logger.removeFilter(story.hear)
            yield story.ended(title)


def _grows(story: Story) -> None:
    story.welcome()
    for match in (1, 2, 3):
        story.result(match)
    story.welcome()
    story.log.result(4)
    story.start()
    story.welcome()
    story.log.rotate()
    story.log.result(5)
    story.start()
    story.welcome()


def _several_nodes(story: Story) -> None:
    """A node shows the log from before another node's report, and then a log with a different beginning."""
    story.welcome()
    story.result(1)
    before = story.log.state
    story.result(2)
    story.welcome(of_node=before)
    story.log.leaves[1] = story.log.leaves[1].replace(b"12", b"13")
    del story.log.leaves[2:]
    story.welcome(of_node=story.log.state)


def _changed(change: Callable[[Log], object], grows: bool = True) -> Callable[[Story], None]:
    def tell(story: Story) -> None:
        story.welcome()
        for match in (1, 2):
            story.result(match)
        if grows:
            story.log.result(9)
        change(story.log)
        story.start()
        story.welcome()
        story.welcome()

    return tell


def _torn(story: Story) -> None:
    story.welcome()
    for match in (1, 2):
        story.result(match)
    for size in (1, 100):
        story.tear(size)
        story.start()
        story.welcome()
        story.result(3)
    story.start()
    story.welcome()


def _gone(story: Story) -> None:
    story.welcome(shows=False)
    story.welcome()
    story.welcome(shows=False)


def _restored(story: Story) -> None:
    story.welcome()
    for match in (1, 2, 3, 4):
        story.result(match)
    story.log.restore(3)
    story.start()
    story.welcome()
    story.result(3)
    story.welcome()
    for match in (4, 5):
        story.log.result(match)
    story.start()
    story.welcome()
    del story.log.leaves[5:]
    story.start()
    story.welcome()


def _restored_and_changed(story: Story) -> None:
    story.welcome()
    for match in (1, 2, 3, 4):
        story.result(match)
    story.log.leaves[1] = story.log.leaves[1].replace(b"12", b"13")
    story.log.restore(3)
    story.start()
    story.welcome()


def _signed_by_a_retired_key(story: Story) -> None:
    story.welcome()
    for match in (1, 2):
        story.result(match)
    retired = story.log.signer
    story.log.rotate()
    story.start()
    story.welcome()
    story.log.result(3)
    newest, story.log.signer = story.log.signer, retired
    story.start()
    story.welcome()
    story.log.signer = newest
    story.start()
    story.welcome()


def _cut_under_a_retired_key(story: Story) -> None:
    story.welcome()
    for match in (1, 2):
        story.result(match)
    retired = story.log.signer
    story.log.rotate()
    story.start()
    story.welcome()
    story.log.signer = retired
    story.log.restore(2)
    story.start()
    story.welcome()


def _under_another_key(story: Story) -> None:
    story.welcome()
    story.log.signer = Signer(bytes([2]) * 32)
    story.log.keys = [first_key_leaf(1, AT, story.log.signer)]
    story.start()
    story.welcome()


def _reported(change: Callable[[MatchReport], object]) -> Callable[[Story], None]:
    return lambda story: story.result(7, change)


CHECKS_DECIDE: frozenset[str] = frozenset(
    {
        "An entry was changed",
        "The proof is refused",
        "The head is signed by another",
        "The next key is not named by the one before",
        "A retired key signs what came after it",
        "The log was restored from a backup",
        "The log was restored, and changed before that",
        "A node shows the log from before the report of another node",
    }
)
"""Stories in which a client without verification writes different lines."""

STORIES: dict[str, Callable[[Story], None]] = {
    "A log that grows, under a key that names the next": _grows,
    "An entry was changed": _changed(lambda log: log.leaves.__setitem__(1, log.leaves[1].replace(b"12", b"13"))),
    "Entries are gone": _changed(lambda log: log.leaves.__delitem__(slice(2, None))),
    "The proof is refused": _changed(lambda log: setattr(log, "refuses", True)),
    "The head is signed by another": _changed(lambda log: setattr(log, "signer", Signer(bytes(32))), grows=False),
    "The next key is not named by the one before": _changed(lambda log: log.rotate(honest=False), grows=False),
    "A retired key signs what came after it": _signed_by_a_retired_key,
    "A retired key signs a restoration to before the next one": _cut_under_a_retired_key,
    "It is another log": _changed(lambda log: setattr(log, "__dict__", Log(2).__dict__)),
    "The same log is shown under another key": _under_another_key,
    "A node shows the log from before the report of another node": _several_nodes,
    "A crash cut the last line off": _torn,
    "The log is gone": _gone,
    "The log was restored from a backup": _restored,
    "The log was restored, and changed before that": _restored_and_changed,
    "A report's proof leads nowhere": _reported(lambda report: report.entry.proof.__setitem__(0, bytes(32))),
    "A report's head has no root": _reported(lambda report: report.entry.head.ClearField("root")),
    "A report's points are not its leaf's": _reported(lambda report: report.scores.__setitem__(0, 99)),
    "A report's match is not its leaf's": _reported(lambda report: setattr(report, "match_id", 8)),
}
