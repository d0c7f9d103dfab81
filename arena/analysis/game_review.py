"""The review of a match: each seat's points compared with a house bot's points on the same cards,
and costly choices.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final, TypedDict

import click

from arena.analysis.review import ALL_WORLDS, ENDING_LINES, FIRST_WORLDS, WORLDS, Costly, costly, house_rounds
from arena.house import HOUSE_BOTS, HouseBot, title
from arena.replay.header import Header
from arena.replay.render.show import renderer_of, round_results
from arena.replay.replay import Replay
from arena.replay.steps import Course

MOST: Final = 3
"""Maximum number of costly choices in a review."""


@dataclass(frozen=True, slots=True)
class RoundPoints:
    """One seat's points in a round, compared with the house bot's."""

    round: int
    """Number of the round, from 0."""
    points: int
    house: int
    """The house bot's points on the same cards in the same seat."""
    kept: bool | None
    """True if the seat won exactly as many tricks as it had bid or predicted. None in a game without bids."""


@dataclass(frozen=True, slots=True)
class SeatReview:
    """One seat's points in a match, compared with the house bot's."""

    seat: int
    bot: str
    is_house: bool
    rounds: tuple[RoundPoints, ...]
    costly: tuple[Costly, ...] | None
    """The costliest choices, the costliest first. None if they were not computed."""

    @property
    def points(self) -> int:
        """Points in all rounds."""
        return sum(each.points for each in self.rounds)

    @property
    def house(self) -> int:
        """The house bot's points in all rounds."""
        return sum(each.house for each in self.rounds)

    @property
    def kept(self) -> str:
        """Rounds in which the seat won exactly as many tricks as it bid, as "3 of 5". Empty in a game without bids."""
        bids = [each.kept for each in self.rounds if each.kept is not None]
        return f"{sum(bids)} of {len(bids)}" if bids else ""


class GameReview:
    """A match compared with a house bot's play."""

    def __init__(self, replay: Replay) -> None:
        """Raise LookupError for a game without a house bot or a renderer."""
        self.header: Header = replay.header
        house_bots = HOUSE_BOTS.get(replay.header.game.name)
        if not house_bots:
            raise LookupError(f"no house bot plays {replay.header.game.title}, so there is none to compare with")
        self.house: HouseBot = house_bots[-1]
        """The strongest house bot of the game."""
        self._replay = replay
        self._course = Course(replay)
        self._renderer = renderer_of(replay.header.game)

    def seats(self) -> list[SeatReview]:
        """Return the review of every seat, without costly choices."""
        renderer, chance = self._renderer, Random(self._key("rounds"))  # noqa: S311 - repeatable on purpose
        rounds: list[list[RoundPoints]] = [[] for _ in self.header.bots]
        own_and_house = zip(round_results(self._course), house_rounds(self._replay, self.house, chance), strict=False)
        for own, house in own_and_house:
            kept = own.kept or [None] * len(rounds)
            for seat, row in enumerate(zip(own.points, renderer.worth(house), kept, strict=True)):
                rounds[seat].append(RoundPoints(house.round, *row))
        return [
            SeatReview(seat, bot.name, bot.house, tuple(rounds[seat]), None)
            for seat, bot in enumerate(self.header.bots)
        ]

    def costly(self, seat: int, looked: Callable[[float], None] = lambda _: None) -> tuple[Costly, ...]:
        """Compute the costliest choices of a seat, or read them if they are stored.

        `looked` is called with the progress, from 0 to 1.
        """
        key = self._key(f"seat {seat}")
        found = _read(key)
        if found is None:
            found = costly(self._course, seat, self.house, self._renderer.worth, MOST, Random, key, looked)
            _store(key, found)
        return found

    @cached_property
    def steps(self) -> Mapping[int, int]:
        """Number of the step to which each decision led, from 1."""
        return {each.made.decision: place for place, each in enumerate(self._course.steps, 1) if each.made}

    def _key(self, part: str) -> str:
        """Return a digest of all inputs of the computation."""
        lines = (
            self._replay.lines[-1],
            title(self.house),
            part,
            f"{FIRST_WORLDS} {WORLDS} {WORLDS} {MOST} {ENDING_LINES} {ALL_WORLDS}",
        )
        return sha256("\n".join(lines).encode()).hexdigest()


class ChoiceDocument(TypedDict):
    """A choice with a better alternative."""

    decision: int
    step: int
    """The step of the replay to which the choice led, from 1."""
    round: int
    """Number of the round, from 0."""
    action: int
    better: int
    cost: float
    """Mean gain of the better choice, in points."""
    error: float
    """Standard error of the cost."""
    name: str
    better_name: str


class SeatReviewDocument(TypedDict):
    """One seat's match compared with the house bot's."""

    seat: int
    bot: str
    points: int
    house: int
    """The house bot's points on the same cards in the same seat."""
    rounds: Sequence[RoundPoints]
    costly: Sequence[ChoiceDocument] | None
    """The costliest choices, the costliest first. Null if they were not computed."""


class ReviewDocument(TypedDict):
    """A match compared with a house bot's play: the answer of `arena why --game`."""

    match: int
    game: str
    house: str
    """The house bot, with its version."""
    seats: Sequence[SeatReviewDocument]


def document(review: GameReview, seats: Sequence[SeatReview]) -> Any:
    """Return the document that `arena why --game --json` prints, a `ReviewDocument`."""
    actions = review.header.game.actions

    def of_choice(each: Costly) -> dict[str, Any]:
        names = {"name": actions[each.action].name, "better_name": actions[each.better].name}
        return each._asdict() | {"step": review.steps[each.decision]} | names

    return {
        "match": review.header.match_id,
        "game": review.header.game.name,
        "house": title(review.house),
        "seats": [
            {
                "seat": seat.seat,
                "bot": seat.bot,
                "points": seat.points,
                "house": seat.house,
                "rounds": [asdict(each) for each in seat.rounds],
                "costly": None if seat.costly is None else [of_choice(each) for each in seat.costly],
            }
            for seat in seats
        ],
    }


def _file(key: str) -> Path:
    return Path(click.get_app_dir("arena")) / "reviews" / f"{key}.json"


def _read(key: str) -> tuple[Costly, ...] | None:
    """Return the stored choices, or None if there are none or they cannot be read."""
    with suppress(OSError, ValueError, TypeError):
        return tuple([Costly(**each) for each in json.loads(_file(key).read_text())])
    return None


def _store(key: str, found: Sequence[Costly]) -> None:
    """Store the choices for the next time. If that fails, they will be computed again."""
    with suppress(OSError):
        _file(key).parent.mkdir(parents=True, exist_ok=True)
        _file(key).write_text(json.dumps([each._asdict() for each in found]))
