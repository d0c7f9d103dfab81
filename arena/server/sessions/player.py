# Compiled: every decision passes through here.
"""Players of seats: a bot that is connected or has running matches, or a house bot.

A bot's identity, offered seats and running matches are in three classes.

The default ladders of all games share one pace and one list of parked bots, stored under an empty name. Any other
ladder is called a further ladder, and has both under its own name.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Hashable, Sequence, Set
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeAlias

import trio

from arena.house import HouseBot  # Compiled dataclasses need these types at run time.
from arena.replay.header import OfferOutcome
from arena.scheduling.pace import Pace, PaceRules
from arena.server.sessions.availability import Availability
from arena.server.sessions.messages import Answer, BotMessage, Notice, NoticeKind, Reason
from arena.server.sessions.session import Session
from engine.deal import NONCE_BYTES

CROSSING: Final = 256
"""Number of withdrawn invitations and finished matches that are remembered, because a bot's answer may still be on its
way. No bot plays more matches than this at once.
"""


class Expected(NamedTuple):
    """The expected waiting time and end of a match."""

    wait: float
    """Number of seconds that the bot will spend waiting for much slower bots."""
    end: float
    """The expected end of the match, in seconds of the server's clock."""
    ladder: str = ""
    """The name of the ladder; empty for the default ladder of a game."""


class PendingMatch(Protocol):
    """A match that waits for its bots to be ready."""

    def invite(self, bot_player: BotPlayer) -> None:
        """Send a bot its invitation, or send it again."""

    def ready(self, bot_player: BotPlayer, nonce: bytes) -> None:
        """Count a bot as ready."""

    def forgo(self, bot_player: BotPlayer, now: float, how: OfferOutcome, charged: bool = True) -> None:
        """Record that a bot left or declined. `charged`: true if the invitation counts as failed."""


