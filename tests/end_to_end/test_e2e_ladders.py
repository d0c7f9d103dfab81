"""Several ladders of one game in a real server: bots name them, results count where they were played."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import select

from arena.replay.replay import Replay
from arena.store import schema
from arena.store.opening import open_readonly
from tests.end_to_end.e2e_rig import PATIENCE, Server, audit, failing_server, program, server

GAME = "sixth_sense"
NOVICES = f'[[ladders]]\nname = "novices"\ngame = "{GAME}"\noptions = {{ novice = true }}\n'
SLOW = f'[[ladders]]\nname = "slow"\ngame = "{GAME}"\npolicy = {{ soft_limit = 8 }}\n'
LADDERS = {GAME: ("ann", "bob"), "novices": ("cleo", "dora"), "slow": ("eve", "fred")}
"""The bots that play on each ladder."""


def play(arena: Server, home: Path, matches: int) -> None:
    """Let two sample bots play on each ladder: the default one, one from the environment, one from an option."""
    with ExitStack() as stack:
        bots = []
        for ladder, names in LADDERS.items():
            options = ("--ladder", ladder) if ladder == "slow" else ()
            for name in names:
                command = ("-m", "arena_client.samples.random_bot", "--server", arena.address, "--name", name)
                own = ("--token-file", str(home / f"{name}.token"), "--matches", str(matches), "--game", GAME)
                variable = ladder if ladder == "novices" else ""
                bots.append(stack.enter_context(program(*command, *own, *options, ARENA_LADDERS=variable)))
        for bot in bots:
            words, _ = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 0, words


def config(folder: Path, *ladders: str) -> tuple[str, str]:
    """The option for a file with these ladders."""
    file = folder / "arena.toml"
    file.write_text("\n".join(ladders))
    return "--config", str(file)


def check(replay: Replay, ladder: str) -> None:
    """Check that a match had the terms of its ladder."""
    header = replay.header
    assert {bot.name for bot in header.bots} == {*LADDERS[ladder]}
    assert header.options["novice"] == (ladder == "novices")
    assert header.policy.soft_limit == (8_000_000 if ladder == "slow" else 1_000_000)
    assert header.ladder_id == ladder


@pytest.mark.parametrize("matches", [1, pytest.param(150, marks=pytest.mark.long)])
def test_bots_play_on_the_ladders_that_they_name(matches: int, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data, *config(tmp_path, NOVICES, SLOW)) as arena:
        assert f"plays {GAME}, nullern, the ladder novices, the ladder slow" in arena.said
        play(arena, tmp_path, matches)
    audited = audit(data)
    assert len(audited.finished) >= 3 * matches
    with open_readonly(data) as connection:
        stored = schema.matches.c
        ladders = {row.id: row.ladder for row in connection.execute(select(stored.id, stored.ladder))}
        results = connection.execute(select(schema.rated_results.c.match_id, schema.rated_results.c.ladder)).all()
        rated = select(schema.ratings.c.ladder, schema.bots.c.name).join_from(schema.ratings, schema.versions)
        names = connection.execute(rated.join(schema.bots).where(schema.ratings.c.matches > 0)).all()
    for match_id, replay in audited.replays.items():
        check(replay, ladders[match_id])
    assert {(row.match_id, row.ladder) for row in results} == {*ladders.items()}
    assert sorted(map(tuple, names)) == sorted((ladder, name) for ladder, pair in LADDERS.items() for name in pair)

    status, said = failing_server("--data", str(data), *config(tmp_path, SLOW.replace(GAME, "nullern")))
    assert status == 1
    assert f"the ladder slow is of nullern in the settings, but its matches in {data} are of {GAME}; give the" in said
    gone = json.loads(said.splitlines()[0])
    assert gone["event"] == "a ladder is no longer in the settings; its results stay"
    assert (gone["ladder"], gone["game"], gone["level"]) == ("novices", GAME, "warning")
    with open_readonly(data) as connection:
        assert len(connection.execute(select(schema.rated_results.c.match_id)).all()) == len(results)
