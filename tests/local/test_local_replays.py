"""Every game of a match has a replay that anyone can check."""

from pathlib import Path

import pytest

from arena.analysis.verdict import verified
from arena.local.errors import LocalMatchError
from arena.local.match.design import Design
from arena.local.match.play_set import play_set
from arena.local.match.replays import set_replays, write_replays
from arena.local.match.runner import versions
from arena.local.match.sets import PlayedSet, SetsFile, Subject
from arena.replay.read import read
from tests.games import THOUGHT_ABOUT
from tests.local.bots import CHANCE, written


def subject(game: str, seats: int, design: Design, *bots: str) -> Subject:
    return Subject(game, {}, seats, design, 3, bots, versions(game, bots))


@pytest.mark.parametrize("design", Design)
@pytest.mark.parametrize("game", THOUGHT_ABOUT)
@pytest.mark.thorough
def test_replays_say_what_was_played(game: str, design: Design, tmp_path: Path) -> None:
    bots = (written(tmp_path, CHANCE), "house:random", "house:counter", "house:careful")
    of = subject(game, 3, design, *bots[: 3 if design is Design.ONE_TABLE else 4])
    for number in range(2):
        played = play_set(of, number)
        found = set_replays(of, played)
        assert [*found] == [2 * number + 1, 2 * number + 2]
        for content, (seated, result) in zip(found.values(), played.games, strict=True):
            replay = read(content)
            assert verified(replay).verified
            assert replay.header.dealt_by == "match runner"
            assert [bot.name for bot in replay.header.bots] == [of.bots[bot] for bot in seated]
            assert (replay.result.scores, replay.result.places) == (result.scores, result.places)
            assert not any(replay.result.forced)


def test_replays_follow_from_the_file_of_sets(tmp_path: Path) -> None:
    of = subject("nullern", 2, Design.ONE_TABLE, "house:random", "house:careful")
    file = SetsFile(tmp_path / "sets", of)
    file.add(play_set(of, 4))
    file.close()
    [again] = SetsFile(tmp_path / "sets", of).found.values()
    assert set_replays(of, again) == set_replays(of, play_set_at(of, 4, again.games[0].played.began, again))
    write_replays(of, again, tmp_path / "games")
    write_replays(of, again, tmp_path / "games")
    assert sorted(path.name for path in (tmp_path / "games").iterdir()) == ["match-10.jsonl.gz", "match-9.jsonl.gz"]


def play_set_at(of: Subject, number: int, began: int, like: PlayedSet) -> PlayedSet:
    """Play the deal pair again with the same recorded times."""
    played = play_set(of, number)
    assert began
    games = [
        game._replace(played=game.played._replace(began=before.played.began))
        for game, before in zip(played.games, like.games, strict=True)
    ]
    return PlayedSet(number, tuple(games))


def test_a_folder_with_replays_of_another_match_is_refused(tmp_path: Path) -> None:
    one = subject("nullern", 2, Design.ONE_TABLE, "house:random", "house:careful")
    other = subject("nullern", 2, Design.ONE_TABLE, "house:careful", "house:random")
    write_replays(one, play_set(one, 0), tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(LocalMatchError, match=r"match-1\.jsonl\.gz is the replay of another match"):
        write_replays(other, play_set(other, 0), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_games_whose_choices_were_not_kept_have_none() -> None:
    of = subject("nullern", 2, Design.ONE_TABLE, "house:random", "house:careful")
    played = play_set(of, 0)
    without = tuple(game._replace(played=game.played._replace(actions=())) for game in played.games)
    with pytest.raises(LocalMatchError, match="match 1 has no replay: its choices were not kept"):
        set_replays(of, PlayedSet(0, without))
