"""A local game equals a game on a server, and a bot cannot tell the difference."""

import json
from pathlib import Path

import pytest

from arena.house import HOUSE_BOTS
from arena.house.selfplay import baseline
from arena.local.errors import BotFailed
from arena.local.play.players import load
from arena.local.play.table import play_game
from engine.registry import GAMES
from tests.games import THOUGHT_ABOUT
from tests.local.bots import CHANCE, FIRST, written

KEY = bytes(range(32))


@pytest.mark.parametrize("game", THOUGHT_ABOUT)
@pytest.mark.parametrize("seats", [2, 4])
def test_house_bots_play_as_in_a_baseline(game: str, seats: int) -> None:
    """The house bot counter uses no random numbers, so the same deals always have the same outcome."""
    bot = next(bot for bot in HOUSE_BOTS[game] if bot.name == "house-counter")
    played = play_game(GAMES[game], {}, KEY, [load("house:counter", GAMES[game]) for _ in range(seats)], 1)
    assert played.scores == baseline(GAMES[game], seats, {}, KEY, None, 1, bot)
    assert sorted(zip(played.places, played.scores, strict=True), key=lambda pair: -pair[1]) == sorted(
        zip(played.places, played.scores, strict=True)
    )
    assert min(played.decisions) > 0


def test_chance_comes_from_the_deals(tmp_path: Path) -> None:
    game, spec = GAMES["nullern"], written(tmp_path, CHANCE)
    players = [load(each, game) for each in (spec, "house:random", "house:random")]
    one, same = (play_game(game, {}, KEY, players, number) for number in (1, 2))
    assert (one.scores, one.decisions) == (same.scores, same.decisions)
    assert play_game(game, {}, KEY[::-1], players, 3).scores != one.scores


def test_a_bot_may_decide_in_an_async_function(tmp_path: Path) -> None:
    """Both games equal those of the same bot written as a plain function."""
    text = "import asyncio\n" + FIRST.replace("def decide", "async def decide").replace(
        "return ", "await asyncio.sleep(0)\n        return "
    )
    for name, game in GAMES.items():
        plain, awaited = (
            play_game(game, {}, KEY, [load(spec, game), load("house:random", game)], 1)
            for spec in (written(tmp_path / "a"), written(tmp_path / "b", text))
        )
        assert plain.scores == awaited.scores, name


def test_a_bot_is_told_what_a_server_tells(tmp_path: Path) -> None:
    text = (
        CHANCE
        + """
    told = []

    def decide(self, decision):
        self.told.append(["decide", decision.match_id, decision.game.name])
        return decision.legal[-1]

    def on_match_start(self, start):
        self.told.append(["start", start.match_id, start.seat, list(start.bots)])

    def on_round(self, report):
        self.told.append(["round", report.match_id])

    def on_match_end(self, report):
        self.told.append(["end", report.match_id, report.seat, list(report.scores), list(report.places)])
"""
    )
    game = GAMES["sixth_sense"]
    player = load(written(tmp_path, text), game)
    played = play_game(game, {}, KEY, [load("house:random", game), player, load("house:random", game)], 7)
    told = player._caller._bot.told  # type: ignore[attr-defined]
    kinds = [each[0] for each in told]
    assert told[0] == ["start", 7, 1, ["house-random", "Chance", "house-random"]]
    assert told[-1] == ["end", 7, 1, list(played.scores), list(played.places)]
    assert kinds.count("decide") == played.decisions[1]
    assert kinds.count("round") > 1
    assert all(each == ["decide", 7, "sixth_sense"] for each in told if each[0] == "decide")
    json.dumps(told)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("-1", "answer 1 of 1 is -1, which is not legal here"),
        ("None", "answer 1 of 1 is None: an answer is an action"),
    ],
)
def test_a_bot_that_fails_is_named_with_its_own_traceback(tmp_path: Path, answer: str, said: str) -> None:
    game = GAMES["nullern"]
    players = [
        load(each, game) for each in ("house:random", written(tmp_path, FIRST.replace("decision.legal[0]", answer)))
    ]
    with pytest.raises(BotFailed) as failed:
        play_game(game, {}, KEY, players, 1)
    text = str(failed.value)
    assert text.startswith("First failed in seat 1 of nullern, round 1:\n")
    assert said in text
    assert ("bot.py" in text) is (answer == "1 / 0")
    assert "arena/local" not in text
    assert "caller.py" not in text


def test_options_are_the_games(tmp_path: Path) -> None:
    game = GAMES["sixth_sense"]
    players = [load("house:counter", game) for _ in range(2)]
    plain = play_game(game, {}, KEY, players, 1)
    assert plain != play_game(game, {"novice": True}, KEY, players, 1)
