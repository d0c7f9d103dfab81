"""Several ladders of one game on a real server. Bots choose a ladder, and results count on that ladder."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from arena_client.v1 import bots_pb2, bots_pb2_grpc, matches_pb2
from sqlalchemy import select

from arena.replay.replay import Replay
from arena.store import schema
from arena.store.opening import open_readonly
from tests.end_to_end.e2e_rig import PATIENCE, Server, audit, channel_to, failing_server, listed, program, server

GAME = "sixth_sense"
NOVICES = f'[[ladders]]\nname = "novices"\ngame = "{GAME}"\noptions = {{ novice = true }}\n'
SLOW = f'[[ladders]]\nname = "slow"\ngame = "{GAME}"\npolicy = {{ soft_limit = 8 }}\n'
LADDERS = {GAME: ("ann", "bob"), "novices": ("cleo", "dora"), "slow": ("eve", "fred")}
"""The bots of each ladder."""


def play(arena: Server, home: Path, matches: int) -> None:
    """Let two sample bots play on each of three ladders: the default one, one named by the environment, one named by an
    option.
    """
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


def config(folder: Path, *ladders: str) -> tuple[str, ...]:
    """Options that name a file with these ladders."""
    file = folder / "arena.toml"
    file.write_text("\n".join(ladders))
    return "--config", str(file)


def check(replay: Replay, ladder: str) -> None:
    """Check that a match had the settings of its ladder."""
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


# --- bots that think for long ---

THINKING = f"""
park_after = 1
[[ladders]]
name = "slow"
game = "{GAME}"
house = true
options = {{ novice = true, target = 1 }}
policy = {{ soft_limit = 8 }}
"""
"""A ladder with short matches. One match with faults is enough to park a bot."""
SECONDS = {"ann": 3.0, "bob": 4.0, "cleo": 5.0, "dora": 6.0, "eve": 6.0}
"""Seconds per decision of each bot. Above 5.3 s a bot is slow even on this clock, and first meets other slow bots."""
THINKER = """
import time
from arena_client.command import main
from arena_client.samples.counter_bot import CounterBot

class Thinker(CounterBot):
    def decide(self, decision):
        time.sleep(SECONDS)
        return super().decide(decision)

main(Thinker, None)
"""
LONG_ENOUGH = 900.0


@pytest.mark.long
def test_slow_bots_of_a_slow_ladder_meet_and_are_never_forced(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data, *config(tmp_path, THINKING)) as arena, ExitStack() as stack:
        for name, seconds in SECONDS.items():
            script = THINKER.replace("SECONDS", str(seconds))
            own = ("--server", arena.address, "--name", name, "--token-file", str(tmp_path / name), "--capacity", "1")
            stack.enter_context(program("-c", script, *own, "--game", GAME, "--ladder", "slow", listened_to=False))

        end = time.monotonic() + LONG_ENOUGH
        while met(arena.address) != {*SECONDS}:
            assert time.monotonic() < end, listed(arena.address)
            time.sleep(1)
        with channel_to(arena.address) as channel:
            known = bots_pb2_grpc.BotServiceStub(channel).ListBots(bots_pb2.ListBotsRequest(), timeout=PATIENCE).bots
        assert [bot for bot in known if bot.parked] == []
    finished = audit(data).finished
    assert [seat for match in finished for seat in match.seats if seat.forced] == []


def met(address: str) -> set[str]:
    """The bots that have finished a match without house bots."""
    state = matches_pb2.MatchState.MATCH_STATE_FINISHED
    tables = [{seat.bot for seat in match.seats} for match in listed(address, state=state, ladder="slow")]
    return {name for table in tables if table <= {*SECONDS} for name in table}
