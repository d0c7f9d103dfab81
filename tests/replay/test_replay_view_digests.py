"""Digests of shown views: they cover every view, anybody can compute them, and verification names one that differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from arena_client.v1 import play_pb2

from arena.api import codec
from arena.match.effects import Ask, Effect, Show
from arena.match.inputs import Instant, Interrupted, Left
from arena.replay.hash_chain import with_chain
from arena.replay.header import Entry
from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.replay import ReplayError
from arena.replay.verify import verify
from arena.server.sessions.messages import Outgoing, Question
from engine.game import Game
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE
from tests.replay.recorded import forged, objects_of, play, rate

GAMES = pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)


def asks_of(effects: Sequence[Effect]) -> list[Ask]:
    return [effect for effect in effects if isinstance(effect, Ask)]


def on_the_wire(ask: Ask) -> play_pb2.Decision:
    """Return the message that the bot receives, parsed from the server's bytes."""
    return play_pb2.PlayResponse.FromString(codec.encode(Outgoing(questions=[Question(1, ask)]))).decisions[0]


def question_of(decision: play_pb2.Decision) -> bytes:
    """Compute a question's bytes from the message alone, as docs/replay-format.md describes."""
    absent = {"rounds", "target"}
    view: Any = getattr(decision, decision.WhichOneof("view") or "")
    values = [b"i" + number(decision.decision_id), b"s" + number(len(decision.legal)) + bytes(decision.legal)]
    for field in view.DESCRIPTOR.fields:
        value = getattr(view, field.name)
        if field.has_presence and not view.HasField(field.name):
            values.append(b"i" + number(0) if field.name in absent else b"N")
        elif field.message_type is not None:
            values.append(b"s" + number(view.seats) + bytes(value.get(seat, -1) + 1 for seat in range(view.seats)))
        elif isinstance(value, bool):
            values.append(b"T" if value else b"F")
        elif isinstance(value, int):
            values.append(b"i" + number(value))
        elif field.type == field.TYPE_SINT32:
            values.append(b"(" + number(len(value)) + b"".join(b"i" + number(each) for each in value))
        else:
            assert field.type in {field.TYPE_UINT32, field.TYPE_BOOL}
            values.append(b"s" + number(len(value)) + bytes(value))
    return b"(" + number(len(values)) + b"".join(values)


def number(value: int) -> bytes:
    return value.to_bytes(4, "little", signed=True)


@GAMES
def test_shown_digests_are_what_a_bot_works_out_from_its_messages(game: Game) -> None:
    header, entries = play(3, game=game)
    rounds, latest = [[b""] * 3], [b""] * 3
    for _, effects in entries:
        for effect in effects:
            if isinstance(effect, Ask):
                question = question_of(on_the_wire(effect))
                if latest[effect.seat] != question:
                    rounds[-1][effect.seat] += question
                latest[effect.seat] = question
            elif isinstance(effect, Show):
                rounds.append([b""] * 3)
    assert not any(rounds.pop()), "nothing is asked after the last round"
    lines = [line for line in objects_of(encode(header, entries)) if "shown" in line]
    assert [line["shown"] for line in lines] == list(range(len(rounds)))
    assert [line["views"] for line in lines] == [[sha256(each).hexdigest() for each in views] for views in rounds]


@GAMES
def test_shown_fields_stand_in_the_order_of_the_protocol(game: Game) -> None:
    _, entries = play(2, game=game)
    [ask] = asks_of(entries[0][1])[:1]
    decision = on_the_wire(ask)
    message = getattr(decision, decision.WhichOneof("view") or "")
    names = [field.name.replace("cards_each", "hand_size") for field in message.DESCRIPTOR.fields]
    assert [*ask.view._asdict()] == names


def test_shown_line_follows_every_round_and_a_match_that_is_broken_off() -> None:
    header, entries = play()
    kinds = [line.get("out") or next(iter(line)) for line in objects_of(encode(header, entries))]
    after = [then for kind, then in pairwise(kinds) if kind == "round"]
    assert after == ["shown"] * kinds.count("round")
    header, entries = play(interrupted_after=200)
    kinds = [str(line.get("out") or next(iter(line))) for line in objects_of(encode(header, entries))]
    assert kinds[-3:] == ["over", "shown", "result"]


def test_shown_banks_are_those_of_the_latest_questions() -> None:
    header, entries = play(chance=3)
    banks, expected = [header.policy.bank] * 4, []
    for _, effects in entries:
        for effect in effects:
            if isinstance(effect, Ask):
                banks[effect.seat] = effect.bank
            elif isinstance(effect, Show):
                expected.append(list(banks))
    lines = [line for line in objects_of(encode(header, entries)) if "shown" in line]
    assert [line["banks"] for line in lines] == expected
    assert min(min(each) for each in expected) < header.policy.bank


