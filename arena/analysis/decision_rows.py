"""The decisions that bots made themselves in a replay, as rows for learning: what each saw, did, and its outcome."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from arena.replay.replay import Replay
from arena.replay.steps import steps


class DecisionRow(NamedTuple):
    """One decision."""

    match_id: int
    bot: str
    seat: int
    round: int
    """From 0."""
    decision: int
    """Number in the match, from 1."""
    features: bytes
    """The seat's observation, as `game.observation` describes it: float32 of this machine's byte order."""
    mask: bytes
    """By action of the game, 1 where it was legal."""
    action: int
    points: int
    """The seat's points in the round."""
    place: int
    """Place in the match, 1 the best."""


def decision_rows(replay: Replay, bot: str = "") -> Iterator[DecisionRow]:
    """List the decisions of a finished match that its bots made themselves, of one bot or of all, in their order.

    What the server or a house bot chose for a bot is left out. An interrupted match has none: nobody was placed.
    """
    header, places = replay.header, replay.result.places
    if not places:
        return
    made = steps(replay)
    names = [each.name for each in header.bots]
    points = {step.ended.round: step.ended.points for step in made if step.ended is not None}
    numbers = sum(field.size for field in header.game.observation(len(names)))
    for before, step in pairwise(made):
        choice = step.made
        if choice is None or choice.forced is not None or bot not in ("", names[choice.seat]):
            continue
        features = array("f", bytes(4 * numbers))
        before.state.vector_into(choice.seat, features)
        mask = bytearray(len(header.game.actions))
        for action in before.state.legal(choice.seat):
            mask[action] = 1
        yield DecisionRow(
            header.match_id,
            names[choice.seat],
            choice.seat,
            step.round,
            choice.decision,
            features.tobytes(),
            bytes(mask),
            choice.action,
            points[step.round][choice.seat],
            places[choice.seat],
        )
