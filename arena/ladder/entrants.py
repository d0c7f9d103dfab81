"""The entrants of a ladder in the order of their nodes: an entrant's position is its index in every array of a fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from arena.ladder.columns import Columns, Ints
from arena.ladder.errors import CyclicParents, NodeRepeated, UnknownNode, UnknownParent
from arena.ladder.events import Entrant, Node

TABLE_SIZE: Final = 1 << 20
"""Nodes below this number are looked up in a table; for larger ones, a binary search saves memory."""


class Entrants:
    """Entrants by position. Raises NodeRepeated, UnknownParent or CyclicParents for contradictory ones."""

    def __init__(self, entrants: Iterable[Entrant]) -> None:
        self.entrants: Final = tuple(sorted(entrants, key=lambda entrant: entrant.node))
        self.nodes: Final = tuple(entrant.node for entrant in self.entrants)
        self._position: Final = {node: position for position, node in enumerate(self.nodes)}
        self._sorted: Final = np.array(self.nodes, np.int64)
        for node, following in zip(self.nodes, self.nodes[1:], strict=False):
            if node == following:
                raise NodeRepeated(node)
        self.parents: Final = tuple(self._parent(entrant) for entrant in self.entrants)
        self.families: Final = np.array([self._first_version(position) for position in range(len(self))], np.int64)
        """By position, the position of the bot's first version, which identifies the bot."""
        self._table = None
        if self.nodes and self.nodes[0] >= 0 and self.nodes[-1] < TABLE_SIZE:
            self._table = np.full(TABLE_SIZE, -1)
            self._table[self._sorted] = np.arange(len(self))

    def __len__(self) -> int:
        return len(self.entrants)

    def position(self, node: Node) -> int:
        """Look up the position of an entrant's node. Raises KeyError for another node."""
        return self._position[node]

    def positions(self, nodes: Ints) -> Ints:
        """Look up the positions of an array of nodes; −1 for nodes that are no entrants."""
        if self._table is not None and not (nodes.size and nodes.max() >= TABLE_SIZE):
            return self._table.take(nodes)
        if not self.nodes:
            return np.full(nodes.shape, -1)
        found = np.searchsorted(self._sorted, nodes).clip(max=len(self) - 1)
        return np.where(self._sorted[found] == nodes, found, -1)

    def check_known(self, columns: Columns) -> None:
        """Raise UnknownNode if a seat of a match belongs to no entrant."""
        for seat in range(columns.nodes.shape[1]):
            nodes = columns.nodes[:, seat]
            unknown = (self.positions(nodes) < 0) & (seat < columns.seats)
            if unknown.any():
                row = int(unknown.argmax())
                raise UnknownNode(int(columns.match_id[row]), int(nodes[row]))

    def _parent(self, entrant: Entrant) -> int | None:
        if entrant.parent is None:
            return None
        if entrant.parent not in self._position:
            raise UnknownParent(entrant.node, entrant.parent)
        return self._position[entrant.parent]

    def _first_version(self, position: int) -> int:
        first = position
        for _ in self.entrants:
            parent = self.parents[first]
            if parent is None:
                return first
            first = parent
        raise CyclicParents(self.nodes[position])
