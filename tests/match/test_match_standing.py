"""Last places and counted pairs, seat by seat, without a match."""

from itertools import product

import pytest

from arena.match.policy import Policy
from arena.match.result import Standing, standing
from arena.match.seat import Seat

ROUNDS = 8
HERE, HELD, BACK, GONE = range(4)
"""Four seats: never absent; briefly absent at the end; back after a long absence; gone for a long time at the end."""


def seat(course: int) -> Seat:
    made = Seat(Policy(), newcomer=False)
    made.substituted = course in (HELD, GONE)
    made.substituted_rounds = {HERE: 0, HELD: 2, BACK: 3, GONE: 8}[course]  # 2 of 8 is exactly a quarter, not more
    return made


def result(*courses: int, rule: int = 2) -> Standing:
    return standing(range(1, len(courses) + 1), ROUNDS, map(seat, courses), Policy(), rule)


def moves(made: Standing, own: int, other: int) -> bool:
    """Return True if the pair of two seats counts for the first, as the ladder reads the result."""
    return made.counts[own] and not (made.spoilt and made.spoilt[other])


@pytest.mark.parametrize("courses", [*product(range(4), repeat=3)], ids=lambda courses: "".join(map(str, courses)))
def test_each_pair_counts_by_its_two_seats_alone(courses: tuple[int, ...]) -> None:
    made = result(*courses)
    assert made.spoilt == tuple(course in (BACK, GONE) for course in courses)
    for own, other in product(range(3), repeat=2):
        if own != other:
            assert moves(made, own, other) == (not made.spoilt[other])
    others = [[made.spoilt[other] for other in range(3) if other != own] for own in range(3)]
    assert made.counts == tuple(not all(each) for each in others)
    there = [place for place, course in zip(made.places, courses, strict=True) if course == HERE]
    assert there == [*range(1, len(there) + 1)], "the others are ranked among themselves"
    assert all(made.places[at] == len(there) + 1 for at, course in enumerate(courses) if course != HERE)


def test_in_a_match_of_two_only_who_vanished_is_moved() -> None:
    assert result(GONE, HERE) == Standing((2, 1), (True, False), (True, False))
    assert result(GONE, BACK) == Standing((1, 1), (False, False), (True, True))
    assert result(HELD, HERE) == Standing((2, 1), (True, True), (False, False))


def test_the_older_rule_voids_the_match_for_the_others() -> None:
    assert result(GONE, HERE, HERE, rule=1) == Standing((3, 1, 2), (True, False, False), ())
    assert result(GONE, HELD, HERE, rule=1) == Standing((2, 2, 1), (True, True, False), ())
    assert result(HELD, HERE, HERE, rule=1) == Standing((3, 1, 2), (True, True, True), ())
