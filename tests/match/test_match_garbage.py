"""Whatever is put into a match, in whatever order: it never raises and never breaks its promises."""

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from arena.match.clock import NEVER
from arena.match.effects import Ask, Back, Cause, Effect, Force, Gone, Hold, Over, Refuse, Release, Show, Substitute
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
from tests.match.counting import CountingGame, in_order

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


class Present:
    """Who is there, as the seats are told."""

    def __init__(self) -> None:
        self.gone: set[int] = set()
        self.substituted: set[int] = set()
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
                assert all(effect.troubled[seat] for seat in self.substituted)


@settings(derandomize=True, max_examples=300, deadline=None)
@given(policies, st.lists(garbage, max_size=60), st.booleans(), st.booleans())
def test_match_takes_any_inputs_in_any_order(
    policy: Policy, inputs: Sequence[Input], begins: bool, interrupted: bool
) -> None:
    match = Match(CountingGame(), 3, {}, in_order, policy)
    if begins:
        inputs = [Begun(Instant(0)), *inputs]
    inputs = [*inputs, *([Interrupted(Instant(0), "enough")] if interrupted else [])]
    open_decisions: dict[int, int] = {}
    asked: dict[int, int] = {}
    latest = 0
    present = Present()
    ended = False
    for event in inputs:
        latest = max(latest, event.at)
        effects = match.receive(event)
        if isinstance(event, Acted) and not any(isinstance(effect, Refuse) for effect in effects):
            assert open_decisions.pop(event.seat) == event.decision
        if isinstance(event, StoodIn) and open_decisions.get(event.seat) == event.decision != match.asking(event.seat):
            del open_decisions[event.seat]
        for effect in effects:
            present.see(effect)
            match effect:
                case Ask():
                    assert not ended
                    assert open_decisions.get(effect.seat, effect.decision) == effect.decision
                    assert effect.soft >= 0
                    assert effect.bank >= 0
                    asked.setdefault(effect.decision, effect.seat)
                    assert asked[effect.decision] == effect.seat
                    open_decisions[effect.seat] = effect.decision
                case Force():
                    assert not (present.held and effect.why is Cause.TIME), "no clock runs"
                    assert open_decisions.pop(effect.seat, effect.decision) == effect.decision
                    asked[effect.decision] = effect.seat
                case Refuse():
                    assert effect[:3] == event[1:]
                    assert effect.time >= 0
                case Over():
                    assert not ended
                    ended = True
                    open_decisions.clear()
                case Show():
                    assert not ended
        assert {seat: match.asking(seat) for seat in range(3)} == {seat: open_decisions.get(seat) for seat in range(3)}
        assert match.over == ended
        assert {seat for seat in range(3) if match.substituted(seat)} == present.substituted
        assert match.now == min(latest, NEVER - 1)
        assert match.deadline is None or (match.deadline >= match.now and not ended)
    assert sorted(asked) == list(range(1, len(asked) + 1))
