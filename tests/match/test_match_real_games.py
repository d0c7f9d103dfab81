"""Every game of the registry, played to its end in a match by bots that sometimes make every kind of mistake."""

from collections import deque
from random import Random

import pytest

from arena.match.effects import Ask, Effect, Over, Show
from arena.match.inputs import Acted, Begun, Input, Instant, Left, Returned, Sent, StoodIn
from arena.match.match import Match
from arena.match.policy import Policy
from engine.deal import SeededDecks, match_key
from engine.game import Game
from engine.registry import GAMES


def play(game: Game, seats: int, rng: Random) -> tuple[list[Input], list[Effect]]:
    match = Match(game, seats, {}, SeededDecks(match_key(bytes(32), [bytes(16)] * seats)), Policy(1000, 20_000))
    inputs: list[Input] = []
    effects: list[Effect] = []
    queue = deque[Ask]()
    now = 0

    def put(event: Input) -> None:
        inputs.append(event)
        for effect in match.receive(event):
            effects.append(effect)
            if isinstance(effect, Ask):
                queue.append(effect)

    put(Begun(Instant(0)))
    while not match.over:
        now += rng.randrange(200)
        if not queue:  # every open decision is due before any bot is silent
            assert match.deadline is not None
            now = max(now, match.deadline)
            put(Returned(Instant(now), rng.randrange(seats)))
            continue
        ask = queue.popleft()
        if match.substituted(ask.seat):
            put(StoodIn(Instant(now), ask.seat, ask.decision, rng.choice(ask.legal)))
            continue
        put(Sent(Instant(now), ask.seat, ask.decision, rng.randrange(300_000)))
        match rng.randrange(60):
            case 0:
                put(Left(Instant(now), ask.seat))
            case 1:
                pass  # this bot never answers
            case 2:
                put(Acted(Instant(now), ask.seat, ask.decision, rng.randrange(-1, 300)))
            case _:
                put(Acted(Instant(now), ask.seat, ask.decision, rng.choice(ask.legal)))
    return inputs, effects


@pytest.mark.parametrize(
    ("game", "seats"),
    [pytest.param(game, seats, id=f"{game.name}-{seats}") for game in GAMES.values() for seats in game.seats],
)
def test_match_of_a_real_game_ends_and_its_inputs_alone_play_it_again(game: Game, seats: int) -> None:
    inputs, effects = play(game, seats, Random(seats))
    again = Match(game, seats, {}, SeededDecks(match_key(bytes(32), [bytes(16)] * seats)), Policy(1000, 20_000))
    assert [effect for event in inputs for effect in again.receive(event)] == effects
    reports = [effect.report for effect in effects if isinstance(effect, Show)]
    over = effects[-1]
    assert isinstance(over, Over)
    assert [report.round for report in reports] == list(range(len(reports)))
    assert reports[-1].scores == over.scores
    for one in range(seats):
        for other in range(seats):
            if not (over.troubled[one] or over.troubled[other]):
                assert (over.places[one] < over.places[other]) == (over.scores[one] > over.scores[other])
