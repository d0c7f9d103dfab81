"""The part of a stream's conversation that does not involve the bot: heartbeats, invitations, running matches.

It continues while the bot thinks. This module never waits, does no input or output (`connection` does) and calls no
methods of the bot (`caller` does).
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field

from arena_client.bot import Bot
from arena_client.decision import Catalog
from arena_client.errors import NoGameInCommonError, ProtocolMismatchError
from arena_client.receipts import Receipts, Seat
from arena_client.v1.play_pb2 import (
    Invitation,
    MatchKind,
    MatchReport,
    MatchStart,
    Node,
    Notice,
    NoticeKind,
    PlayRequest,
    PlayResponse,
    Welcome,
)

_log = logging.getLogger("arena_client")

MOST_ENDED = 1000
"""Maximum number of ended matches to remember; their messages may still be waiting for the bot."""
_NO_MATCH = (NoticeKind.NOTICE_KIND_WITHDRAWN, NoticeKind.NOTICE_KIND_TAKEN)
"""Notices after which an accepted invitation leads to no match."""


@dataclass(slots=True)
class Goal:
    """State that the bot's streams to all nodes share, mainly the number of matches to play."""

    wanted: int | None = None
    """Number of matches to play; None for no limit."""
    finished: int = 0
    ending: bool = False
    """True if no more matches may begin, regardless of `wanted`."""
    parked: str = ""
    """The server's reason for parking the bot; empty if the bot is not parked."""
    past: int | None = None
    """The size of the log at the first welcome. Matches whose leaves lie within that size ended before this run."""
    seats: dict[int, Seat] = field(default_factory=dict)
    """The known facts about the matches that have begun."""
    reported: deque[int] = field(default_factory=lambda: deque(maxlen=MOST_ENDED))
    """The latest reported matches. A node may repeat a report from another node."""
    nodes: list[Progress] = field(default_factory=list)
    """The progress at every node."""

    @property
    def under_way(self) -> int:
        """Number of matches that the bot is playing or about to play."""
        return sum(len(each.playing) + len(each.accepted) for each in self.nodes)


@dataclass(slots=True)
class Progress:
    """State at one node that outlasts a stream: mainly the matches in progress there."""

    goal: Goal = field(default_factory=Goal)
    share: int | None = None
    """The part of the bot's capacity for this node; None for all of it."""
    playing: set[int] = field(default_factory=set)
    """Matches that have begun."""
    accepted: dict[int, bytes] = field(default_factory=dict)
    """Commitments of the accepted invitations whose matches have not begun."""
    nonces: dict[int, bytes] = field(default_factory=dict)
    """The bot's random bytes for the deal, by invitation."""
    reports_after: int | None = None
    """The leaf number of the node's last report, at first the log's size; None without a log or before a welcome."""

    def __post_init__(self) -> None:
        self.goal.nodes.append(self)

    @property
    def more(self) -> bool:
        """Return true if another match may begin here."""
        goal = self.goal
        if goal.ending or (self.share is not None and len(self.playing) + len(self.accepted) >= self.share):
            return False
        return goal.wanted is None or goal.finished + goal.under_way < goal.wanted

    def room(self, capacity: int) -> int:
        """Return the number of simultaneous matches that are possible here with the bot's capacity."""
        goal = self.goal
        if goal.ending:
            return 0
        capacity = capacity if self.share is None else self.share
        if goal.wanted is None:
            return capacity
        elsewhere = goal.under_way - len(self.playing) - len(self.accepted)
        return min(capacity, max(0, goal.wanted - goal.finished - elsewhere))

    @property
    def done(self) -> bool:
        """True if the bot has no more matches to play at any node."""
        goal = self.goal
        return not goal.under_way and (goal.ending or (goal.wanted is not None and goal.finished >= goal.wanted))

    def reconnect(self) -> None:
        """Forget the state that the server sends again on a new connection: invitations and running matches.

        When a run is ending, its running matches are not forgotten: each gets its report or begins again.
        """
        if not self.goal.ending:
            self.playing.clear()
        self.accepted.clear()
        self.nonces.clear()

    def welcomed(self, size: int) -> None:
        """Record the size of the server's log. It replaces larger recorded numbers, which belong to another log."""
        self.reports_after = size if self.reports_after is None else min(self.reports_after, size)
        self.goal.past = size if self.goal.past is None else min(self.goal.past, size)


