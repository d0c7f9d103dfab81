"""Drawings of Nullern's replays: bids, leaders, obligations to follow, Hupfers, and the blind round."""

import re
from dataclasses import replace
from functools import cache

from rich.console import RenderableType

from arena.replay.read import read
from arena.replay.render.nullern import NullernRenderer
from arena.replay.render.picture import PLAYS
from arena.replay.render.show import show_match, show_part, show_round, show_step
from arena.replay.steps import Course
from engine.nullern import NULLERN, NullernRound, NullernView
from engine.nullern.cards import ACTIONS, BLIND, CARDS
from tests.replay.drawing import SGR, drawn, lines, nothing_is_lost
from tests.replay.nullern_course import SEATS, course, interrupted, is_trump, reports, tricks
from tests.replay.recorded import long_names

picture = NullernRenderer().picture


def test_replay_match_of_nullern_shows_hupfers_by_round_and_deducted_at_the_end() -> None:
    assert drawn(show_match(course(3))) == lines("""
    Nullern, match 101 · 3 seats · 2026-09-21 14:13 UTC · server 0.1.0

    place  seat and bot     points  forced  rating  change
    ──────────────────────────────────────────────────────
        1  0 bot-0 (house)      91      13    1579   +79.2
        2  1 bot-1              27       9    1510    +0.0
        3  2 bot-2             -17      11    1442   -77.6

    round   0 bot-0   1 bot-1   2 bot-2
    ───────────────────────────────────
        1  +20   20  +20   20  +11   11
        2  +11   31  +1H   21  +0H   11
        3  +1H   32  +11   32  +1H   12
        4  +2H   34  +2H   34  +0H   12
        5  +12   46  +2H   36  +1H   13
        6  +1H   47  +3H   39  +2H   15
        7  +2H   49  +2H   41  +3H   18
        8  +1H   50  +5H   46  +2H   20
        9  +4H   54  +3H   49  +12   32
       10  +4H   58  +3H   52  +3H   35
       11  +3H   61  +3H   55  +3H   38
       12  +14   75  +3H   58  +1H   39
       13  +1H   76  +3H   61  +3H   42
       14  +4H   80  +1H   62  +1H   43
       15  +1H   81  +3H   65  +1H   44
       16  +12   93  +0H   65  +2H   46
       17  +11  104  +2H   67  +0H   46
       18  +11  115  +0H   67  +1H   47
       19  +11  126  +20   87  +20   67
       20  +20  146  +20  107  +1H   68
        H  -55   91  -80   27  -85  -17

    H a Hupfer: −5 at the end
    """)


@SEATS
def test_replay_match_of_nullern_adds_up(seats: int) -> None:
    """Check every number in the table: each round's points and Hupfers, and the running score without the cost of
    Hupfers.
    """
    played = course(seats)
    *_, table, _ = drawn(show_match(played)).split("\n\n")
    rows = [line.split(maxsplit=1) for line in table.splitlines()[2:]]
    scores, hupfers = [0] * seats, [0] * seats
    for (label, row), report in zip(rows[:-1], reports(played), strict=True):
        assert label == f"{report.round + 1}"
        cells = re.findall(r"([+-]\d+)(H?) +(-?\d+)", row)
        assert len(cells) == seats
        for seat, (points, sign, score) in enumerate(cells):
            scores[seat] += int(points)
            hupfers[seat] += sign == "H"
            assert (int(points), bool(sign), int(score)) == (report.points[seat], report.missed[seat], scores[seat])
    label, row = rows[-1]
    assert label == "H"
    ends = [(int(cost), int(score)) for cost, score in re.findall(r"([+-]\d+) +(-?\d+)", row)]
    assert ends == [(-5 * count, score) for count, score in zip(hupfers, played.replay.result.scores, strict=True)]


def test_replay_match_of_nullern_that_was_interrupted_deducts_nothing() -> None:
    text = drawn(show_match(interrupted(120)))
    assert "Interrupted: the server stops – good night" in text
    assert "H a Hupfer: −5 at the end" in text
    assert not re.search(r"^ *H +-", text, re.MULTILINE)


