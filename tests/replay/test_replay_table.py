"""The table at a step agrees with the views. For one seat, table and picture show only what that seat knew."""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree as ET

import pytest

from arena.replay.read import read
from arena.replay.render.renderer import CardFace, SeatScene, TableScene
from arena.replay.render.show import renderer_of, step_words, table_scene
from arena.replay.render.table_svg import HEIGHT, INKS, SHAPES, WIDTH, table_svg
from arena.replay.render.ways import END, pace
from arena.replay.steps import Course
from engine.game import Game
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE
from tests.replay.recorded import rated

SVG = "{http://www.w3.org/2000/svg}"


@cache
def course(game: Game, seats: int) -> Course:
    return Course(read(rated(seats, game=game)))


@pytest.mark.parametrize(("game", "seats"), [(SIXTH_SENSE, 4), (SIXTH_SENSE, 6), (NULLERN, 3)])
def test_a_seat_is_shown_its_own_hand_and_no_other(game: Game, seats: int) -> None:
    played = course(game, seats)
    for step in range(1, len(played.steps) + 1, 7):
        for seat in range(seats):
            scene = table_scene(played, step, seat)
            assert scene is not None
            assert [number for number, each in enumerate(scene.seats) if each.hand is not None] in ([seat], [])


def test_predictions_and_who_has_chosen_stay_hidden_until_all_have_S4() -> None:
    played = course(SIXTH_SENSE, 4)
    for step in range(2, 5):
        made = played.steps[step - 1].made
        assert made is not None
        for seat in range(4):
            scene = table_scene(played, step, seat)
            assert scene is not None
            assert [number for number, each in enumerate(scene.seats) if each.called] in ([], [seat])
            assert not scene.seats[made.seat].chose or made.seat == seat


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN])
def test_the_trick_on_the_table_has_a_card_a_play_and_its_taker(game: Game) -> None:
    played, takers = course(game, 4), 0
    for step in range(1, len(played.steps) + 1):
        scene = table_scene(played, step)
        assert scene is not None
        cards = sum(each.card is not None for each in scene.seats)
        assert cards == 0 if scene.trick is None else 1 <= cards <= 4
        assert sum(each.leads for each in scene.seats) == (scene.trick is not None)
        if any(each.takes for each in scene.seats):
            takers += 1
            assert cards == 4
    assert takers > 10


def test_a_picture_is_well_formed_and_inside_its_frame_whatever_the_names() -> None:
    card = CardFace("red", "6/9", "*", blocked=True)
    seat = SeatScene("<b>&\"'" + "x" * 40, False, (card,) * 20, "R5", 3, -12, 4, card, True, True, True, True)
    for seats in range(2, 8):
        drawn = ET.fromstring(table_svg(TableScene((seat,) * seats, card, 3), "a & b"))
        texts = ["".join(each.itertext()) for each in drawn.iter(f"{SVG}text")]
        assert any(text.startswith("0 <b>&") for text in texts)
        for group in drawn.iter(f"{SVG}g"):
            place = re.fullmatch(r"translate\((\S+) (\S+)\)", group.attrib["transform"])
            assert place
            for each in group.iter(f"{SVG}rect"):
                x, y, width, height = (float(each.attrib[name]) for name in ("x", "y", "width", "height"))
                assert 0 <= float(place[1]) + x <= WIDTH - width
                assert 0 <= float(place[2]) + y <= HEIGHT - height
        felt = [each.get("class") for each in drawn.findall(f"{SVG}rect")]
        assert felt == ["felt"], "every card moves with its seat"


@pytest.mark.parametrize(("game", "seats"), [(SIXTH_SENSE, 4), (SIXTH_SENSE, 6), (NULLERN, 3)])
def test_a_view_alone_makes_the_table_that_its_seat_is_shown(game: Game, seats: int) -> None:
    played, compared = course(game, seats), 0
    for number, step in enumerate(played.steps, 1):
        if step.ended is not None:  # the state already contains the next deal
            continue
        for seat in range(seats):
            scene = table_scene(played, number, seat)
            assert scene is not None
            of_nobody = tuple(each._replace(chose=False) for each in scene.seats)
            alone = renderer_of(game).seen(step.state.view(seat), played.replay.header.bots)
            assert alone == scene._replace(seats=of_nobody)
            assert alone.below == seat
            compared += 1
    assert compared > 100


