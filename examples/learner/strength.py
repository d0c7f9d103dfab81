"""The strength of the network, measured in whole two-player matches against a house bot or the rule sample.

Every deal is played twice, with the seats swapped, and the network always makes its preferred choice. All matches run
together, so that the network gets many decisions at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from math import sqrt
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from arena_client import Action, Card, Catalog, Decision, NullernView
from arena_client.samples.rule_bot import RuleBot
from encoding import ACTIONS, GAME, Array, Encoding
from network import Weights, answer

from arena.api.nullern import encode_view
from arena.house import UnknownBotError, house_bot
from engine.deal import SeededDecks
from engine.game import SeatView

Opponent: TypeAlias = Callable[[SeatView, Sequence[int], bytes], int]
"""A function that chooses one of the legal actions, given a view, the legal actions and 32 random bytes."""
RULES: Final = "rules"
OPPONENTS: Final = ("house-random", "house-careful", "house-counter", RULES)
INTERVAL: Final = 1.96


class Strength(NamedTuple):
    """The results of matches against an opponent."""

    opponent: str
    matches: int
    won: float
    """Share of matches won; ties count half."""
    interval: float
    """Half the width of the 95 % confidence interval of `won`, computed over deals."""
    points: float
    """Mean difference in points per match."""


def opponent(name: str) -> Opponent:
    """Return a house bot by its name, or the rule sample for "rules".

    Raises: UnknownBotError.
    """
    if name == RULES:
        return _rules()
    try:
        return house_bot(GAME.name, name).decide
    except UnknownBotError as error:
        raise UnknownBotError(f'{error}; the sample of the SDK is "{RULES}"') from None


def strength(weights: Weights, name: str, deals: int) -> Strength:
    """Measure the strength on two or more deals, each with both seatings; equal arguments give equal results."""
    if deals < 2:
        raise ValueError(f"an interval takes 2 deals or more, not {deals}")
    other = opponent(name)
    keys = [sha256(b"examples/learner %d" % deal).digest() for deal in range(deals)]
    games = [(GAME.new(2, SeededDecks(key)), own, key) for key in keys for own in (0, 1)]
    encoding = Encoding(2)
    going, asked = games, 0
    while going:
        for state, own, key in going:
            while state.player == 1 - own:
                asked += 1
                chance = sha256(key + bytes([own]) + asked.to_bytes(4, "big")).digest()
                state.apply(other(state.view(1 - own), state.legal(1 - own), chance), 1 - own)
        going = [each for each in going if each[0].player >= 0]
        if going:
            observations, masks = np.zeros((len(going), encoding.numbers), np.float32), no_masks(len(going))
            for row, (state, own, _) in enumerate(going):
                state.vector_into(own, memoryview(observations[row]))
                masks[row, list(state.legal(own))] = 1
            for (state, own, _), action in zip(going, best(weights, encoding, observations, masks), strict=True):
                state.apply(action, own)
    more = np.array([state.scores[own] - state.scores[1 - own] for state, own, _ in games])
    won = ((more > 0) + (more == 0) / 2).reshape(-1, 2).mean(1)
    error = INTERVAL * float(won.std(ddof=1)) / sqrt(deals)
    return Strength(name, len(games), float(won.mean()), error, float(more.mean()))


def no_masks(decisions: int) -> Array:
    """Return masks that allow nothing [decisions, actions]."""
    return np.zeros((decisions, ACTIONS), np.uint8)


def best(weights: Weights, encoding: Encoding, observations: Array, masks: Array) -> list[int]:
    """Return for each decision the action that the network prefers, computed in one pass."""
    said = answer(weights, encoding.features(observations), encoding.choices(observations, masks))
    found: list[int] = encoding.actions(observations, masks, said.log_chances.argmax(1)).tolist()
    return found


def _rules() -> Opponent:
    """Return the rule sample as an opponent. It receives the same messages as from a server."""
    bot = RuleBot()
    cards = tuple(Card(card.name, card.colour, tuple(card.values)) for card in GAME.cards)
    actions = tuple(Action(each.name, each.kind, each.card, each.value, each.place) for each in GAME.actions)
    known = Catalog(GAME.name, GAME.title, GAME.seats[0], GAME.seats[-1], tuple(GAME.colours), cards, actions)

    def decide(view: Any, legal: Sequence[int], _: bytes) -> int:
        return bot.decide(Decision(1, 1, known, NullernView.FromString(encode_view(view)), list(legal), 1000, 30000))

    return decide
