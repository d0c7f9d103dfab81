"""A second, simple implementation of Leduc poker, written from the rules. It shares no code with the engine."""

from __future__ import annotations

from copy import deepcopy
from typing import Any


class PlainGame:
    """A game of two seats. Cards and actions are strings."""

    def __init__(self, deals: list[list[str]]) -> None:
        self.deals = deals
        self.scores = [0, 0]
        self.round = 0
        self.over = False
        self.last_round: dict[str, Any] | None = None
        self.begin()

    def begin(self) -> None:
        self.said: list[list[str]] = [[], []]
        self.stakes = [1, 1]
        self.street = 0
        self.turn = self.round % 2

    def waiting(self) -> list[int]:
        return [] if self.over else [self.turn]

    def legal(self, seat: int) -> set[str]:
        said = self.said[self.street]
        found = {"check or call"}
        if said and said[-1] == "raise":
            found.add("fold")
        if said.count("raise") < 2:
            found.add("raise")
        return found

    def act(self, seat: int, name: str) -> None:
        other = 1 - seat
        said = self.said[self.street]
        said.append(name)
        self.turn = other
        if name == "fold":
            self.end(winner=other)
            return
        self.stakes[seat] = self.stakes[other]
        if name == "raise":
            self.stakes[seat] += 4 if self.street else 2
        elif len(said) > 1:
            if self.street:
                self.end(winner=self.better())
            else:
                self.street, self.turn = 1, self.round % 2

    def better(self) -> int | None:
        order = ["jack", "queen", "king"]
        ranks = [card.split(" ")[0] for card in self.deals[self.round][:3]]
        if ranks[0] == ranks[1]:
            return None
        for seat in (0, 1):
            if ranks[seat] == ranks[2]:
                return seat
        return 0 if order.index(ranks[0]) > order.index(ranks[1]) else 1

    def end(self, winner: int | None) -> None:
        points = [0, 0]
        if winner is not None:
            lost = self.stakes[1 - winner]
            points[winner], points[1 - winner] = lost, -lost
        self.scores = [score + more for score, more in zip(self.scores, points, strict=True)]
        self.last_round = {"round": self.round, "points": points, "scores": self.scores, "said": self.said}
        self.over = self.round + 1 == len(self.deals)
        if not self.over:
            self.round += 1
            self.begin()

    def seen(self, seat: int) -> dict[str, Any]:
        deal = self.deals[self.round]
        return {"card": deal[seat], "board": deal[2] if self.street else None, "said": self.said}

    def clone(self) -> PlainGame:
        return deepcopy(self)
