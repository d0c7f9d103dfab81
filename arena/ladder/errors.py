# ruff: noqa: N818 - the names say what is wrong; "Error" at their end would add nothing
"""Errors in a list of results or among the entrants."""

from __future__ import annotations


class LadderError(ValueError):
    """An error in the input of a ladder. The message gives the values."""


class MatchRepeated(LadderError):
    """A second result of a match. It is an error even if the first result was annulled."""

    def __init__(self, match_id: int) -> None:
        super().__init__(f"match {match_id} has more than one result: a match is rated once, and a void is final")


class WrongSeats(LadderError):
    """A match without 2 to 7 seats, each with one node, place and count flag."""

    def __init__(self, match_id: int, nodes: int, places: int, counts: int) -> None:
        super().__init__(
            f"match {match_id} has {nodes} nodes, {places} places and {counts} count flags; "
            "a rated match has 2 to 7 seats, and one of each for every seat"
        )


class UnknownNode(LadderError):
    """A seat names a bot version that has not entered."""

    def __init__(self, match_id: int, node: int) -> None:
        super().__init__(f"node {node} has a seat in match {match_id} but is no entrant")