@pytest.mark.parametrize(("game", "seats"), [(SIXTH_SENSE, 5), (NULLERN, 4)])
def test_hidden_hands_have_as_many_backs_as_the_seats_have_cards(game: Game, seats: int) -> None:
    played, hidden = course(game, seats), 0
    for number, step in enumerate(played.steps, 1):
        if step.ended is not None or (game is SIXTH_SENSE and not step.state.view(0).leaders):  # type: ignore[attr-defined]
            continue
        opened, seen = table_scene(played, number), table_scene(played, number, 0)
        assert opened is not None
        assert seen is not None
        assert [each.held for each in seen.seats] == [each.held for each in opened.seats]
        backs = sum(each.held for each in seen.seats if each.hand is None)
        assert table_svg(seen, "a table").count("stroke-dasharray") == backs
        hidden += backs
    assert hidden > 100


def test_whose_turn_it_is_agrees_with_who_is_asked() -> None:
    for game, seats in ((SIXTH_SENSE, 4), (NULLERN, 3)):
        played, turns = course(game, seats), 0
        for number, step in enumerate(played.steps, 1):
            scene = table_scene(played, number)
            assert scene is not None
            marked = [seat for seat, each in enumerate(scene.seats) if each.turn]
            if marked and step.ended is None:
                assert marked == [*step.state.waiting()]
                turns += 1
        assert turns > 50


def test_words_name_the_choice_and_the_outcome_of_a_trick_that_it_ended() -> None:
    played = course(NULLERN, 3)
    ended = 0
    for number in range(2, len(played.steps) + 1):
        words, scene = step_words(played, number), table_scene(played, number)
        made = played.steps[number - 1].made
        assert words is not None
        assert scene is not None
        assert made is not None
        assert f"(seat {made.seat})" in words.happened
        takes = [each.name for each in scene.seats if each.takes]
        assert bool(words.outcome) == bool(takes)
        if takes:
            assert any(f"{takes[0]} (seat" in line and "takes it" in line for line in words.outcome)
            ended += 1
    assert ended > 10


def test_the_last_step_names_the_winner_and_stays_for_a_while() -> None:
    played = course(NULLERN, 3)
    last = len(played.steps)
    words, before = step_words(played, last), step_words(played, last - 1)
    assert words is not None
    assert before is not None
    result = played.replay.result
    first = result.places.index(1)
    name, points = played.replay.header.bots[first].name, result.scores[first]
    assert words.outcome[-1] == f"The match is over: {name} wins with {points} points."
    assert not any("over" in line for line in before.outcome)
    assert pace(played)[-1] == END > max(pace(played)[:-1])


def test_a_seat_stands_as_its_target_and_its_tricks_say() -> None:
    seat = SeatScene("a", False, (), "R6/9", 4, 0, None, None, False, False, False, False, (6, 9))
    assert seat.standing == "needs 2 or 5 more"
    assert seat._replace(taken=6).standing == "needs no more"
    assert seat._replace(taken=8).standing == "needs 1 more"
    assert seat._replace(taken=11).standing == "2 too many"
    assert seat._replace(taken=9, points=10).standing == "on target"
    assert seat._replace(taken=8, points=0).standing == "missed"
    assert seat._replace(target=()).standing == ""


def test_suits_differ_in_shape_not_only_in_colour() -> None:
    assert SHAPES.keys() == INKS.keys() == {*SIXTH_SENSE.colours} >= {*NULLERN.colours}
    assert len({*SHAPES.values()}) == len(SHAPES)


def test_inks_of_cards_can_be_read_on_white() -> None:
    """A contrast of at least 4.5 to 1 (WCAG 2.2, 1.4.3)."""

    def luminance(ink: str) -> float:
        parts = [int(ink[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    assert all(1.05 / (luminance(ink) + 0.05) >= 4.5 for ink in INKS.values())
