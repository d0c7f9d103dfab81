"""Sampling a game of 6th Sense that fits a seat's view; all games that fit are equally likely.

Play reveals two things about another seat. If it did not follow, its hand had no card of the colour due (S5, S6). Its
prediction card, already laid aside, may be of that colour. If it blocked, it used a 0 of the colour due, or
another 0 because it held no card of that colour. `read` derives this once for each view. `sample` draws the rest and
replays the round. Nothing is inferred from how wise a choice was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Final

from engine.byte_lists import put
from engine.constrained_deal import ConstrainedDeal, Hand, Redealt
from engine.draws import BulkDraws, Draws
from engine.game import Chance, Truth, ViewError
from engine.sixth_sense.cards import (
    ACTIONS,
    BLOCKS,
    COLOUR_SIZE,
    COLOURS,
    KEEP,
    LOOK_AWAY,
    PEEK,
    PLAYS_A_COLOUR,
    PREDICT,
    SPLIT,
)
from engine.sixth_sense.state import GameConstants, SixthSenseState
from engine.sixth_sense.tricks import COLOUR_OF, NOTHING, PLACE_BLOCKED, VALUES
from engine.sixth_sense.view import SixthSenseView

_FREE: Final = -1
"""Stands for the colour due when any card may be played."""


@dataclass(slots=True)
class _Block:
    """Another seat's block with an unknown card."""

    seat: int
    place: int
    """The place that it blocks."""
    due: int
    """The colour due."""
    barred: int
    """One bit per colour: 1 if the 0 of that colour cannot have been in the hand."""
    index: int
    """Index among the round's actions."""
    at: int
    """Index among the round's plays."""
    followed: bool = False
    """True if the seat later played the colour due, so that the 0 must have been of that colour."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The constraints on the hidden cards that follow from a view."""

    choices: tuple[tuple[int, int], ...]
    """All choices of the round so far except predictions, as seat and action; hidden blocks without their cards."""
    open: tuple[tuple[int, ...], ...]
    """By seat, the cards known to have been dealt to it."""
    unseen: tuple[tuple[int, ...], ...]
    """By colour, the cards not seen, the 0 first."""
    blocks: tuple[_Block, ...]
    hands: tuple[int, ...]
    """The other seats, which hold unseen cards."""
    predictions: tuple[int, ...]
    """The seats whose predictions are unknown."""
    zeros: tuple[tuple[tuple[int, ...], ConstrainedDeal], ...]
    """Every possible combination of colours for the 0s of hidden blocks, each with the deals of the other cards."""
    sums: tuple[int, ...]
    """Cumulative numbers of deals for these combinations."""


def sample(view: SixthSenseView, chance: Chance) -> SixthSenseState:
    """Sample a game that fits the view: `engine.game.Game.sample`."""
    deck, choices = truth(view, chance)
    setting = GameConstants(
        view.seats,
        view.hand_size,
        view.rounds,
        view.target,
        view.novice,
        view.late_trump,
        Redealt(view.round, deck, chance),
    )
    state = SixthSenseState(setting, view.round, view.scores)
    for seat, action in choices:
        state.apply(action, seat)
    return state


def sample_many(view: SixthSenseView, chance: Chance, count: int) -> list[SixthSenseState]:
    """Sample several games: `engine.game.Game.sample_many`. The first is played up to the view; the others are copies.

    The games differ in hands, predictions, the card to turn over, and the 0s used as blocks.
    """
    if count < 1:
        return []
    reading = read(view)
    first = sample(view, chance)
    games = [first]
    draws = BulkDraws(chance)
    number, shown, seats, predictions, blocks = (
        view.round,
        view.turned,
        reading.hands,
        reading.predictions,
        reading.blocks,
    )
    others = len(seats)
    for _ in range(count - 1):
        colours, dealt = _deal(reading, draws)
        game = first.clone()
        game.deal_anew(seats, dealt, Redealt(number, (), draws), dealt[-1][0] if shown is None else shown)
        for place, seat in enumerate(predictions):
            game.predictions[seat] = dealt[others + place][0]
        for place, block in enumerate(blocks):
            game.plays = put(game.plays, block.at, _blocking(colours[place], block.place))
        games.append(game)
    return games


