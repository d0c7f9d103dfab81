"""Every game has all pieces that it needs. A failing test names the missing piece and its file."""

from __future__ import annotations

import pytest

from tests.conformance.pieces import HOUSE, PIECES, Piece


@pytest.mark.parametrize("game", HOUSE.names())
@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.name.replace(" ", "-"))
def test_a_game_has_its_piece(game: str, piece: Piece) -> None:
    sentence = piece.missing(HOUSE, game)
    if sentence:
        pytest.fail(sentence, pytrace=False)
