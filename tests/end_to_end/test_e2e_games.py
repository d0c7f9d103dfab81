"""One server plays several games: each at its own tables, on its own ladder, with replays that anybody can check."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arena_client.v1.matches_pb2 import MATCH_STATE_FINISHED

from engine.registry import GAMES
from tests.end_to_end.e2e_rig import ARENA, PATIENCE, Crowd, RawBot, audit, listed, server

TABLES = [word for name, game in GAMES.items() for size in game.seats for word in ("--seats", f"{name}:{size}")]


def said(*words: object) -> str:
    """What a command prints when all is well."""
    command = [str(ARENA), *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout


def documented(*words: object) -> Any:
    return json.loads(said(*words, "--json"))


def told_of(bot: RawBot, matches: int) -> Callable[[], bool]:
    """Return whether a bot got the results of a given number of matches."""
    return lambda: len(bot.reports) >= matches


def test_every_game_is_played_at_every_table_rated_recorded_and_verified(tmp_path: Path) -> None:
    missing = {(name, size) for name, game in GAMES.items() for size in game.seats}
    largest = {(name, game.seats[-1]): 0 for name, game in GAMES.items()}
    house = ("--house", "--patience", "0.1")
    with server(tmp_path / "data", "--quiet", *house, *TABLES) as arena, Crowd(arena.address) as crowd:
        ann, bob = (crowd.come(name, capacity=4, games=tuple(GAMES), patience=600.0) for name in ("ann", "bob"))
        bob.play_in_background()
        while missing:
            ann.play_until(told_of(ann, len(ann.reports) + 1))
            for match in listed(arena.address, bot="ann", limit=20):
                table = (match.game, len(match.seats))
                if match.state == MATCH_STATE_FINISHED:
                    missing.discard(table)
                    if table in largest:
                        largest[table] = match.match_id
        assert not ann.notices
        assert {invitation.game for invitation in ann.invitations} == set(GAMES)
        for (name, size), match_id in largest.items():
            file = tmp_path / f"{name}.jsonl.gz"
            said("replay", "export", match_id, "--output", file, "--server", arena.address)
            verdict = documented("replay", "verify", file)
            assert (verdict["verified"], verdict["match"], len(verdict["places"])) == (True, match_id, size)
            assert GAMES[name].title in said("replay", "show", file)
        with pytest.raises(subprocess.CalledProcessError):
            said("ladder", "--game", "chess", "--server", arena.address)
        ladders = documented("ladder", "--server", arena.address)["ladders"]
    assert [ladder["game"] for ladder in ladders] == list(GAMES)
    audit(arena.data)
    place = ("--data", arena.data)
    every = documented("matches", "--limit", 1000, *place)["matches"]
    for name in GAMES:
        own = documented("matches", "--game", name, "--limit", 1000, *place)["matches"]
        assert own == [match for match in every if match["game"] == name]
        [ladder] = documented("ladder", "--game", name, *place)["ladders"]
        finished = [{seat["bot"] for seat in match["seats"]} for match in own if match["state"] == "finished"]
        assert {row["bot"] for row in ladder["standings"]} == set.union(*finished)
        for row in ladder["standings"]:
            assert row["matches"] == sum(row["bot"] in bots for bots in finished), "other games do not count"


def test_a_server_offers_what_it_was_told_and_says_so(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--quiet", "--game", "nullern", "--seats", "7", seats="2") as arena:
        assert [ladder["game"] for ladder in documented("ladder", "--server", arena.address)["ladders"]] == ["nullern"]
        with Crowd(arena.address) as crowd:
            ended = crowd.come("ann").last_word()
            assert ended.text == "this server plays nullern; the bot asked for sixth_sense"


def test_matches_of_several_games_are_listed_with_their_game(tmp_path: Path) -> None:
    with (
        server(tmp_path / "data", "--quiet", "--house", "--patience", "0.1") as arena,
        Crowd(arena.address) as crowd,
    ):
        for name in GAMES:
            bot = crowd.come(f"bot-{name.replace('_', '-')}", games=(name,))
            bot.play_until(told_of(bot, 1))
            bot.close()
        table = said("matches", "--server", arena.address)
        assert "Game" in table
        assert all(name in table for name in GAMES)
        assert "Game" not in said("matches", "--game", "nullern", "--server", arena.address)
