"""Comparison of two matches on one deal, round by round, up to the first choice that differs.

A round's cards depend only on the deal. So each round begins in the same way in both matches, except for the points so
far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from arena.replay.replay import Replay
from arena.replay.steps import Course, Made, Step
from engine.deal import match_key
from engine.game import RoundReport


class DealsDiffer(ValueError):  # noqa: N818 - the name says what is the matter
    """Error of two replays with different deals. The message names the difference."""


class ChosenOtherwise(NamedTuple):
    """A seat that chose differently in the same position."""

    seat: int
    one: Made
    other: Made


class RoundTwice(NamedTuple):
    """A round that was played twice. The report of a round in an interrupted match may be missing."""

    round: int
    """Number of the round, from 0."""
    alike: int
    """Number of choices before the first different one."""
    otherwise: tuple[ChosenOtherwise, ...]
    """The seats with the first different choice: several if they choose simultaneously, none in equal rounds."""
    one: RoundReport | None
    other: RoundReport | None


def rounds_twice(one: Replay, other: Replay) -> tuple[RoundTwice, ...]:
    """Compare two replays of one deal up to the end of the shorter one. Raises: DealsDiffer."""
    for what, first, second in (
        ("the game", one.header.game.name, other.header.game.name),
        ("the number of seats", len(one.header.bots), len(other.header.bots)),
        ("the options", {**one.header.options}, {**other.header.options}),
    ):
        if first != second:
            raise DealsDiffer(f"{what} differs: {first} and {second}")
    if match_key(one.header.seed, one.header.nonces) != match_key(other.header.seed, other.header.nonces):
        raise DealsDiffer("the cards differ: seeds and nonces give other deals")
    both = zip(_by_round(one), _by_round(other), strict=False)
    return tuple(_compared(number, *each) for number, each in enumerate(both))


def _by_round(replay: Replay) -> list[Sequence[Step]]:
    """Return the positions of each round, beginning with its deal."""
    course = Course(replay)
    return [course.steps[course.begins(number) : course.ends(number) + 1] for number in range(course.rounds)]


def _compared(number: int, one: Sequence[Step], other: Sequence[Step]) -> RoundTwice:
    alike, otherwise = 0, tuple[ChosenOtherwise, ...]()
    for first, second in zip(_at_once(one), _at_once(other), strict=False):
        seats = sorted(first.keys() & second.keys())
        otherwise = tuple(
            ChosenOtherwise(seat, first[seat], second[seat])
            for seat in seats
            if first[seat].action != second[seat].action
        )
        alike += len(seats) - len(otherwise)
        if otherwise:
            break
    return RoundTwice(number, alike, otherwise, one[-1].ended, other[-1].ended)


def _at_once(positions: Sequence[Step]) -> Iterator[dict[int, Made]]:
    """Yield the choices of a round, by seat, in groups of simultaneous choices."""
    at = 0
    while at < len(positions) - 1:
        waiting = len(positions[at].state.waiting())
        made = [step.made for step in positions[at + 1 : at + 1 + waiting]]
        yield {each.seat: each for each in made if each is not None}
        at += waiting
