"""Real servers and real bots. Matches are played, recorded and rated, and anybody can verify them."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import (
    IMPATIENT,
    PATIENCE,
    Crowd,
    Server,
    audit,
    listed,
    program,
    register,
    server,
    until,
    why,
)


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that several tests share."""
    with server(tmp_path_factory.mktemp("quiet") / "data", "--quiet", "--drain", "0") as arena:
        yield arena


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("busy", [True, False], ids=["while it computes", "while it waits"])
def test_a_bot_on_the_sdk_that_is_stopped_leaves_its_matches_in_order(
    quiet: Server, busy: bool, stop: signal.Signals
) -> None:
    name = f"stopped-{stop.name}-{busy}"
    with Crowd(quiet.address) as crowd:
        ann, token = crowd.come(f"ann-{name}"), register(quiet.address, name)
        command = ("tests/end_to_end/stuck_bot.py", quiet.address, token, "play" if busy else "nothing")
        with program(*command, ARENA_DRAIN="0") as stopped:
            if busy:
                ann.play_in_background()
                assert stopped.stdout is not None
                assert stopped.stdout.readline() == "stuck\n"
            else:
                ann.read_until(lambda: ann.decisions)
                time.sleep(0.5)  # the bot has made its prediction, and waits
                ann.play_in_background()
            stopped.send_signal(stop)
            assert stopped.wait(PATIENCE) == 0
            until(lambda: len(ann.notices) >= 2, "the table to be told")
            until(lambda: ann.reports, "the end of the match")
        assert set(why(quiet.address, ann.reports[0].match_id, name)["troubles"]) == {"bot"}
        assert [notice.kind for notice in ann.notices][:2] == [9, 10], "gone, then substituted"
        assert ann.notices[0].return_ms == 0, "nobody waits for it"


def test_a_friend_that_vanishes_is_no_veto(tmp_path: Path) -> None:
    """The bot that left loses to both others. Their results against each other count as if it had not played."""
    with server(tmp_path / "data", "--quiet", program=IMPATIENT, seats="3") as arena, Crowd(arena.address) as crowd:
        ann, bob = (crowd.come(name).play_in_background() for name in ("ann", "bob"))
        friend = crowd.come("friend")
        friend.read_until(lambda: friend.decisions)
        friend.close()
        until(lambda: ann.reports and bob.reports, "the end of the match")
        (match,) = audit(arena.data).finished
        seats = {seat.bot: seat for seat in match.seats}
        assert {name for name, seat in seats.items() if seat.spoilt} == {"friend"}
        [report] = ann.reports
        assert [*report.counts] == [True] * 3
        assert [*report.spoilt] == [seat.bot == "friend" for seat in match.seats]
        gained = {name: (seat.rating_after or 0) - (seat.rating_before or 0) for name, seat in seats.items()}
        assert gained["ann"] == pytest.approx(-gained["bob"])
        assert gained["friend"] < -abs(gained["ann"])
        assert (gained["ann"] != 0) == (seats["ann"].place != seats["bob"].place)
        words = shown("why", match.match_id, "--server", arena.address)
        assert words.count("a loss to all others, whose ratings do not move by it") == 1


def test_one_stream_carries_two_hundred_matches_at_once(tmp_path: Path) -> None:
    many = 200
    with server(tmp_path / "data", "--quiet", "--drain", "0") as arena, Crowd(arena.address) as crowd:
        ann, bob = crowd.come("ann", capacity=many), crowd.come("bob", capacity=many)
        bob.play_in_background()
        ann.play_until(lambda: ann.matches)
        before = arena.memory()
        ann.play_until(lambda: len(ann.matches) >= many)
        assert len(ann.reports) < many // 2, "most are being played at the same time"
        assert arena.memory() - before < 100 << 20
        assert len({match.match_id for match in listed(arena.address, limit=1000)}) >= many


@pytest.mark.long
def test_two_hundred_matches_at_once_to_the_end_with_flat_memory(tmp_path: Path) -> None:
    many = 200
    with server(tmp_path / "data", "--quiet", "--drain", "0") as arena, Crowd(arena.address) as crowd:
        ann = crowd.come("ann", capacity=many, patience=600.0)
        crowd.come("bob", capacity=many, patience=600.0).play_in_background()
        ann.play_until(lambda: len(ann.reports) >= many)
        after_first = arena.memory()
        ann.play_until(lambda: len(ann.reports) >= 3 * many)
        assert arena.memory() - after_first < 60 << 20
        assert len(audit(arena.data).finished) >= 3 * many