class BotOffers:
    """The seats offered to one bot.

    Each pace is stored by ladder name; an empty name stands for the default ladders of all games.
    """

    def __init__(self, availability: Availability, pace_on: Callable[[str], Pace]) -> None:
        """`pace_on` returns the bot's pace and balance on a ladder (empty: on the default ladders)."""
        self.availability = availability
        self.pace = pace_on("")
        """The bot's pace and balance on the default ladders."""
        self._paces = {"": self.pace}
        self._pace_on = pace_on
        self.invitations: dict[int, PendingMatch] = {}
        """The matches to which the bot is invited, by the number of the invitation."""
        self.reserved = 0
        """Amount of capacity reserved for challenges that wait for another bot."""
        self.waiting_since: dict[str, float] = {}
        """By ladder, the time since which the bot has waited for a seat, in seconds of the server's clock."""
        self.pending: Counter[str] = Counter()
        """By ladder, the number of the bot's seats whose results are not in the ladder yet, as far as the scheduler
        knows.
        """
        self.last_length: dict[str, float] = {}
        """Length of the bot's latest match in seconds, by ladder (empty: on the default ladders)."""
        self.expected: dict[Hashable, Expected] = {}
        """Expected end and waiting time, by match."""
        self._withdrawn: deque[int] = deque(maxlen=CROSSING)
        self._begun: deque[int] = deque(maxlen=CROSSING)

    def pace_on(self, ladder: str) -> Pace:
        """Return the bot's pace and balance on a ladder (empty: on the default ladders)."""
        if (known := self._paces.get(ladder)) is None:
            known = self._paces[ladder] = self._pace_on(ladder)
        return known

    def on_trial(self, ladder: str = "") -> bool:
        """Return whether the bot's next match should be with house bots, because its last invitation failed or its pace
        is unknown.
        """
        return self.availability.doubtful or not self.pace_on(ladder).known

    def pace_now(self, ladder: str = "") -> float | None:
        """Return the mean number of seconds for which the bot owes a decision, decayed until now; None if unknown."""
        return self.pace_on(ladder).at(trio.current_time())

    def elsewhere(self, ladder: str) -> int:
        """Return the number of the bot's seats on other ladders."""
        return sum([expected.ladder != ladder for expected in self.expected.values()])

    @property
    def free_at(self) -> float:
        """The earliest expected end of the bot's matches; −∞ if unknown."""
        return min([expected.end for expected in self.expected.values()], default=-math.inf)

    def wait_from(self, now: float) -> None:
        """Restart the bot's waiting time on every ladder."""
        self.waiting_since = dict.fromkeys(self.waiting_since, now)

    def seated(self, now: float, ladder: str) -> None:
        """Record that the bot got a seat."""
        self.waiting_since[ladder] = now
        self.pending[ladder] += 1

    def unseated(self, match: Hashable, ladder: str, waiting_since: float | None, rated: bool) -> None:
        """Record that the bot lost a seat without playing. `waiting_since` restores its waiting time."""
        self.release_expected(match)
        if rated:
            self.pending[ladder] = max(0, self.pending[ladder] - 1)
            self.availability.turns.pop(ladder, None)
        if waiting_since is not None and ladder in self.waiting_since:
            self.waiting_since[ladder] = waiting_since

    def expect(self, match: Hashable, expected: Expected) -> None:
        """Charge the bot's balance in advance for the expected cost of a match."""
        self.expected[match] = expected
        self.pace_on(expected.ladder).pay(expected.wait)

    def release_expected(self, match: Hashable) -> None:
        """Refund the expected cost of a match that has ended or was called off."""
        if (expected := self.expected.pop(match, None)) is not None:
            self.pace_on(expected.ladder).pay(-expected.wait)

    def invite(self, bot_player: BotPlayer) -> None:
        """Send the bot its invitations again."""
        for pending in self.invitations.values():
            pending.invite(bot_player)

    def forgo(self, bot_player: BotPlayer, now: float, charged: bool) -> None:
        """Record that the bot left. `charged`: true if its open invitations count as failed."""
        for pending in list(self.invitations.values()):
            pending.forgo(bot_player, now, OfferOutcome.LEFT, charged)
        self.availability.forgo(now, charged)

    def hear(self, bot_player: BotPlayer, message: BotMessage) -> None:
        """Handle the answers to invitations in a message."""
        for invitation_id in message.declined:
            if (pending := self.invitations.get(invitation_id)) is not None:
                stops = bot_player.session is None or bot_player.session.capacity < bot_player.busy
                pending.forgo(bot_player, message.at, OfferOutcome.DECLINED, charged=not stops)
            elif self.availability.answer(invitation_id):
                self.availability.fail(message.at, OfferOutcome.DECLINED)
            else:
                self._unknown(bot_player, invitation_id)
        for ready in message.ready:
            if (pending := self.invitations.get(ready.invitation_id)) is not None:
                self._ready(bot_player, pending, ready.invitation_id, ready.nonce)
            elif self.availability.answer(ready.invitation_id):
                self._taken(bot_player, ready.invitation_id)
            elif ready.invitation_id not in self._begun:
                self._unknown(bot_player, ready.invitation_id)

    def begun(self, invitation_id: int) -> None:
        """Record that an invitation's match has started. From then on, a repeated Ready for it is not a mistake."""
        self._begun.append(invitation_id)

    def withdrawn(self, bot_player: BotPlayer, invitation_id: int, text: str) -> None:
        """Withdraw an invitation and notify the bot. An answer that is already on its way is no mistake."""
        self._withdrawn.append(invitation_id)
        bot_player.notify(Notice(NoticeKind.WITHDRAWN, text, invitation_id=invitation_id))

    def _ready(self, bot_player: BotPlayer, pending: PendingMatch, invitation_id: int, nonce: bytes) -> None:
        if nonce and (size := len(nonce)) != NONCE_BYTES:
            text = f"a nonce has {NONCE_BYTES} bytes or none, not {size}; accept the invitation with another"
            bot_player.notify(Notice(NoticeKind.ILLEGAL, text, invitation_id=invitation_id))
        else:
            pending.ready(bot_player, nonce)

    def _taken(self, bot_player: BotPlayer, invitation_id: int) -> None:
        if invitation_id not in self._withdrawn:
            text = "another took the seat meanwhile; nothing is charged, and you are invited again"
            bot_player.notify(Notice(NoticeKind.TAKEN, text, invitation_id=invitation_id))

    def _unknown(self, bot_player: BotPlayer, invitation_id: int) -> None:
        if invitation_id not in self._withdrawn:
            text = f"there is no invitation {invitation_id}: its match has begun, it was withdrawn or was never yours"
            bot_player.notify(Notice(NoticeKind.UNKNOWN, text, invitation_id=invitation_id))