def test_shown_question_that_is_put_again_as_it_was_counts_once() -> None:
    header, entries = play(chance=2)
    whole = encode(header, entries)
    seen: set[int] = set()
    again = 0
    once: list[Entry] = []
    for event, effects in entries:
        fresh = [each for each in effects if not isinstance(each, Ask) or each.decision not in seen]
        again += len(effects) - len(fresh)
        seen |= {ask.decision for ask in asks_of(effects)}
        once.append((event, fresh))
    assert again > 0
    views = [line["views"] for line in objects_of(whole) if "shown" in line]
    assert [line["views"] for line in objects_of(encode(header, once)) if "shown" in line] == views


def shown_otherwise(ask: Ask, what: str) -> Ask:
    """Return the question with one changed value."""
    match what:
        case "decision":
            return replace(ask, decision=ask.decision + 1)
        case "legal":
            return replace(ask, legal=bytes(ask.legal[:-1]))
        case _:
            view: Any = ask.view
            value = getattr(view, what)
            other = value + 1 if isinstance(value, int) else type(value)([*value[:-1], value[-1] + 1])
            return replace(ask, view=view._replace(**{what: other}))


@pytest.mark.parametrize("what", ["decision", "legal", "hand", "scores", "dealer", "known_predictions", "seat"])
def test_shown_view_that_differs_is_found_and_named(what: str) -> None:
    """The server shows one seat a different view once, and records it truthfully."""
    header, entries = play(4, chance=5)
    number, [ask] = [
        (number, asks)
        for number, (_, effects) in enumerate(entries)
        if len(asks := asks_of(effects)) == 1 and getattr(asks[0].view, "round") == 1  # noqa: B009 - its own game's
    ][7]
    event, effects = entries[number]
    wrong = [shown_otherwise(ask, what) if effect is ask else effect for effect in effects]
    entries = [*entries[:number], (event, wrong), *entries[number + 1 :]]
    objects = objects_of(encode(header, entries))
    difference = verify(read(forged(objects))).difference
    assert difference is not None
    [line] = [at for at, each in enumerate(objects, 1) if each.get("shown") == 1]
    assert difference.line == line
    assert difference.text == f"seat {ask.seat} was not shown in round 2 the views that re-playing gives"


def test_shown_bank_that_differs_is_found_and_named() -> None:
    header, entries = play()
    objects: list[Any] = objects_of(encode(header, entries))
    [line] = [at for at, each in enumerate(objects) if each.get("shown") == 2]
    bank = objects[line]["banks"][3]
    objects[line]["banks"][3] = bank + 1
    difference = verify(read(forged(objects))).difference
    assert difference is not None
    assert difference.line == line + 1
    assert difference.text == f'shown: the file has {bank + 1} in "banks[3]" where re-playing gives {bank}'


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("views", ["ab"], 'the field "views" holds a list where a list of texts of 64 lower-case hex digits belongs'),
        ("banks", [-1], 'the field "banks" holds a list where a list of whole numbers, 0 or more belongs'),
        ("shown", "all", "the field \"shown\" holds 'all' where a whole number, 0 or more belongs"),
    ],
)
def test_shown_line_of_the_wrong_shape_is_named(field: str, value: object, words: str) -> None:
    header, entries = play()
    objects = objects_of(encode(header, entries))
    [line] = [at for at, each in enumerate(objects) if each.get("shown") == 0]
    objects[line][field] = value
    with pytest.raises(ReplayError) as caught:
        read(forged(objects))
    assert (caught.value.line, caught.value.problem) == (line + 1, words)


def test_shown_match_that_was_broken_off_before_it_began_is_verified() -> None:
    header, entries = play()
    match = read(encode(header, entries)).header.new_match()
    event = Interrupted(Instant(0), "")
    entries = [(event, match.receive(event))]
    file = encode(header, entries)
    assert objects_of(file)[-2]["views"] == [sha256().hexdigest()] * 4
    assert verify(read(file)).verified


@GAMES
@pytest.mark.parametrize("version", [2, 3])
def test_shown_digests_of_the_formats_before_are_still_verified(game: Game, version: int) -> None:
    """The files are in the format of the servers of that time. A single digest in the present format would change
    them.
    """
    stored = (Path(__file__).parent / f"format_{version}_{game.name}.jsonl.gz").read_bytes()
    replay = read(with_chain(stored))
    assert replay.version == version
    assert any(isinstance(event, Left) for event in replay.inputs), "its line has one field less"
    assert verify(replay, rate).verified
    objects: list[Any] = objects_of(with_chain(stored))
    [line] = [at for at, each in enumerate(objects) if each.get("shown") == 1]
    objects[line]["views"][2] = "00" * 32
    difference = verify(read(forged(objects)), rate).difference
    assert difference is not None
    assert difference.text == "seat 2 was not shown in round 2 the views that re-playing gives"
