"""One server plays several games: each at its own tables and on its own ladder, with replays that anybody can
verify.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from arena_client.v1.matches_pb2 import MATCH_STATE_FINISHED

from engine.registry import GAMES
from tests.cli.cli_rig import arena, shown
from tests.end_to_end.e2e_rig import Crowd, RawBot, audit, listed, server

TABLES = [word for name, game in GAMES.items() for size in game.seats for word in ("--seats", f"{name}:{size}")]


def documented(*words: object) -> Any:
    return json.loads(shown(*words, "--json"))


def told_of(bot: RawBot, matches: int) -> Callable[[], bool]:
    """Return a condition: the bot has received the results of this number of matches."""
    return lambda: len(bot.reports) >= matches


def test_every_game_is_played_at_every_table_rated_recorded_and_verified(tmp_path: Path) -> None:
    missing = {(name, size) for name, game in GAMES.items() for size in game.seats}
    largest = {(name, game.seats[-1]): 0 for name, game in GAMES.items()}
    house = ("--house", "--patience", "0.1", "--house-search", "0", "--luck", "off")
    with server(tmp_path / "data", "--quiet", *house, *TABLES) as running, Crowd(running.address) as crowd:
        ann, bob = (crowd.come(name, capacity=4, games=tuple(GAMES), patience=600.0) for name in ("ann", "bob"))
        bob.play_in_background()
        while missing:
            ann.play_until(told_of(ann, len(ann.reports) + 1))
            for match in listed(running.address, bot="ann", limit=20):
                table = (match.game, len(match.seats))
                if match.state == MATCH_STATE_FINISHED:
                    missing.discard(table)
                    if table in largest:
                        largest[table] = match.match_id
        assert not ann.notices
        assert {invitation.game for invitation in ann.invitations} == set(GAMES)
        for (name, size), match_id in largest.items():
            file = tmp_path / f"{name}.jsonl.gz"
            shown("replay", "export", match_id, "--output", file, "--server", running.address)
            verdict = documented("replay", "verify", file)
            assert (verdict["verified"], verdict["match"], len(verdict["places"])) == (True, match_id, size)
            assert GAMES[name].title in shown("replay", "show", file)
        assert arena("ladder", "--game", "chess", "--server", running.address).exit_code
        ladders = documented("ladder", "--server", running.address)["ladders"]
    assert [ladder["game"] for ladder in ladders] == list(GAMES)
    audit(running.data)
    place = ("--data", running.data)
    assert "Game" in shown("matches", *place)
    assert "Game" not in shown("matches", "--game", "nullern", *place)
    every = documented("matches", "--limit", 1000, *place)["matches"]
    for name in GAMES:
        own = documented("matches", "--game", name, "--limit", 1000, *place)["matches"]
        assert own == [match for match in every if match["game"] == name]
        [ladder] = documented("ladder", "--game", name, *place)["ladders"]
        finished = [{seat["bot"] for seat in match["seats"]} for match in own if match["state"] == "finished"]
        assert {row["bot"] for row in ladder["standings"]} == set.union(*finished)
        for row in ladder["standings"]:
            assert row["matches"] == sum(row["bot"] in bots for bots in finished), "other games do not count"