class RunningMatch(Protocol):
    """A match that is being played. Times are in seconds of the server's clock."""

    def answered(self, at: float, bot_player: BotPlayer, answer: Answer) -> None:
        """Apply a bot's answer that arrived at the time `at`."""

    def ready(self, now: float, bot_player: BotPlayer) -> None:
        """Let a suspended bot play again."""

    def left(self, now: float, bot_player: BotPlayer, in_order: bool = False) -> None:
        """Count a bot as absent. With `in_order`, the bot announced this, and the stand-in takes over its seat at
        once.
        """

    def returned(self, now: float, bot_player: BotPlayer) -> None:
        """Count a bot as present."""


class BotMatches:
    """The matches of one bot."""

    def __init__(self) -> None:
        self.running: dict[int, RunningMatch] = {}
        """The matches that the bot is playing, by number."""
        self.ended = 0
        """Number of the bot's finished matches."""
        self.absence = 0
        """The number of the bot's latest absence, counted from 1."""
        self._counted_absence: dict[str, int] = {}
        """By ladder name (empty: the default ladders), the number of the latest absence that counted as trouble. An
        absence from several matches counts once per ladder.
        """
        self._ended: deque[int] = deque(maxlen=CROSSING)

    def hear(self, bot_player: BotPlayer, message: BotMessage) -> None:
        """Handle the parts of a message that concern matches."""
        for match_id in message.resumed:
            if (resumed := self.running.get(match_id)) is not None:
                resumed.ready(message.at, bot_player)
            else:
                self._unknown(bot_player, match_id)
        for answer in message.answers:
            match = self.running.get(answer.match_id)
            if match is None:
                self._unknown(bot_player, answer.match_id, answer.decision, answer.action)
            else:
                match.answered(message.at, bot_player, answer)

    def end(self, match_id: int) -> None:
        """Remove a finished match. Answers that are already on their way are no mistakes."""
        if self.running.pop(match_id, None) is not None:
            self.ended += 1
            self._ended.append(match_id)

    def leave(self, bot_player: BotPlayer, now: float, in_order: bool = False) -> None:
        """Count the bot as absent from all its matches. With `in_order`, stand-ins take over its seats at once."""
        for match in list(self.running.values()):
            match.left(now, bot_player, in_order)

    def returned(self, bot_player: BotPlayer, now: float) -> None:
        """Count the bot as present in all its matches."""
        for match in self.running.values():
            match.returned(now, bot_player)

    def count_absence(self, absence: int, ladder: str = "") -> bool:
        """Count an absence as trouble on a ladder (empty: on the default ladders). Return False if it has already
        counted there.
        """
        first = absence != self._counted_absence.get(ladder)
        self._counted_absence[ladder] = absence
        return first

    def _unknown(
        self, bot_player: BotPlayer, match_id: int, decision: int | None = None, action: int | None = None
    ) -> None:
        if match_id not in self._ended:
            text = f"you have no seat at match {match_id}: it is over or was never yours"
            bot_player.notify(Notice(NoticeKind.UNKNOWN, text, match_id, decision=decision, rejected_action=action))