def truth(view: SixthSenseView, chance: Chance) -> Truth:
    """Sample a deal and choices that fit the view: `engine.game.Game.truth`."""
    reading = read(view)
    colours, dealt = _deal(reading, Draws(chance))
    hands = [[*cards] for cards in reading.open]
    predictions = [known - 1 for known in view.known_predictions]
    for seat, cards in zip(reading.hands, dealt, strict=False):
        hands[seat] += cards
    for seat, (card,) in zip(reading.predictions, dealt[len(reading.hands) :], strict=False):
        hands[seat].append(card)
        predictions[seat] = card
    choices = [*reading.choices]
    for block, colour in zip(reading.blocks, colours, strict=True):
        hands[block.seat].append(colour * COLOUR_SIZE)
        choices[block.index] = block.seat, _blocking(colour, block.place)
    turned = dealt[-1][0] if view.turned is None else view.turned
    foretold = [(seat, PREDICT + card) for seat, card in enumerate(predictions) if card >= 0]
    return Truth([*(card for hand in hands for card in hand), turned], [*foretold, *choices])


def _deal(reading: _Reading, draws: Draws) -> tuple[tuple[int, ...], list[list[int]]]:
    """Draw the colours of the 0 cards in the hidden blocks; deal hands, predictions and the card to turn over."""
    colours, dealing = reading.zeros[draws.one_of(reading.sums)]
    if not colours:
        return colours, dealing.deal(reading.unseen, draws)
    unseen = [cards[1:] if colour in colours else cards for colour, cards in enumerate(reading.unseen)]
    return colours, dealing.deal(unseen, draws)


def _blocking(colour: int, place: int) -> int:
    """Return the action that blocks a place with a 0."""
    return colour * PLAYS_A_COLOUR + BLOCKS + place


