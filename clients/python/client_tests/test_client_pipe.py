"""Messages that reach a command while it decides."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from arena_client.pipe import PipeBot, main
from arena_client.v1 import play_pb2, sixth_sense_pb2
from client_tests.peer import Peer, Playing, Script, Talk, asks, begun, invites, reports, starts, welcome
from google.protobuf.json_format import ParseDict

COMMAND = """
import json, sys
seen = open(sys.argv[1], "w")
waits = []
for line in sys.stdin:
    message = json.loads(line)
    print(sorted(message), file=seen, flush=True)
    waits += message.get("decisions", ())
    if message.get("closed") or len(waits) > 1:
        answers = [{"matchId": e["matchId"], "decisionId": e["decisionId"], "action": 0} for e in waits]
        waits = []
        print(json.dumps({"answers": answers}), flush=True)
"""
"""Program that answers a decision only after it is closed, or when two are open."""


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return tmp_path / "bot.token"


def read_by(program: str, token_file: Path, scripts: list[Script], *, texts: bool = False) -> list[str]:
    """Play a match with a program. Return the lines that the program wrote to `seen`, the file in its argument."""
    seen = token_file.with_name("seen")
    bot = PipeBot([sys.executable, "-c", program, str(seen)], texts=texts)
    try:
        with Peer(scripts) as peer:
            Playing(bot, peer.address, token_file, matches=1).result()
    finally:
        bot.end()
    return seen.read_text().splitlines()


@pytest.mark.process
def test_a_command_learns_at_once_what_is_closed_and_may_answer_it_all_the_same(
    token_file: Path,
) -> None:
    answered: list[tuple[int, int]] = []
    seen = token_file.with_name("seen")

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1))
        while not seen.exists() or "decisions" not in seen.read_text():
            time.sleep(0.01)
        yield play_pb2.PlayResponse(closed=[play_pb2.ClosedDecision(match_id=1, decision_id=1)])
        yield asks((1, 2), (1, 3))
        while len(answered) < 2:
            answered.extend((each.decision_id, each.action) for each in talk.next().answers)
        yield reports(1)
        talk.wait_for_goodbye()

    written = read_by(COMMAND, token_file, [script])
    assert answered == [(2, 0), (3, 0)], "the answer to the closed decision is passed over"
    keys = [["starts"], ["welcome"], ["decisions"], ["closed"], ["decisions"], ["reports"]]
    assert [json.loads(line.replace("'", '"')) for line in written] == keys


ANSWERS = """
import json, sys
seen = open(sys.argv[1], "w")
for line in sys.stdin:
    seen.write(line)
    seen.flush()
    for each in json.loads(line).get("decisions", ()):
        answer = {"matchId": each["matchId"], "decisionId": each["decisionId"], "action": 0}
        print(json.dumps({"answers": [answer]}), flush=True)
"""
COPIES = "import sys; seen = open(sys.argv[1], 'w')\nfor line in sys.stdin: seen.write(line); seen.flush()"


@pytest.mark.process
def test_a_command_reads_a_value_that_the_sdk_does_not_know_as_its_number(token_file: Path) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        notice = ParseDict({"kind": 99, "matchId": "1", "text": "new", "lateMs": 7}, play_pb2.Notice())
        yield play_pb2.PlayResponse(notices=[notice])
        report = {"matchId": "1", "seat": 1, "kind": 77, "interrupted": "new", "interruption": 78}
        yield play_pb2.PlayResponse(reports=[ParseDict(report, play_pb2.MatchReport())])
        yield invites(2)
        talk.next()
        yield starts(2)
        yield reports(2)
        talk.wait_for_goodbye()

    written = read_by(COPIES, token_file, [script])
    lines = [json.loads(line) for line in written]
    [notice] = next(line["notices"] for line in lines if "notices" in line)
    [report] = next(line["reports"] for line in lines if "reports" in line)
    assert (notice["kind"], notice["text"], notice["lateMs"]) == (99, "new", 7)
    assert (report["kind"], report["interrupted"], report["interruption"]) == (77, "new", 78)


@pytest.mark.process
def test_a_command_reads_the_options_of_its_matches_and_the_limits_again_when_they_change(
    token_file: Path,
) -> None:
    def script(soft_limit_ms: int, number: int) -> Script:
        def plays(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
            talk.next()
            first = welcome()
            first.welcome.games[0].options.add(name="target", default_value="0")
            first.welcome.conduct.soft_limit_ms = soft_limit_ms
            first.welcome.ladders.add(name="slow", game="sixth_sense").conduct.soft_limit_ms = 60_000
            first.welcome.ladders.add(name="cards", game="nullern")
            yield first
            if number == 1:
                yield invites(1)
                talk.next()
            beginning = starts(1)
            beginning.starts[0].ladder = "slow"
            yield beginning
            for decision in (1, 2):
                yield asks((1, 2 * number + decision))
                talk.next()
            if number == 3:
                yield reports(1)
                talk.wait_for_goodbye()

        return plays

    written = read_by(ANSWERS, token_file, [script(500, 1), script(500, 2), script(700, 3)])
    welcomes = [json.loads(line)["welcome"] for line in written if '"welcome"' in line]
    assert [each["conduct"]["softLimitMs"] for each in welcomes] == [500, 700]
    assert [each["games"][0]["options"][0]["name"] for each in welcomes] == ["target", "target"]
    limits = [{ladder["name"]: ladder["conduct"]["softLimitMs"] for ladder in each["ladders"]} for each in welcomes]
    assert limits == [{"slow": 60_000}] * 2, "those of the game only"
    assert [json.loads(line)["starts"][0]["ladder"] for line in written if '"starts"' in line] == ["slow"] * 3


@pytest.mark.process
def test_a_command_may_read_what_its_seat_sees_as_text(token_file: Path) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1), legal=(0, 2))
        talk.next()
        record = sixth_sense_pb2.SixthSenseRound(
            predictions=[3, 4], plays=[0, 1], leaders=[1], takers=[0], worths=[1], taken=[1, 0]
        )
        yield play_pb2.PlayResponse(
            rounds=[play_pb2.RoundReport(match_id=1, points=[1, -4], scores=[9, 8], sixth_sense=record)]
        )
        yield reports(1)
        talk.wait_for_goodbye()

    written = read_by(ANSWERS, token_file, [script], texts=True)
    lines = [json.loads(line) for line in written]
    [decision] = next(line["decisions"] for line in lines if "decisions" in line)
    assert "You are seat 1." in decision["text"]
    assert decision["text"].endswith("Your legal actions:\n  0: red 0\n  2: red 2")
    [round_over] = next(line["rounds"] for line in lines if "rounds" in line)
    assert "Trick 1: seat 1 leads red 0, seat 0 plays red 1, seat 0 takes it." in round_over["text"]
    assert not [line for line in lines if "text" in line]


def test_texts_need_the_rules(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("arena_client.pipe.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as end:
        main(["--text", "--", "true"])
    assert end.value.code == 2
    assert "--text: the rules of the games are not installed: run pip install ./engine" in capsys.readouterr().err
