"""The promises detect faults: each of these engines breaks one promise, and the test names the promise that must
fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import index
from typing import Any, SupportsIndex

import pytest

from engine.game import Action, Chance, Decks, Game, Option, OptionSpec, SeatView
from tests.conformance import promises, secrecy
from tests.conformance.high_card import ACTIONS, PREDICT, HighCard, HighCardState, HighCardView
from tests.conformance.table import Table
from tests.engine.decks import UNSHUFFLED


class LeakingView(HighCardView):
    secret: HighCardState


class ShowsTheNeighbour(HighCardState):
    def view(self, seat: SupportsIndex) -> HighCardView:
        return super().view(seat)._replace(scores=(*self.hands[index(seat) - 1],))


class ShowsPredictionsAtOnce(HighCardState):
    def view(self, seat: SupportsIndex) -> HighCardView:
        return super().view(seat)._replace(predictions=self.predictions)


class LeadsToTheState(HighCardState):
    def view(self, seat: SupportsIndex) -> HighCardView:
        view = LeakingView(*super().view(seat))
        view.secret = self
        return view


class PrintsItsHands(HighCardState):
    def __repr__(self) -> str:
        return f"HighCardState({self.hands})"


class OffersWhatOthersAllow(HighCardState):
    def legal(self, seat: SupportsIndex) -> Sequence[int]:
        legal = super().legal(seat)
        return legal[:1] if max(self.hands[index(seat) - 1], default=0) > max(legal) else legal


class SharesItsPlays(HighCardState):
    def __init__(self, *arguments: Any) -> None:
        self.played: list[int] = []
        super().__init__(*arguments)

    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        self.played.append(index(action))
        super().apply(action, seat)

    def view(self, seat: SupportsIndex) -> HighCardView:
        return super().view(seat)._replace(round=len(self.played))


class KeepsNumpysNumbers(HighCardState):
    def view(self, seat: SupportsIndex) -> HighCardView:
        return super().view(seat)._replace(seat=seat)  # type: ignore[arg-type] # that is the fault


class NumbersItsViews(HighCardState):
    looks = 0

    def view(self, seat: SupportsIndex) -> HighCardView:
        self.looks += 1
        return super().view(seat)._replace(round=self.looks)


class NeverEnds(HighCardState):
    def deal(self, number: int) -> None:
        super().deal(0)


class RanksTheLastFirst(HighCardState):
    def ranking(self) -> tuple[int, ...]:
        return tuple(1 + sum(other < score for other in self.scores) for score in self.scores)


class OffersInNoOrder(HighCardState):
    def legal(self, seat: SupportsIndex) -> Sequence[int]:
        return super().legal(seat)[::-1]


class OffersACardItHasNotGot(HighCardState):
    def legal(self, seat: SupportsIndex) -> Sequence[int]:
        return (
            super().legal(seat) if 0 in self.predictions else sorted({*self.hands[seat], *self.hands[index(seat) - 1]})
        )

    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        assert index(action) >= PREDICT or action in self.hands[seat]
        super().apply(action, seat)


class RemembersWhoWasFirst(HighCardState):
    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        if not any(self.predictions):
            self.scores = replaced_score(self.scores, index(seat))
        super().apply(action, seat)


def replaced_score(scores: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(score + (number == seat) for number, score in enumerate(scores))


class AlwaysDealsTheSame(HighCardState):
    def deal(self, number: int) -> None:
        self.decks = UNSHUFFLED
        super().deal(number)


class CountsTheNeighboursCards(HighCardState):
    def vector(self, seat: SupportsIndex) -> list[float]:
        return [*super().vector(seat)[:-1], max(self.hands[index(seat) - 1], default=0) / 16]


class CountsBeyondItsBounds(HighCardState):
    def vector(self, seat: SupportsIndex) -> list[float]:
        return [*super().vector(seat)[:-1], float(sum(self.scores))]


class ShowsALiveList(HighCardState):
    def __init__(self, *arguments: Any) -> None:
        self.live: list[int] = []
        super().__init__(*arguments)

    def view(self, seat: SupportsIndex) -> HighCardView:
        return super().view(seat)._replace(plays=self.live)  # type: ignore[arg-type] # that is the fault


STATES: list[tuple[type[HighCardState], Callable[[Table], None]]] = [
    (ShowsTheNeighbour, secrecy.two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart),
    (OffersWhatOthersAllow, secrecy.two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart),
    (CountsTheNeighboursCards, secrecy.two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart),
    (CountsBeyondItsBounds, promises.a_vector_is_what_its_fields_say),
    (ShowsPredictionsAtOnce, promises.choices_made_at_once_may_come_in_any_order),
    (RemembersWhoWasFirst, promises.choices_made_at_once_may_come_in_any_order),
    (LeadsToTheState, secrecy.nothing_secret_is_reachable_from_a_view_or_report),
    (PrintsItsHands, secrecy.a_state_does_not_print_its_secrets),
    (ShowsALiveList, secrecy.a_view_holds_plain_values_and_stays_what_it_was),
    (SharesItsPlays, promises.a_clone_goes_its_own_way),
    (SharesItsPlays, promises.a_copy_plays_on_as_the_game_does),
    (KeepsNumpysNumbers, promises.it_takes_numpys_numbers_and_gives_none),
    (NumbersItsViews, promises.the_list_of_its_actions_is_the_game),
    (NeverEnds, promises.the_server_alone_can_play_it_to_its_end),
    (RanksTheLastFirst, promises.a_game_ends_and_is_sound_all_the_way),
    (OffersInNoOrder, promises.a_game_ends_and_is_sound_all_the_way),
    (OffersACardItHasNotGot, promises.every_legal_action_can_be_made),
    (AlwaysDealsTheSame, promises.other_decks_give_another_game),
    (AlwaysDealsTheSame, promises.it_asks_for_decks_it_can_be_given),
]


@pytest.mark.parametrize(("faulty", "promise"), STATES, ids=lambda each: each.__name__)
def test_an_engine_that_breaks_its_word_is_caught(
    faulty: type[HighCardState], promise: Callable[[Table], None]
) -> None:
    class Faulty(HighCard):
        def new(self, seats: int, decks: Decks, **options: Option) -> HighCardState:
            right = super().new(seats, decks, **options)
            return faulty(seats, right.rounds, right.low, decks)

        def sample(self, view: SeatView, rng: Chance) -> HighCardState:
            state = super().sample(view, rng)
            state.__class__ = faulty
            return state

    table = Table(Faulty(), 3, {"rounds": 2, "low": False})
    with pytest.raises(AssertionError):
        promise(table)


# --- faults of the game itself ---


class CallsTwoActionsAlike(HighCard):
    actions: tuple[Action, ...] = (ACTIONS[1], *ACTIONS[1:])


class TakesAnyNumberOfSeats(HighCard):
    def new(self, seats: int, decks: Decks, **options: Option) -> HighCardState:
        return super().new(min(max(seats, 2), 4), decks, **options)


class HasAnOptionItCannotPlay(HighCard):
    options: tuple[OptionSpec, ...] = (OptionSpec("rounds", 5, "how many rounds"), HighCard.options[1])


class HasASpaceInItsName(HighCard):
    name: str = "high card"


class SaysItIsShort(HighCard):
    def longest(self, seats: int, **options: Option) -> int:
        return super().longest(seats, **options) - 1


class SaysItIsCheap(HighCard):
    def points(self, seats: int, **options: Option) -> range:
        return range(1, super().points(seats, **options).stop)


class ForgetsTheScores(HighCard):
    def sample(self, view: SeatView, rng: Chance) -> HighCardState:
        state = super().sample(view, rng)
        state.scores = (0,) * state.seats
        return state


class DealsByItself(HighCard):
    samples = 0

    def sample(self, view: SeatView, rng: Chance) -> HighCardState:
        self.samples += 1
        for _ in range(self.samples):
            rng.randbytes(1)
        return super().sample(view, rng)


class SamplesFromAnything(HighCard):
    def sample(self, view: SeatView, rng: Chance) -> HighCardState:
        return super().sample(view if isinstance(view, HighCardView) else self.new(2, UNSHUFFLED).view(0), rng)


@pytest.mark.parametrize(
    ("faulty", "promise"),
    [
        (CallsTwoActionsAlike, promises.every_card_and_action_has_a_name_that_leads_back_to_it),
        (TakesAnyNumberOfSeats, promises.seats_and_options_it_does_not_have_are_refused),
        (HasAnOptionItCannotPlay, promises.every_option_is_described_has_a_default_and_is_played),
        (HasASpaceInItsName, promises.it_says_what_it_is),
    ],
    ids=lambda each: each.__name__,
)
def test_a_game_that_breaks_its_word_is_caught(faulty: type[HighCard], promise: Callable[[Game], None]) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        promise(faulty())


@pytest.mark.parametrize(
    ("faulty", "promise"),
    [
        (SaysItIsShort, promises.no_game_is_longer_and_no_score_goes_further_than_it_says),
        (SaysItIsCheap, promises.no_game_is_longer_and_no_score_goes_further_than_it_says),
        (ForgetsTheScores, secrecy.two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart),
        (DealsByItself, secrecy.a_sampled_world_is_a_game_like_any_other),
        (SamplesFromAnything, secrecy.a_view_of_no_game_in_progress_is_refused),
    ],
    ids=lambda each: each.__name__,
)
def test_a_game_that_tells_wrongly_of_a_table_is_caught(
    faulty: type[HighCard], promise: Callable[[Table], None]
) -> None:
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        promise(Table(faulty(), 3, {"rounds": 2, "low": False}))