@lru_cache(maxsize=16)
def read(view: SixthSenseView) -> _Reading:
    """Derive the constraints of a view. Raises: ViewError: no deal fits.

    Cached, because a search samples one view many times.
    """
    seats, own = view.seats, view.seat
    if 0 < view.target <= max(view.scores):
        raise ViewError("the game is over")
    hidden, voids, choices = _follow(view)
    open_cards = _open_cards(view)
    seen = {card for cards in open_cards for card in cards} | {view.turned}
    colours = COLOURS[:-1] if seats == 2 else COLOURS
    unseen = tuple(
        tuple(card for card in range(colour * COLOUR_SIZE, (colour + 1) * COLOUR_SIZE) if card not in seen)
        for colour in range(len(colours))
    )
    others = tuple(seat for seat in range(seats) if seat != own)
    predictions = tuple(seat for seat in others if view.leaders and not view.known_predictions[seat])
    singles = [Hand(1, 0)] * (len(predictions) + (view.turned is None))
    played = [len(view.plays) // seats] * seats
    for place in range(len(view.plays) % seats):
        played[(view.leaders[-1] + place) % seats] += 1
    left = view.hand_size - bool(view.leaders)
    dealings: dict[tuple[Hand, ...], ConstrainedDeal] = {}
    zeros = []
    ways = []
    for chosen in _zeros(hidden, unseen):
        counts = [len(cards) - (colour in chosen) for colour, cards in enumerate(unseen)]
        void = voids[:]
        for block, colour in zip(hidden, chosen, strict=True):
            if colour != block.due:
                void[block.seat] |= 1 << block.due
        # A colour without unseen cards constrains no seat.
        binding = sum([1 << colour for colour, count in enumerate(counts) if count])
        hands = tuple([Hand(left - played[seat], void[seat] & binding) for seat in others])
        if hands not in dealings:
            dealings[hands] = ConstrainedDeal([*hands, *singles], len(counts))
        zeros.append((chosen, dealings[hands]))
        ways.append(dealings[hands].ways(counts))
    sums = tuple(accumulate(ways))
    if not any(ways):
        raise ViewError("no deal fits the view")
    return _Reading(choices, open_cards, unseen, tuple(hidden), others, predictions, tuple(zeros), sums)


def _open_cards(view: SixthSenseView) -> tuple[tuple[int, ...], ...]:
    """Return the cards that the view reveals, by seat: played cards, known prediction cards, the seat's own hand."""
    cards: list[list[int]] = [[] for _ in range(view.seats)]
    for index, action in enumerate(view.plays):
        card = ACTIONS[action].card
        if card is not None:
            cards[(view.leaders[index // view.seats] + index) % view.seats].append(card)
    for seat, known in enumerate(view.known_predictions):
        if known:
            cards[seat].append(known - 1)
    cards[view.seat] += view.hand
    return tuple(map(tuple, cards))


def _follow(view: SixthSenseView) -> tuple[list[_Block], list[int], tuple[tuple[int, int], ...]]:
    """Return the hidden blocks, the colours that each seat's open plays rule out for it, and all choices."""
    seats, own = view.seats, view.seat
    hidden: list[_Block] = []
    voids = [0] * seats
    choices: list[tuple[int, int]] = []
    for number, leader in enumerate(view.leaders):
        trick = view.plays[number * seats : (number + 1) * seats]
        due = _FREE
        for place, action in enumerate(trick):
            seat = (leader + place) % seats
            blocked = PLACE_BLOCKED[action]
            if blocked >= 0:
                if seat != own:
                    hidden.append(_Block(seat, blocked, due, voids[seat], len(choices), number * seats + place))
                if blocked == 0:
                    due = COLOUR_OF[trick[1]] if place > 1 else _FREE
            else:
                colour = COLOUR_OF[action]
                for block in hidden:
                    block.followed |= block.seat == seat and block.due == colour
                if due == _FREE:
                    due = colour
                elif colour != due:
                    voids[seat] |= 1 << due
            choices.append((seat, action))
        if len(trick) == seats:
            choices += _answers(view, number, trick)
    return hidden, voids, tuple(choices)


def _answers(view: SixthSenseView, number: int, trick: bytes) -> list[tuple[int, int]]:
    """Return the answers given after a completed trick (S12, S13)."""
    leader, taker = view.leaders[number], view.takers[number]
    values = bytearray(trick.translate(VALUES))
    for action in trick:
        if PLACE_BLOCKED[action] >= 0:
            values[PLACE_BLOCKED[action]] = NOTHING
    answers: list[tuple[int, int]] = []
    if taker != view.seats and 12 in values:
        answers.append((taker, SPLIT if view.worths[number] == 2 else KEEP))
    if taker not in (view.seats, leader) and values[0] == 8:
        answers.append((leader, PEEK if view.peeks[number] else LOOK_AWAY))
    if number + 1 < len(view.leaders):
        return answers
    if not answers or answers[-1][1] in (SPLIT, PEEK):
        raise ViewError("the game is over")
    # The last answer is still due. A "no" before it may be due, too, unless the view is the leader's.
    del answers[-1]
    return [] if answers == [(taker, KEEP)] and view.seat != leader else answers


def _zeros(blocks: Sequence[_Block], unseen: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the possible colours of the 0 cards in the hidden blocks, derived from the seats' plays."""
    there = [colour for colour, cards in enumerate(unseen) if cards and cards[0] == colour * COLOUR_SIZE]
    found: list[tuple[int, ...]] = [()]
    for block in blocks:
        found = [
            (*chosen, colour)
            for chosen in found
            for colour in there
            if colour not in chosen
            and not block.barred >> colour & 1
            and (colour == block.due or not block.followed)
            # A 0 of another colour proves that the seat could not follow, so no later 0 of the seat has the colour due.
            and not any(
                before.seat == block.seat and before.due == colour != kind
                for before, kind in zip(blocks, chosen, strict=False)
            )
        ]
    return found
