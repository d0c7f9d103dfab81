"""A match that waits for its bots to say Ready. If one does not, nothing was played and nothing is rated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from arena.server.contestant import Contestant
from arena.server.messages import Invitation
from engine.deal import NONCE_BYTES, commitment
from engine.game import option_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.server.players import Player
    from engine.game import Game, Option

NO_NONCE: Final = bytes(NONCE_BYTES)


class Gathering:
    """The seats of a match to come."""

    def __init__(
        self,
        match_id: int,
        game: Game,
        options: Mapping[str, Option],
        players: Sequence[Player],
        seed: bytes,
        deadline: float,
        settled: Callable[[Gathering], None],
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
        self.alarm = 0
        self._contestants = {player: seat for seat, player in enumerate(players) if isinstance(player, Contestant)}
        self._nonces: dict[Contestant, bytes] = {}
        self._called_off = ""
        self._waits = True
        self._settled = settled
        for contestant in self._contestants:
            contestant.gatherings[match_id] = self

    @property
    def nonces(self) -> tuple[bytes, ...]:
        """16 bytes a seat; zeros for house bots."""
        return tuple(
            [
                self._nonces.get(player, NO_NONCE) if isinstance(player, Contestant) else NO_NONCE
                for player in self.players
            ]
        )

    @property
    def failure(self) -> str | None:
        """Why the match cannot take place now; None if it can."""
        if self._called_off:
            return self._called_off
        if len(self._nonces) == len(self._contestants):
            return None
        return f"{', '.join([each.name for each in self._contestants if each not in self._nonces])} did not come"

    def invite_all(self) -> None:
        """Sends everybody an invitation."""
        for contestant in self._contestants:
            self.invite(contestant)

    def invite(self, contestant: Contestant) -> None:
        """Sends the invitation, again if need be."""
        if contestant.session is not None and contestant not in self._nonces:
            contestant.session.invite(
                Invitation(
                    self.match_id,
                    self.game.name,
                    self._contestants[contestant],
                    tuple([player.name for player in self.players]),
                    {name: option_text(value) for name, value in self.options.items()},
                    self.commitment,
                )
            )

    def ready(self, contestant: Contestant, nonce: bytes) -> None:
        """A bot is ready; the first nonce counts."""
        self._nonces.setdefault(contestant, nonce or NO_NONCE)
        if self.failure is None:
            self._settle()

    def forgo(self, contestant: Contestant, how: str) -> None:
        """A bot does not come: it "left" or "declined". Once all are ready it is too late for that."""
        if self.failure is not None:
            self.call_off(f"{contestant.name} {how}")

    def call_off(self, why: str) -> None:
        """The match does not take place."""
        self._called_off = why
        self._settle()

    def ring(self, now: float) -> None:
        """The alarm rings: whoever is not ready has not come."""
        self._settle()

    def withdraw(self) -> None:
        """Tells those invited that nothing comes of it."""
        text = f"match {self.match_id} does not take place: {self.failure}"
        for contestant in self._contestants:
            contestant.withdrawn(self.match_id, text)

    def dissolve(self) -> None:
        """Nobody is expected any more."""
        for contestant in self._contestants:
            contestant.gatherings.pop(self.match_id, None)

    def _settle(self) -> None:
        if self._waits:
            self._waits = False
            self.deadline = math.inf
            self._settled(self)
