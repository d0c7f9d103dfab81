"""The network's inputs and choices for Nullern: trump comes first, and all plain colours count as one.

Equal cards of different plain colours are equivalent, so the 80 cards form 40 kinds: trump 1 to 20 and plain 1 to 20.
All functions take arrays of many decisions at once, like `VectorEnv`.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from engine.nullern.cards import BLIND, COLOUR_SIZE, COLOURS, HIGHEST_BID
from engine.registry import GAMES

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
GAME: Final = GAMES["nullern"]
CARDS: Final = len(GAME.cards)
ACTIONS: Final = len(GAME.actions)
KINDS: Final = 2 * COLOUR_SIZE
"""Number of kinds: trumps by value, then plain cards by value."""
CHOICES: Final = KINDS + ACTIONS - BLIND
"""Number of choices: a kind to play, the blind card, or a bid."""
_BIDS: Final = HIGHEST_BID + 1
_POINTS: Final = 100
_ROUNDS: Final = 20
_HUPFER: Final = 5


class ObservationError(ValueError):
    """Raised for numbers that are not an observation of this game at this table. The message states the expected
    form.
    """


class IllegalMaskError(ValueError):
    """Raised for masks that do not fit the decisions or the choice. The message names the mask and the reason."""


class Encoding:
    """Converts observations of a table into inputs of the network, and the network's choices into actions."""

    def __init__(self, seats: int = 2) -> None:
        """Look up the positions of the fields.

        Raises: ObservationError: the game has no table with this number of seats.
        """
        if seats not in GAME.seats:
            raise ObservationError(f"{GAME.title} is for {GAME.seats[0]} to {GAME.seats[-1]} seats, not {seats}")
        fields = GAME.observation(seats)
        self.seats = seats
        self.numbers = fields[-1].offset + fields[-1].size
        """Number of values in an observation."""
        self._at = {field.name: slice(field.offset, field.offset + field.size) for field in fields}
        blank = np.zeros((1, self.numbers), np.float32)
        self.size = self.features(blank).shape[1]
        """Number of values in the network's input."""

    def features(self, observations: Array) -> Array:
        """Convert observations [decisions, numbers], float32, to inputs of the network [decisions, size], float32.

        Raises: ObservationError: the array has another shape or type.
        """
        self._check(observations)
        count, seats = len(observations), self.seats
        trump = self.trumps(observations)
        hand, turned = (self._field(observations, name, (len(COLOURS), COLOUR_SIZE)) for name in ("hand", "turned"))
        played, table = (
            self._field(observations, name, (seats, len(COLOURS), COLOUR_SIZE)) for name in ("played", "table")
        )
        held = _kinds(hand, trump)
        unseen = _kinds(1 - hand - turned - played.sum(1), trump)
        bids = self._field(observations, "bids", (seats, _BIDS))
        taken = np.rint(self._field(observations, "taken", (seats,)) * HIGHEST_BID)
        missing = np.clip(bids @ np.arange(_BIDS) - taken, -1, HIGHEST_BID)
        steps = np.arange(-1, _BIDS)
        missing_steps = (missing[..., None] == steps) * bids.sum(-1, keepdims=True)
        left = hand.sum((1, 2))[:, None] == np.arange(HIGHEST_BID + 1)
        parts = [
            held,
            unseen,
            _above(unseen) * (held > 0) / COLOUR_SIZE,
            *(_kinds(table[:, seat], trump) for seat in range(1, seats)),
            bids,
            missing_steps,
            left,
            *(observations[:, self._at[name]] for name in ("hand_size", "leader", "dealer")),
            self._rounds_left(observations),
        ]
        return np.concatenate([part.reshape(count, -1).astype(np.float32) for part in parts], axis=1)

    def choices(self, observations: Array, masks: Array) -> Array:
        """Return the open choices [decisions, choices], bool, for masks of actions [decisions, actions].

        Raises: IllegalMaskError: the masks have another shape, or one of them allows nothing.
        """
        if masks.shape != (len(observations), ACTIONS):
            raise IllegalMaskError(
                f"masks of {len(observations)} decisions of {GAME.title} are of shape "
                f"({len(observations)}, {ACTIONS}), not {masks.shape}"
            )
        cards = masks[:, :CARDS].reshape(-1, len(COLOURS), COLOUR_SIZE)
        open_ = np.concatenate([_kinds(cards, self.trumps(observations)), masks[:, CARDS:]], axis=1) > 0
        if not (some := open_.any(1)).all():
            raise IllegalMaskError(f"mask {int(np.argmin(some))} allows no action")
        return open_

    def actions(self, observations: Array, masks: Array, chosen: Array) -> Array:
        """Return the actions [decisions], int64, for the chosen kinds; of equal plain cards, play the first.

        Raises: IllegalMaskError: a mask does not allow the choice.
        """
        rows = np.arange(len(chosen))
        fine = self.choices(observations, masks)[rows, chosen]
        if not fine.all():
            row = int(np.argmin(fine))
            raise IllegalMaskError(f"mask {row} does not allow choice {int(chosen[row])}")
        trump = self.trumps(observations)
        cards = masks[:, :CARDS].reshape(-1, len(COLOURS), COLOUR_SIZE).copy()
        value = chosen % COLOUR_SIZE
        cards[rows, trump] = 0
        colour = np.where(chosen < COLOUR_SIZE, trump, cards[rows, :, value].argmax(1))
        found: Array = np.where(chosen < KINDS, colour * COLOUR_SIZE + value, chosen - KINDS + CARDS)
        return found

    def trumps(self, observations: Array) -> Array:
        """Return the trump colour by decision."""
        found: Array = observations[:, self._at["trump"]].argmax(1)
        return found

    def rounds(self, observations: Array) -> Array:
        """Return the number of the round by decision."""
        found: Array = observations[:, self._at["round"]].argmax(1)
        return found

    def standings(self, observations: Array, seats: Array) -> Array:
        """Return the points before the round [decisions, seats], with the cost of Hupfers deducted.

        `seats`: the observing seat of each decision. Observations count seats from that seat; the result counts them
        from 0.
        """
        points = np.rint(observations[:, self._at["scores"]] * _POINTS)
        points = points - _HUPFER * np.rint(observations[:, self._at["hupfers"]] * _ROUNDS)
        from_own = (np.arange(self.seats) - seats[:, None]) % self.seats
        found: Array = np.take_along_axis(points, from_own, axis=1)
        return found

    def _rounds_left(self, observations: Array) -> Array:
        return (_ROUNDS - 1 - self.rounds(observations))[:, None] / _ROUNDS

    def _field(self, observations: Array, name: str, shape: tuple[int, ...]) -> Array:
        return observations[:, self._at[name]].reshape(-1, *shape)

    def _check(self, observations: Array) -> None:
        if observations.ndim != 2 or observations.shape[1] != self.numbers or observations.dtype != np.float32:
            raise ObservationError(
                f"observations of {GAME.title} for {self.seats} seats are float32 of shape (decisions, {self.numbers}),"
                f" not {observations.dtype} of shape {observations.shape}"
            )


def _kinds(cards: Array, trump: Array) -> Array:
    """Count the cards of each kind [decisions, kinds], given cards [decisions, colours, values]."""
    trumps = cards[np.arange(len(cards)), trump]
    return np.concatenate([trumps, cards.sum(1) - trumps], axis=1)


def _above(unseen: Array) -> Array:
    """Return the number of higher unseen cards of the same sort (trump or plain), by kind [decisions, kinds]."""
    trumps, plain = unseen[:, :COLOUR_SIZE], unseen[:, COLOUR_SIZE:]
    higher = [np.cumsum(part[:, ::-1], axis=1)[:, ::-1] - part for part in (trumps, plain)]
    higher[1] = higher[1] + trumps.sum(1, keepdims=True)
    return np.concatenate(higher, axis=1)
