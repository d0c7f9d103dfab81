"""Drawings of replays at 80 columns, with and without colour. For one seat they show only what the seat knew."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from arena.match.effects import Cause
from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.render import show as render
from arena.replay.render.show import RENDERERS, ShowError, show_match, show_part, show_round, show_step
from arena.replay.render.sixth_sense import SixthSenseRenderer
from arena.replay.steps import Course
from engine.registry import GAMES
from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from engine.sixth_sense.cards import PEEK
from tests.replay.drawing import SGR, drawn, lines, nothing_is_lost
from tests.replay.recorded import long_names, play, rated
from tests.replay.tricks import Trick, find, tricks

picture = SixthSenseRenderer().picture


@cache
def course(seats: int = 4, chance: int = 1, **options: Any) -> Course:
    return Course(read(rated(seats, chance=chance, **options)))


def matches(seats: int = 4, **options: Any) -> Iterator[Course]:
    """Enough matches for every possible feature to occur."""
    return (course(seats, chance, **options) for chance in range(1, 13))


@cache
def eventful_round() -> list[Trick]:
    """Return the tricks of the first round that has every feature."""
    for played in matches():
        for number in range(1, played.rounds + 1):
            found = [trick for trick in tricks(played) if trick.round == number]
            if all(
                (
                    any(trick.blocker and not trick.answers for trick in found),
                    any(trick.blocked is trick.actions[0] for trick in found),
                    any(trick.reversed for trick in found),
                    any(trick.answered("double", True) for trick in found),
                    any(trick.answered("double", False) for trick in found),
                    any(trick.answered("peek", True) for trick in found),
                    any(made.forced is Cause.TIME for trick in found for made in trick.plays),
                )
            ):
                return found
    raise AssertionError("no round has it all")


def trick_with_a_block() -> Trick:
    """Return a trick in which a 6 that was played as a 9 was blocked."""
    return find(matches(), lambda trick: trick.blocked is not None and trick.blocked.name.endswith(" 6 as 9"))


def card(trick: Trick, seat: int) -> str:
    """Return the prediction card of a seat in the round of a trick."""
    return SIXTH_SENSE.cards[trick.report.predictions[seat]].name


def shown(trick: Trick, *, seat: int | None = None, colour: bool = False) -> str:
    return drawn(show_part(trick.course, trick.round, trick.number, seat), colour=colour)


def test_replay_match_shows_places_ratings_and_points_by_round() -> None:
    shared = next(played for played in matches() if played.replay.result.places.count(2) == 2)
    assert drawn(show_match(shared)) == lines("""
    6th Sense, match 103 · 4 seats · 2026-09-21 14:13 UTC · server 0.1.0

    place  seat and bot     points  forced  rating  change
    ──────────────────────────────────────────────────────
        1  3 bot-3             -16       7    1610   +79.9
        2  0 bot-0 (house)     -24      13    1505    +5.0
        2  2 bot-2             -24       8    1518    -1.6
        4  1 bot-1             -34       3    1425   -84.8

    round  0 bot-0   1 bot-1   2 bot-2  3 bot-3
    ───────────────────────────────────────────
        1  -9   -9  -10  -10   -2   -2  -3   -3
        2  -9  -18  -10  -20  -10  -12  -7  -10
        3  -5  -23   -2  -22   -2  -14  -4  -14
        4  -1  -24  -12  -34  -10  -24  -2  -16
    """)


def test_replay_match_that_was_interrupted_says_why_and_shows_the_options() -> None:
    header, entries = play(2, interrupted_after=9, novice=True, target=50)
    assert drawn(show_match(Course(read(encode(header, entries))))) == lines("""
    6th Sense, match 101 · 2 seats · novice · target 50 · 2026-09-21 14:13 UTC ·
    server 0.1.0

    place  seat and bot     points  forced
    ──────────────────────────────────────
        –  0 bot-0 (house)       –       0
        –  1 bot-1               –       0

    Interrupted: the server stops – good night
    """)


def test_replay_round_shows_predictions_hands_and_tricks() -> None:
    assert drawn(show_round(eventful_round()[0].course, eventful_round()[0].round)) == lines("""
    Round 1 · trump red (red 2 turned) · bot-0 deals

    seat and bot  foretold  took  points  score
    ───────────────────────────────────────────
    0 bot-0       B11          2      -9     -9
    1 bot-1       R14          4     -10    -10
    2 bot-2       G3!t         5      -2     -2
    3 bot-3       G6/9         3      -3     -3

    seat and bot  was dealt
    ────────────────────────────────────────────────────────────────
    0 bot-0       R 3 7  Y 4 6/9 7 13  G 7 8 13  B 0 5 10 11  P 6/9
    1 bot-1       R 5 8 11 14  Y 0 2 11 12  G 0  B 4 6/9 14  P 1 4
    2 bot-2       R 4 12  Y 1  G 1 3 10  B 1 3 7 8 12  P 5 11 12
    3 bot-3       R 6/9  Y 3 8 14  G 2 4 6/9 14  B 13  P 0 3 7 13 14

     #  0 bot-0    1 bot-1    2 bot-2    3 bot-3    by
    ────────────────────────────────────────────────────
     1   R3*       ▸R5*        R12*       R9*       2
     2   R7*        R8*       ▸R4*!t      P13       3↓
     3   P9         P4         P12       ▸P14       1×2↓
     4   Y4        ▸Y12        Y1         Y14       2↓
     5   B0         B14       ▸B8         B13!t     1?
     6   G7!t      ▸(R11*)!t   G10        P0⊘       2
     7   G13        G0⊘       ▸G1         (G2)      0
     8  ▸Y7         Y2         P5         Y8        3
     9   G8         Y0⊘        P11       ▸(G4)      0
    10  ▸Y9         Y11        B7         Y3        1
    11   B5        ▸P1         B1!t       P7        3
    12   Y13        B4         B3!t      ▸P3        2↓
    13   B10        B6        ▸B12        G14       2

    ▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it
    ? leader peeked  !t !i !s !a forced by time, illegality, suspension, absence
    """)


@pytest.mark.parametrize("seat", range(4))
def test_replay_round_as_one_seat_saw_it_hides_hands_predictions_and_blocks(seat: int) -> None:
    played, number = eventful_round()[0].course, eventful_round()[0].round
    everything = drawn(show_round(played, number)).splitlines()
    seen = drawn(show_round(played, number, seat)).splitlines()
    assert seen[:2] == [everything[0], f"As bot-{seat} (seat {seat}) sees it"]
    known = {seat} | {trick.taker for trick in eventful_round() if trick.looker == seat}
    foretold = slice(len("0 bot-0       "), len("0 bot-0       foretold"))
    for each in range(4):
        row = next(line for line in everything if line.startswith(f"{each} bot-{each} "))
        sign = row[foretold].rstrip().partition("!")[1:]
        hidden = row[: foretold.start] + f"?{''.join(sign)}".ljust(8) + row[foretold.stop :]
        assert (row if each in known else hidden) in seen
        hand = next(line for line in everything if re.match(rf"{each} bot-{each} +[RYGBP] ", line))
        assert (hand in seen) == (each == seat)
    for trick in eventful_round():
        row = next(line for line in everything if line.startswith(f"{trick.number:>2}  "))
        own = trick.blocker is not None and trick.blocker.seat == seat
        assert (row if own else re.sub("[RYGBP]0⊘", "?0⊘", row)) in seen


def test_replay_trick_with_a_block() -> None:
    trick = trick_with_a_block()
    text = shown(trick)
    assert text == lines("""
    Round 4, trick 4 · trump red (red 5 turned) · bot-3 deals

    place  seat and bot  card
    ───────────────────────────────────────────────────────────────────────
        1  3 bot-3       purple 6 as 9            leads, blocked by place 4
        2  0 bot-0       purple 2                 forced by time
        3  1 bot-1       purple 10                takes the trick
        4  2 bot-2       purple 0 blocks place 1

    bot-1 (seat 1) takes it.
    """)
    assert trick.blocker is not None
    name = SIXTH_SENSE.actions[trick.blocker.action].name
    hidden = re.sub(r"^\w+ 0 ", "a 0 ", name)
    for seat in range(4):
        seen = shown(trick, seat=seat)
        assert (f"bot-{trick.blocker.seat}       {name}" in seen) == (seat == trick.blocker.seat)
        assert (f"bot-{trick.blocker.seat}       {hidden}" in seen) == (seat != trick.blocker.seat)
        assert " 6 as 9 " in seen


def test_replay_trick_with_a_reversal() -> None:
    trick = find(
        matches(),
        lambda trick: (
            trick.reversed
            and not trick.answers
            and any(made.seat == trick.taker and made.forced is Cause.TIME for made in trick.plays)
        ),
    )
    assert shown(trick) == lines("""
    Round 1, trick 1 · trump green (green 8 turned) · bot-0 deals

    place  seat and bot  card
    ──────────────────────────────────────────────────────────────────
        1  1 bot-1       red 0  leads, forced by time, takes the trick
        2  2 bot-2       red 4
        3  3 bot-3       red 8
        4  0 bot-0       red 6  forced by time

    An odd number of 4s counts: the lowest card takes the trick.
    """)


def test_replay_trick_with_two_4s_is_not_reversed() -> None:
    trick = find(
        matches(), lambda trick: [action.value for action in trick.actions].count(4) == 2 and not trick.blocked
    )
    assert shown(trick) == lines("""
    Round 4, trick 7 · trump blue (blue 12 turned) · bot-3 deals

    place  seat and bot  card
    ─────────────────────────────────────────────────────────────
        1  1 bot-1       blue 11    leads, trump, takes the trick
        2  2 bot-2       red 4      forced by time
        3  3 bot-3       blue 4     trump
        4  0 bot-0       purple 12

    With a 12 in it, bot-1 (seat 1) splits it: it counts as two.
    """)


def test_replay_trick_with_a_double() -> None:
    split = find(matches(), lambda trick: trick.answered("double", True) and not trick.reversed)
    assert shown(split) == lines("""
    Round 1, trick 13 · trump blue (blue 10 turned) · bot-0 deals

    place  seat and bot  card
    ─────────────────────────────────────────────────────────────
        1  3 bot-3       blue 13    leads, trump, takes the trick
        2  0 bot-0       green 14
        3  1 bot-1       purple 12
        4  2 bot-2       blue 12    trump

    With a 12 in it, bot-3 (seat 3) splits it: it counts as two.
    """)


def test_replay_trick_with_a_double_that_the_server_declined() -> None:
    kept = find(matches(), lambda trick: "double" in trick.answers and trick.answers["double"].forced is Cause.TIME)
    assert shown(kept) == lines("""
    Round 1, trick 1 · trump blue (blue 10 turned) · bot-0 deals

    place  seat and bot  card
    ───────────────────────────────────────────────────
        1  1 bot-1       red 2   leads, forced by time
        2  2 bot-2       red 13
        3  3 bot-3       red 12
        4  0 bot-0       blue 2  trump, takes the trick

    With a 12 in it, bot-0 (seat 0) keeps it as one (forced by time).
    """)


def test_replay_trick_with_a_peek_shows_the_card_to_who_looked_only() -> None:
    trick = find(matches(), lambda trick: trick.answered("peek", True) and trick.reversed)
    text = shown(trick)
    assert text == lines("""
    Round 3, trick 7 · trump yellow (yellow 8 turned) · bot-2 deals

    place  seat and bot  card
    ────────────────────────────────────────────────────
        1  1 bot-1       red 8     leads, forced by time
        2  2 bot-2       red 4
        3  3 bot-3       yellow 3  trump, forced by time
        4  0 bot-0       purple 1  takes the trick

    An odd number of 4s counts: the lowest card takes the trick.
    Having led an 8, bot-1 (seat 1) looks at what bot-0 (seat 0) foretold: red 14.
    """)
    sentence = text.splitlines()[-1]
    assert sentence.endswith(f": {card(trick, trick.taker)}.")
    for seat in range(4):
        knows = seat in {trick.looker, trick.taker}
        assert shown(trick, seat=seat).endswith(sentence if knows else f"{sentence.partition(': ')[0]}.")


def test_replay_peek_that_ends_a_round_is_shown_to_who_looked() -> None:
    trick = find(matches(3), lambda trick: trick.answered("peek", True) and trick.number == len(trick.report.takers))
    played, end = trick.course, trick.course.ends(trick.report.round)
    made = played.steps[end].made
    assert made is not None
    assert made.action == PEEK
    known = {seat: picture(played, end, seat).predictions[trick.taker] is not None for seat in range(3)}
    assert known == {seat: seat in {trick.looker, trick.taker} for seat in range(3)}
    assert "looks at what" in drawn(show_part(played, trick.round, -1))


def test_replay_trick_that_nobody_takes() -> None:
    trick = find(matches(2, novice=True), lambda trick: trick.taker == 2)
    assert shown(trick) == lines("""
    Round 2, trick 13 · no card turned · bot-1 deals

    place  seat and bot  card
    ─────────────────────────────────────────────────────────────────────
        1  1 bot-1       yellow 11              leads, blocked by place 2
        2  0 bot-0       blue 0 blocks place 1

    Nobody takes it; bot-1 (seat 1) leads again.
    """)
    assert "13   B0⊘       ▸(Y11)     –" in drawn(show_round(trick.course, trick.round))


def test_replay_last_trick_that_nobody_takes() -> None:
    trick = find(matches(2), lambda trick: trick.taker == 2 and trick.number == len(trick.report.takers))
    assert shown(trick).endswith("\n\nNobody takes it.")


def interrupted(after: int) -> Course:
    header, entries = play(interrupted_after=after)
    return Course(read(encode(header, entries)))


def test_replay_trick_that_was_broken_off() -> None:
    broken = next(
        played for played in map(interrupted, range(50, 60)) if len(picture(played, played.ends(0), None).plays) % 4
    )
    assert drawn(show_part(broken)).endswith("The trick was not played out.")


@cache
def step_forced_by_suspension() -> tuple[Course, int, int]:
    """Return a step in which the server leads for a suspended bot after a reversed trick: the step's number, from 1,
    and the seat.
    """
    trick = find(
        matches(),
        lambda trick: (
            trick.plays[0].forced is Cause.SUSPENSION
            and any(
                before.reversed and not before.answers
                for before in tricks(trick.course)
                if (before.round, before.number) == (trick.round, trick.number - 1)
            )
        ),
    )
    number = next(at for at, step in enumerate(trick.course.steps, 1) if step.made is trick.plays[0])
    return trick.course, number, trick.plays[0].seat


def test_replay_step_shows_the_choice_and_the_position_after_it() -> None:
    played, number, _ = step_forced_by_suspension()
    assert drawn(show_step(played, number - 1)) == lines("""
    Round 2 · trump green (green 4 turned) · bot-1 deals
    bot-1 (seat 1): purple 6 as 9

    seat and bot  foretold  took  points  score
    ───────────────────────────────────────────
    0 bot-0       P12          2             -9
    1 bot-1       G13          2            -10
    2 bot-2       P14          4             -2
    3 bot-3       R10          3             -3

    seat and bot  holds
    ────────────────────────
    0 bot-0       Y 12  G 14
    1 bot-1       G 3  B 12
    2 bot-2       Y 10  P 13
    3 bot-3       G 2  P 10

     #  0 bot-0    1 bot-1    2 bot-2    3 bot-3    by
    ──────────────────────────────────────────────────
    10   Y3!s       B8!t      ▸B9         Y7        2
    11   Y4!s       P9        ▸P2         P8        0↓

    ▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it
    ? leader peeked  !t !i !s !a forced by time, illegality, suspension, absence
    """)


def test_replay_step_for_one_seat_shows_its_hand_only_and_the_trick_so_far() -> None:
    played, number, seat = step_forced_by_suspension()
    assert drawn(show_step(played, number, seat)) == lines("""
    Round 2 · trump green (green 4 turned) · bot-1 deals
    As bot-0 (seat 0) sees it
    bot-0 (seat 0): yellow 12 (forced by suspension)

    seat and bot  foretold  took  points  score
    ───────────────────────────────────────────
    0 bot-0       P12          2             -9
    1 bot-1       ?            2            -10
    2 bot-2       ?            4             -2
    3 bot-3       ?            3             -3

    seat and bot  holds
    ───────────────────
    0 bot-0       G 14

     #  0 bot-0    1 bot-1    2 bot-2    3 bot-3    by
    ──────────────────────────────────────────────────
    11   Y4!s       P9        ▸P2         P8        0↓
    12  ▸Y12!s

    ▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it
    ? leader peeked  !t !i !s !a forced by time, illegality, suspension, absence
    """)


def test_replay_steps_before_all_have_foretold_tell_a_seat_nothing_about_the_others() -> None:
    assert "The cards are dealt." in drawn(show_step(course(), 1, seat=1))
    for number in (2, 3, 4):
        made = course().steps[number - 1].made
        assert made is not None
        watcher = (made.seat + 1) % 4
        text = drawn(show_step(course(), number, seat=watcher))
        assert "The others choose what they foretell." in text
        for seat in set(range(4)) - {watcher}:
            assert f"{seat} bot-{seat}       –            0              0\n" in text + "\n"
    assert drawn(show_step(course(), 5, seat=0)).count("?") == 3


def test_replay_step_of_a_block_hides_its_card_from_the_others() -> None:
    number, made = next(
        (number, step.made)
        for number, step in enumerate(course().steps, 1)
        if step.made is not None and SIXTH_SENSE.actions[step.made.action].kind == "block"
    )
    action = SIXTH_SENSE.actions[made.action]
    own = f"bot-{made.seat} (seat {made.seat}): {action.name}"
    assert own in drawn(show_step(course(), number))
    assert own in drawn(show_step(course(), number, seat=made.seat))
    other = drawn(show_step(course(), number, seat=(made.seat + 1) % 4))
    assert own not in other
    assert f"bot-{made.seat} (seat {made.seat}): a 0 blocks place {(action.place or 0) + 1}" in other


def test_replay_step_says_when_and_why_the_server_chose() -> None:
    played, _, _ = step_forced_by_suspension()
    forced = {step.made.forced: number for number, step in enumerate(played.steps, 1) if step.made}
    assert {Cause.TIME, Cause.SUSPENSION} <= forced.keys()
    for cause, number in forced.items():
        if cause is not None:
            assert f"(forced by {cause.value})" in drawn(show_step(played, number))


@pytest.mark.parametrize(("seats", "chance"), [(2, 1), (3, 6), (4, 1), (6, 3)])
def test_replay_shows_a_seat_exactly_what_the_engine_let_it_see(seats: int, chance: int) -> None:
    played = course(seats, chance)
    for index, step in enumerate(played.steps):
        for seat in range(seats):
            seen = picture(played, index, seat)
            if step.ended is None:
                view = step.state.view(seat)
                assert isinstance(view, SixthSenseView)
                assert seen.plays == view.plays
                assert seen.hands == tuple(view.hand if each == seat else None for each in range(seats))
                assert [0 if card is None else card + 1 for card in seen.predictions] == list(view.known_predictions)
            else:
                everything = picture(played, index, None)
                assert not any(everything.hands)
                assert None not in everything.predictions
                for place, (shown, real) in enumerate(zip(seen.plays, everything.plays, strict=True)):
                    player = (seen.leaders[place // seats] + place) % seats
                    hidden = SIXTH_SENSE.actions[real].kind == "block" and player != seat
                    assert (shown == real) != hidden
                    assert SIXTH_SENSE.actions[shown].place == SIXTH_SENSE.actions[real].place
                looked = {
                    taker
                    for leader, taker, peek in zip(seen.leaders, seen.takers, seen.peeks, strict=True)
                    if peek and leader == seat
                }
                for each, card in enumerate(seen.predictions):
                    assert (card is not None) == (each == seat or each in looked)


@pytest.mark.parametrize("seats", range(2, 7))
def test_replay_fits_80_columns_whatever_the_names(seats: int) -> None:
    played = Course(read(long_names(seats, SIXTH_SENSE)))
    pictures = [show_match(played), show_part(played)]
    pictures += [show_round(played, number, seat) for number in (1, -1) for seat in (None, 0)]
    pictures += [show_step(played, number, 1) for number in (1, 20, -1)]
    nothing_is_lost(pictures, ("▸", "!t", "*", "↓", "×2", "+", "#"))


def test_replay_cards_have_their_colours_and_blocked_ones_are_struck_through() -> None:
    trick = trick_with_a_block()
    text = shown(trick, colour=True)
    assert trick.blocked is not None
    blocked = trick.blocked.name
    taken = next(
        action.name for made, action in zip(trick.plays, trick.actions, strict=True) if made.seat == trick.taker
    )
    assert f"\x1b[9;{SGR[blocked.split()[0]]}m{blocked}" in text
    assert f"\x1b[1;7;{SGR[taken.split()[0]]}m{taken}" in text
    assert trick.report.turned is not None
    trump = SIXTH_SENSE.cards[trick.report.turned].name.split()[0]
    assert f"\x1b[{SGR[trump]}m{trump}\x1b[0m" in text
    whole = drawn(show_round(trick.course, trick.round), colour=True)
    assert "\x1b[2;9m(" in whole
    for name, number in SGR.items():
        assert re.search(rf"\x1b\[{number}m *{name[0].upper()} \d", whole)


@pytest.mark.parametrize(
    ("show", "words"),
    [
        (lambda: show_round(course(), 5), "the replay has rounds 1 to 4, not round 5"),
        (lambda: show_round(course(), 0), "the replay has rounds 1 to 4, not round 0"),
        (lambda: show_round(course(), -5), "the replay has rounds 1 to 4, not round -5"),
        (lambda: show_part(course(), 1, 14), "the replay has tricks 1 to 13, not trick 14"),
        (lambda: show_step(course(), 9999), "the replay has steps 1 to "),
        (lambda: show_round(course(), 1, seat=4), "the replay has seats 0 to 3, not seat 4"),
        (lambda: show_round(course(), 1, seat=-1), "the replay has seats 0 to 3, not seat -1"),
    ],
)
def test_replay_says_what_there_is_to_show(show: Any, words: str) -> None:
    with pytest.raises(ShowError) as caught:
        show()
    assert str(caught.value).startswith(words)


def test_replay_without_a_trick_says_so() -> None:
    with pytest.raises(ShowError, match="the replay has no tricks there, not trick -1"):
        show_part(interrupted(0))


def test_replay_every_game_has_a_renderer() -> None:
    assert RENDERERS.keys() == GAMES.keys()


@pytest.mark.parametrize(
    "show",
    [show_match, show_round, show_part, lambda played: show_step(played, 1)],
    ids=["match", "round", "trick", "step"],
)
def test_replay_of_a_game_without_a_renderer_names_the_file_to_write(
    show: Callable[[Course], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "RENDERERS", {})
    with pytest.raises(ShowError) as caught:
        show(course())
    assert str(caught.value) == (
        "6th Sense has no renderer to show it: "
        "write arena/replay/render/sixth_sense.py and name it in arena/replay/render/show.py"
    )
