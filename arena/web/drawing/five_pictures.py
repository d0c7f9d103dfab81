"""The game in five pictures of the board, for readers who do not know the games.

They show a round of 6th Sense with fewer cards than in a real round.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from arena.replay.render.renderer import CardFace, SeatScene, TableScene
from arena.replay.render.table_svg import table_svg

_TRUMP: Final = CardFace("red", "10")
_HAND: Final = ("red 12", "blue 14", "blue 3", "green 2", "purple 5", "yellow 1")
"""The reader's hand as dealt. The green 2 becomes the prediction."""


class FivePicture(NamedTuple):
    """One of the five pictures."""

    drawn: str
    """The board as SVG."""
    title: str
    words: str


@cache
def five_pictures() -> tuple[FivePicture, ...]:
    """Return the pictures in order."""
    steps = (
        (
            _table(_HAND, 6),
            "The deal",
            "Everybody gets cards and sees only the own ones. One more card is turned over: its colour, red, is trump.",
        ),
        (
            _table(_without("green 2"), 5, targets=((2,), (), ())),
            "The prediction",
            "Before the first card everybody foretells, in secret, how many tricks it will take: you put away a 2.",
        ),
        (
            _table(_without("green 2", "blue 14"), 4, cards=("blue 14", "blue 8", "blue 10"), leads=1, takes=0),
            "A trick",
            "Ann leads blue. Whoever holds blue must play it, and the highest blue takes the trick: yours.",
        ),
        (
            _table(
                _without("green 2", "blue 14", "red 12"),
                3,
                cards=("red 12*", "yellow 13", "yellow 4"),
                leads=1,
                takes=0,
                taken=(1, 0, 0),
            ),
            "Trump",
            "Had you a yellow card, you would have to play it. You play trump instead, which beats every other colour.",
        ),
        (
            _table((), 0, targets=((2,), (3,), (1,)), taken=(2, 2, 1), points=(2, -1, 1)),
            "The score",
            "Who took just what was foretold gets as many points; whoever did not loses a point for each trick amiss.",
        ),
    )
    return tuple(
        FivePicture(table_svg(scene, f"{title}: a board of 6th Sense"), title, words) for scene, title, words in steps
    )


def _without(*cards: str) -> tuple[str, ...]:
    return tuple(each for each in _HAND if each not in cards)


def _face(name: str) -> CardFace:
    colour, value = name.split()
    return CardFace(colour, value.rstrip("*"), "*" if value.endswith("*") else "")


def _table(
    hand: tuple[str, ...],
    held: int,
    *,
    targets: tuple[tuple[int, ...], ...] = ((2,), (), ()),
    cards: tuple[str, ...] = (),
    leads: int | None = None,
    takes: int | None = None,
    taken: tuple[int, ...] = (0, 0, 0),
    points: tuple[int, ...] | None = None,
) -> TableScene:
    """Return a table of three seats with the reader at the bottom."""
    seats = tuple(
        SeatScene(
            name=name,
            house=False,
            hand=tuple(map(_face, hand)) if number == 0 else None,
            called="",
            taken=taken[number] + (number == takes),
            score=0 if points is None else points[number],
            points=None if points is None else points[number],
            card=_face(cards[number]) if cards else None,
            deals=number == 2,
            leads=number == leads,
            takes=number == takes,
            chose=False,
            target=targets[number] if held < len(_HAND) else (),
            held=held,
        )
        for number, name in enumerate(("you", "Ann", "Bob"))
    )
    return TableScene(seats, _TRUMP, 0 if cards else None, "foretold")
