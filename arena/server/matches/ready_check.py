"""The ready check: a match waits for its bots to say Ready. If one does not, nothing is played and nothing rated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from arena.server.sessions.messages import Invitation
from arena.server.sessions.player import BotPlayer
from engine.deal import NONCE_BYTES, commitment
from engine.game import option_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.server.sessions.player import Player
    from engine.game import Game, Option

NO_NONCE: Final = bytes(NONCE_BYTES)


class ReadyCheck:
    """A match that has been announced and has not begun."""

    def __init__(
        self,
        match_id: int,
        game: Game,
        options: Mapping[str, Option],
        players: Sequence[Player],
        seed: bytes,
        deadline: float,
        settled: Callable[[ReadyCheck], None],
    ) -> None:
        """`settled` is called once: when all are ready, at the deadline, or when the match is called off before."""
        self.match_id = match_id
        self.game = game
        self.options = options
        self.players = players
        self.seed = seed
        self.commitment = commitment(seed)
        self.deadline = deadline
        """Until when the bots have time, in seconds of the server's clock."""
        self.wakes_at = math.inf
        self.timer_id = 0
        self._bot_players = {player: seat for seat, player in enumerate(players) if isinstance(player, BotPlayer)}
        self._nonces: dict[BotPlayer, bytes] = {}
        self._called_off = ""
        self._waits = True
        self._settled = settled
        for bot_player in self._bot_players:
            bot_player.invitations[match_id] = self

    @property
    def nonces(self) -> tuple[bytes, ...]:
        """16 bytes a seat; zeros for house bots."""
        return tuple(
            [
                self._nonces.get(player, NO_NONCE) if isinstance(player, BotPlayer) else NO_NONCE
                for player in self.players
            ]
        )

    @property
    def failure(self) -> str | None:
        """Why the match cannot take place now; None if it can."""
        if self._called_off:
            return self._called_off
        if len(self._nonces) == len(self._bot_players):
            return None
        return f"{', '.join([each.name for each in self._bot_players if each not in self._nonces])} did not come"

    def invite_all(self) -> None:
        """Invite every bot at the table."""
        for bot_player in self._bot_players:
            self.invite(bot_player)

    def invite(self, bot_player: BotPlayer) -> None:
        """Send a bot its invitation, again if it reconnected."""
        if bot_player.session is not None and bot_player not in self._nonces:
            bot_player.session.invite(
                Invitation(
                    self.match_id,
                    self.game.name,
                    self._bot_players[bot_player],
                    tuple([player.name for player in self.players]),
                    {name: option_text(value) for name, value in self.options.items()},
                    self.commitment,
                )
            )

    def ready(self, bot_player: BotPlayer, nonce: bytes) -> None:
        """Count a bot as ready; the first nonce counts."""
        self._nonces.setdefault(bot_player, nonce or NO_NONCE)
        if self.failure is None:
            self._settle()

    def forgo(self, bot_player: BotPlayer, how: str) -> None:
        """Call the match off for a bot that "left" or "declined"; once all are ready this has no effect."""
        if self.failure is not None:
            self.call_off(f"{bot_player.name} {how}")

    def call_off(self, why: str) -> None:
        """End the ready check: the match does not take place."""
        self._called_off = why
        self._settle()

    def on_timer(self, now: float) -> None:
        """End the ready check at its deadline: whoever is not ready has not come."""
        self._settle()

    def withdraw(self) -> None:
        """Tell the invited bots that the match does not take place."""
        text = f"match {self.match_id} does not take place: {self.failure}"
        for bot_player in self._bot_players:
            bot_player.withdrawn(self.match_id, text)

    def dissolve(self) -> None:
        """Remove the invitation from its bots."""
        for bot_player in self._bot_players:
            bot_player.invitations.pop(self.match_id, None)

    def _settle(self) -> None:
        if self._waits:
            self._waits = False
            self.deadline = math.inf
            self._settled(self)
