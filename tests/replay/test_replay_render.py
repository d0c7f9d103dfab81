"""What a replay looks like: at 80 columns, without colour and with it, and to one seat only as that seat knew it."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from rich.console import Console, RenderableType

from arena.replay.read import read
from arena.replay.record import Bot, encode
from arena.replay.render.show import RENDERERS, ShowError, show_match, show_round, show_step, show_trick
from arena.replay.render.sixth_sense_picture import picture
from arena.replay.steps import Course
from engine.registry import GAMES
from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from engine.sixth_sense.cards import PEEK
from tests.replay.recorded import changes, play, rated


@cache
def course(seats: int = 4, chance: int = 1, **options: Any) -> Course:
    return Course(read(rated(seats, chance=chance, **options)))


def drawn(what: RenderableType, *, colour: bool = False, width: int = 80) -> str:
    console = Console(width=width, force_terminal=colour, color_system="standard" if colour else None, no_color=False)
    with console.capture() as capture:
        console.print(what)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def lines(text: str) -> str:
    """A picture written down in a test: without the first newline and the indentation."""
    return "\n".join(line[4:] for line in text.strip("\n").splitlines()).rstrip()


def test_replay_match_shows_places_ratings_and_points_by_round() -> None:
    assert drawn(show_match(course())) == lines("""
    6th Sense, match 101 · 4 seats · 2026-09-21 14:13 UTC · server 0.1.0

    place  seat and bot     points  forced  rating  change
    ──────────────────────────────────────────────────────
        1  2 bot-2             -12      10    1604   +83.9
        2  0 bot-0 (house)     -14       3    1534   +34.1
        3  3 bot-3             -17       5    1497   -33.1
        4  1 bot-1             -19      23    1425   -84.8

    round   0 bot-0   1 bot-1   2 bot-2  3 bot-3
    ────────────────────────────────────────────
        1   -2   -2   -1   -1   -9   -9  -9   -9
        2  -14  -16   -5   -6   +1   -8  -3  -12
        3   +6  -10   -2   -8  -11  -19  -4  -16
        4   -4  -14  -11  -19   +7  -12  -1  -17
    """)


def test_replay_match_that_was_interrupted_says_why_and_shows_the_options() -> None:
    header, recorder = play(2, interrupted_after=9, novice=True, target=50)
    assert drawn(show_match(Course(read(encode(header, recorder.entries))))) == lines("""
    6th Sense, match 101 · 2 seats · novice · target 50 · 2026-09-21 14:13 UTC ·
    server 0.1.0

    place  seat and bot     points  forced
    ──────────────────────────────────────
        –  0 bot-0 (house)       –       0
        –  1 bot-1               –       0

    Interrupted: the server stops – good night
    """)


def test_replay_round_shows_predictions_hands_and_tricks() -> None:
    assert drawn(show_round(course())) == lines("""
    Round 4 · trump blue (blue 12 turned) · bot-3 deals

    seat and bot  foretold  took  points  score
    ───────────────────────────────────────────
    0 bot-0       P8           4      -4    -14
    1 bot-1       R13          2     -11    -19
    2 bot-2       R7           7      +7    -12
    3 bot-3       Y1           2      -1    -17

    seat and bot  was dealt
    ─────────────────────────────────────────────────────────────────
    0 bot-0       R 2 5  Y 7 8 13  G 0 3 6/9 13  B 6/9 8  P 1 8 12
    1 bot-1       R 6/9 11 13  Y 2  G 5 8 14  B 3 7 11  P 3 6/9 11 14
    2 bot-2       R 0 4 7  Y 6/9 10 11 12  G 1 11 12  B 2 14  P 2 4
    3 bot-3       R 1 12 14  Y 1  G 4 7 10  B 4 5 10 13  P 0 5 10

     #  0 bot-0    1 bot-1    2 bot-2    3 bot-3    by
    ───────────────────────────────────────────────────
     1  ▸G13        G8         G1!t       G4        2↓
     2   Y7         Y2        ▸Y10        R14       2
     3   Y8         G5        ▸Y6         B10*      3
     4   R2         (R9)       R0⊘       ▸R1        0
     5  ▸B9*        B7*        B14*       B5*       2
     6   R5         R11       ▸R4         R12       2↓
     7   Y13        B11*      ▸Y11!t      P5        1
     8   P12       ▸P6         P2         P0        0×2
     9  ▸G6         G14        G11!t      G7        1
    10   P1        ▸P3         P4         P10       0↓
    11  ▸B8*        B3*        B2*        B4*       2↓?
    12   G3         P11       ▸Y12        G10!t     2×2
    13   G0         P14       ▸G12        B13*      3

    ▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it
    ? leader peeked  !t !i !s forced by time, illegality, suspension
    """)


def test_replay_round_as_one_seat_saw_it_hides_hands_predictions_and_blocks() -> None:
    text = drawn(show_round(course(), 4, seat=3))
    assert text.startswith("Round 4 · trump blue (blue 12 turned) · bot-3 deals\nAs bot-3 (seat 3) sees it\n")
    assert "0 bot-0       ?            4      -4    -14\n" in text
    assert "3 bot-3       Y1           2      -1    -17\n" in text
    assert "3 bot-3       R 1 12 14  Y 1  G 4 7 10  B 4 5 10 13  P 0 5 10" in text
    assert "0 bot-0       R 2 5" not in text
    assert " 4   R2         (R9)       ?0⊘       ▸R1        0" in text


def test_replay_trick_with_a_block() -> None:
    assert drawn(show_trick(course(), 4, 4)) == lines("""
    Round 4, trick 4 · trump blue (blue 12 turned) · bot-3 deals

    place  seat and bot  card
    ─────────────────────────────────────────────────────────────
        1  3 bot-3       red 1                 leads
        2  0 bot-0       red 2                 takes the trick
        3  1 bot-1       red 6 as 9            blocked by place 4
        4  2 bot-2       red 0 blocks place 3

    bot-0 (seat 0) takes it.
    """)
    assert "2 bot-2       a 0 blocks place 3" in drawn(show_trick(course(), 4, 4, seat=0))
    assert "2 bot-2       red 0 blocks place 3" in drawn(show_trick(course(), 4, 4, seat=2))


def test_replay_trick_with_a_reversal() -> None:
    assert drawn(show_trick(course(), 4, 1)) == lines("""
    Round 4, trick 1 · trump blue (blue 12 turned) · bot-3 deals

    place  seat and bot  card
    ──────────────────────────────────────────────────────────────
        1  0 bot-0       green 13  leads
        2  1 bot-1       green 8
        3  2 bot-2       green 1   forced by time, takes the trick
        4  3 bot-3       green 4

    An odd number of 4s counts: the lowest card takes the trick.
    """)


def test_replay_trick_with_a_double() -> None:
    assert drawn(show_trick(course(), 4, 8)) == lines("""
    Round 4, trick 8 · trump blue (blue 12 turned) · bot-3 deals

    place  seat and bot  card
    ───────────────────────────────────────────────
        1  1 bot-1       purple 6   leads
        2  2 bot-2       purple 2
        3  3 bot-3       purple 0
        4  0 bot-0       purple 12  takes the trick

    With a 12 in it, bot-0 (seat 0) splits it: it counts as two.
    """)


def test_replay_trick_with_a_peek_shows_the_card_to_who_looked_only() -> None:
    text = drawn(show_trick(course(), 4, 11))
    assert text == lines("""
    Round 4, trick 11 · trump blue (blue 12 turned) · bot-3 deals

    place  seat and bot  card
    ───────────────────────────────────────────────────
        1  0 bot-0       blue 8  leads, trump
        2  1 bot-1       blue 3  trump
        3  2 bot-2       blue 2  trump, takes the trick
        4  3 bot-3       blue 4  trump

    An odd number of 4s counts: the lowest card takes the trick.
    Having led an 8, bot-0 (seat 0) looks at what bot-2 (seat 2) foretold: red 7.
    """)
    sentence = text.splitlines()[-1]
    assert drawn(show_trick(course(), 4, 11, seat=0)).endswith(sentence)
    assert drawn(show_trick(course(), 4, 11, seat=1)).endswith(sentence.replace(": red 7", ""))


def test_replay_peek_that_ends_a_round_is_shown_to_who_looked() -> None:
    played = course(3, 6)
    end = played.ends(1)
    made = played.steps[end].made
    assert made is not None
    assert made.action == PEEK
    taker = picture(played, end, None).takers[-1]
    known = {seat: picture(played, end, seat).predictions[taker] is not None for seat in range(3)}
    assert known == {seat: seat in {made.seat, taker} for seat in range(3)}
    assert "looks at what" in drawn(show_trick(played, 2, -1))


def test_replay_trick_that_nobody_takes() -> None:
    text = drawn(show_trick(course(2, novice=True), 1, 5))
    assert "Round 1, trick 5 · no card turned · bot-0 deals" in text
    assert text.endswith("Nobody takes it; bot-1 (seat 1) leads again.")
    assert " 5   Y0⊘       ▸(Y1)      –" in drawn(show_round(course(2, novice=True), 1))


def interrupted(after: int) -> Course:
    header, recorder = play(interrupted_after=after)
    return Course(read(encode(header, recorder.entries)))


def test_replay_trick_that_was_broken_off() -> None:
    broken = interrupted(50)
    assert len(picture(broken, broken.ends(0), None).plays) % 4
    assert drawn(show_trick(broken)).endswith("The trick was not played out.")


def test_replay_step_shows_the_choice_and_the_position_after_it() -> None:
    assert drawn(show_step(course(), 48)) == lines("""
    Round 1 · trump blue (blue 10 turned) · bot-0 deals
    bot-3 (seat 3): blue 5

    seat and bot  foretold  took  points  score
    ───────────────────────────────────────────
    0 bot-0       P4           5              0
    1 bot-1       R3           3              0
    2 bot-2       G12          2              0
    3 bot-3       R11          2              0

    seat and bot  holds
    ─────────────────────────────
    0 bot-0       B 2 8  P 8
    1 bot-1       B 4  P 2 10
    2 bot-2       G 2  B 11  P 11
    3 bot-3       R 7  B 13  P 5

     #  0 bot-0    1 bot-1    2 bot-2    3 bot-3    by
    ──────────────────────────────────────────────────
     9   G10       ▸G3!t       G1         P13       0
    10  ▸Y4         G6!t       B1*        B5*       1↓

    ▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it
    ? leader peeked  !t !i !s forced by time, illegality, suspension
    """)


def test_replay_step_for_one_seat_shows_its_hand_only_and_the_trick_so_far() -> None:
    assert drawn(show_step(course(), 49, seat=1)) == lines("""
    Round 1 · trump blue (blue 10 turned) · bot-0 deals
    As bot-1 (seat 1) sees it
    bot-1 (seat 1): blue 4 (forced by suspension)

    seat and bot  foretold  took  points  score
    ───────────────────────────────────────────
    0 bot-0       ?            5              0
    1 bot-1       R3           3              0
    2 bot-2       ?            2              0
    3 bot-3       ?            2              0

    seat and bot  holds
    ────────────────────
    1 bot-1       P 2 10

     #  0 bot-0    1 bot-1    2 bot-2    3 bot-3    by
    ──────────────────────────────────────────────────
    10  ▸Y4         G6!t       B1*        B5*       1↓
    11             ▸B4*!s

    ▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it
    ? leader peeked  !t !i !s forced by time, illegality, suspension
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
    forced = {step.made.forced: number for number, step in enumerate(course().steps, 1) if step.made}
    for cause, number in forced.items():
        if cause is not None:
            assert f"(forced by {cause.value})" in drawn(show_step(course(), number))


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
    header, recorder = play(seats)
    long = tuple(Bot(f"a-bot-with-a-name-of-forty-characters-{seat:02}", house=True) for seat in range(seats))
    played = Course(read(encode(replace(header, bots=long), recorder.entries, changes(recorder))))
    pictures = [show_match(played), show_trick(played)]
    pictures += [show_round(played, number, seat) for number in (1, -1) for seat in (None, 0)]
    pictures += [show_step(played, number, 1) for number in (1, 20, -1)]
    for each in pictures:
        narrow, wide = drawn(each), drawn(each, width=200)
        assert max(map(len, narrow.splitlines())) <= 80
        for sign in ("▸", "!t", "*", "↓", "×2", "+"):
            assert narrow.count(sign) == wide.count(sign)


def test_replay_cards_have_their_colours_and_blocked_ones_are_struck_through() -> None:
    text = drawn(show_trick(course(), 4, 4), colour=True)
    assert "\x1b[9;31mred 6 as 9" in text
    assert "\x1b[1;7;31mred 2" in text
    assert "\x1b[94mblue\x1b[0m" in text
    assert "\x1b[2;9m(" in drawn(show_round(course(), 4), colour=True)


@pytest.mark.parametrize(
    ("show", "words"),
    [
        (lambda: show_round(course(), 5), "the replay has rounds 1 to 4, not round 5"),
        (lambda: show_round(course(), 0), "the replay has rounds 1 to 4, not round 0"),
        (lambda: show_round(course(), -5), "the replay has rounds 1 to 4, not round -5"),
        (lambda: show_trick(course(), 1, 14), "the replay has tricks 1 to 13, not trick 14"),
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
        show_trick(interrupted(0))


def test_replay_every_game_has_a_renderer() -> None:
    assert RENDERERS.keys() == GAMES.keys()
