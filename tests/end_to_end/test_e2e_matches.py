"""Real servers and real bots: matches are played, recorded, rated, and can be checked by anybody."""

from __future__ import annotations

import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from arena_client.v1 import ladder_pb2, ladder_pb2_grpc

from tests.end_to_end.e2e_rig import (
    ARENA,
    IMPATIENT,
    PATIENCE,
    Crowd,
    audit,
    channel_to,
    listed,
    program,
    register,
    replay_of,
    server,
    until,
    why,
)


def test_sample_bots_play_and_the_ladder_moves(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--quiet") as arena, ExitStack() as stack:
        bots = [
            stack.enter_context(
                program(
                    *("-m", "arena_client.samples.random_bot", "--server", arena.address, "--name", name),
                    *("--token-file", str(tmp_path / f"{name}.token"), "--matches", "3", "--capacity", "3"),
                    *("--game", "sixth_sense"),
                )
            )
            for name in ("ann", "bob")
        ]
        for bot in bots:
            words, _ = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 0, words
            assert "place" in words
        finished = [match for match in listed(arena.address) if match.ended.seconds and not match.reason]
        assert len(finished) == 3
        with channel_to(arena.address) as channel:
            stub = ladder_pb2_grpc.LadderServiceStub(channel)
            ladder = stub.GetLadder(ladder_pb2.GetLadderRequest(game="sixth_sense"), timeout=PATIENCE)
        first, second = ladder.standings
        assert {first.bot, second.bot} == {"ann", "bob"}
        assert first.matches == second.matches == 3
        assert first.rating > 1500 > second.rating or first.rating == second.rating
        assert first.rating + second.rating == pytest.approx(3000)
        downloaded = tmp_path / "match.jsonl.gz"
        downloaded.write_bytes(replay_of(arena.address, finished[0].match_id))
        found = audit(arena.data)
        assert [match.match_id for match in found.finished] == [match.match_id for match in finished]
    assert downloaded.read_bytes().startswith(b"\x1f\x8b")


@pytest.mark.parametrize("kind", ["predict", "play"])
def test_a_bot_killed_in_the_middle_of_a_decision_harms_nobody(tmp_path: Path, kind: str) -> None:
    with server(tmp_path / "data", "--quiet", program=IMPATIENT) as arena, Crowd(arena.address) as crowd:
        ann = crowd.come("ann")
        token = register(arena.address, "stuck")
        with program("tests/end_to_end/stuck_bot.py", arena.address, token, kind) as stuck:
            ann.play_until(lambda: ann.answered)
            ann.play_in_background()
            assert stuck.stdout is not None
            assert stuck.stdout.readline() == "stuck\n"
            stuck.kill()
            assert stuck.wait(PATIENCE) == -9
        until(lambda: ann.reports, "the end of the match")
        report = ann.reports[0]
        assert not report.interrupted
        (match,) = audit(arena.data).finished
        assert [seat.place for seat in match.seats if seat.bot == "stuck"] == [2], "a house bot played for it"
        assert all(seat.forced == 0 for seat in match.seats if seat.bot == "ann")
        assert [notice.kind for notice in ann.notices][:2] == [9, 10], "gone, then substituted"


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("busy", [True, False], ids=["while it computes", "while it waits"])
def test_a_bot_on_the_sdk_that_is_stopped_leaves_its_matches_in_order(
    tmp_path: Path, busy: bool, stop: signal.Signals
) -> None:
    with server(tmp_path / "data", "--quiet") as arena, Crowd(arena.address) as crowd:
        ann, token = crowd.come("ann"), register(arena.address, "stopped")
        command = ("tests/end_to_end/stuck_bot.py", arena.address, token, "play" if busy else "nothing")
        with program(*command, ARENA_DRAIN="0") as stopped:
            if busy:
                ann.play_in_background()
                assert stopped.stdout is not None
                assert stopped.stdout.readline() == "stuck\n"
            else:
                ann.read_until(lambda: ann.decisions)
                time.sleep(0.5)  # it has made its prediction, and waits
                ann.play_in_background()
            stopped.send_signal(stop)
            assert stopped.wait(PATIENCE) == 0
            until(lambda: len(ann.notices) >= 2, "the table to be told")
            until(lambda: ann.reports, "the end of the match")
        assert set(why(arena.address, ann.reports[0].match_id, "stopped")["troubles"]) == {"bot"}
        assert [notice.kind for notice in ann.notices][:2] == [9, 10], "gone, then substituted"
        assert ann.notices[0].return_ms == 0, "nobody waits for it"


def test_a_friend_that_vanishes_is_no_veto(tmp_path: Path) -> None:
    """It loses to both others, who lose and win against each other as if it had never sat there."""
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
        command = [str(ARENA), "why", str(match.match_id), "--server", arena.address]
        shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
        assert shown.count("a loss to all others, whose ratings do not move by it") == 1


def test_a_bot_that_comes_back_gets_its_open_decision_again(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--quiet") as arena, Crowd(arena.address) as crowd:
        ann, bob = crowd.come("ann"), crowd.come("bob")
        ann.play_in_background()
        bob.read_until(lambda: bob.decisions)
        before = bob.decisions[0]
        bob.close()
        back = crowd.come("bob")
        back.read_until(lambda: back.decisions)
        again = back.decisions[0]
        assert (again.match_id, again.decision_id) == (before.match_id, before.decision_id)
        assert again.sixth_sense == before.sixth_sense
        assert again.soft_ms + again.bank_ms < before.soft_ms + before.bank_ms
        back.play_until(lambda: back.reports)
        (match,) = audit(arena.data).finished
        assert [seat.forced for seat in match.seats] == [0, 0]


def test_a_second_connection_takes_over(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--quiet") as arena, Crowd(arena.address) as crowd:
        ann, bob = crowd.come("ann"), crowd.come("bob")
        ann.play_in_background()
        bob.read_until(lambda: bob.decisions)
        newer = crowd.come("bob")
        ended = bob.last_word()
        assert ended.code is grpc.StatusCode.FAILED_PRECONDITION
        assert ended.text == "another connection of bob took over"
        newer.play_until(lambda: newer.reports)
        assert newer.reports[0].scores


def test_late_answers_are_forced_and_told(tmp_path: Path) -> None:
    with server(tmp_path / "data", "--quiet", program=IMPATIENT) as arena, Crowd(arena.address) as crowd:
        ann, bob = crowd.come("ann"), crowd.come("bob")
        ann.play_in_background()
        bob.read_until(lambda: bob.notices)
        forced = bob.notices[0]
        late = bob.decisions[0]
        assert forced.kind == 4
        assert forced.decision_id == late.decision_id
        assert forced.chosen_action in late.legal
        bob.answer(late)
        bob.read_until(lambda: any(notice.kind == 2 for notice in bob.notices))
        stale = next(notice for notice in bob.notices if notice.kind == 2)
        assert stale.late_ms >= 0
        assert "ignored; it was" in stale.text
        bob.decisions = [each for each in bob.decisions if each.decision_id > late.decision_id]
        bob.play_until(lambda: bob.reports)
        match = audit(arena.data).finished[-1]
        assert sum(seat.forced for seat in match.seats if seat.bot == "bob") >= 1


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


def test_the_sdk_speaks_tls_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ("-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert))
    subprocess.run([*make.split(), *names], check=True, capture_output=True)
    tls = ("--tls-cert", str(cert), "--tls-key", str(key))
    with server(tmp_path / "data", "--quiet", *tls, address="localhost:0") as arena, ExitStack() as stack:
        sample = ("-m", "arena_client.samples.random_bot", "--server", arena.address, "--matches", "1")
        bots = [
            stack.enter_context(
                program(*sample, "--name", name, "--token-file", str(tmp_path / name), "--tls-roots", str(cert))
            )
            for name in ("ann", "bob")
        ]
        for bot in bots:
            words, _ = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 0, words
        with program(
            *sample, "--name", "cleo", "--token-file", str(tmp_path / "cleo"), "--give-up-after", "0.1"
        ) as bot:
            words, _ = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 4, "without TLS nobody gets in"
        assert len(audit(arena.data).finished) >= 1
