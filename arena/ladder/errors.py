# ruff: noqa: N818 - the names say what is the matter, which "Error" at their end would not make clearer
"""What can be wrong with a list of results or with the entrants. Every error carries its values."""

from __future__ import annotations

from arena.ladder.events import Node


class LadderError(ValueError):
    """No ladder can be made of this."""


class EventsMissing(LadderError):
    """The numbers of the events leave a gap."""

    def __init__(self, number: int, expected: int) -> None:
        super().__init__(f"event {number} follows where event {expected} should: the list is not whole")
        self.number = number
        self.expected = expected


class EventRepeated(LadderError):
    """The number of an event is not above those before it."""

    def __init__(self, number: int, expected: int) -> None:
        super().__init__(f"event {number} comes where event {expected} should: it is a repetition or out of order")
        self.number = number
        self.expected = expected


class MatchRepeated(LadderError):
    """A match has a second result; a voided one is not replaced either."""

    def __init__(self, match: int) -> None:
        super().__init__(f"match {match} has more than one result: a match is rated once, and a void is final")
        self.match = match


class NothingToVoid(LadderError):
    """A void of a match that has no standing result."""

    def __init__(self, match: int) -> None:
        super().__init__(f"match {match} cannot be voided: no result of it stands")
        self.match = match


class WrongSeats(LadderError):
    """A match has too few or too many seats, or not one node, place and mark for each."""

    def __init__(self, match: int, nodes: int, places: int, counts: int) -> None:
        super().__init__(
            f"match {match} has {nodes} nodes, {places} places and {counts} marks of what counts; "
            "a rated match has 2 to 7 seats, and one of each for every seat"
        )
        self.match = match


class NoRanking(LadderError):
    """The places of a match are no ranking."""

    def __init__(self, match: int, places: tuple[int, ...]) -> None:
        super().__init__(
            f"the places {places} of match {match} are no ranking: a place is 1 + how many seats are better (1, 1, 3)"
        )
        self.match = match
        self.places = places


class UnknownNode(LadderError):
    """Somebody in a match is no entrant."""

    def __init__(self, match: int, node: int) -> None:
        super().__init__(f"node {node} has a seat in match {match} but is no entrant")
        self.match = match
        self.node = node


class NodeRepeated(LadderError):
    """A node is among the entrants more than once."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"node {node} is among the entrants more than once")
        self.node = node


class UnknownParent(LadderError):
    """The parent of an entrant is no entrant."""

    def __init__(self, node: Node, parent: Node) -> None:
        super().__init__(f"node {node} is a version after node {parent}, which is no entrant")
        self.node = node
        self.parent = parent


class CyclicParents(LadderError):
    """An entrant is among its own forebears."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"node {node} comes after itself: its parents lead back to it")
        self.node = node


class NotConverged(LadderError):
    """Newton's method did not come to rest."""

    def __init__(self, steps: int, step: float) -> None:
        super().__init__(f"no fit after {steps} steps, the last of which was {step:.3g} (in log odds)")
        self.steps = steps
        self.step = step
