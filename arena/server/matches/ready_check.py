"""The ready check: a match waits for its bots to say Ready. If one does not, nothing is played and nothing rated.

Until then a bot is told neither the match nor its opponents, nor anything that two bots at one table could compare:
each invitation has a number and a salt of its own.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from arena.replay.header import MatchKind, OfferOutcome, SeatOffer
from arena.server.sessions.messages import Invitation
from arena.server.sessions.player import BotPlayer
from engine.deal import NONCE_BYTES, commitment
from engine.game import option_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.server.sessions.player import Player
    from engine.game import Game, Option

NO_NONCE: Final = bytes(NONCE_BYTES)
INVITATION_BITS: Final = 53
"""Numbers of invitations are below 2^53, which every language counts exactly."""
SALT_BYTES: Final = 32


@dataclass(slots=True)
class _Invited:
    """A bot's invitation."""

    seat: int
    invitation_id: int
    salt: bytes
    nonce: bytes | None = None
    """The nonce of its Ready; None before."""


class ReadyCheck:
    """A match that has been announced and has not begun."""

    def __init__(
        self,
        game: Game,
        options: Mapping[str, Option],
        players: Sequence[Player],
        seed: bytes,
        deadline: float,
        settled: Callable[[ReadyCheck], None],
        kind: MatchKind = MatchKind.RATED,
    ) -> None:
        """`settled` is called once: when all are ready, at the deadline, or when the match is called off before."""
        self.game = game
        self.kind = kind
        self.options = options
        self.players = players
        self.seed = seed
        self.commitment = commitment(seed)
        self.deadline = deadline
        """Until when the bots have time, in seconds of the server's clock."""
        self.wakes_at = math.inf
        self.timer_id = 0
        self.offers: list[SeatOffer] = []
        """The seats offered, in the order of the answers."""
        self._invited = {
            player: _Invited(seat, secrets.randbits(INVITATION_BITS), secrets.token_bytes(SALT_BYTES))
            for seat, player in enumerate(players)
            if isinstance(player, BotPlayer)
        }
        self._called_off = ""
        self._waits = True
        self._settled = settled
        for bot_player, invited in self._invited.items():
            bot_player.invitations[invited.invitation_id] = self

    @property
    def nonces(self) -> tuple[bytes, ...]:
        """16 bytes a seat; zeros for house bots."""
        nonces = [NO_NONCE] * len(self.players)
        for invited in self._invited.values():
            nonces[invited.seat] = invited.nonce or NO_NONCE
        return tuple(nonces)

    @property
    def failure(self) -> str | None:
        """Why the match cannot take place now, without a name; None if it can."""
        if self._called_off:
            return self._called_off
        if all(invited.nonce is not None for invited in self._invited.values()):
            return None
        return "not every bot accepted in time"

    def invite_all(self) -> None:
        """Invite every bot at the table."""
        for bot_player in self._invited:
            self.invite(bot_player)

    def invite(self, bot_player: BotPlayer) -> None:
        """Send a bot its invitation, again if it reconnected."""
        invited = self._invited[bot_player]
        if bot_player.session is not None and invited.nonce is None:
            bot_player.session.invite(
                Invitation(
                    invited.invitation_id,
                    self.game.name,
                    self.kind,
                    {name: option_text(value) for name, value in self.options.items()},
                    hashlib.sha256(invited.salt + self.commitment).digest(),
                )
            )

    def ready(self, bot_player: BotPlayer, nonce: bytes) -> None:
        """Count a bot as ready; the first nonce counts."""
        invited = self._invited[bot_player]
        if invited.nonce is None:
            invited.nonce = nonce or NO_NONCE
            self._record(bot_player, OfferOutcome.ACCEPTED)
        if self.failure is None:
            self._settle()

    def forgo(self, bot_player: BotPlayer, how: OfferOutcome) -> None:
        """Call the match off for a bot that left or declined; once all are ready this has no effect."""
        if self.failure is not None:
            self._record(bot_player, how)
            self.call_off(f"a bot {how.value}")

    def call_off(self, why: str) -> None:
        """End the ready check: the match does not take place."""
        self._called_off = why
        self._settle()

    def on_timer(self, now: float) -> None:
        """End the ready check at its deadline: whoever is not ready has not come."""
        self._settle()

    def withdraw(self) -> None:
        """Tell the invited bots that the match does not take place."""
        for bot_player, invited in self._invited.items():
            bot_player.withdrawn(invited.invitation_id, f"the match does not take place: {self.failure}")

    def dissolve(self) -> None:
        """Remove the invitations from their bots."""
        for bot_player, invited in self._invited.items():
            if self.failure is None and bot_player.invitations.pop(invited.invitation_id, None) is not None:
                bot_player.begun(invited.invitation_id)
            bot_player.invitations.pop(invited.invitation_id, None)

    def _record(self, bot_player: BotPlayer, outcome: OfferOutcome) -> None:
        invited = self._invited[bot_player]
        self.offers.append(SeatOffer(invited.seat, bot_player.name, outcome, invited.invitation_id, invited.salt))

    def _settle(self) -> None:
        if self._waits:
            self._waits = False
            self.deadline = math.inf
            self._settled(self)
