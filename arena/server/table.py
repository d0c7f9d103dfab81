"""A match being played: carries inputs to the `Match` and its effects to the seats.

It adds nothing to the game; beyond passing on it answers for house bots and tells seats in words what happened.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from typing import TYPE_CHECKING, assert_never

import structlog
import trio

from arena.match.effects import Ask, Cause, Force, Over, Refusal, Refuse, Show, Suspend
from arena.match.inputs import Acted, Begun, Input, Instant, Interrupted, Left, Returned, Sent, TimeUp
from arena.replay.record import Recorder, encode
from arena.server.contestant import Contestant
from arena.server.messages import MatchOver, Notice, NoticeKind, RatingChange, RoundOver

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arena.ladder import live
    from arena.match.effects import Effect
    from arena.match.match import Match
    from arena.replay.record import Header
    from arena.server.messages import Answer
    from arena.server.players import HousePlayer, Player
    from arena.server.session import Session
    from engine.game import Action

log = structlog.get_logger(__name__)

NOTICE_OF_REFUSAL = {
    Refusal.ILLEGAL: (
        NoticeKind.ILLEGAL,
        "is not legal here; the decision is open, choose a legal action",
    ),
    Refusal.STALE: (NoticeKind.STALE, "came after the decision was made and was ignored"),
    Refusal.UNKNOWN: (NoticeKind.UNKNOWN, "answers no decision that was put to you in this match and was ignored"),
}
NOTICE_OF_FORCE = {
    Cause.TIME: (NoticeKind.FORCED_BY_TIME, "time ran out"),
    Cause.ILLEGALITY: (NoticeKind.FORCED_BY_ILLEGALITY, "too many answers were not legal"),
    Cause.SUSPENSION: (NoticeKind.SUSPENDED, "you are suspended; send Ready for this match to play on"),
}


class Table:
    """One match and who sits at it."""

    def __init__(
        self,
        match_id: int,
        match: Match,
        actions: Sequence[Action],
        players: Sequence[Player],
        chance: bytes,
        header: Header,
        watch: Callable[[Table], None],
    ) -> None:
        self.match_id = match_id
        self.players = players
        self._header = header
        self._recorder = Recorder()
        self.wakes_at = math.inf
        self._match = match
        self._actions = actions
        self._chance = chance
        self._over: Over | None = None
        self._ended = trio.Event()
        self._watch = watch
        self._began = trio.current_time()
        self._seats = {player: seat for seat, player in enumerate(players) if isinstance(player, Contestant)}
        for contestant in self._seats:
            contestant.tables[match_id] = self

    @property
    def deadline(self) -> float:
        """When the match wants to be woken, in seconds of the server's clock."""
        deadline = self._match.deadline
        return math.inf if deadline is None else self._began + deadline / 1e6

    def ring(self, now: float) -> None:
        """The alarm rings."""
        self._feed(TimeUp(max(self._instant(now), self._match.deadline or Instant(0))))

    async def play(self) -> Over:
        """Plays the match; returns how it ended. Bots that are gone already are absent from the start."""
        now = trio.current_time()
        self._feed(Begun(self._instant(now)))
        for contestant in self._seats:
            if contestant.session is None:
                self.left(now, contestant)
        await self._ended.wait()
        assert self._over is not None, "that is what has ended"
        return self._over

    def report(self, over: Over, changes: Sequence[live.RatingChange]) -> None:
        """Tells the bots how the match ended; it was not rated where there are no rating changes."""
        for contestant, seat in self._seats.items():
            if contestant.session is not None:
                rating = RatingChange(changes[seat].before.value, changes[seat].after.value) if changes else None
                contestant.session.report(
                    MatchOver(self.match_id, seat, over.scores, over.places, rating, over.interrupted)
                )

    def replay(self, changes: Sequence[live.RatingChange]) -> bytes:
        """The replay file of the match, which is over."""
        return encode(self._header, self._recorder.entries, changes)

    def dissolve(self) -> None:
        """Everybody gets up."""
        for contestant in self._seats:
            del contestant.tables[self.match_id]

    def sent(self, now: float, ask: Ask) -> None:
        """A question was handed to the transport."""
        self._feed(Sent(self._instant(now), ask.seat, ask.decision))

    def answered(self, at: float, contestant: Contestant, answer: Answer) -> None:
        """A bot answered."""
        seat = self._seats[contestant]
        self._feed(Acted(self._instant(at), seat, answer.decision, answer.action))
        if contestant.session is not None and self._match.asking(seat) != answer.decision:
            contestant.session.settle(self.match_id, answer.decision)

    def left(self, now: float, contestant: Contestant) -> None:
        """A bot is gone."""
        self._feed(Left(self._instant(now), self._seats[contestant]))

    def returned(self, now: float, contestant: Contestant) -> None:
        """A bot is back, or ready again."""
        self._feed(Returned(self._instant(now), self._seats[contestant]))

    def interrupt(self, now: float, reason: str) -> None:
        """Breaks the match off."""
        self._feed(Interrupted(self._instant(now), reason))

    def _instant(self, now: float) -> Instant:
        return Instant(max(0, round((now - self._began) * 1e6)))

    def _feed(self, first: Input) -> None:
        todo: deque[Input] = deque((first,))
        while todo:
            happened = todo.popleft()
            effects = self._match.receive(happened)
            self._recorder.add(happened, effects)
            for effect in effects:
                self._do(effect, happened.at, todo)
        self._watch(self)

    def _do(self, effect: Effect, at: Instant, todo: deque[Input]) -> None:
        match effect:
            case Ask():
                player = self.players[effect.seat]
                if not isinstance(player, Contestant):
                    todo.append(Acted(at, effect.seat, effect.decision, self._house_choice(player, effect)))
                elif player.session is not None:
                    player.session.ask(self, effect)
            case Refuse():
                self._refused(effect)
            case Force():
                self._forced(effect)
            case Suspend():
                text = "you were late too often in a row and are suspended; send Ready for this match to play on"
                self._notify(effect.seat, Notice(NoticeKind.SUSPENDED, text, self.match_id))
            case Show():
                for contestant in self._seats:
                    if contestant.session is not None:
                        contestant.session.show(RoundOver(self.match_id, effect.report))
            case Over():
                self._over = effect
                self._ended.set()
            case _:
                assert_never(effect)

    def _house_choice(self, player: HousePlayer, ask: Ask) -> int:
        """What a house bot plays. A fault of ours must not hold up the table: then it is the first legal action."""
        chance = hashlib.sha256(self._chance + ask.decision.to_bytes(4)).digest()
        try:
            action = player.bot.decide(ask.view, ask.legal, chance)
        except Exception:
            log.exception("a house bot failed", bot=player.name, match=self.match_id, decision=ask.decision)
            return ask.legal[0]
        if action not in list(ask.legal):
            log.error("a house bot chose what is not legal", bot=player.name, match=self.match_id, action=action)
            return ask.legal[0]
        return action

    def _refused(self, refuse: Refuse) -> None:
        kind, what = NOTICE_OF_REFUSAL[refuse.why]
        text = f"{self._name(refuse.action)} {what}"
        if refuse.why is Refusal.STALE and refuse.time:
            text += f"; it was {refuse.time / 1e6:.3f} s late"
        self._notify(
            refuse.seat,
            Notice(kind, text, self.match_id, refuse.decision, refuse.action, refuse.legal, refuse.time or None),
        )

    def _forced(self, force: Force) -> None:
        session = self._session(force.seat)
        if session is not None:
            session.settle(self.match_id, force.decision)
        kind, why = NOTICE_OF_FORCE[force.why]
        text = f"{why}: {self._name(force.action)} was chosen for you"
        self._notify(force.seat, Notice(kind, text, self.match_id, force.decision, force.action))

    def _session(self, seat: int) -> Session | None:
        player = self.players[seat]
        return player.session if isinstance(player, Contestant) else None

    def _notify(self, seat: int, notice: Notice) -> None:
        session = self._session(seat)
        if session is not None:
            session.notify(notice)

    def _name(self, action: int) -> str:
        return self._actions[action].name if action < len(self._actions) else f"action {action}"
