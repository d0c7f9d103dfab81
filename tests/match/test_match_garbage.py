"""Arbitrary inputs in any order. A match never raises an exception and never breaks its promises."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from arena.match.effects import Ask, Back, Cause, Effect, Force, Gone, Hold, Over, Refuse, Release, Substitute
from arena.match.inputs import (
    Acted,
    Begun,
    Input,
    Instant,
    Interrupted,
    Left,
    Restored,
    Returned,
    Sent,
    StoodIn,
    TimeUp,
)
from arena.match.match import Match
from arena.match.policy import Policy
from arena.match.seat import NEVER
from engine.game import Game, Option, OptionError
from engine.registry import GAMES
from tests.engine.decks import UNSHUFFLED
from tests.match.counting import IN_ORDER, CountingGame
from tests.oracles.strategies import TwoDecks, decks_of

pytestmark = pytest.mark.thorough

some_int = st.integers(-2, 12) | st.integers()
instants = (st.integers(0, 3000) | st.integers()).map(Instant)
seats = st.integers(0, 2) | some_int
garbage: st.SearchStrategy[Input] = st.one_of(
    st.builds(Begun, instants),
    st.builds(Sent, instants, seats, some_int, some_int),
    st.builds(StoodIn, instants, seats, some_int, some_int),
    st.builds(Acted, instants, seats, some_int, some_int),
    st.builds(TimeUp, instants),
    st.builds(Left, instants, seats),
    st.builds(Returned, instants, seats),
    st.builds(Restored, instants),
)
policies = st.builds(
    Policy,
    soft_limit=st.integers(0, 200),
    bank=st.integers(0, 500),
    rejections_per_decision=st.integers(0, 4),
    rejections_per_match=st.integers(0, 6),
    lates_in_a_row=st.integers(0, 4),
    lag_allowance=st.integers(0, 100),
    grace=st.integers(0, 400),
    incidents=st.integers(0, 3),
    restart_hold=st.integers(0, 400),
    substituted_percent=st.integers(0, 100),
)


class Answers(NamedTuple):
    """Correct answers to a number of open decisions, or to all if there are fewer. The tape selects them."""

    number: int
    tape: bytes


class Nearly(NamedTuple):
    """An answer with at most one fault to an open decision, or to an unknown decision if none is open."""

    which: int
    seats_off: int
    decisions_off: int
    action: int


nearly = st.builds(Nearly, st.integers(0, 6), st.sampled_from([0, 0, 0, 1]), st.sampled_from([0, 0, -1, 1]), some_int)
answers = st.builds(Answers, st.integers(1, 200), st.binary(min_size=1, max_size=20))


class Present:
    """The presence of each seat, as the match last reported it."""

    def __init__(self) -> None:
        self.gone: set[int] = set()
        self.substituted: set[int] = set()
        self.in_order: set[int] = set()
        """The seats that have ever announced that they are leaving."""
        self.held = False

    def see(self, effect: Effect) -> None:
        match effect:
            case Gone():
                assert effect.seat not in self.gone | self.substituted
                assert effect.time >= 0
                self.gone.add(effect.seat)
            case Substitute():
                self.gone.remove(effect.seat)
                self.substituted.add(effect.seat)
            case Back():
                assert effect.seat in self.gone | self.substituted
                self.gone.discard(effect.seat)
                self.substituted.discard(effect.seat)
            case Hold():
                self.held = True
                self.gone.clear()
            case Release():
                assert self.held
                self.held = False
            case Over():
                last = {max(effect.places)} if effect.places else set()
                assert {place for seat, place in enumerate(effect.places) if seat in self.substituted} <= last
                assert all(effect.troubled[seat] for seat in self.substituted - self.in_order)


class Watched:
    """A match whose promises are checked after every input."""

    def __init__(self, match: Match, seats: int, policy: Policy) -> None:
        self.match = match
        self.policy = policy
        self.seats = range(seats)
        self.open: dict[int, Ask] = {}
        self.asked: dict[int, int] = {}
        self.present = Present()
        self.latest = 0
        self.ended = False

    def receive(self, event: Input) -> None:
        self.latest = max(self.latest, event.at)
        effects = self.match.receive(event)
        if isinstance(event, Left) and event.in_order:
            self.present.in_order.add(event.seat)
        if isinstance(event, Acted) and not any(isinstance(effect, Refuse) for effect in effects):
            answered = self.open.pop(event.seat)
            assert (answered.decision, event.action in answered.legal) == (event.decision, True)
        if isinstance(event, StoodIn):
            ask = self.open.get(event.seat)
            if ask is not None and ask.decision == event.decision != self.match.open_decision(event.seat):
                del self.open[event.seat]
        for effect in effects:
            self.present.see(effect)
            assert not self.ended or isinstance(effect, Refuse), "nothing happens after the end"
            match effect:
                case Ask():
                    before = self.open.get(effect.seat)
                    same = replace(effect, soft=0, bank=0)
                    assert before is None or replace(before, soft=0, bank=0) == same, "one question at a time"
                    assert min(effect.soft, effect.bank) >= 0
                    own = effect.seat not in self.present.substituted and self.policy.soft_limit > 0
                    assert not own or effect.soft + effect.bank > 0, "a bot is asked while it has time"
                    assert effect.view.seat == effect.seat
                    assert self.asked.setdefault(effect.decision, effect.seat) == effect.seat
                    self.open[effect.seat] = effect
                case Force():
                    assert not (self.present.held and effect.why is Cause.TIME), "no clock runs"
                    before = self.open.pop(effect.seat, None)
                    assert before is None or (before.decision, effect.action in before.legal) == (effect.decision, True)
                    self.asked[effect.decision] = effect.seat
                case Refuse():
                    assert isinstance(event, Acted)
                    assert effect[:3] == (event.seat, event.decision, event.action)
                    assert effect.time >= 0
                case Over():
                    self.ended = True
                    self.open.clear()
        assert [self.match.open_decision(seat) for seat in self.seats] == [
            self.open[seat].decision if seat in self.open else None for seat in self.seats
        ]
        assert self.match.over == self.ended
        assert {seat for seat in self.seats if self.match.substituted(seat)} == self.present.substituted
        assert self.match.now == min(self.latest, NEVER - 1)
        assert self.match.deadline is None or self.match.deadline >= self.match.now
        assert not self.ended or self.match.deadline is None
        assert sorted(self.asked) == list(range(1, len(self.asked) + 1))

    def take(self, event: Input | Answers | Nearly) -> None:
        match event:
            case Answers():
                self.answer(event)
            case Nearly():
                asked = [(ask.seat, ask.decision) for ask in self.open.values()] or [(0, 0)]
                seat, decision = asked[event.which % len(asked)]
                at = Instant(self.latest)
                self.receive(Acted(at, seat + event.seats_off, decision + event.decisions_off, event.action))
            case _:
                self.receive(event)

    def answer(self, run: Answers) -> None:
        """Answer the open decisions, each after a delay: some while the clock runs, some twice."""
        for count in range(run.number):
            if not self.open:
                return
            byte = run.tape[count % len(run.tape)]
            ask = self.open[sorted(self.open)[byte % len(self.open)]]
            seat, decision, legal = ask.seat, ask.decision, ask.legal
            if byte % 2:
                self.receive(Sent(Instant(self.latest), seat, decision, byte))
            if self.match.open_decision(seat) == decision:
                answered = StoodIn if self.match.substituted(seat) else Acted
                answer = answered(Instant(self.latest + byte), seat, decision, legal[byte % len(legal)])
                self.receive(answer)
                if byte % 3 == 0:
                    self.receive(answer)


@settings(max_examples=300)
@given(policies, st.lists(garbage | nearly, max_size=60), st.booleans())
def test_match_takes_any_inputs_in_any_order(policy: Policy, inputs: Sequence[Input | Nearly], begins: bool) -> None:
    watched = Watched(Match(CountingGame(), 3, {}, IN_ORDER, policy), 3, policy)
    if begins:
        watched.receive(Begun(Instant(0)))
    for event in inputs:
        watched.take(event)
    watched.receive(Interrupted(Instant(0), "enough"))
    assert watched.ended
    for event in [*inputs, Begun(Instant(0)), Interrupted(Instant(0), "again")]:
        watched.take(event)


def types_of(game: Game) -> dict[str, type]:
    """A strategy for a game's options with values of the right types."""
    return {spec.name: type(spec.default) for spec in game.options}


