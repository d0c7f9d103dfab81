"""Who may be rated: the entrants in the order of their nodes, each with its position in all arrays of a fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from arena.ladder.columns import Columns, Ints
from arena.ladder.errors import CyclicParents, NodeRepeated, UnknownNode, UnknownParent
from arena.ladder.events import Entrant, Node

DENSE: Final = 1 << 20
"""Nodes below this are looked up in a table; of larger ones it would take too much memory."""


class Roster:
    """The entrants, by position. NodeRepeated, UnknownParent, CyclicParents."""

    def __init__(self, entrants: Iterable[Entrant]) -> None:
        self.entrants: Final = tuple(sorted(entrants, key=lambda entrant: entrant.node))
        self.nodes: Final = tuple(entrant.node for entrant in self.entrants)
        self._position: Final = {node: position for position, node in enumerate(self.nodes)}
        self._sorted: Final = np.array(self.nodes, np.int64)
        for node, following in zip(self.nodes, self.nodes[1:], strict=False):
            if node == following:
                raise NodeRepeated(node)
        self.parents: Final = tuple(self._parent(entrant) for entrant in self.entrants)
        self.families: Final = np.array([self._forebear(position) for position in range(len(self))], np.int64)
        """By position, the position of the bot's first version: what its versions have in common."""
        self._table = None
        if self.nodes and self.nodes[0] >= 0 and self.nodes[-1] < DENSE:
            self._table = np.full(DENSE, -1)
            self._table[self._sorted] = np.arange(len(self))

    def __len__(self) -> int:
        return len(self.entrants)

    def position(self, node: Node) -> int:
        """Of an entrant."""
        return self._position[node]

    def positions(self, nodes: Ints) -> Ints:
        """Of all these nodes; −1 for who is no entrant."""
        if self._table is not None and not (nodes.size and nodes.max() >= DENSE):
            return self._table.take(nodes)
        if not self.nodes:
            return np.full(nodes.shape, -1)
        found = np.searchsorted(self._sorted, nodes).clip(max=len(self) - 1)
        return np.where(self._sorted[found] == nodes, found, -1)

    def must_know(self, columns: Columns) -> None:
        """UnknownNode where a seat of a match is nobody's who entered."""
        for seat in range(columns.nodes.shape[1]):
            nodes = columns.nodes[:, seat]
            unknown = (self.positions(nodes) < 0) & (seat < columns.seats)
            if unknown.any():
                row = int(unknown.argmax())
                raise UnknownNode(int(columns.match[row]), int(nodes[row]))

    def _parent(self, entrant: Entrant) -> int | None:
        if entrant.parent is None:
            return None
        if entrant.parent not in self._position:
            raise UnknownParent(entrant.node, entrant.parent)
        return self._position[entrant.parent]

    def _forebear(self, position: int) -> int:
        first = position
        for _ in self.entrants:
            parent = self.parents[first]
            if parent is None:
                return first
            first = parent
        raise CyclicParents(self.nodes[position])
