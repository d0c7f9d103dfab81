# Compiled: every decision passes through here.
"""The ready check: a match waits until every seat has a bot that is ready. Until then nothing is played or rated.

A bot that waits in a queue may hang, and a connection may break at any moment. So we do not start a match just because
the matchmaker chose some bots; we ask them first. The answer carries the bot's nonce, on which the deal depends. By
then the server has committed to its seed, so neither side can choose the cards.

The question must reveal nothing. Otherwise a bot could decline opponents that it does not like, or compare invitations
with friends to sit with them. So an invitation names neither match nor opponents, and its number and salted commitment
differ from seat to seat. Match, seat and names follow when everybody is ready. Challenges are the exception: their
invitations name all bots, and they are not rated.

Nobody should wait for a bot that does not come. If a bot declines, its seat is offered at once to another bot or a
house bot. If it is silent, that happens after `offer` seconds, while its own invitation stays open. The first bot that
is ready gets the seat, and any other gets a notice. After `seat` seconds the match takes any player that is sure to
come, usually a house bot, or is called off. A bot that fails to answer pauses, longer each time, and plays its next
match with house bots; it loses no rating.

A check ends exactly once, in `_settle`, with all seats taken or with a `failure`. Then the lifecycle begins the match
or withdraws the invitations, and `dissolve` cuts the links between bots and check. It is ugly that these links exist on
both sides. A bot finds the check by its invitation, and the check finds its bots by seat. Each way out (Ready, decline,
disconnect, timer, withdrawal) has to cut both links. An answer may still be on its way at that moment.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from arena.match.policy import ReadyLimits
from arena.replay.header import MatchKind, OfferOutcome, SeatOffer
from arena.server.config import LadderSettings
from arena.server.sessions.messages import Invitation
from arena.server.sessions.player import BotPlayer, Player
from engine.deal import NONCE_BYTES, commitment
from engine.game import option_text

Replacement: TypeAlias = "Callable[[ReadyCheck, bool], Player | None]"
"""Function that finds another player for a seat of a match, or returns None. If the second argument is true, it returns
only a player that is sure to accept.
"""
Concluded: TypeAlias = "Callable[[int | None, str | None], None]"
"""Called with the number of the match that starts, or the reason why no match starts."""
NO_NONCE: Final = bytes(NONCE_BYTES)
INVITATION_BITS: Final = 53
"""Numbers of invitations are below 2^53, because every language represents these exactly."""
SALT_BYTES: Final = 32


@dataclass(slots=True)
class _Invited:
    """A bot's invitation."""

    seat: int
    at: float
    invitation_id: int
    salt: bytes
    waiting_since: float
    """The time since which the bot has waited for a seat."""


