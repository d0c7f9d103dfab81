"""`arena ladder`, `matches` and `bots list`, against a server and against its data directory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import grpc
import pytest
from arena_client.v1 import matches_pb2, matches_pb2_grpc
from google.protobuf.json_format import ParseDict

from arena.queries.directory import open_directory
from arena.queries.remote import Declined, connect
from arena.store.matches.search import MatchFilter
from engine.registry import GAMES
from tests.cli.cli_rig import BOTS, Played, arena, plain, shown, terminal
from tests.cli.conftest import MATCHES


def document(*arguments: object) -> Any:
    return json.loads(shown(*arguments, "--json"))


def both(played: Played, *arguments: object) -> tuple[Any, Any]:
    return document(*arguments, "--server", played.server), document(*arguments, "--data", played.data)


def test_ladder_agrees_with_the_matches(played: Played, source: tuple[str, str]) -> None:
    ladder, *others = document("ladder", *source)["ladders"]
    never = {"seats": 0, "standings": [], "through": None, "digest": "", "published": None, "scale_error": None}
    never |= {"flags": [], "pair_quota": 0, "pair_week_quota": 0, "pair_young_days": 0}
    never |= {"not_fitted_since": None, "not_fitted_why": ""}
    assert others == [{"game": name, **never} for name in GAMES if name != "sixth_sense"]
    assert document("ladder", "--game", "sixth_sense", *source)["ladders"] == [ladder]
    matches = document("matches", *source)["matches"]
    assert ladder["game"] == "sixth_sense"
    standings = ladder["standings"]
    assert {row["bot"] for row in standings} == set(BOTS)
    assert [row["rating"] for row in standings] == sorted((row["rating"] for row in standings), reverse=True)
    for row in standings:
        seats = [seat for match in matches for seat in match["seats"] if seat["bot"] == row["bot"]]
        assert row["matches"] == len(seats) == MATCHES
        assert row["wins"] == sum(seat["place"] == 1 for seat in seats)
        assert row["last_change"] == pytest.approx(seats[0]["rating_after"] - seats[0]["rating_before"])
        assert row["mean_rank"] == pytest.approx(sum((seat["place"] - 1) / 2 for seat in seats) / MATCHES)
        assert row["mean_points"] == pytest.approx(sum(seat["score"] for seat in seats) / MATCHES)
        assert row["last_match"] == max(match["ended"] for match in matches)
        assert row["deviation"] > 0
        assert row["house"] is False


def test_server_and_directory_say_the_same(played: Played) -> None:
    for verb in (("ladder",), ("matches",), ("replay", "list")):
        of_server, of_data = both(played, *verb)
        assert of_server == of_data
    of_server, of_data = both(played, "bots", "list")
    live = {"connected", "playing", "round_trip_ms"}
    for there, here in zip(of_server["bots"], of_data["bots"], strict=True):
        assert {name: there[name] for name in there.keys() - live} == {name: here[name] for name in here.keys() - live}
        assert [here[name] for name in sorted(live)] == [None, None, None]
        assert there["connected"] is False
        assert there["playing"] == 0


@pytest.mark.parametrize("page", [1, 2, 3])
def test_a_ladder_of_many_pages_is_the_same_ladder(played: Played, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    place = ("--server", played.server)
    at = datetime.now(UTC).isoformat()
    whole, past = document("ladder", *place), document("ladder", "--at", at, *place)
    assert len(whole["ladders"][0]["standings"]) == 3
    monkeypatch.setattr("arena.queries.remote.PAGE", page)
    assert document("ladder", *place) == whole
    assert document("ladder", "--at", at, *place) == past


@pytest.mark.parametrize("page", [1, 2, 1000])
def test_the_lists_of_a_server_are_those_of_its_directory(
    played: Played, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr("arena.queries.remote.PAGE", page)
    bot = next(iter(BOTS))
    with connect(played.server) as client, open_directory(played.data) as directory:
        numbers = [row.match_id for row in directory.matches()]
        assert [row.name for row in client.bots()] == [row.name for row in directory.bots()]
        for before in (None, *numbers, max(numbers) + 1, 1 << 62):
            assert [*client.all_matches(before=before)] == [*directory.all_matches(before=before)]
            for limit in (1, 2, 3):
                assert client.matches(limit=limit, before=before) == directory.matches(limit=limit, before=before)
                lost = MatchFilter(bot=bot, lost=True)
                assert client.search(lost, limit, before).matches == directory.search(lost, limit, before).matches
        for after in range(len(BOTS)):
            for limit in (1, 2):
                found = [each.opponents(bot, "sixth_sense", limit, after) for each in (client, directory)]
                assert found[0] == found[1]


def test_matches_have_all_that_is_known_of_a_match(source: tuple[str, str]) -> None:
    rows = document("matches", *source)["matches"]
    assert len(rows) == MATCHES
    for row in rows:
        assert row.keys() == {
            "match",
            "game",
            "state",
            "started",
            "ended",
            "reason",
            "seats",
            "voided",
            "pruned",
            "kind",
        }
        assert (row["state"], row["reason"], row["voided"]) == ("finished", "", "")
        assert datetime.fromisoformat(row["started"]) < datetime.fromisoformat(row["ended"])
        assert {seat["bot"] for seat in row["seats"]} == set(BOTS)
        assert min(seat["place"] for seat in row["seats"]) == 1


def test_matches_are_paged_and_chosen(source: tuple[str, str]) -> None:
    numbers = [row["match"] for row in document("matches", *source)["matches"]]
    assert numbers == sorted(numbers, reverse=True)
    newest = document("matches", "--limit", "1", *source)["matches"]
    assert [row["match"] for row in newest] == numbers[:1]
    older = document("matches", "--before", numbers[0], *source)["matches"]
    assert [row["match"] for row in older] == numbers[1:]
    assert len(document("matches", "--bot", "COUNTER", *source)["matches"]) == MATCHES
    assert len(document("matches", "--game", "sixth_sense", *source)["matches"]) == MATCHES
    assert document("matches", "--game", "nullern", *source) == {"matches": []}
    assert [row["match"] for row in document("replay", "list", "--limit", "2", *source)["matches"]] == numbers[:2]


def test_tables_show_what_matters_without_colour_codes_in_a_pipe(source: tuple[str, str]) -> None:
    ladder, matches = shown("ladder", *source), shown("matches", *source)
    bots, replays = shown("bots", "list", *source), shown("replay", "list", *source)
    for text in (ladder, matches, bots, replays):
        assert "\x1b" not in text
        for name in BOTS:
            assert name in text
    assert "━○" in ladder
    assert "P(best)" in ladder
    assert "1st" in matches
    assert f"{source[0]} {source[1]}" in replays, "the hint can be copied"


def test_a_full_page_says_how_to_go_on(source: tuple[str, str]) -> None:
    text = shown("matches", "--limit", "1", *source)
    hint = text.splitlines()[-1].partition("arena ")[2]
    assert "--before" in hint
    assert "counter" in shown(*hint.split())


def test_ladder_in_a_terminal_is_coloured(played: Played) -> None:
    with terminal("ladder", "--data", played.data, columns=120) as screen:
        assert screen.end() == 0
    assert "\x1b[" in screen.text
    assert "counter" in plain(screen.text)


def test_environment_names_the_source_and_the_command_line_goes_before(played: Played) -> None:
    by_server, by_data = {"ARENA_SERVER": played.server}, {"ARENA_DATA": str(played.data)}
    assert "counter" in shown("ladder", env=by_server)
    assert "counter" in shown("ladder", env=by_data)
    wrong = {"ARENA_SERVER": "127.0.0.1:1", "ARENA_DATA": "/nowhere"}
    assert "counter" in shown("ladder", "--server", played.server, env=wrong)
    assert "counter" in shown("ladder", "--data", played.data, env=wrong)
    assert arena("ladder", env=wrong).exit_code == 2


def test_two_sources_are_wrong_usage(played: Played) -> None:
    result = arena("ladder", "--server", played.server, "--data", played.data)
    assert result.exit_code == 2
    assert "choose one" in result.output


def test_unknown_game_fails_and_names_the_games(source: tuple[str, str]) -> None:
    for verb in (("ladder",), ("matches",), ("replay", "list")):
        result = arena(*verb, "--game", "chess", *source)
        assert result.exit_code == 2
        assert "chess" in result.output
        assert ", ".join(GAMES) in result.output


@pytest.mark.parametrize("verb", [("ladder",), ("matches",), ("bots", "list"), ("replay", "list")])
def test_unreachable_server_fails_and_says_what_to_do(verb: tuple[str, ...]) -> None:
    result = arena(*verb, "--server", "127.0.0.1:1")
    assert result.exit_code == 1
    assert "no arena answers at 127.0.0.1:1 (Connection refused)" in result.output
    assert "--data" in result.output


@pytest.fixture
def stranger() -> Iterator[str]:
    """A gRPC server that is not an arena."""
    with ThreadPoolExecutor(1) as threads:
        server = grpc.server(threads)
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield f"127.0.0.1:{port}"
        server.stop(None).wait()


def test_server_that_is_no_arena_is_called_so(stranger: str) -> None:
    result = arena("bots", "list", "--server", stranger)
    assert result.exit_code == 1
    assert "no arena" in result.output


class Newer(matches_pb2_grpc.MatchServiceServicer):
    """A server of a later version that reports an unknown kind of match."""

    def ListMatches(self, request: matches_pb2.ListMatchesRequest, context: object) -> matches_pb2.ListMatchesResponse:
        return ParseDict({"matches": [self.MATCH]}, matches_pb2.ListMatchesResponse())

    def WatchMatches(
        self, request: matches_pb2.WatchMatchesRequest, context: object
    ) -> Iterator[matches_pb2.WatchMatchesResponse]:
        later = matches_pb2.MatchEvent.FromString(b"\xa2\x06\x00")  # field 100 with an empty message
        over = matches_pb2.MatchEvent(over=matches_pb2.MatchEnd(match_id=3, interruption=77))  # type: ignore[arg-type]
        yield matches_pb2.WatchMatchesResponse(events=[later, over], caught_up=True)

    MATCH: ClassVar = {"matchId": "3", "state": "MATCH_STATE_FINISHED", "kind": 77}


@pytest.fixture
def newer() -> Iterator[str]:
    with ThreadPoolExecutor(1) as threads:
        server = grpc.server(threads)
        matches_pb2_grpc.add_MatchServiceServicer_to_server(Newer(), server)  # type: ignore[abstract]
        port = server.add_insecure_port("127.0.0.1:0")
        server.start()
        yield f"127.0.0.1:{port}"
        server.stop(None).wait()


def test_a_value_of_a_newer_server_is_named_with_the_remedy(newer: str) -> None:
    with (
        connect(newer) as client,
        pytest.raises(Declined, match="newer than this program, which does not know MatchKind 77; update the program"),
    ):
        client.matches()


def test_an_event_of_a_newer_server_is_passed_over(newer: str) -> None:
    with connect(newer) as client, client.watch() as watch:
        [(rows, caught_up)] = watch
    assert ([row.match_id for row in rows], caught_up) == ([3], True)


def test_tls_is_asked_for(played: Played, tmp_path: Path) -> None:
    result = arena("ladder", "--tls", "--server", played.server)
    assert result.exit_code == 1, "the server has no TLS"
    nonsense = tmp_path / "roots.pem"
    nonsense.write_text("no certificate")
    assert arena("ladder", "--tls-roots", nonsense, "--server", played.server).exit_code == 1
    assert arena("ladder", "--tls-roots", tmp_path / "none.pem").exit_code == 2


@pytest.mark.parametrize(
    "verb", [("ladder",), ("matches",), ("bots", "list"), ("replay", "list"), ("replay", "show", "1")]
)
def test_missing_data_directory_fails(verb: tuple[str, ...], tmp_path: Path) -> None:
    result = arena(*verb, "--data", tmp_path / "none")
    assert result.exit_code == 1
    assert "a server started on it makes one" in result.output


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        (("ladder",), "No match of sixth_sense is finished yet."),
        (("matches",), "No such match."),
        (("bots", "list"), "No bot is registered yet."),
        (("replay", "list"), "No such match has a replay: none is finished yet, or all are pruned."),
    ],
)
def test_nothing_to_show_is_said(verb: tuple[str, ...], words: str, empty: Path) -> None:
    assert words in shown(*verb, "--data", empty)


def test_limits_out_of_range_are_wrong_usage(played: Played) -> None:
    for limit in ("0", "1001", "many"):
        assert arena("matches", "--limit", limit, "--data", played.data).exit_code == 2
