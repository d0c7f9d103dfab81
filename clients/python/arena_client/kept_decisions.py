"""Decisions stored in a file, so that a test can ask a bot without a server.

Each line is a server message in protobuf's JSON: a welcome with the catalogues of the games, then messages with
decisions. `arena new` writes such a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from arena_client.caller import as_decision
from arena_client.decision import Catalog, Decision
from arena_client.descriptors import pool_of
from arena_client.v1.play_pb2 import PlayResponse


def read_decisions(file: str | Path) -> Iterator[Decision]:
    """Yield the decisions of a file in order, as `decide` would receive them.

    Raises:
        ValueError: The file is malformed; the message names file and line.
        ProtocolMismatchError: A decision is in a game that this client or the file's catalogues do not know.
    """
    from google.protobuf.json_format import Parse, ParseError

    games: dict[str, Catalog] = {}
    with Path(file).open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                described = pool_of(game.message for game in games.values())
                message = Parse(line, PlayResponse(), ignore_unknown_fields=True, descriptor_pool=described)
            except ParseError as error:
                raise ValueError(f"{file}, line {number}, is no message of a server: {error}") from None
            games |= {game.name: Catalog.of(game) for game in message.welcome.games}
            for decision in message.decisions:
                yield as_decision(decision, games)
