"""Every registered game, played to its end in a match by bots that sometimes make every kind of mistake."""

import pytest

from arena.match.effects import Over, Show
from engine.game import Game
from engine.registry import GAMES
from tests.replay.recorded import play


@pytest.mark.parametrize(
    ("game", "seats"),
    [pytest.param(game, seats, id=f"{game.name}-{seats}") for game in GAMES.values() for seats in game.seats],
)
def test_match_of_a_real_game_ends_and_its_inputs_alone_play_it_again(game: Game, seats: int) -> None:
    header, entries = play(seats, game=game, chance=seats, stays_away=True)
    effects = [effect for _, effects in entries for effect in effects]
    again = header.new_match()
    assert [effect for event, _ in entries for effect in again.receive(event)] == effects
    reports = [effect.report for effect in effects if isinstance(effect, Show)]
    over = effects[-1]
    assert isinstance(over, Over)
    assert [report.round for report in reports] == list(range(len(reports)))
    assert reports[-1].scores == over.scores
    for one in range(seats):
        for other in range(seats):
            if not (over.troubled[one] or over.troubled[other]):
                assert (over.places[one] < over.places[other]) == (over.scores[one] > over.scores[other])
