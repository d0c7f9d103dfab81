"""Texts of the notices about unusual events in a match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, assert_never

from arena.match.effects import Back, Cause, Force, Gone, Hold, Refusal, Refuse, Release, Substitute, Suspend
from arena.match.policy import Policy
from arena.server.sessions.messages import Notice, NoticeKind
from engine.game import Action

Conduct: TypeAlias = Refuse | Force | Suspend
"""Effects that concern one seat only."""
Attendance: TypeAlias = Gone | Substitute | Back | Hold | Release
"""Effects that concern the whole table: presence of bots and the state of clocks."""

_REFUSALS: Final[Mapping[Refusal, tuple[NoticeKind, str]]] = {
    Refusal.ILLEGAL: (NoticeKind.ILLEGAL, "is not legal here; the decision is open, choose a legal action"),
    Refusal.STALE: (NoticeKind.STALE, "came after the decision was made and was ignored"),
    Refusal.SUBSTITUTED: (
        NoticeKind.SUBSTITUTED,
        "was ignored: a house bot plays your seat on; you have it back from the next round",
    ),
    Refusal.UNKNOWN: (
        NoticeKind.UNKNOWN,
        "answers no decision that was put to you in this match and was ignored",
    ),
}
_FORCES: Final[Mapping[Cause, tuple[NoticeKind, str]]] = {
    Cause.TIME: (NoticeKind.FORCED_BY_TIME, "time ran out"),
    Cause.ILLEGALITY: (NoticeKind.FORCED_BY_ILLEGALITY, "too many answers were not legal"),
}
"""Kind and text of the notice for each cause of a forced decision. A suspended seat needs no text, because its bot
already knows that it is suspended.
"""


def too_slow(policy: Policy, times: Sequence[int], capacity: int) -> str:
    """Compare a late bot's decision times with its limits and return advice for the author.

    Return "" if most decisions were quick enough, because then speed is not the problem. `times`: the think times of
    the bot's own decisions, in microseconds. `capacity`: how many matches the bot plays at once; 0 if unknown.
    """
    median = sorted(times)[len(times) // 2] if times else policy.soft_limit
    if median < policy.soft_limit:
        return ""
    take = f"decisions take {median / 1e6:.1f} s (median)" if times else "no decision came in time"
    gives = f"this server gives {policy.soft_limit / 1e6:g} s each and {policy.bank / 1e6:g} s a match besides"
    known = f" ({capacity} matches at once)" if capacity else ""
    fewer = "" if capacity == 1 else f"lower the bot's capacity{known}, or "
    return f"{take}; {gives}; {fewer}have it decide within the time left that each decision states"


class NoticeTexts:
    """Writer of the notices of one match."""

    def __init__(self, match_id: int, bots: Sequence[str], stand_in: str, actions: Sequence[Action]) -> None:
        self._match_id = match_id
        self._bots = bots
        self._stand_in = stand_in
        self._actions = actions

    def to_seat(self, effect: Conduct, advice: str = "") -> Notice:
        """Return the notice to the seat that an effect concerns. `advice` for the bot's author is appended."""
        match effect:
            case Refuse(_, decision, action, why, legal, time):
                kind, what = _REFUSALS[why]
                late = f"; it was {time / 1e6:.3f} s late" if why is Refusal.STALE and time else ""
                text = f"{self._name(action)} {what}{late}"
                return Notice(
                    kind,
                    text,
                    self._match_id,
                    decision=decision,
                    rejected_action=action,
                    legal=legal,
                    left=time if legal else None,
                    late=time or None if why is Refusal.STALE else None,
                )
            case Force(_, decision, action, cause):
                kind, what = _FORCES[cause]
                text = f"{what}: {self._name(action)} was chosen for you{advice and '; '}{advice}"
                return Notice(kind, text, self._match_id, decision=decision, chosen_action=action)
            case Suspend():
                text = (
                    "your bot was late too often in a row: the server chooses for it in this match until it says that "
                    "it is ready, as the SDKs do once your code has returned"
                )
                return Notice(NoticeKind.SUSPENDED, text, self._match_id)
        assert_never(effect)

    def to_all(self, effect: Attendance) -> Notice:
        """Return the notice to every seat of the table."""
        match effect:
            case Gone(seat, time):
                when = f"in {time / 1e6:.0f} s" if time else "at once"
                text = f"{self._bots[seat]} is gone; {when} a house bot plays its seat on"
                return Notice(NoticeKind.GONE, text, self._match_id, seat, return_time=time)
            case Substitute(seat):
                text = f"{self._stand_in} plays the seat of {self._bots[seat]} on"
                return Notice(NoticeKind.SUBSTITUTED, text, self._match_id, seat)
            case Back(seat):
                return Notice(NoticeKind.BACK, f"{self._bots[seat]} is back", self._match_id, seat)
            case Hold(time):
                text = f"the server was interrupted; no clock runs until all are back, for {time / 1e6:.0f} s at most"
                return Notice(NoticeKind.HELD, text, self._match_id, hold=time)
            case Release():
                return Notice(NoticeKind.RELEASED, "clocks run again", self._match_id)
        assert_never(effect)

    def wait_for_the_round(self) -> Notice:
        """Return the notice to a bot that returns while a house bot plays its seat."""
        text = f"{self._stand_in} plays your seat on; you have it back from the next round"
        return Notice(NoticeKind.SUBSTITUTED, text, self._match_id)

    def result_delayed(self) -> Notice:
        """Return the notice that the result of a finished match cannot be stored yet."""
        text = "the match is over, and its result cannot be stored at the moment; you are told when it is"
        return Notice(NoticeKind.HELD, text, self._match_id)

    def _name(self, action: int) -> str:
        return self._actions[action].name if 0 <= action < len(self._actions) else f"action {action}"
