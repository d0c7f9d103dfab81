"""The live layer put back on the truth: every rating from the last ladder, then what has happened since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from arena.ladder.errors import UnknownNode
from arena.ladder.events import Entrant, Event, Node, Result, Void
from arena.ladder.live import Rating, start, update
from arena.ladder.truth import Ladder


def reseated(ladder: Ladder, entrants: Iterable[Entrant] = ()) -> dict[Node, Rating]:
    """Every node's live rating at the ladder's last event.

    The nodes of the ladder have their figures there, without the error of the scale, which no match between them makes
    smaller; `entrants` who came later, parents before children, start anew.
    """
    ratings = {figure.node: Rating(figure.rating, figure.own) for figure in ladder.figures}
    for entrant in entrants:
        if entrant.node not in ratings:
            ratings[entrant.node] = start(None if entrant.parent is None else ratings[entrant.parent])
    return ratings


def live_ratings(ladder: Ladder, entrants: Sequence[Entrant], events: Iterable[Event]) -> dict[Node, Rating]:
    """Every node's live rating after the last of the events, which are in order; those the ladder knows are left out.

    They are `on_scale`. A void takes back what is younger than the ladder; what is older only the next ladder takes
    back. UnknownNode where somebody played who is no entrant.
    """
    ratings = reseated(ladder, entrants)
    later = [event for event in events if event.number > ladder.through]
    voided = {event.match for event in later if isinstance(event, Void)}
    for event in later:
        if isinstance(event, Result) and event.match not in voided:
            for node in event.nodes:
                if node not in ratings:
                    raise UnknownNode(event.match, node)
            before = [ratings[node] for node in event.nodes]
            after = update(before, event.places, event.nodes, event.counts)
            ratings.update(zip(event.nodes, after, strict=True))
    return on_scale(ratings, ladder, entrants)


def on_scale(ratings: Mapping[Node, Rating], ladder: Ladder, entrants: Iterable[Entrant]) -> dict[Node, Rating]:
    """The live ratings, moved so that the anchors have the same mean as on the ladder.

    What the anchors have won since is everybody else's loss, whom they met and whom they did not.
    """
    anchors = {entrant.node for entrant in entrants if entrant.anchor}
    held = [figure for figure in ladder.figures if figure.node in anchors and figure.opponents]
    moved = fsum(ratings[figure.node].value - figure.rating for figure in held) / max(1, len(held))
    return {node: Rating(rating.value - moved, rating.deviation) for node, rating in ratings.items()}