def test_replay_round_of_nullern_shows_bids_in_turn_who_leads_and_tricks_against_bids() -> None:
    played, number = eventful_round()
    assert drawn(show_round(played, number)) == lines("""
    Round 4 · 4 cards each · trump red (red 11 turned) · bot-3 deals

    seat and bot  bid in turn  took  points  score  Hupfers  net
    ────────────────────────────────────────────────────────────
    0 bot-0       1               1     +11     45        1   40
    1 bot-1       1!t             1     +11     31        2   21
    2 bot-2       4               1    H +1      2        4  -18
    3 bot-3       4               1    H +1     32        2   22

    bot-2 (seat 2) leads first: the first to name the highest bid, 4.

    seat and bot  was dealt
    ──────────────────────────────
    0 bot-0       Y 13  G 8 12 19
    1 bot-1       Y 1 14  G 1  B 2
    2 bot-2       R 1 3  G 6  B 6
    3 bot-3       R 2  Y 5 7 10

    #  0 bot-0    1 bot-1    2 bot-2    3 bot-3    by
    ─────────────────────────────────────────────────
    1   Y13        Y1!t      ▸R1*!t      R2*^      3
    2   G19        B2         B6        ▸Y5        0
    3  ▸G8         Y14        G6         Y7!t      1
    4   G12       ▸G1         R3*        Y10       2

    ▸ leads  * trump  ^ had to follow with trump  H a Hupfer: −5 at the end
    !t !i !s !a forced by time, illegality, suspension, absence  net: after Hupfers
    """)


@cache
def eventful_round() -> tuple[Course, int]:
    """Return the number, from 1, of a round with four features: a tie for the highest bid, an obligation to follow, a
    missed bid and a fulfilled bid.
    """
    for chance in range(1, 20):
        played = course(4, chance)
        for report in reports(played):
            led_with_trump = [
                trick for each, _, trick in tricks(played) if each is report and is_trump(report, trick[0])
            ]
            if (
                report.bids.count(max(report.bids)) > 1
                and any(sum(is_trump(report, card) for card in trick) == 2 for trick in led_with_trump)
                and 0 in report.missed
                and 1 in report.missed
                and 3 < len(report.takers) < 7
                and any("!" in line for line in drawn(show_round(played, report.round + 1)).splitlines()[3:8])
            ):
                return played, report.round + 1
    raise AssertionError("no round has it all")


@SEATS
def test_N4_replay_says_who_was_first_to_name_the_highest_bid(seats: int) -> None:
    played = course(seats)
    for report in reports(played):
        turns = [(report.round + 1 + place) % seats for place in range(seats)]
        first = next(seat for seat in turns if report.bids[seat] == max(report.bids))
        why = f"bot-{first} (seat {first}) leads first: the first to name the highest bid, {max(report.bids)}."
        text = drawn(show_round(played, report.round + 1))
        assert why in text
        assert why in drawn(show_part(played, report.round + 1, 1))
        table = text.split("\n\n")[1].splitlines()[2:]
        assert [int(row.split()[0]) for row in table] == turns, "the rows are in the order of bidding"


@SEATS
def test_N5_replay_marks_every_trump_that_had_to_follow_and_who_holds_none(seats: int) -> None:
    played, seen = course(seats), set()
    tables = [drawn(show_round(played, report.round + 1)).split("\n\n")[-2].splitlines() for report in reports(played)]
    for report, number, trick in tricks(played):
        rows = drawn(show_part(played, report.round + 1, number + 1), width=120).split("\n\n")[1].splitlines()[2:]
        blind = report.round == 19
        row = tables[report.round][2 + number]
        due = [
            place > 0 and not blind and is_trump(report, trick[0]) and is_trump(report, card)
            for place, card in enumerate(trick)
        ]
        assert row.count("^") == sum(due)
        for place, card in enumerate(trick):
            none = place > 0 and not blind and is_trump(report, trick[0]) and not is_trump(report, card)
            assert ("had to follow" in rows[place]) == due[place]
            assert ("holds no trump" in rows[place]) == none
            assert ("trump" in rows[place]) == (none or is_trump(report, card))
            seen |= {(due[place], none)}
    assert seen == {(False, False), (True, False), (False, True)}


