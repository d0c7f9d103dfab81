"""Decisions of real games as lines of text, which a bot's own tests use as questions, without a server.

`arena_client.read_decisions` reads them. The games depend only on the rules and the house bots.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from arena_client.v1.play_pb2 import PlayResponse, Welcome
from google.protobuf.json_format import MessageToDict

from arena.api.catalog import encode_catalog
from arena.api.codec import PROTOBUF
from arena.house import HOUSE_BOTS
from arena.local.play.players import LocalHousePlayer
from arena.local.play.table import play_game

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from arena.server.sessions.messages import Outgoing
    from engine.game import Game

EACH: Final = 12
"""Number of decisions per game and table size, spread evenly over a match."""


class _Listener(LocalHousePlayer):
    """A house bot that records its questions."""

    def __init__(self, game: Game) -> None:
        super().__init__(HOUSE_BOTS[game.name][0])
        self.asked: list[PlayResponse] = []

    def hear(self, message: Outgoing) -> Iterator[tuple[int, int]]:
        heard = PlayResponse.FromString(PROTOBUF.encode(message))
        if heard.decisions:
            self.asked.append(PlayResponse(decisions=heard.decisions))
        return super().hear(message)


def kept_decisions(games: Sequence[Game]) -> str:
    """Return lines of text: first the games' catalogues, then some decisions of every game and table size, one per
    line.
    """
    messages = [PlayResponse(welcome=Welcome(games=[encode_catalog(game) for game in games]))]
    for game in games:
        for seats in game.seats:
            players = [_Listener(game) for _ in range(seats)]
            key = sha256(f"kept decisions {game.name} {seats}".encode()).digest()
            play_game(game, {}, key, players, len(messages))
            asked = players[0].asked
            messages += [asked[at * (len(asked) - 1) // (EACH - 1)] for at in range(EACH)]
    return "".join(json.dumps(MessageToDict(message), separators=(",", ":")) + "\n" for message in messages)