class BotPlayer:
    """One bot: its name, session, offered seats and running matches."""

    def __init__(
        self,
        bot_id: int,
        name: str,
        owner: str,
        changed: Callable[[BotPlayer], None],
        availability: Availability | None = None,
        pace_on: Callable[[str], Pace] | None = None,
    ) -> None:
        """`changed` is called when the bot's free capacity changes. `pace_on`: see `BotOffers`."""
        self.bot_id = bot_id
        self.name = name
        self.owner = owner
        self.version = ""
        """The version that the bot reported at its latest connection."""
        self.parked: Set[str] = frozenset()
        """The ladders on which the bot is parked and gets no seats. An empty name stands for the default ladders."""
        self.newcomer = True
        """True if the bot has not finished a match yet."""
        self.session: Session | None = None
        self.authorize: Callable[[], Awaitable[object]] | None = None
        """Function that checks again that the session's token is valid."""
        self.offers = BotOffers(
            availability or Availability(lambda: None, lambda _: None), pace_on or (lambda _: Pace(PaceRules()))
        )
        self.playing = BotMatches()
        self._changed = changed

    @property
    def casual(self) -> bool:
        """True if the bot plays only casual matches."""
        return self.session is not None and self.session.hello.casual

    @property
    def ladders(self) -> Sequence[str]:
        """The names of the ladders on which the connected bot plays. If it named no ladders, these are the default
        ladders of its games.
        """
        return () if self.session is None else self.session.hello.ladders or self.session.hello.games

    @property
    def busy(self) -> int:
        """Number of seats that the bot has or was offered."""
        return len(self.offers.invitations) + len(self.playing.running)

    def free(self, matches_per_bot: int, ladder: str = "") -> int:
        """Return how many more matches the bot can play now, with at most `matches_per_bot` in total.

        A bot on trial plays only one match, even if other ladders know its pace. A bot that is gone or may not be
        invited plays none. `ladder`: a ladder's name; empty for the default ladders.
        """
        offers = self.offers
        if self.session is None or not offers.availability.invitable:
            return 0
        most, busy = min(self.session.capacity, matches_per_bot), self.busy
        if not offers.on_trial(ladder):
            return max(0, most - busy)
        elsewhere = 0 if offers.availability.doubtful else offers.elsewhere(ladder)
        return max(0, min(most - busy, min(most, 1) - busy + elsewhere))

    def room(self, matches_per_bot: int, ladder: str = "") -> int:
        """Return the bot's free capacity minus the reserved capacity. `ladder`: as for `free`."""
        return max(0, self.free(matches_per_bot, ladder) - self.offers.reserved - self.offers.availability.reserved)

    def changed(self) -> None:
        """Notify the matchmaker that the bot's free capacity has changed."""
        self._changed(self)

    def notify(self, notice: Notice) -> None:
        """Send a notice, if the bot is connected."""
        if self.session is not None:
            self.session.notify(notice)

    def hear(self, message: BotMessage) -> None:
        """Handle a message from the bot in one turn."""
        if message.heartbeat is not None and self.session is not None:
            self.session.beaten(message.at, message.heartbeat)
        if message.capacity is not None and self.session is not None:
            self.session.capacity = message.capacity
        self.offers.hear(self, message)
        self.playing.hear(self, message)
        if message.leaves:
            self._leave(message.at)
        if message.capacity is not None or message.leaves:
            self._changed(self)

    def connected(self, now: float, session: Session) -> None:
        """Start a session, and send the bot its open decisions and invitations."""
        self.session = session
        self.version = session.hello.version
        self.offers.waiting_since = dict.fromkeys(self.ladders, now)
        self.offers.invite(self)
        self.playing.returned(self, now)

    def disconnected(self, now: float, session: Session) -> None:
        """End a session. If it was the bot's current session, the bot is now absent from its matches."""
        if self.session is session:
            self.session = None
            self.playing.absence += 1
            self.offers.forgo(self, now, charged=True)
            self.playing.leave(self, now)

    def expel(self, now: float, reason: Reason, why: str) -> None:
        """Give all the bot's seats to stand-ins, because it cannot return. Close its stream if it is connected."""
        self._hand_over(now)
        if self.session is not None:
            self.session.close(reason, why)
        self._changed(self)

    def _leave(self, now: float) -> None:
        """Give all the bot's seats to stand-ins and end its session, because the bot has signed off."""
        if self.session is not None:
            self._hand_over(now)
            self.session.leave()

    def _hand_over(self, now: float) -> None:
        """Refuse further seats, and give the bot's current seats to house bots."""
        if self.session is not None:
            self.session.capacity = 0
        self.offers.forgo(self, now, charged=False)
        self.playing.leave(self, now, in_order=True)

    def shut_out(self, why: str) -> None:
        """Close the bot's stream because it sent too many messages."""
        if self.session is not None:
            self.session.close(Reason.FLOODING, why)


@dataclass(frozen=True, slots=True)
class HousePlayer:
    """A house bot with its number in the store."""

    bot_id: int
    bot: HouseBot
    plays_for: str = ""
    """Name of a missing house bot that this bot replaces; empty if it plays for itself."""

    @property
    def name(self) -> str:
        """The bot's name."""
        return self.plays_for or self.bot.name

    @property
    def version(self) -> str:
        """The bot's version."""
        return self.bot.version

    @property
    def newcomer(self) -> bool:
        """Always false: only bots that may leave count as newcomers."""
        return False


Player: TypeAlias = BotPlayer | HousePlayer
