"""The class that a bot author extends. A bot has no connection: `run` passes it decisions and sends its answers."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Any, Self

from arena_client.decision import GAMES, Decision
from arena_client.descriptors import pool_of, unpacked
from arena_client.source_digest import source_digest
from arena_client.v1.play_pb2 import MatchReport, MatchStart, Notice, NoticeKind, RoundReport, Welcome

_log = logging.getLogger("arena_client")

KINDS = {number: name.removeprefix("NOTICE_KIND_").lower().replace("_", " ") for name, number in NoticeKind.items()}
"""Descriptions of notices by kind. A newer server may send other kinds."""
FAULTS = frozenset(
    {
        NoticeKind.NOTICE_KIND_ILLEGAL,
        NoticeKind.NOTICE_KIND_STALE,
        NoticeKind.NOTICE_KIND_UNKNOWN,
        NoticeKind.NOTICE_KIND_FORCED_BY_TIME,
        NoticeKind.NOTICE_KIND_FORCED_BY_ILLEGALITY,
        NoticeKind.NOTICE_KIND_SUSPENDED,
    }
)
"""Kinds of notices about a fault of the bot."""
QUIET = 60.0
"""Number of seconds after a fault's log line in which further faults of the same kind are only counted."""


class Bot:
    """A bot. Override `decide` (or `decide_many`); the rest is optional.

    Name, owner, games, capacity, files and version are class attributes, and each can also be given to the constructor.
    All methods are called in one thread, one at a time, whatever the number of matches; an `async def decide` is called
    in the event loop.
    """

    name: str = ""
    """1 to 40 letters, digits, '.', '_' or '-'; by default the class's name."""
    owner: str = ""
    """Owner of the bot; by default the bot's own name. Bots of one owner meet in challenges only."""
    games: Sequence[str] = GAMES[:1]
    """Names of the games that the bot plays; a string is a single name."""
    capacity: int = 8
    """Number of matches that the bot plays at once."""
    files: Sequence[str] = ()
    """Files that affect the bot's behaviour, such as weights; `digest` covers them.

    They are relative to the folder of the bot's module.
    """
    features: Sequence[str] = ()
    """Protocol features newer than this client that the bot's own code understands."""
    version: str | None = None
    """The bot's version, of at most 40 printable characters; None for the bot's `digest`.

    Each version has its own rating, which starts from that of the previous one. If you set a version, change it
    whenever the bot changes.
    """

    welcome: Welcome
    """The server's first message on the latest connection, with its rules, its limits and the features in use.

    It is empty before the first connection.
    """
    _made_with: tuple[Sequence[object], Mapping[str, object]]
    _games_by_match: dict[int, str]
    """Names of the running matches' games, for the log."""
    _faults_logged: dict[int, tuple[float, int]]
    """For each kind of fault, the `time.monotonic` of its last log line and the number of faults since then."""

    def __init__(
        self,
        *,
        name: str | None = None,
        owner: str | None = None,
        games: Sequence[str] | None = None,
        capacity: int | None = None,
        version: str | None = None,
    ) -> None:
        if name is not None:
            self.name = name
        if owner is not None:
            self.owner = owner
        if games is not None:
            self.games = (games,) if isinstance(games, str) else games
        if capacity is not None:
            self.capacity = capacity
        if version is not None:
            self.version = version

    def __new__(cls, *positional: object, **named: object) -> Self:
        """Create a bot, and store the arguments for its digest."""
        bot = super().__new__(cls)
        bot.welcome = Welcome()
        bot._made_with = positional, named
        bot._games_by_match = {}
        bot._faults_logged = {}
        if isinstance(cls.games, str):
            bot.games = (cls.games,)
        return bot

    def digest(self) -> str:
        """Return a digest of everything that determines the bot's behaviour: code, `files` and constructor arguments.

        The code is that of the bot's module and of the modules imported so far from its project folder, without
        comments and formatting. Numbers, strings and containers of them count by value, other arguments by class. Code
        that is not in a file gets a random digest.

        Raises:
            ArgumentError: One of `files` cannot be read.
        """
        return source_digest(self, self._made_with, self.files)

    def decide(self, decision: Decision) -> int | Awaitable[int]:
        """Choose one of `decision.legal`.

        The method may be an `async def`. Then it is called for up to `capacity` decisions at once, and a call is
        cancelled when its decision is closed.
        """
        raise NotImplementedError(f"{type(self).__name__} has neither decide() nor decide_many()")

    def decide_many(self, decisions: Sequence[Decision]) -> Iterable[int | None]:
        """Choose for all open decisions at once: one action for each, in the same order.

        Override it if many decisions together are cheaper than one by one, as with a neural network. It may be a
        generator: each yielded action is sent while it continues to think. For a closed decision it may return None.
        """
        for decision in decisions:
            yield None if decision.closed else self.decide(decision)  # type: ignore[misc]  # not called if it is async

    def on_match_start(self, start: MatchStart) -> None:
        """Handle the beginning of a match. `start` contains the seat and all names. Called again after a reconnect."""

    def on_round(self, report: RoundReport) -> None:
        """Handle the end of a round. The report shows all cards; `record` returns them."""

    def record(self, report: RoundReport) -> Any:
        """Return the content of a round's report as a message of the game's own type, like a decision's view.

        Raises `ProtocolMismatchError` if the server's catalogues do not describe that type.
        """
        if (name := report.WhichOneof("record")) is not None:
            return getattr(report, name)
        return unpacked(report.other, pool_of(self.welcome.games))

    def on_match_end(self, report: MatchReport) -> None:
        """Handle the end of a match. The default logs place, points and rating."""
        if report.interrupted:
            _log.warning("%s was interrupted: %s", self._match_in_words(report.match_id), report.interrupted)
            return
        place, points = report.places[report.seat], report.scores[report.seat]
        rating = f", rating {report.rating.after:.0f} ({report.rating.after - report.rating.before:+.1f})"
        _log.info(
            "%s: place %d of %d with %d points%s",
            self._match_in_words(report.match_id),
            place,
            len(report.places),
            points,
            rating if report.HasField("rating") else "",
        )

    def on_notice(self, notice: Notice) -> None:
        """Handle a notice from the server.

        The default logs one line, as a warning if the bot is at fault. A slow bot has a fault at every decision, so
        each kind of fault is logged once a minute, with the number of further faults.
        """
        if notice.kind == NoticeKind.NOTICE_KIND_PARKED:  # The error that ends the run says it.
            return
        others = 0
        if notice.kind in FAULTS:
            logged, others = self._faults_logged.get(notice.kind, (-math.inf, 0))
            if time.monotonic() - logged < QUIET:
                self._faults_logged[notice.kind] = logged, others + 1
                return
            self._faults_logged[notice.kind] = time.monotonic(), 0
        kind = KINDS.get(notice.kind, f"notice {notice.kind}")
        where = self._match_in_words(notice.match_id) if notice.HasField("match_id") else "server"
        if notice.HasField("decision_id"):
            where += f", decision {notice.decision_id}"
        _log.log(
            logging.WARNING if notice.kind in FAULTS else logging.INFO,
            "%s: %s: %s%s",
            where,
            kind,
            " ".join(notice.text.split()) or "no reason given",
            f" (and {others} more like it before)" if others else "",
        )

    def _on_closed(self, match_id: int, decision_ids: Sequence[int]) -> None:
        """Handle the closing of a match's decisions. Called immediately, in the thread of the connection."""

    def _match_in_words(self, number: int) -> str:
        """Describe a match, its game, and its ladder unless it is a default one."""
        game = self._games_by_match.get(number)
        return f"match {number}" if game is None else f"match {number} of {game}"
