"""Messages to a bot for every game. They agree with the engine field by field, and hide other seats' secrets."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from arena_client.v1 import game_pb2, play_pb2

from arena.api.codec import encode
from arena.api.game_codecs import VIEWS, encode_catalog
from arena.match.effects import Ask
from arena.server.sessions.messages import Outgoing, Question, RoundOver
from engine.game import OVER, Game, State, option_text
from engine.registry import GAMES
from tests.conformance.pieces import need
from tests.conformance.secrecy import worlds
from tests.conformance.sent_fields import record_of, sent_fields, view_of
from tests.conformance.table import Table, tables

TABLES = [table for game in GAMES.values() for table in tables(game)]
EVERY_TABLE = pytest.mark.parametrize("table", TABLES, ids=str)
TO_TRAVEL = ("its messages", "its line for views", "its line for rounds")


def sent(state: State[Any, Any], seat: int, *, asked: bool) -> bytes:
    """Return the bytes of a question to a seat, or only of the seat's view."""
    legal = state.legal(seat) if asked else ()
    return encode(Outgoing(questions=[Question(7, Ask(seat, 1, legal, state.view(seat), 1000, 1000))]))


def same(message: Any, value: Any, besides: frozenset[str] = frozenset()) -> None:
    """Check that the message has exactly the fields and values of the view or report."""
    values = sent_fields(value, message.DESCRIPTOR)
    names = values.keys() - besides
    assert {field.name for field in message.DESCRIPTOR.fields} == names
    for name in names:
        expected, found = values[name], getattr(message, name)
        if expected is None:
            assert not message.HasField(name), name
        elif isinstance(expected, dict):
            assert dict(found) == expected, name
        elif isinstance(expected, bytes | tuple):
            assert list(found) == list(expected), name
        else:
            assert found == expected, name


@EVERY_TABLE
@pytest.mark.thorough
def test_a_view_arrives_as_it_is(table: Table) -> None:
    need(table.game, *TO_TRAVEL)
    rng = Random(str(table))
    for state in table.walk(10, rng):
        if state.player == OVER:
            break
        seat = rng.choice(state.waiting())
        view = state.view(seat)
        content = sent(state, seat, asked=True)
        response = play_pb2.PlayResponse.FromString(content)
        [decision] = response.decisions
        assert list(decision.legal) == list(state.legal(seat))
        message = view_of(decision, table.game)
        same(message, view)
        encoded = VIEWS[type(view)].encode(view)
        assert type(message).FromString(encoded) == message
        assert len(message.SerializeToString()) == len(encoded), "something is written twice or has no name"
        assert len(response.SerializeToString()) == len(content), "something is written twice or has no name"


@EVERY_TABLE
def test_a_round_arrives_as_it_is(table: Table) -> None:
    need(table.game, *TO_TRAVEL)
    reports: list[Any] = []
    for state in table.walk(11, Random(str(table))):
        report = state.report
        if report is not None and len(reports) == report.round:
            reports.append(report)
    message = Outgoing()
    message.rounds += [RoundOver(8, report) for report in reports]
    content = encode(message)
    for record, report in zip(play_pb2.PlayResponse.FromString(content).rounds, reports, strict=True):
        assert (record.match_id, record.round) == (8, report.round)
        assert (tuple(record.points), tuple(record.scores)) == (report.points, report.scores)
        same(record_of(record, table.game), report, besides=frozenset({"round", "points", "scores"}))


@EVERY_TABLE
def test_two_worlds_give_a_seat_that_cannot_tell_them_apart_the_same_bytes(table: Table) -> None:
    need(table.game, *TO_TRAVEL, "sampled worlds")
    differ = 0
    for state, other, seat in worlds(table, 12):
        asked = seat in state.waiting()
        assert sent(other, seat, asked=asked) == sent(state, seat, asked=asked)
        watchers = range(table.seats)
        differ += any(sent(other, each, asked=False) != sent(state, each, asked=False) for each in watchers)
    assert differ, "the worlds never differ: this proves nothing"


@pytest.mark.long
@EVERY_TABLE
def test_many_worlds_give_a_seat_that_cannot_tell_them_apart_the_same_bytes(table: Table) -> None:
    for chance in range(1, 11):
        for state, other, seat in worlds(replace(table, chance=chance), 12):
            asked = seat in state.waiting()
            assert sent(other, seat, asked=asked) == sent(state, seat, asked=asked)


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_the_catalogue_names_every_card_and_action_by_its_number(game: Game) -> None:
    catalogue = game_pb2.GameCatalog.FromString(encode_catalog(game).SerializeToString())
    assert (catalogue.name, catalogue.title) == (game.name, game.title)
    assert range(catalogue.min_seats, catalogue.max_seats + 1) == game.seats
    assert tuple(catalogue.colours) == game.colours
    assert [(card.name, card.colour, tuple(card.values)) for card in catalogue.cards] == [
        (card.name, card.colour, card.values) for card in game.cards
    ]
    for told, action in zip(catalogue.actions, game.actions, strict=True):
        assert (told.name, told.kind) == (action.name, action.kind)
        for name in ("card", "value", "place"):
            assert (getattr(told, name) if told.HasField(name) else None) == getattr(action, name)
    described = (catalogue.view_type, catalogue.record_type, catalogue.descriptors)
    if game.name in play_pb2.Decision.DESCRIPTOR.fields_by_name:
        assert described == ("", "", b""), "its messages are those of the protocol"
    else:
        assert all(described), "its messages are described"
        assert catalogue.view_type != catalogue.record_type
    by_name = {told.name: number for number, told in enumerate(catalogue.actions)}
    assert [by_name[action.name] for action in game.actions] == list(range(len(game.actions)))
    assert [(option.name, option.default_value, option.description) for option in catalogue.options] == [
        (spec.name, option_text(spec.default), spec.description) for spec in game.options
    ]
