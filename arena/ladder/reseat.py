"""The live layer put back on the truth: every rating from the last ladder, then what has happened since."""

from __future__ import annotations

from collections.abc import Iterable

from arena.ladder.errors import UnknownNode
from arena.ladder.events import Entrant, Event, Node, Result, Void
from arena.ladder.ladder import Ladder
from arena.ladder.live import Rating, start, update


def reseated(ladder: Ladder) -> dict[Node, Rating]:
    """The live rating at the ladder's last event of every node for which a match counts.

    It is its figure there, without the error of the scale, which no match between them makes smaller. Of whom nothing
    is known the ladder has the prior only, and their first match that counts begins like anybody's.
    """
    return {figure.node: Rating(figure.rating, figure.own) for figure in ladder.figures if figure.matches}


def moved_on(ladder: Ladder, entrants: Iterable[Entrant], events: Iterable[Event]) -> dict[Node, Rating]:
    """The live ratings after the last of the events, which are in order; those the ladder knows are left out.

    `entrants` who came after the ladder begin with their first match, from the nearest version before it that has a
    rating then. Who is not on the ladder and has not played has no rating here.
    A void takes back what is younger than the ladder; what is older only the next ladder takes back. UnknownNode where
    somebody played who is no entrant.
    """
    ratings = reseated(ladder)
    parents = {entrant.node: entrant.parent for entrant in entrants}

    def rating(node: Node, match: int) -> Rating:
        if node in ratings:
            return ratings[node]
        if node not in parents:
            raise UnknownNode(match, node)
        ancestor = parents[node]
        while ancestor is not None and ancestor not in ratings:
            ancestor = parents.get(ancestor)
        return start(None if ancestor is None else ratings[ancestor])

    later = [event for event in events if event.number > ladder.through]
    voided = {event.match for event in later if isinstance(event, Void)}
    for event in later:
        if isinstance(event, Result) and event.match not in voided:
            before = [rating(node, event.match) for node in event.nodes]
            after = update(before, event.places, event.nodes, event.counts)
            ratings |= {node: new for node, new, does in zip(event.nodes, after, event.counts, strict=True) if does}
    return ratings
