"""The net itself is tried: a made-up third game passes, and whatever it lacks or does wrong is told by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from engine.game import Decks, Game, Option, SeatView
from tests.conformance import promises, secrecy
from tests.conformance.high_card import HighCard, HighCardRound, HighCardState, HighCardView
from tests.conformance.pieces import PIECES, House, missing
from tests.conformance.table import Table, tables

NAME = HighCard.name
RULES = "# High Card\n\n**H1 Deal.** …\n\n**H2 Tricks.** …\n"
FILES = {
    f"engine/{NAME}/game.py": "the game",
    f"engine/{NAME}/rules.en.md": RULES,
    f"engine/{NAME}/rules.nl.md": RULES,
    f"engine/{NAME}/rules.de.md": RULES,
    f"tests/engine/test_{NAME}_rulings.py": "def test_H1_three_cards() …\ndef test_H2_the_highest_takes() …",
    f"tests/engine/test_{NAME}_secrets.py": "two worlds",
    f"tests/engine/test_{NAME}_oracle.py": "random games",
    f"tests/oracles/{NAME}.py": "the naive engine",
    f"tests/conformance/perft/{NAME}.perft": "the fingerprint",
    f"proto/arena/v1/{NAME}.proto": "the messages",
    f"arena/wire/{NAME}.py": "the codec",
}


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A house that has the game with all its pieces."""
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    codec = SimpleNamespace(field=NAME)
    return House(
        root=tmp_path,
        games={NAME: HighCard()},
        view_fields=frozenset({NAME}),
        round_fields=frozenset({NAME}),
        views={HighCardView: codec},
        rounds={HighCardRound: codec},
        renderers={NAME: object()},
        bots={NAME: (object(),)},
    )


def without(file: str) -> Callable[[House], House]:
    def remove(house: House) -> House:
        (house.root / file).unlink()
        return house

    return remove


class HighCardWithoutSample(HighCard):
    sample: Any = None


REMOVALS: dict[str, Callable[[House], House]] = {
    "its engine": without(f"engine/{NAME}/game.py"),
    "its place among the games": lambda house: replace(house, games={}),
    "sampled worlds": lambda house: replace(house, games={NAME: HighCardWithoutSample()}),
    "its rules in English": without(f"engine/{NAME}/rules.en.md"),
    "its rules in Dutch": without(f"engine/{NAME}/rules.nl.md"),
    "its rules in German": without(f"engine/{NAME}/rules.de.md"),
    "a test a ruling": without(f"tests/engine/test_{NAME}_rulings.py"),
    "tests of its secrets": without(f"tests/engine/test_{NAME}_secrets.py"),
    "an oracle": without(f"tests/oracles/{NAME}.py"),
    "a comparison with the oracle": without(f"tests/engine/test_{NAME}_oracle.py"),
    "its fingerprint": without(f"tests/conformance/perft/{NAME}.perft"),
    "its messages": without(f"proto/arena/v1/{NAME}.proto"),
    "its field for views": lambda house: replace(house, view_fields=frozenset()),
    "its field for rounds": lambda house: replace(house, round_fields=frozenset()),
    "its codec": without(f"arena/wire/{NAME}.py"),
    "its line for views": lambda house: replace(house, views={}),
    "its line for rounds": lambda house: replace(house, rounds={}),
    "a renderer": lambda house: replace(house, renderers={}),
    "house bots": lambda house: replace(house, bots={}),
}


def test_a_complete_game_lacks_nothing(house: House) -> None:
    assert house.names() == [NAME]
    assert missing(house, NAME) == []


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.name.replace(" ", "-"))
def test_a_piece_left_out_is_named_with_its_file(house: House, piece: Any) -> None:
    poorer = REMOVALS[piece.name](house)
    assert NAME in poorer.names() or piece.name == "its engine"
    sentences = missing(poorer, NAME)
    assert any(
        sentence.startswith(f"high_card lacks {piece.name}: {piece.file.format(game=NAME)} ") for sentence in sentences
    )
    # Without the English rules the others have nothing to be compared with; everything else is told alone.
    assert len(sentences) == 1 or piece.name == "its rules in English"


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("rules.en.md", "no rules", 'has no ruling: a paragraph that begins like "**S1 Deck.**"'),
        ("rules.en.md", "**H1 Deal.** …\n\n**H3 Tricks.** …", "numbers its rulings H1, H3, not H1, H2"),
        ("rules.nl.md", "**H1 Delen.** …", "has the rulings H1, the English has H1, H2"),
    ],
)
def test_rules_whose_numbers_do_not_fit_are_named(house: House, file: str, text: str, sentence: str) -> None:
    (house.root / "engine" / NAME / file).write_text(text)
    assert any(f"engine/{NAME}/{file} {sentence}" in each for each in missing(house, NAME))


def test_a_ruling_without_a_test_is_named(house: House) -> None:
    file = f"tests/engine/test_{NAME}_rulings.py"
    (house.root / file).write_text("def test_H2_the_highest_takes(): …")
    assert missing(house, NAME) == [f"high_card lacks a test a ruling: {file} has no test named after H1"]


# --- its engine ---


@pytest.mark.parametrize("promise", promises.OF_A_GAME, ids=lambda promise: promise.__name__)
def test_the_third_game_keeps_its_promise(promise: Callable[[Game], None]) -> None:
    promise(HighCard())


