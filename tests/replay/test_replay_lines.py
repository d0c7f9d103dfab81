"""Lines of a replay that are formatted without an encoder for speed. They equal the encoder's output."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.effects import Ask, Show
from arena.match.inputs import Acted, Instant, Sent
from arena.replay.lines import effect_line, input_line, view_digests_line
from arena.replay.view_digests import RoundDigests
from engine.nullern import NULLERN
from engine.nullern.view import NullernRound
from engine.sixth_sense import SIXTH_SENSE
from engine.sixth_sense.view import SixthSenseRound

NUMBERS = st.integers(-(1 << 70), 1 << 70)
LISTS = st.binary(max_size=9) | st.lists(NUMBERS, max_size=9).map(tuple)


class Odd(NamedTuple):
    """A report with every type of value that a report may have."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    flag: bool
    absent: int | None
    row: bytes


def encoded(content: dict[str, Any]) -> str:
    plain = {name: list(value) if isinstance(value, bytes) else value for name, value in content.items()}
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


@given(st.integers(0, 1 << 62), NUMBERS, NUMBERS, NUMBERS)
def test_lines_of_sendings_are_what_an_encoder_writes(at: int, seat: int, decision: int, lag: int) -> None:
    expected = {"in": "sent", "at": at, "seat": seat, "decision": decision, "lag": lag}
    assert input_line(Sent(Instant(at), seat, decision, lag), NULLERN) == encoded(expected)


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
@given(st.integers(0, 1 << 62), NUMBERS, NUMBERS, NUMBERS | st.integers(-1, 200))
def test_lines_of_answers_are_what_an_encoder_writes(game: Any, at: int, seat: int, decision: int, action: int) -> None:
    name = game.actions[action].name if action in range(len(game.actions)) else None
    expected = {"in": "acted", "at": at, "seat": seat, "decision": decision, "action": action, "name": name}
    assert input_line(Acted(Instant(at), seat, decision, action), game) == encoded(expected)


@pytest.mark.parametrize("kind", [SixthSenseRound, NullernRound, Odd])
@given(st.data())
def test_lines_of_rounds_are_what_an_encoder_writes(kind: Any, data: st.DataObject) -> None:
    kinds = {"int": NUMBERS, "bool": st.booleans(), "int | None": st.none() | NUMBERS}
    report = kind(*(data.draw(kinds.get(each, LISTS)) for each in kind.__annotations__.values()))
    assert effect_line(Show(report), NULLERN) == encoded({"out": "round", **report._asdict()})


@given(NUMBERS, st.lists(st.binary(min_size=32, max_size=32), max_size=6), st.lists(NUMBERS, max_size=6))
def test_lines_of_what_was_shown_are_what_an_encoder_writes(number: int, views: list[bytes], banks: list[int]) -> None:
    shown = RoundDigests(number, tuple(each.hex() for each in views or [b""]), tuple(banks))
    assert view_digests_line(shown) == encoded({"shown": number, "views": shown.views, "banks": shown.banks})


def test_questions_have_no_lines() -> None:
    with pytest.raises(ValueError, match="no lines of their own"):
        effect_line(Ask(0, 1, (), None, 0, 0), NULLERN)  # type: ignore[arg-type]  # never looked at