@SEATS
def test_N6_replay_says_what_a_trick_was_taken_with(seats: int) -> None:
    played, seen = course(seats), set()
    for report, number, trick in tricks(played):
        trumps = sum(is_trump(report, card) for card in trick)
        values = sorted(CARDS[card].values[0] for card in trick)
        how = {0: "the first of the highest values" if values[-1] == values[-2] else "the highest value"}
        how |= {1: "the only trump"}
        words = how.get(trumps, "the highest trump")
        taker = report.takers[number]
        text = drawn(show_part(played, report.round + 1, number + 1), width=120)
        assert text.endswith(f"bot-{taker} (seat {taker}) takes it with {words}.")
        [taken] = [line for line in text.splitlines() if "takes the trick" in line]
        assert f"{taker} bot-{taker} " in taken
        seen.add(words)
    assert seen >= {"the only trump", "the highest trump", "the highest value"}


def test_replay_trick_of_nullern() -> None:
    played = course(4)
    report, number, _ = next(
        (report, number, trick)
        for report, number, trick in tricks(played)
        if number > 0 and is_trump(report, trick[0]) and sum(is_trump(report, card) for card in trick) == 3
    )
    assert drawn(show_part(played, report.round + 1, number + 1)) == lines("""
    Round 4, trick 2 · 4 cards each · trump red (red 12 turned) · bot-3 deals

    place  seat and bot  card
    ────────────────────────────────────────────────────────────────────────────
        1  0 bot-0       red 17    leads, trump, forced by time, takes the trick
        2  1 bot-1       red 13    trump, had to follow
        3  2 bot-2       red 3     trump, had to follow
        4  3 bot-3       green 10  holds no trump

    bot-0 (seat 0) leads, having taken the trick before.
    bot-0 (seat 0) takes it with the highest trump.
    """)


def test_replay_trick_of_nullern_that_was_broken_off() -> None:
    broken = next(
        played
        for played in map(interrupted, range(200, 230))
        if picture(played, played.ends(played.rounds - 1), None).begun
        > len(picture(played, played.ends(played.rounds - 1), None).takers)
    )
    assert drawn(show_part(broken)).endswith("\nThe trick was not played out.")


def test_replay_step_of_nullern_shows_the_bids_that_were_named() -> None:
    assert "The cards are dealt." in drawn(show_step(course(), 1))
    for number in (2, 3, 4):
        made = course().steps[number - 1].made
        assert made is not None
        text = drawn(show_step(course(), number, seat=0))
        assert f"bot-{made.seat} (seat {made.seat}): {ACTIONS[made.action].name}" in text
        assert "leads first" not in text
        named = [re.split(r"  +", row)[1] for row in text.split("\n\n")[1].splitlines()[2:]]
        assert named.count("–") == 5 - number
        assert named[: number - 1] == [bid for bid in named if bid != "–"], "bids are named in turn"
    assert "leads first" in drawn(show_step(course(), 5, seat=0))


