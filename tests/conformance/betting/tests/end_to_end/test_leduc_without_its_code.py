"""Bots without code for a game play it on a server that has the game. The server sends them its description."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from engine.leduc import LEDUC

from arena.queries.live import RoundRow
from arena.queries.remote import connect
from tests.cli.cli_rig import PATIENCE
from tests.cli.test_cli_serve_web import Server, serving
from tests.cli.web_socket import Socket
from tests.interop.interop_rig import built

pytestmark = pytest.mark.process

ROUNDS = 50
"""Number of rounds, large enough that some rounds reach the second betting round."""
SDK = """
import json, sys
from arena_client import Bot, run

class Guest(Bot):
    games = "leduc"
    seen, records = [], []

    def decide(self, decision):
        view = decision.view
        self.seen.append([decision.game.title, decision.other.TypeName(), view.seat, view.seats, view.card,
                          view.board if view.HasField("board") else None, [each.name for each in decision.actions]])
        return 1  # check or call

    def on_round(self, report):
        record = self.record(report)
        self.records.append([list(record.cards), record.board, list(record.first), list(report.points)])

bot = Guest(name="sdk")
run(bot, sys.argv[1], matches=1, token_file=sys.argv[2], receipts=False, verbose=False)
assert not [name for name in sys.modules if "leduc" in name]
print(json.dumps({"seen": bot.seen, "records": bot.records}))
"""
PIPED = """
import json, sys
lines = open(sys.argv[1], "w")
for line in sys.stdin:
    print(line, end="", file=lines, flush=True)
    answers = [{"matchId": each["matchId"], "decisionId": each["decisionId"], "action": 1}
               for each in json.loads(line).get("decisions", ())]
    if answers:
        print(json.dumps({"answers": answers}), flush=True)
"""
IN_GO = """
package main

import (
	"encoding/json"
	"os"

	"arena.example/client"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
)

type shown struct {
	Title   string          `json:"title"`
	Actions []string        `json:"actions"`
	Other   json.RawMessage `json:"other"`
}

