"""The format of the .perft files: small deals of a game, and the counts of their lines of play.

A file has a head of comments and one paragraph per case. The first word of each line gives its meaning:

    = name          what the case shows
    long            tested only with --long
    seats 3
    options target=2 late_trump=true
    round 4         the round, counted from 0, with the hands below; decks before and after it are unshuffled, and
                    every choice before it is the action whose name comes first in the alphabet
    hand red 5, …   one line per seat, seat 0 first
    turned blue 4   the next card of the deck
    shuffle 7       instead of hand and turned: the portable shuffle deals every round; this number is the match key
    opening …       choices made before counting begins; seats that choose at once do so in ascending order
    depth 4         stop counting after this number of choices
    lines 3 9 18    number of lines with at least one choice, with at least two …
    ends 2 -1 0: 6  number of lines that end with these scores; "over" before the colon if the game is over, too
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.game import Option, option_text
from tests.conformance.perft.counts import End, Fingerprint

FILES = Path(__file__).parent
ENDS_A_LINE = 8


@dataclass(slots=True)
class Case:
    """One position and the expected counts of its lines of play."""

    name: str
    long: bool = False
    seats: int = 0
    options: dict[str, Option] = field(default_factory=dict)
    round: int = 0
    hands: list[list[str]] = field(default_factory=list)
    turned: str = ""
    shuffle: int | None = None
    opening: list[str] = field(default_factory=list)
    depth: int | None = None
    lines: tuple[int, ...] = ()
    ends: dict[End, int] = field(default_factory=dict)

    @property
    def counted(self) -> Fingerprint:
        """Return the counts in the file."""
        return Fingerprint(self.lines, self.ends)


def path_of(game: str) -> Path:
    """Return the path of a game's .perft file."""
    return FILES / f"{game}.perft"


def read(text: str) -> tuple[str, list[Case]]:
    """Return the head of a file and its cases."""
    head, *paragraphs = text.rstrip().split("\n\n= ")
    return head, [_case(paragraph) for paragraph in paragraphs]


def write(head: str, cases: list[Case], counts: Mapping[str, Fingerprint]) -> str:
    """Return the text of a file with these counts for its cases."""
    return "\n\n".join([head, *("\n".join(_written(case, counts[case.name])) for case in cases)]) + "\n"


def _case(paragraph: str) -> Case:
    name, *lines = paragraph.split("\n")
    case = Case(name)
    for line in lines:
        word, _, rest = line.partition(" ")
        match word:
            case "long":
                case.long = True
            case "options":
                case.options = dict(map(_option, rest.split(" ")))
            case "hand":
                case.hands.append(rest.split(", "))
            case "turned":
                case.turned = rest
            case "opening":
                case.opening += rest.split(", ")
            case "lines":
                case.lines = tuple(map(int, rest.split(" ")))
            case "ends":
                case.ends |= dict(map(_end, rest.split(", ")))
            case "seats" | "round" | "shuffle" | "depth":
                setattr(case, word, int(rest))
            case _:
                raise ValueError(f"case {name!r}: no line begins with {word!r}")
    return case


def _option(text: str) -> tuple[str, Option]:
    name, value = text.split("=")
    return name, value == "true" if value in ("true", "false") else int(value)


def _end(text: str) -> tuple[End, int]:
    how, count = text.split(": ")
    scores = how.removesuffix(" over")
    return End(tuple(map(int, scores.split(" "))), scores != how), int(count)


def _written(case: Case, counted: Fingerprint) -> Iterator[str]:
    yield f"= {case.name}"
    if case.long:
        yield "long"
    yield f"seats {case.seats}"
    if case.options:
        yield "options " + " ".join(f"{name}={option_text(value)}" for name, value in case.options.items())
    if case.round:
        yield f"round {case.round}"
    for hand in case.hands:
        yield f"hand {', '.join(hand)}"
    if case.turned:
        yield f"turned {case.turned}"
    if case.shuffle is not None:
        yield f"shuffle {case.shuffle}"
    if case.opening:
        yield f"opening {', '.join(case.opening)}"
    if case.depth is not None:
        yield f"depth {case.depth}"
    yield "lines " + " ".join(map(str, counted.lines))
    ends = [
        f"{' '.join(map(str, scores))}{' over' if over else ''}: {count}"
        for (scores, over), count in sorted(counted.ends.items())
    ]
    for first in range(0, len(ends), ENDS_A_LINE):
        yield f"ends {', '.join(ends[first : first + ENDS_A_LINE])}"