@SEATS
def test_N8_replay_shows_no_blind_card_before_it_is_played(seats: int) -> None:
    played = course(seats)
    *_, report = reports(played)
    begins, end = played.begins(19), played.ends(19)
    cards = [CARDS[card] for card in report.plays]
    codes = [f"{NULLERN.colours[card.colour][0].upper()}{card.values[0]}" for card in cards]
    for eyes in (None, 0, seats - 1):
        for index in range(begins + 1, end + 1):
            step = played.steps[index]
            assert step.made is not None
            text = drawn(show_step(played, index + 1, eyes))
            out = len(picture(played, index, eyes).plays)
            assert re.findall(r" (?:▸| )([RYGB]\d+)\b", text) == [
                codes[place] for place in sorted(range(out), key=lambda place: (report.leaders[0] + place) % seats)
            ]
            if step.made.action == BLIND:
                assert f"(seat {step.made.seat}): the blind card is {cards[out - 1].name}" in text
            else:
                assert ACTIONS[step.made.action].name in text
            assert "Nobody may see a card before it is played, its owner included." in text
        whole = drawn(show_round(played, -1, eyes))
        assert "1 card each, blind" in whole
        assert "Nobody may see a card before it is played, its owner included." in whole
        assert "was dealt" not in whole


@SEATS
def test_replay_shows_a_seat_of_nullern_exactly_what_the_engine_let_it_see(seats: int) -> None:
    played = course(seats, 2)
    for index, step in enumerate(played.steps):
        everything = picture(played, index, None)
        for seat in range(seats):
            seen = picture(played, index, seat)
            if step.ended is None:
                view = step.state.view(seat)
                assert isinstance(view, NullernView)
                blind = view.round == 19
                own = tuple(view.hand if each == seat and not blind else None for each in range(seats))
                assert seen == replace(everything, hands=own)
                assert seen.plays == view.plays
                assert seen.leaders == view.leaders
                assert [0 if bid is None else bid + 1 for bid in seen.bids] == list(view.bids)
                assert (seen.scores, seen.hupfers) == (view.scores, view.hupfers)
            else:
                assert isinstance(step.ended, NullernRound)
                assert not any(everything.hands)
                assert seen.plays == step.ended.plays
                assert (seen.net if seen.over else seen.scores) == step.ended.scores


def without_rules(what: RenderableType) -> list[str]:
    """Return the lines without the rules below table titles, because their width depends on the content."""
    return [line for line in drawn(what).splitlines() if not line.startswith("─")]


def test_replay_round_of_nullern_as_one_seat_saw_it_hides_the_other_hands() -> None:
    everything = without_rules(show_round(course(), 5))
    hands = [line for line in everything if re.match(r"\d bot-\d +[RYGB] ", line)]
    assert len(hands) == 4
    for seat in range(4):
        assert without_rules(show_round(course(), 5, seat)) == [
            everything[0],
            f"As bot-{seat} (seat {seat}) sees it",
            *(line for line in everything[1:] if line not in hands or line == hands[seat]),
        ]


@SEATS
def test_replay_of_nullern_fits_80_columns_whatever_the_names(seats: int) -> None:
    played = Course(read(long_names(seats, NULLERN)))
    pictures = [show_match(played), show_part(played), show_part(played, 10, 1)]
    pictures += [show_round(played, number, seat) for number in (1, 9, 10, -1) for seat in (None, 0)]
    pictures += [show_step(played, number, 1) for number in (1, 20, -1)]
    nothing_is_lost(pictures, ("▸", "!t", "!i", "!s", "*", "^", "+", "H", "#"))


def test_replay_of_nullern_has_colours() -> None:
    text = drawn(show_round(course(), 10), colour=True)
    turned = CARDS[next(report.turned for report in reports(course()) if report.round == 9)].name
    trump = turned.split()[0]
    assert f"\x1b[{SGR[trump]}m{trump}\x1b[0m ({turned} turned)" in text
    for name in NULLERN.colours:
        assert re.search(rf"\x1b\[{SGR[name]}m *{name[0].upper()} \d", text)
    assert "\x1b[1;7;" in text, "the card that takes a trick stands out"
    assert f"\x1b[{SGR['red']}mH" in text
    step = next(
        number
        for number, each in enumerate(course().steps, 1)
        if each.made is not None and each.made.action == 0 and ACTIONS[0].kind in PLAYS
    )
    assert f"\x1b[{SGR['red']}mred 1\x1b[0m" in drawn(show_step(course(), step), colour=True)