class Session:
    """The conversation of one stream, from the welcome on."""

    def __init__(
        self,
        bot: Bot,
        welcome: Welcome,
        progress: Progress,
        send: Callable[[PlayRequest], None],
        receipts: Receipts | None = None,
        challengers: Set[str] | None = None,
        ladders: Sequence[str] = (),
        events: Sequence[str] = (),
    ) -> None:
        """Begin the conversation.

        `send`: function that sends the bot's messages, called in the bot's thread. `receipts`: store for the log
        entries of the bot's matches. `challengers`: lower-case names of bots whose challenges it accepts; None for all.
        `ladders` and `events`: the names in the bot's hello.

        Raises:
            ProtocolMismatchError: The welcome does not confirm the bot's ladders or events.
            NoGameInCommonError: The welcome has none of the bot's games.
        """
        self.send = send
        self.follow: Callable[[Iterable[Node]], None] = lambda nodes: None
        """Function that is called with each later list of nodes."""
        self.over = False
        """True if the stream has ended. The next stream repeats its open decisions."""
        self.games = {game.name: Catalog.of(game) for game in welcome.games}
        """The games that both the server and the bot play, by name."""
        self.open: set[tuple[int, int]] = set()
        """Open decisions, as pairs of match and decision. The bot's thread only reads this set."""
        self._ended: deque[int] = deque(maxlen=MOST_ENDED)
        """The latest matches that ended."""
        bot.welcome = welcome
        self._bot = bot
        self._capacity = bot.capacity
        self._progress = progress
        self._receipts = receipts
        self._challengers = challengers
        if welcome.HasField("log"):
            progress.welcomed(welcome.log.head.size)
        self._room = progress.room(bot.capacity)
        """The capacity last sent to the server; negative if it must be sent again."""
        confirmed = {ladder.name for ladder in welcome.ladders}
        for kind, names, known in (("ladder", ladders, confirmed), ("event", events, {*welcome.events})):
            if unknown := [name for name in names if name not in known]:
                text = f"the server does not confirm the {kind} {unknown[0]}: it is older than {kind}s; name none"
                raise ProtocolMismatchError(text)
        if not self.games.keys() & set(bot.games):
            raise NoGameInCommonError(
                f"the server plays none of the bot's games ({', '.join(bot.games) or 'it names none'})"
            )

    def plays(self, match_id: int) -> bool:
        """Return True if a match is still running on this stream, as far as the client knows."""
        return match_id not in self._ended and not self.over

    def receive(self, message: PlayResponse) -> PlayRequest | None:
        """Apply a message; return an immediate reply, or None."""
        progress = self._progress
        decisions = message.decisions
        for decision in decisions:
            progress.playing.add(decision.match_id)
            self.open.add((decision.match_id, decision.decision_id))
        reply = None
        # Check whether the message has any field besides decisions, which is cheaper than checking each field.
        if len(message.ListFields()) > bool(decisions):
            reply = self._news(message)
        if (room := progress.room(self._capacity)) > self._room:
            reply = reply or PlayRequest()
            self._room = reply.capacity = room
        return reply

    def resize(self) -> PlayRequest | None:
        """Return a message with the bot's capacity at this node; None if the capacity has not changed."""
        room = self._progress.room(self._capacity)
        if room == self._room:
            return None
        self._room = room
        return PlayRequest(capacity=room)

    def _news(self, message: PlayResponse) -> PlayRequest | None:
        reply = PlayRequest()
        if message.HasField("heartbeat"):
            reply.heartbeat = message.heartbeat
        if message.nodes:
            self.follow(message.nodes)
        for start in message.starts:
            self._start(start)
        for closed in message.closed:
            self._close(closed.match_id, [closed.decision_id])
        if message.reports:
            self._drop_repeated(message)
        for report in message.reports:
            self._ended.append(report.match_id)
            self._close(report.match_id, [decision for match, decision in self.open if match == report.match_id])
            self._end(report)
        for notice in message.notices:
            self._heed(notice)
        # Reports and notices come first: they may free a place for an invitation in the same message.
        gone = {notice.invitation_id for notice in message.notices if notice.kind in _NO_MATCH}
        for invitation in message.invitations:
            number = invitation.invitation_id
            if invitation.kind == MatchKind.MATCH_KIND_CHALLENGE and not self._takes(invitation):
                reply.declined.append(number)
            elif self._progress.more or number in self._progress.accepted or number in gone:
                nonce = os.urandom(16)
                reply.ready.add(invitation_id=number, nonce=nonce)
                if number not in gone:
                    self._progress.accepted[number], self._progress.nonces[number] = invitation.commitment, nonce
            else:
                reply.declined.append(number)
                self._room = -1
        return reply if reply.ListFields() else None

    def _heed(self, notice: Notice) -> None:
        if notice.kind in _NO_MATCH:
            self._progress.accepted.pop(notice.invitation_id, None)
            self._progress.nonces.pop(notice.invitation_id, None)
        elif notice.kind == NoticeKind.NOTICE_KIND_PARKED:
            self._progress.goal.parked, self._progress.goal.ending = notice.text, True

    def _close(self, match_id: int, decision_ids: Sequence[int]) -> None:
        self.open -= {(match_id, decision) for decision in decision_ids}
        self._bot._on_closed(match_id, decision_ids)

    def _takes(self, challenge: Invitation) -> bool:
        """Decide whether to accept a challenge, and log it."""
        taken = self._challengers is None or any(name.lower() in self._challengers for name in challenge.bots)
        _log.info("a challenge of %s: %s", ", ".join(challenge.bots), "accepted" if taken else "declined")
        return taken

    def _start(self, start: MatchStart) -> None:
        promised = self._progress.accepted.pop(start.invitation_id, None)
        if promised is not None and not _opens(start, promised):
            _log.error(
                "match %d: its commitment is not the one of the invitation: the server may have chosen the deal",
                start.match_id,
            )
        self._progress.playing.add(start.match_id)
        known = self._progress.goal.seats.get(start.match_id)
        if known is None or known.commitment != start.commitment:
            nonce = self._progress.nonces.pop(start.invitation_id, b"")
            self._progress.goal.seats[start.match_id] = Seat(start.seat, nonce, start.salt, start.commitment)

    def _drop_repeated(self, message: PlayResponse) -> None:
        """Remove reports that another node has already sent. Their matches have ended here, too."""
        reported = self._progress.goal.reported
        for report in [each for each in message.reports if each.match_id in reported]:
            self._ended.append(report.match_id)
            self._progress.playing.discard(report.match_id)
            if report.HasField("entry"):
                self._progress.reports_after = report.entry.number
            message.reports.remove(report)
        reported.extend(report.match_id for report in message.reports)

    def _end(self, report: MatchReport) -> None:
        progress, goal, earlier = self._progress, self._progress.goal, False
        for each in goal.nodes:
            each.playing.discard(report.match_id)
        seat = goal.seats.pop(report.match_id, None)
        if report.HasField("entry"):
            if self._receipts is not None:
                self._receipts.take(report, seat)
            progress.reports_after = max(progress.reports_after or 0, report.entry.number)
            earlier = goal.past is not None and report.entry.number <= goal.past
        if not (report.interrupted or earlier):
            goal.finished += 1


def _opens(start: MatchStart, promised: bytes) -> bool:
    """Return true if the start of a match fits the commitment in its invitation."""
    made = hashlib.sha256(start.salt + start.commitment)
    # With other sizes, all bytes could be salt, so the commitment would not fix the deal.
    return len(start.salt) == len(start.commitment) == made.digest_size and made.digest() == promised


def concerns_bot(message: PlayResponse) -> bool:
    """Return true if a message contains a part for the bot itself."""
    return bool(message.decisions or message.starts or message.rounds or message.reports or message.notices)