func main() {
	var types *dynamicpb.Types
	var decisions, rounds []shown
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	written := func(message *anypb.Any) json.RawMessage {
		text, err := protojson.MarshalOptions{EmitUnpopulated: true, Resolver: types}.Marshal(message)
		must(err)
		return text
	}
	bot := client.Bot{Name: "gopher", Games: []string{"leduc"}}
	bot.OnWelcome = func(welcome *client.Welcome) {
		var set descriptorpb.FileDescriptorSet
		must(proto.Unmarshal(welcome.Games[0].Descriptors, &set))
		files, err := protodesc.NewFiles(&set)
		must(err)
		types = dynamicpb.NewTypes(files)
	}
	bot.Decide = func(d *client.Decision) int {
		names := []string{}
		for _, action := range d.Actions() {
			names = append(names, action.Name)
		}
		decisions = append(decisions, shown{d.Game.Title, names, written(d.View.(*anypb.Any))})
		return 1 // check or call
	}
	bot.OnRound = func(report *client.RoundReport) {
		rounds = append(rounds, shown{Other: written(report.GetOther())})
	}
	options := client.Options{TokenFile: os.Args[2], NoReceipts: true, Matches: 1}
	must(client.Run(bot, os.Args[1], options))
	must(json.NewEncoder(os.Stdout).Encode(map[string]any{"decisions": decisions, "rounds": rounds}))
}
"""
VIEW = {"@type", "seat", "seats", "round", "rounds", "opener", "card", "board", "first", "second", "scores"}
RECORD = {"@type", "opener", "cards", "board", "first", "second"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("leduc") / "data"
    with serving(
        data, "--game", LEDUC.name, "--patience", "0", "--luck", "off", "--option", f"rounds={ROUNDS}"
    ) as server:
        yield server


def ran(*command: str) -> str:
    """Return the output of a program that can import the client, but none of the server's packages."""
    client = Path(__file__).parents[2] / "clients" / "python"
    env = os.environ | {"PYTHONPATH": str(client)}
    done = subprocess.run(
        [sys.executable, *command], env=env, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_sdk_reads_views_and_records_by_the_catalogue(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text(SDK)
    said = json.loads(ran(str(program), server.address, str(tmp_path / "token")))
    assert len(said["records"]) == ROUNDS
    names = {action.name for action in LEDUC.actions}
    for title, kind, seat, seats, card, board, actions in said["seen"]:
        assert (title, kind, seats) == (LEDUC.title, "leduc.v1.View", 2)
        assert seat in range(2)
        assert card in range(6)
        assert board is None or board in {*range(6)} - {card}
        assert actions
        assert {*actions} <= names
    assert {board for *_, board, _ in said["seen"]} != {None}, "some decisions have a card in the middle"
    for cards, board, first, points in said["records"]:
        assert len({*cards, board}) == 3
        assert len(first) >= 2
        assert sum(points) == 0


def test_pipe_writes_views_and_records_that_a_program_can_read(server: Server, tmp_path: Path) -> None:
    program, heard = tmp_path / "bot.py", tmp_path / "lines"
    program.write_text(PIPED)
    ran(
        *("-m", "arena_client", "pipe", "--server", server.address, "--name", "piped", "--game", LEDUC.name),
        *("--matches", "1", "--token-file", str(tmp_path / "token"), "--quiet", "--no-receipts"),
        *("--", sys.executable, str(program), str(heard)),
    )
    lines = [*map(json.loads, heard.read_text().splitlines())]
    [catalogue] = [game for line in lines for game in line.get("welcome", {}).get("games", ())]
    assert (catalogue["viewType"], catalogue["recordType"]) == ("leduc.v1.View", "leduc.v1.Round")
    check_views([each for line in lines for each in line.get("decisions", ())], written_out=True)
    check_records([each for line in lines for each in line.get("rounds", ())])


def test_a_websocket_has_them_in_json_too(server: Server) -> None:
    asked, rounds = [], []
    with Socket(server.host, server.port) as socket:
        socket.say({"register": {"name": "page", "token": (token := f"arena_{secrets.token_urlsafe(32)}")}})
        assert socket.hear()["name"] == "page"
        socket.say({"token": token})
        socket.say({"hello": {"games": [LEDUC.name], "capacity": 1}})
        while "reports" not in (message := socket.hear()):
            rounds += message.get("rounds", ())
            said = {}
            if "heartbeat" in message:
                said["heartbeat"] = message["heartbeat"]
            if "invitations" in message:
                said["ready"] = [{"invitationId": each["invitationId"]} for each in message["invitations"]]
            if decisions := message.get("decisions", ()):
                asked += decisions
                said["answers"] = [
                    {"matchId": each["matchId"], "decisionId": each["decisionId"], "action": 1} for each in decisions
                ]
            if said:
                socket.say(said)
    check_views(asked, written_out=False)
    check_records(rounds + message.get("rounds", []))


def test_the_sdk_for_go_hands_on_what_its_author_reads_by_the_catalogue(server: Server, tmp_path: Path) -> None:
    """The author parses the message with protobuf's own library."""
    module = Path(__file__).parents[2] / "clients" / "go"
    (tmp_path / "main.go").write_text(IN_GO)
    for words in (("mod", "init", "gopher"), ("work", "init", ".", module), ("build", "-buildvcs=false", "-o", "bot")):
        built("go", *words, where=tmp_path, GOFLAGS="")
    said = json.loads(built(tmp_path / "bot", server.address, tmp_path / "token", where=tmp_path, patience=PATIENCE))
    names = {action.name for action in LEDUC.actions}
    for each in said["decisions"]:
        assert each["title"] == LEDUC.title
        assert {*each["actions"]} <= names
    check_views(said["decisions"], written_out=True)
    check_records(said["rounds"])


def test_whoever_watches_is_shown_a_record(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text(SDK.replace('name="sdk"', 'name="watched"'))
    with connect(server.address) as client, client.watch() as watch, ThreadPoolExecutor() as threads:
        played = threads.submit(ran, str(program), server.address, str(tmp_path / "token"))
        record = next(row.record for rows, _ in watch for row in rows if isinstance(row, RoundRow))
    played.result()
    assert record.keys() == RECORD - {"@type"}
    assert len(record["cards"]) == 2


def check_views(decisions: list[Any], *, written_out: bool) -> None:
    """Check that every field has its name. `written_out` also includes fields with the value zero, except an absent
    board.
    """
    assert decisions
    views = [decision["other"] for decision in decisions]
    assert {view["@type"] for view in views} == {"type.googleapis.com/leduc.v1.View"}
    for view in views:
        assert view.keys() <= VIEW
        assert not written_out or view.keys() >= VIEW - {"board"}
    assert any("board" in view for view in views)
    assert any(view.get("first") for view in views)


def check_records(rounds: list[Any]) -> None:
    assert len(rounds) == ROUNDS
    for record in [each["other"] for each in rounds]:
        assert record["@type"] == "type.googleapis.com/leduc.v1.Round"
        assert record.keys() <= RECORD
        assert len(record["cards"]) == 2