@pytest.mark.parametrize("table", tables(HighCard()), ids=str)
@pytest.mark.parametrize("promise", [*promises.OF_A_TABLE, *secrecy.OF_A_TABLE], ids=lambda promise: promise.__name__)
def test_a_table_of_the_third_game_keeps_its_promise(table: Table, promise: Callable[[Table], None]) -> None:
    promise(table)


# --- engines that break their word ---


@dataclass(frozen=True, slots=True)
class LeakingView(HighCardView):
    secret: HighCardState


class ShowsTheNeighbour(HighCardState):
    def view(self, seat: int) -> HighCardView:
        return replace(super().view(seat), scores=(*self.hands[seat - 1],))


class ShowsPredictionsAtOnce(HighCardState):
    def view(self, seat: int) -> HighCardView:
        return replace(super().view(seat), predictions=self.predictions)


class LeadsToTheState(HighCardState):
    def view(self, seat: int) -> HighCardView:
        view = super().view(seat)
        return LeakingView(
            **{name: getattr(view, name) for name in (*SeatView.__slots__, *HighCardView.__slots__)}, secret=self
        )


class PrintsItsHands(HighCardState):
    def __repr__(self) -> str:
        return f"HighCardState({self.hands})"


class OffersWhatOthersAllow(HighCardState):
    def legal(self, seat: int) -> Sequence[int]:
        legal = super().legal(seat)
        return legal[:1] if max(self.hands[seat - 1], default=0) > max(legal) else legal


class SharesItsPlays(HighCardState):
    def __init__(self, *arguments: Any) -> None:
        self.played: list[int] = []
        super().__init__(*arguments)

    def apply(self, action: int, seat: int) -> None:
        self.played.append(action)
        super().apply(action, seat)

    def view(self, seat: int) -> HighCardView:
        return replace(super().view(seat), round=len(self.played))


class NumbersItsViews(HighCardState):
    looks = 0

    def view(self, seat: int) -> HighCardView:
        self.looks += 1
        return replace(super().view(seat), round=self.looks)


class NeverEnds(HighCardState):
    def deal(self, number: int) -> None:
        super().deal(0)


class RanksTheLastFirst(HighCardState):
    def ranking(self) -> tuple[int, ...]:
        return tuple(1 + sum(other < score for other in self.scores) for score in self.scores)


class OffersInNoOrder(HighCardState):
    def legal(self, seat: int) -> Sequence[int]:
        return super().legal(seat)[::-1]


class RemembersWhoWasFirst(HighCardState):
    def apply(self, action: int, seat: int) -> None:
        if not any(self.predictions):
            self.scores = replaced_score(self.scores, seat)
        super().apply(action, seat)


def replaced_score(scores: tuple[int, ...], seat: int) -> tuple[int, ...]:
    return tuple(score + (number == seat) for number, score in enumerate(scores))


class AlwaysDealsTheSame(HighCardState):
    def deal(self, number: int) -> None:
        self.decks = lambda _round, _size, count: range(count)
        super().deal(number)


class ShowsALiveList(HighCardState):
    def __init__(self, *arguments: Any) -> None:
        self.live: list[int] = []
        super().__init__(*arguments)

    def view(self, seat: int) -> HighCardView:
        return replace(super().view(seat), plays=self.live)  # type: ignore[arg-type] # that is the fault


FAULTS: list[tuple[type[HighCardState], Callable[[Table], None]]] = [
    (ShowsTheNeighbour, secrecy.two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart),
    (OffersWhatOthersAllow, secrecy.two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart),
    (ShowsPredictionsAtOnce, promises.choices_made_at_once_may_come_in_any_order),
    (RemembersWhoWasFirst, promises.choices_made_at_once_may_come_in_any_order),
    (LeadsToTheState, secrecy.nothing_secret_is_reachable_from_a_view_or_report),
    (PrintsItsHands, secrecy.a_state_does_not_print_its_secrets),
    (ShowsALiveList, secrecy.a_view_holds_plain_values_and_stays_what_it_was),
    (SharesItsPlays, promises.a_clone_goes_its_own_way),
    (NumbersItsViews, promises.the_list_of_its_actions_is_the_game),
    (NeverEnds, promises.the_server_alone_can_play_it_to_its_end),
    (RanksTheLastFirst, promises.a_game_ends_and_is_sound_all_the_way),
    (OffersInNoOrder, promises.a_game_ends_and_is_sound_all_the_way),
    (AlwaysDealsTheSame, promises.other_decks_give_another_game),
    (AlwaysDealsTheSame, promises.it_asks_for_decks_it_can_be_given),
]


@pytest.mark.parametrize(("faulty", "promise"), FAULTS, ids=lambda each: each.__name__)
def test_an_engine_that_breaks_its_word_is_caught(
    faulty: type[HighCardState], promise: Callable[[Table], None]
) -> None:
    class Faulty(HighCard):
        def new(self, seats: int, decks: Decks, **options: Option) -> HighCardState:
            right = super().new(seats, decks, **options)
            return faulty(seats, right.rounds, right.low, decks)

        def sample(self, view: HighCardView, rng: Random) -> HighCardState:
            state = super().sample(view, rng)
            state.__class__ = faulty
            return state

    table = Table(Faulty(), 3, {"rounds": 2, "low": False})
    with pytest.raises(AssertionError):
        promise(table)
