"""Engine and reference implementation, played side by side. All their properties must agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.game import OVER, Decks, Game, Option, RoundReport, SeatView
from tests.oracles import nullern, sixth_sense

Pick = Callable[[Sequence[int]], int]
"""Function that chooses one of several things."""

SPECIAL = ("split", "peek")


def agree_on_sixth_sense(
    game: Game, seats: int, decks: Decks, options: Mapping[str, Option], pick: Pick, eager: int = 0
) -> None:
    """Play a whole game of 6th Sense.

    `eager` is the weight of cards with an effect. With 0 they are not played.

    Raises:
        AssertionError: at the first difference.
    """
    cards = [sixth_sense.card_named(card.name) for card in game.cards]
    names = [action.name for action in game.actions]
    size = 56 if seats == 2 else 70
    state = game.new(seats, decks, **options)
    plain = sixth_sense.PlainGame(
        seats,
        [[cards[card] for card in decks(number, size, size)] for number in range(60)],
        novice=bool(options.get("novice")),
        target=int(options.get("target", 0)),
        late_trump=bool(options.get("late_trump")),
    )

    def in_words(seen: SeatView | RoundReport) -> dict[str, Any]:
        words = _lists(seen)
        words["plays"] = [names[action] for action in words["plays"]]
        for name in ("turned", "prediction"):
            if words.get(name) is not None:
                words[name] = cards[words[name]]
        if "hand" in words:
            words["hand"] = [cards[card] for card in words["hand"]]
            words["known_predictions"] = [cards[card - 1] if card else None for card in words["known_predictions"]]
        else:
            words["predictions"] = [cards[card] for card in words["predictions"]]
        return words

    _agree(state, plain, names, in_words, pick, eager)


def agree_on_nullern(game: Game, seats: int, decks: Decks, pick: Pick) -> None:
    """Play a whole game of Nullern.

    Raises:
        AssertionError: at the first difference.
    """
    cards = [nullern.card_named(card.name) for card in game.cards]
    names = [action.name for action in game.actions]
    state = game.new(seats, decks)
    plain = nullern.PlainGame(seats, [[cards[card] for card in decks(number, 80, 80)] for number in range(20)])

    def in_words(seen: SeatView | RoundReport) -> dict[str, Any]:
        words = _lists(seen)
        words["turned"] = cards[words["turned"]]
        for name in ("plays", "hand"):
            if name in words:
                words[name] = [cards[card] for card in words[name]]
        return words

    _agree(state, plain, names, in_words, pick, 0)


def _lists(seen: SeatView | RoundReport) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, bytes | tuple) else value for name, value in seen._asdict().items()}


def _agree(
    state: Any,
    plain: nullern.PlainGame | sixth_sense.PlainGame,
    names: Sequence[str],
    in_words: Callable[[SeatView | RoundReport], dict[str, Any]],
    pick: Pick,
    eager: int,
) -> None:
    reports = 0
    while not plain.over:
        waiting = plain.waiting()
        assert state.waiting() == tuple(waiting)
        assert state.player == waiting[0]
        assert state.round == plain.round
        if pick(range(5)) == 0 or "play the blind card" in plain.legal(waiting[0]):
            for seat in range(plain.seats):
                assert in_words(state.view(seat)) == plain.seen(seat)
        for seat in waiting:
            legal = list(state.legal(seat))
            assert legal == sorted(set(legal))
            assert {names[action] for action in legal} == plain.legal(seat)
            assert names[state.fallback(seat)] in plain.dull(seat)
        seat = pick(waiting)
        legal = list(state.legal(seat))
        special = [action for action in legal if names[action] in SPECIAL or "blocks" in names[action]]
        action = pick(legal + eager * special)
        state.apply(action, seat)
        plain.act(seat, names[action])
        assert list(state.scores) == plain.scores
        assert state.ranking() == tuple(plain.places())
        if plain.last_round is None:
            assert state.report is None
        elif plain.last_round["round"] == reports:
            reports += 1
            assert in_words(state.report) == plain.last_round
    assert reports == plain.round + 1
    assert state.player == OVER
    assert state.waiting() == ()
    for seat in range(plain.seats):
        assert in_words(state.view(seat)) == plain.seen(seat)
