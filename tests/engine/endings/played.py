"""Endings of random games, each with the same game in the reference implementation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from engine.deal import SeededDecks
from engine.game import OVER
from engine.nullern.score import HUPFER_COST
from engine.registry import GAMES
from tests.oracles import nullern, sixth_sense


def worth_of(report: Any) -> Sequence[int]:
    """Return the points of a round in the engine, with Hupfers charged at once."""
    missed = getattr(report, "missed", bytes(len(report.points)))
    return [points - HUPFER_COST * each for points, each in zip(report.points, missed, strict=True)]


def plain_worth_of(report: Any) -> Sequence[int]:
    """Return the points of a round in the reference implementation."""
    missed = report.get("missed", [0] * len(report["points"]))
    return [points - 5 * each for points, each in zip(report["points"], missed, strict=True)]


def plain_game(game: str, seats: int, decks: SeededDecks, rounds: int) -> Any:
    """Return a game of the reference implementation with the same cards."""
    names = [card.name for card in GAMES[game].cards]
    if game == "nullern":
        of_nullern = [nullern.card_named(name) for name in names]
        return nullern.PlainGame(seats, [[of_nullern[card] for card in decks(n, 80, 80)] for n in range(20)])
    size, cards = 56 if seats == 2 else 70, [sixth_sense.card_named(name) for name in names]
    return sixth_sense.PlainGame(seats, [[cards[card] for card in decks(n, size, size)] for n in range(rounds)])


def endings(game: str, seats: int, seed: int, most_cards: int) -> Iterator[tuple[Any, Any]]:
    """Yield positions in which no seat has more cards than the limit, some seat has a choice, and all seats have bid.

    Each position is the engine's state and the reference game. Later positions reuse both objects.
    """
    chance, decks = Random(seed), SeededDecks(seed.to_bytes(32, "big"))
    actions = GAMES[game].actions
    state: Any = GAMES[game].new(seats, decks)
    plain = plain_game(game, seats, decks, 6)
    while (seat := state.player) != OVER:
        legal = list(state.legal(seat))
        held = max(len(state.view(each).hand) for each in range(seats))
        if actions[legal[0]].kind not in ("bid", "predict") and 0 < held <= most_cards and len(legal) > 1:
            yield state, plain
        action = chance.choice(legal)
        state.apply(action, seat)
        plain.act(seat, actions[action].name)