class ReadyCheck:
    """An announced match that has not started yet."""

    def __init__(
        self,
        ladder: LadderSettings,
        players: Sequence[Player],
        seed: bytes,
        now: float,
        limits: ReadyLimits,
        settled: Callable[[ReadyCheck], None],
        replacement: Replacement = lambda _, __: None,
        kind: MatchKind = MatchKind.RATED,
    ) -> None:
        """Announce a match. `settled` is called once, when all seats are taken or the match is called off.

        `replacement` finds another player for a bot that does not accept.
        """
        self.ladder = ladder
        self.kind = kind
        self.event = ""
        """The event and the number of the match's table; see `Header.event`."""
        self._counts = kind not in {MatchKind.CHALLENGE, MatchKind.EVENT}
        """True if a bot that does not answer pauses afterwards."""
        self.seed = seed
        self.commitment = commitment(seed)
        self.deadline = now + limits.offer
        """Time of the next check of the seats, in seconds of the server's clock."""
        self.wakes_at = math.inf
        self.timer_id = 0
        self.failure: str | None = None
        """The reason why the match does not take place, or None. Names bots only in challenges."""
        self.concluded: Concluded = lambda _, __: None
        """Called once with the match's number or the reason why there is no match."""
        self._offers: dict[int, SeatOffer] = {}
        """The outcome of each invitation, by number, in the order of the bots' first answers."""
        self._takers: list[Player | None] = [None] * len(players)
        self._nonces = [NO_NONCE] * len(players)
        self._invited: dict[BotPlayer, _Invited] = {}
        self._limits = limits
        self._last_call = now + limits.seat
        self._waits = True
        self._settled = settled
        self._replacement = replacement
        asked_for = [player for player in players if isinstance(player, BotPlayer) and player.casual]
        self.charged = kind is MatchKind.RATED or (kind is MatchKind.CASUAL and not asked_for)
        """True if mistakes in the match count as trouble: not in challenges and requested casual matches."""
        self._names = tuple([player.name for player in players]) if kind is MatchKind.CHALLENGE else ()
        for seat, player in enumerate(players):
            self._offer(seat, player, now)

    @property
    def players(self) -> tuple[Player, ...]:
        """The house bots and the bots that have accepted, by seat. Contains all players once every seat is taken."""
        return tuple([player for player in self._takers if player is not None])

    @property
    def candidates(self) -> Sequence[Player]:
        """All players at the table: those with a seat and those with an invitation."""
        return [*self.players, *[each for each in self._invited if each not in self._takers]]

    @property
    def offers(self) -> tuple[SeatOffer, ...]:
        """The offered seats with their final outcomes."""
        return tuple(self._offers.values())

    @property
    def nonces(self) -> tuple[bytes, ...]:
        """The bots' nonces of 16 bytes, by seat. A house bot's nonce is all zeros."""
        return tuple(self._nonces)

    def invite_all(self) -> None:
        """Invite every bot that was offered a seat."""
        for bot_player in list(self._invited):
            self.invite(bot_player)
        self._settle_if_full()

    def invite(self, bot_player: BotPlayer) -> None:
        """Send a bot its invitation, or send it again after a reconnection."""
        invited = self._invited[bot_player]
        if bot_player.session is not None and bot_player not in self._takers:
            bot_player.session.invite(
                Invitation(
                    invited.invitation_id,
                    self.ladder.game.name,
                    self.kind,
                    {name: option_text(value) for name, value in self.ladder.options.items()},
                    hashlib.sha256(invited.salt + self.commitment).digest(),
                    self._names,
                    self.ladder.further_name,
                )
            )

    def ready(self, bot_player: BotPlayer, nonce: bytes) -> None:
        """Give a seat to a bot that accepts it. Only the bot's first nonce counts."""
        invited = self._invited[bot_player]
        if self._takers[invited.seat] is None:
            self._nonces[invited.seat] = nonce or NO_NONCE
            self._record(bot_player, invited, OfferOutcome.ACCEPTED)
            self._take(invited.seat, bot_player)
            self._settle_if_full()

    def forgo(self, bot_player: BotPlayer, now: float, how: OfferOutcome, charged: bool = True) -> None:
        """Offer the seat of a bot that left or declined to another player. Has no effect after the check has ended.

        `charged`: true if the invitation counts as failed. Invitations to challenges and events never do.
        """
        if not self._waits:
            return
        challenged = self.kind is MatchKind.CHALLENGE
        invited = self._invited.pop(bot_player)
        self._record(bot_player, invited, how)
        bot_player.offers.invitations.pop(invited.invitation_id, None)
        if charged and self._counts:
            bot_player.offers.availability.fail(now, how)
        if self._takers[invited.seat] is bot_player:
            self._takers[invited.seat] = None
            self._nonces[invited.seat] = NO_NONCE
        self._unseat(bot_player)
        if self._takers[invited.seat] is None and not self._asked(invited.seat):
            self._refill(invited.seat, now, f"{bot_player.name if challenged else 'a bot'} {how.value}")
            self._settle_if_full()

    def call_off(self, why: str) -> None:
        """End the ready check: the match does not take place."""
        if self.failure is None:
            self.failure = why
        self._settle()

    def on_timer(self, now: float) -> None:
        """Offer open seats to other players. Call the match off if a seat has been open for too long."""
        last = now >= self._last_call
        self.deadline = math.inf if last else self._last_call
        for seat, taker in enumerate(self._takers):
            if taker is None and self._waits:
                self._refill(seat, now, self._silence if last else None, at_once=last)
        self._settle_if_full()

    def withdraw(self) -> None:
        """Notify the invited bots that the match does not take place. They keep the waiting times that they had
        before.
        """
        for bot_player, invited in self._invited.items():
            bot_player.offers.withdrawn(
                bot_player, invited.invitation_id, f"the match does not take place: {self.failure}"
            )
            if bot_player in self._takers:
                self._unseat(bot_player, invited.waiting_since)

    def dissolve(self) -> None:
        """Remove the invitations from their bots. Bots that have not answered still owe an answer."""
        for bot_player, invited in self._invited.items():
            if bot_player.offers.invitations.pop(invited.invitation_id, None) is None:
                continue
            if bot_player not in self._takers:
                self._give_up(bot_player, invited)
            elif self.failure is None:
                bot_player.offers.begun(invited.invitation_id)

    @property
    def invited(self) -> Sequence[BotPlayer]:
        """The bots that hold an invitation to this match."""
        return list(self._invited)

    def _offer(self, seat: int, player: Player, now: float) -> None:
        if not isinstance(player, BotPlayer):
            self._take(seat, player)
            return
        number, salt = secrets.randbits(INVITATION_BITS), secrets.token_bytes(SALT_BYTES)
        self._invited[player] = _Invited(
            seat, now, number, salt, player.offers.waiting_since.get(self.ladder.name, now)
        )
        player.offers.invitations[number] = self

    def _asked(self, seat: int) -> bool:
        """Return whether a bot invited to the seat may still accept."""
        return any(invited.seat == seat for invited in self._invited.values())

    def _refill(self, seat: int, now: float, or_else: str | None, at_once: bool = False) -> None:
        """Offer a seat to another player. If nobody is found and `or_else` is given, call the match off for that
        reason.
        """
        player = self._replacement(self, at_once)
        if player is None:
            if or_else is not None:
                self.call_off(or_else)
            return
        self._offer(seat, player, now)
        if isinstance(player, BotPlayer):
            player.offers.seated(now, self.ladder.name)
            player.changed()
            self.invite(player)

    def _take(self, seat: int, player: Player) -> None:
        """Give a seat to a player. Other bots invited to the seat get a notice when they answer."""
        self._takers[seat] = player
        for other, invited in list(self._invited.items()):
            if invited.seat == seat and other is not player:
                del self._invited[other]
                other.offers.invitations.pop(invited.invitation_id, None)
                self._give_up(other, invited)

    def _give_up(self, bot_player: BotPlayer, invited: _Invited) -> None:
        self._record(bot_player, invited, OfferOutcome.SILENT)
        if self._counts:
            bot_player.offers.availability.owe_answer(invited.invitation_id, invited.at + self._limits.answer)
        self._unseat(bot_player)

    def _unseat(self, bot_player: BotPlayer, waiting_since: float | None = None) -> None:
        bot_player.offers.unseated(self, self.ladder.name, waiting_since, self.kind is MatchKind.RATED)
        bot_player.changed()

    @property
    def _silence(self) -> str:
        """Return the reason for calling the match off because bots did not answer."""
        if self.kind is not MatchKind.CHALLENGE:
            return "not every bot accepted in time"
        silent = [each.name for each in self._invited if each not in self._takers]
        return f"{' and '.join(silent)} did not accept in time"

    def _record(self, bot_player: BotPlayer, invited: _Invited, outcome: OfferOutcome) -> None:
        """Record the outcome of an invitation. A bot that accepts and then leaves counts as left."""
        number = invited.invitation_id
        self._offers[number] = SeatOffer(invited.seat, bot_player.name, outcome, number, invited.salt)

    def _settle_if_full(self) -> None:
        if self.failure is None and None not in self._takers:
            self._settle()

    def _settle(self) -> None:
        if self._waits:
            self._waits = False
            self.deadline = math.inf
            self._settled(self)
