"""A game without its own field in the protocol: the messages that its bots get, and the messages that the SDK
refuses.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from arena_client import BadAnswerError, Bot, Decision, NullernRound, ProtocolMismatchError, RoundReport, read_decisions
from arena_client.descriptors import pool_of, unpacked
from arena_client.pipe import PipeBot
from arena_client.session import Progress
from arena_client.v1 import play_pb2
from client_tests.corpus import CONFORMANCE
from client_tests.peer import Peer, Playing, Talk, reports, starts
from client_tests.test_client_session import Conversation, answers
from google.protobuf.json_format import MessageToJson, ParseDict

STEPS = json.loads((CONFORMANCE / "conversations" / "other_games.json").read_text("utf-8"))[0]["steps"]
"""The conversation about a game whose messages this package does not contain."""
WELCOME = ParseDict(
    next(step["server"] for step in STEPS if "welcome" in step.get("server", ())), play_pb2.PlayResponse()
)
ASKED, SHOWN = (play_pb2.PlayResponse.FromString(base64.b64decode(step["bytes"])) for step in STEPS if "bytes" in step)


class Seer(Bot):
    games = ("coin",)

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Decision] = []
        self.records: list[Any] = []

    def decide(self, decision: Decision) -> int:
        self.asked.append(decision)
        return decision.legal[-1]

    def on_round(self, report: RoundReport) -> None:
        self.records.append(self.record(report))


def conversation(bot: Bot, greeting: play_pb2.PlayResponse = WELCOME) -> Conversation:
    return Conversation(bot, Progress(), greeting.welcome)


def test_its_bot_gets_catalogue_legal_actions_and_the_view_packed_and_read() -> None:
    talk = conversation(bot := Seer())
    assert answers(talk.react(ASKED)) == [[(1, 1, 1)]]
    [decision] = bot.asked
    assert (decision.game.name, [each.name for each in decision.actions]) == ("coin", ["heads", "tails"])
    view: Any = decision.view
    assert (view.DESCRIPTOR.full_name, view.seat, view.seats, view.round, list(view.tosses)) == (
        "coin.v1.View", 1, 2, 1, [1],
    )  # fmt: skip
    assert decision.other == ASKED.decisions[0].other
    assert decision.hand == []


def test_its_rounds_are_read_as_those_of_any_game() -> None:
    talk = conversation(bot := Seer())
    assert not list(talk.react(SHOWN))
    own = play_pb2.RoundReport(nullern=NullernRound(turned=1))
    bot.on_round(own)
    assert [list(bot.records[0].tosses), bot.records[1]] == [[1, 1], own.nullern]


def test_two_connections_read_it_as_the_same_class() -> None:
    views = []
    for _ in range(2):
        talk = conversation(bot := Seer())
        assert list(talk.react(ASKED))
        views.append(type(bot.asked[0].view))
    assert views[0] is views[1]


def test_an_error_in_its_bot_shows_the_view() -> None:
    class Fails(Seer):
        def decide(self, decision: Decision) -> int:
            return 9

    with pytest.raises(BadAnswerError) as caught:
        list(conversation(Fails()).react(ASKED))
    assert caught.value.__notes__ == [
        "in match 1 of coin, round 2, decision 1; legal: [0, 1]; view: seat: 1 seats: 2 round: 1 tosses: 1"
    ]


def test_its_decisions_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    pool = pool_of(WELCOME.welcome.games)
    lines = [MessageToJson(each, indent=None, descriptor_pool=pool) for each in (WELCOME, ASKED)]
    file.write_text("".join(f"{line}\n" for line in lines))
    [decision] = read_decisions(file)
    assert (decision.game.name, decision.view.seat) == ("coin", 1)


def altered(descriptors: bytes) -> play_pb2.PlayResponse:
    message = play_pb2.PlayResponse()
    message.CopyFrom(WELCOME)
    message.welcome.games[0].descriptors = descriptors
    return message


@pytest.mark.parametrize(
    ("descriptors", "text"),
    [
        (b"\xff", "the server describes a game's messages wrongly: "),
        (b"\x0a\x01\x0a", "the server describes a game's messages wrongly: "),
        (b"\x0a\x09\x0a\x01a\x1a\x04none", "the server describes a game's messages wrongly: "),
        (b"", "a message coin.v1.View cannot be read: "),
    ],
)
def test_a_catalogue_that_does_not_describe_its_view_is_reported(descriptors: bytes, text: str) -> None:
    with pytest.raises(ProtocolMismatchError) as caught:
        list(conversation(Seer(), altered(descriptors)).react(ASKED))
    assert str(caught.value).startswith(text)


def test_a_record_that_no_catalogue_describes_is_reported() -> None:
    bot = Seer()
    conversation(bot)
    report = play_pb2.RoundReport(match_id=1)
    with pytest.raises(ProtocolMismatchError, match="a message without a type cannot be read"):
        bot.record(report)
    report.other.type_url = "type.googleapis.com/coin.v1.Record"
    report.other.value = b"\xff"
    with pytest.raises(ProtocolMismatchError, match=r"a message coin\.v1\.Record cannot be read"):
        bot.record(report)


def test_a_pool_has_the_messages_of_all_catalogues_of_a_welcome() -> None:
    both = pool_of([*WELCOME.welcome.games, *WELCOME.welcome.games])
    assert unpacked(SHOWN.rounds[0].other, both).DESCRIPTOR.full_name == "coin.v1.Record"


PROGRAM = """
import json, sys
seen = open(sys.argv[1], "w")
for line in sys.stdin:
    print(line, end="", file=seen, flush=True)
    answers = [{"matchId": e["matchId"], "decisionId": e["decisionId"]} for e in json.loads(line).get("decisions", ())]
    if answers:
        print(json.dumps({"answers": answers}), flush=True)
"""


@pytest.mark.process
def test_a_program_behind_pipe_is_sent_what_a_view_and_a_record_say(tmp_path: Path) -> None:
    unknown = play_pb2.RoundReport(match_id=1, round=2)
    unknown.other.type_url = "type.googleapis.com/coin.v1.Later"

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert list(talk.next().hello.games) == ["coin"]
        yield WELCOME
        yield starts(1)
        yield ASKED
        assert talk.next().answers[0].action == 0
        yield SHOWN
        yield play_pb2.PlayResponse(rounds=[unknown])
        yield reports(1)
        talk.wait_for_goodbye()

    bot = PipeBot([sys.executable, "-c", PROGRAM, str(tmp_path / "seen")])
    bot.games = ("coin",)
    try:
        with Peer([script]) as peer:
            Playing(bot, peer.address, tmp_path / "token", matches=1).result()
    finally:
        bot.end()
    lines = [*map(json.loads, (tmp_path / "seen").read_text().splitlines())]
    assert [[*line] for line in lines] == [["starts"], ["welcome"], ["decisions"], ["rounds"], ["rounds"], ["reports"]]
    [game] = lines[1]["welcome"]["games"]
    assert (game["name"], game["viewType"], game["recordType"]) == ("coin", "coin.v1.View", "coin.v1.Record")
    view = {"@type": "type.googleapis.com/coin.v1.View", "seat": 1, "seats": 2, "round": 1, "tosses": [1]}
    assert lines[2]["decisions"][0]["other"] == view
    assert lines[3]["rounds"][0]["other"] == {"@type": "type.googleapis.com/coin.v1.Record", "tosses": [1, 1]}
    assert "other" not in lines[4]["rounds"][0], "a record that nothing describes is left out"