@st.composite
def tables(draw: st.DrawFn) -> tuple[Game, int, dict[str, Option], TwoDecks]:
    """A strategy for registered games with seats, options and decks."""
    game = draw(st.sampled_from([*GAMES.values()]))
    values = {name: st.booleans() if kind is bool else st.integers(-1, 9) for name, kind in types_of(game).items()}
    options = st.fixed_dictionaries({}, optional=values)
    return game, draw(st.sampled_from(game.seats)), draw(options), draw(decks_of(game))


@settings(max_examples=60)
@given(tables(), policies, st.lists(garbage | nearly | answers, max_size=30), st.booleans())
def test_match_of_any_game_takes_any_inputs_in_any_order(
    table: tuple[Game, int, dict[str, Option], TwoDecks],
    policy: Policy,
    inputs: Sequence[Input | Answers | Nearly],
    played_out: bool,
) -> None:
    game, seats, options, decks = table
    try:
        match = Match(game, seats, options, decks, policy)
    except OptionError:
        assume(False)
    watched = Watched(match, seats, policy)
    watched.receive(Begun(Instant(0)))
    for event in inputs:
        watched.take(event)
    while played_out and not watched.ended:
        watched.answer(Answers(1, b"\0"))
        assert watched.open or watched.ended
    assert watched.ended or not played_out
    for event in inputs:
        watched.take(event)


@st.composite
def wild_tables(draw: st.DrawFn) -> tuple[Game, int, dict[str, Option]]:
    """A strategy for games with any number of seats and any option values, of any type."""
    game = draw(st.sampled_from([*GAMES.values()]))
    wild: st.SearchStrategy[Any] = st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.none()
    seats = draw(st.sampled_from(game.seats) | st.integers())
    names = st.sampled_from([*types_of(game), "colour"])
    values = st.booleans() | st.integers(-1, 1001) | wild
    return game, seats, draw(st.dictionaries(names, values, max_size=3)) if draw(st.booleans()) else {}


@settings(max_examples=100)
@given(wild_tables())
def test_match_for_any_seats_and_options_begins_or_is_refused(table: tuple[Game, int, dict[str, Option]]) -> None:
    game, seats, options = table
    try:
        match = Match(game, seats, options, UNSHUFFLED, Policy())
    except OptionError:
        return
    assert seats in game.seats
    assert {name: type(value) for name, value in options.items()}.items() <= types_of(game).items()
    assert match.receive(Begun(Instant(0)))
