"""A running local game: its positions so far, and in the end its replay."""

from __future__ import annotations

import time
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from arena.local.play.players import LocalHousePlayer
from arena.local.play.table import POLICY, START, PlayedGame, play_game
from arena.match.inputs import Acted
from arena.replay.header import DEALT_BY_MATCH_RUNNER, Header, MatchKind, SeatedBot
from arena.replay.record import encode
from arena.replay.replay import RecordedResult, Replay
from arena.replay.steps import Course, Made, Step
from arena.version import __version__
from engine.deal import NONCE_BYTES, commitment, match_key
from engine.game import OVER

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from arena.local.play.players import LocalPlayer
    from arena.match.effects import Effect
    from arena.match.inputs import Input
    from arena.replay.header import Entry
    from engine.game import Game, Option

NOTHING_YET: Final = RecordedResult((), (), (), (), (), "")


class LiveGame:
    """A game between players, by seat; a watcher is called with every new position."""

    def __init__(
        self, game: Game, options: Mapping[str, Option], seed: int, players: Sequence[LocalPlayer], match_id: int = 1
    ) -> None:
        """`seed` determines the deals."""
        secret = sha256(f"arena play {seed}".encode()).digest()
        self.header = Header(
            match_id=match_id,
            game=game,
            options=dict(options),
            bots=tuple(SeatedBot(player.name, isinstance(player, LocalHousePlayer)) for player in players),
            seed=secret,
            commitment=commitment(secret),
            nonces=(bytes(NONCE_BYTES),) * len(players),
            stand_in="",
            policy=POLICY,
            started=time.time_ns() // 1000,
            server=__version__,
            kind=MatchKind.CASUAL,
            dealt_by=DEALT_BY_MATCH_RUNNER,
        )
        self.versions = tuple(player.version for player in players)
        """Versions of the players, by seat."""
        self._players = players
        self._entries: list[Entry] = []
        self._state = self.header.new_game()
        self._steps = [Step(START, None, 0, self._state.clone(), None)]

    @property
    def course(self) -> Course:
        """The positions so far."""
        return Course(Replay("", 0, self.header, (), NOTHING_YET, None, ()), self._steps)

    def play(self, watch: Callable[[], None]) -> PlayedGame:
        """Play it to its end; `watch` is called after every choice. Raises BotFailed and what players and `watch`
        raise."""

        def heard(event: Input, effects: Sequence[Effect]) -> None:
            self._entries.append((event, [*effects]))
            if isinstance(event, Acted):
                self._step(event)
                watch()

        header = self.header
        key = match_key(header.seed, header.nonces)
        return play_game(header.game, header.options, key, self._players, header.match_id, heard)

    def replay(self) -> bytes:
        """Return the replay's file, once the game is over."""
        return encode(self.header, self._entries)

    def _step(self, event: Acted) -> None:
        played = self._state.round
        self._state.apply(event.action, event.seat)
        over = self._state.round != played or self._state.player == OVER
        made = Made(event.seat, event.decision, event.action, None)
        self._steps.append(Step(event.at, made, played, self._state.clone(), self._state.report if over else None))
