# ruff: noqa: N818 - the names say what is wrong; "Error" at their end would add nothing
"""Errors in a list of results or among the entrants. Each carries the values of its message as attributes."""

from __future__ import annotations

from arena.ladder.events import Node


class LadderError(ValueError):
    """Base of all errors in the input of a ladder."""


class EventsMissing(LadderError):
    """Event numbers with a gap."""

    def __init__(self, number: int, expected: int) -> None:
        super().__init__(f"event {number} follows where event {expected} should: the list is not whole")


class EventRepeated(LadderError):
    """An event number that is not greater than those before it."""

    def __init__(self, number: int, expected: int) -> None:
        super().__init__(f"event {number} comes where event {expected} should: it is a repetition or out of order")


class MatchRepeated(LadderError):
    """A second result of a match. It is an error even if the first result was annulled."""

    def __init__(self, match_id: int) -> None:
        super().__init__(f"match {match_id} has more than one result: a match is rated once, and a void is final")


class NothingToVoid(LadderError):
    """A match that cannot be annulled, because it has no result or was annulled before."""

    def __init__(self, match_id: int) -> None:
        super().__init__(f"match {match_id} cannot be voided: no result of it stands")


class WrongSeats(LadderError):
    """A match without 2 to 7 seats, each with one node, place and count flag."""

    def __init__(self, match_id: int, nodes: int, places: int, counts: int) -> None:
        super().__init__(
            f"match {match_id} has {nodes} nodes, {places} places and {counts} count flags; "
            "a rated match has 2 to 7 seats, and one of each for every seat"
        )


class NoRanking(LadderError):
    """Places of a match that do not form a ranking."""

    def __init__(self, match_id: int, places: tuple[int, ...]) -> None:
        super().__init__(
            f"the places {places} of match {match_id} are no ranking: a place is 1 + the seats better than it (1, 1, 3)"
        )


class UnknownNode(LadderError):
    """A seat names a bot version that has not entered."""

    def __init__(self, match_id: int, node: int) -> None:
        super().__init__(f"node {node} has a seat in match {match_id} but is no entrant")


class NodeRepeated(LadderError):
    """A node that is among the entrants more than once."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"node {node} is among the entrants more than once")


class UnknownParent(LadderError):
    """A parent of an entrant that is not an entrant."""

    def __init__(self, node: Node, parent: Node) -> None:
        super().__init__(f"node {node} is a version after node {parent}, which is no entrant")


class CyclicParents(LadderError):
    """An entrant that is its own ancestor."""

    def __init__(self, node: Node) -> None:
        super().__init__(f"node {node} comes after itself: its parents lead back to it")


class NotConverged(LadderError):
    """Newton's method without convergence."""

    def __init__(self, steps: int, step: float) -> None:
        super().__init__(f"no fit after {steps} steps, the last of which was {step:.3g} (in log odds)")
