"""What every game of the house promises, tried on each in the registry."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from engine.deal import SeededDecks
from engine.game import OVER, Game, OptionError, option_text, settle_options
from engine.registry import GAMES

EVERY_SIZE = [(game, seats) for game in GAMES.values() for seats in game.seats]
EVERY_GAME = pytest.mark.parametrize("game", [*GAMES.values()], ids=lambda game: game.name)
EVERY_TABLE = pytest.mark.parametrize(
    ("game", "seats"), EVERY_SIZE, ids=[f"{game.name}-{seats}" for game, seats in EVERY_SIZE]
)


def fresh(game: Game, seats: int, seed: int = 0) -> Any:
    return game.new(seats, SeededDecks(seed.to_bytes(32, "big")))


def facts(state: Any, seats: int) -> tuple[Any, ...]:
    """All that can be asked of a state."""
    return (
        state.player,
        state.round,
        tuple(state.scores),
        state.report,
        state.waiting(),
        [(list(state.legal(seat)), state.fallback(seat)) for seat in state.waiting()],
        [state.view(seat) for seat in range(seats)],
        state.ranking(),
    )


def step(state: Any, random: Random) -> None:
    seat = random.choice(state.waiting())
    state.apply(random.choice(state.legal(seat)), seat)


@EVERY_GAME
def test_the_registry_knows_it_by_its_name(game: Game) -> None:
    assert GAMES[game.name] is game
    assert game.title


@EVERY_GAME
def test_cards_and_actions_have_names_of_their_own(game: Game) -> None:
    card_names = [card.name for card in game.cards]
    action_names = [action.name for action in game.actions]
    assert len(set(card_names)) == len(card_names)
    assert len(set(action_names)) == len(action_names)
    assert [card_names.index(name) for name in card_names] == list(range(len(game.cards)))
    assert [action_names.index(name) for name in action_names] == list(range(len(game.actions)))
    assert len(game.actions) <= 256, "a history is bytes"
    for action in game.actions:
        assert action.card is None or 0 <= action.card < len(game.cards)
    for card in game.cards:
        assert game.colours[card.colour] in card.name


@EVERY_TABLE
def test_a_game_ends_and_its_state_is_sound_all_the_way(game: Game, seats: int) -> None:
    random = Random(seats)
    state = fresh(game, seats)
    while state.player != OVER:
        waiting = state.waiting()
        assert waiting == tuple(sorted(waiting))
        assert state.player == waiting[0]
        for seat in waiting:
            legal = list(state.legal(seat))
            assert legal
            assert legal == sorted(set(legal))
            assert state.fallback(seat) in legal
            assert state.view(seat).seat == seat
        step(state, random)
    assert state.waiting() == ()
    places = state.ranking()
    assert min(places) == 1
    assert all(
        (places[a] < places[b]) == (state.scores[a] > state.scores[b]) for a in range(seats) for b in range(seats)
    )
    assert state.report.scores == tuple(state.scores)


@EVERY_TABLE
def test_the_fallback_alone_plays_a_whole_game(game: Game, seats: int) -> None:
    state, again = fresh(game, seats), fresh(game, seats)
    while state.player != OVER:
        seat = state.player
        assert state.fallback(seat) == again.fallback(seat)
        state.apply(state.fallback(seat), seat)
        again.apply(again.fallback(seat), seat)
    assert facts(state, seats) == facts(again, seats)


@EVERY_TABLE
def test_a_clone_goes_its_own_way(game: Game, seats: int) -> None:
    random = Random(seats)
    state = fresh(game, seats)
    while state.player != OVER:
        if random.random() < 0.1:
            before = facts(state, seats)
            clone = state.clone()
            assert facts(clone, seats) == before
            for _ in range(random.randrange(1, 150)):
                if clone.player != OVER:
                    step(clone, random)
            assert facts(state, seats) == before
        step(state, random)


@EVERY_TABLE
def test_choices_made_at_once_give_the_same_state_in_any_order(game: Game, seats: int) -> None:
    random = Random(seats)
    state = fresh(game, seats)
    while state.player != OVER:
        waiting = state.waiting()
        if len(waiting) > 1:
            choices = [(random.choice(state.legal(seat)), seat) for seat in waiting]
            one, other = state.clone(), state.clone()
            for action, seat in choices:
                one.apply(action, seat)
            random.shuffle(choices)
            for action, seat in choices:
                views = [other.view(watcher) for watcher in range(seats) if watcher != seat]
                last = len(other.waiting()) == 1
                other.apply(action, seat)
                assert last or views == [other.view(watcher) for watcher in range(seats) if watcher != seat]
            assert facts(one, seats) == facts(other, seats)
        step(state, random)


@EVERY_TABLE
def test_a_game_does_not_depend_on_when_it_is_looked_at(game: Game, seats: int) -> None:
    looked_at, left_alone = fresh(game, seats), fresh(game, seats)
    random, again = Random(1), Random(1)
    for _ in range(150):
        if looked_at.player == OVER:
            break
        facts(looked_at, seats)
        step(looked_at, random)
        step(left_alone, again)
    assert facts(looked_at, seats) == facts(left_alone, seats)


@EVERY_GAME
def test_the_first_cards_of_the_deck_go_to_the_first_seat(game: Game) -> None:
    seats = game.seats.start
    asked = []

    def in_order(number: int, size: int, count: int) -> list[int]:
        asked.append((number, size, count))
        return list(range(count))

    game.new(seats, in_order)
    assert asked[0][0] == 0
    assert asked[0][2] <= asked[0][1] <= len(game.cards)


@EVERY_GAME
def test_seats_and_options_it_does_not_have_are_refused(game: Game) -> None:
    decks = SeededDecks(bytes(32))
    for seats in (game.seats.start - 1, game.seats.stop, True, 3.0):
        with pytest.raises(OptionError, match=f"{game.title} is for {game.seats.start} to"):
            game.new(seats, decks)  # type: ignore[arg-type] # what is refused
    with pytest.raises(OptionError, match="has no option 'colour'"):
        game.new(game.seats.start, decks, colour=1)
    for spec in game.options:
        with pytest.raises(OptionError, match=f"option {spec.name} takes"):
            game.new(game.seats.start, decks, **{spec.name: "much"})  # type: ignore[arg-type] # what is refused


@EVERY_GAME
def test_options_left_out_have_their_defaults(game: Game) -> None:
    assert settle_options(game, game.seats.start, {}) == {spec.name: spec.default for spec in game.options}
    assert all(spec.description for spec in game.options)


def test_options_are_written_as_people_and_protocols_do() -> None:
    assert [option_text(value) for value in (True, False, 50)] == ["true", "false", "50"]
