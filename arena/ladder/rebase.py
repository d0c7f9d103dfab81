"""Rebasing of live ratings on a fitted ladder: its ratings, then live updates for all events after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from arena.ladder.errors import UnknownNode
from arena.ladder.events import Entrant, Event, MatchResult, Node, Void
from arena.ladder.ladder import Ladder
from arena.ladder.live import Rating, SeatPair, start, update


def rebased(ladder: Ladder) -> dict[Node, Rating]:
    """Return the live rating at the ladder's last event of every node for which a match counts.

    Deviations are those without the error of the scale, which no match can reduce. Nodes without such a match are left
    out: the ladder has only the prior for them, and they begin with `arena.ladder.live.start`.
    """
    return {figure.node: Rating(figure.rating, figure.error) for figure in ladder.figures if figure.matches}


def replayed_since(
    ladder: Ladder,
    entrants: Iterable[Entrant],
    events: Iterable[Event],
    beyond_quota: Callable[[MatchResult], Collection[SeatPair]] = lambda _: (),
) -> dict[Node, Rating]:
    """Compute the live ratings after the last of the events, which are in order; events in the ladder are skipped.

    A node not on the ladder gets a rating with its first match, from its nearest ancestor that has one. Nodes that are
    not on the ladder and have not played are left out. A void of a match after the ladder takes effect here, one of an
    older match with the next ladder. `beyond_quota` returns the pairs of seats of a result that do not count; it is
    called for standing results in order. Raises UnknownNode for a seat of a node that is no entrant.
    """
    ratings = rebased(ladder)
    parents = {entrant.node: entrant.parent for entrant in entrants}

    def rating(node: Node, match_id: int) -> Rating:
        if node in ratings:
            return ratings[node]
        if node not in parents:
            raise UnknownNode(match_id, node)
        ancestor = parents[node]
        while ancestor is not None and ancestor not in ratings:
            ancestor = parents.get(ancestor)
        return start(None if ancestor is None else ratings[ancestor])

    later = [event for event in events if event.number > ladder.through]
    voided = {event.match_id for event in later if isinstance(event, Void)}
    for event in later:
        if isinstance(event, MatchResult) and event.match_id not in voided:
            before = [rating(node, event.match_id) for node in event.nodes]
            after = update(before, event.places, event.nodes, event.counts, event.spoilt, beyond_quota(event))
            ratings |= {node: new for node, new, does in zip(event.nodes, after, event.counts, strict=True) if does}
    return ratings
