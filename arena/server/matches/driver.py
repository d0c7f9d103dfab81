# Compiled: every decision passes through here.
"""The driver of one running match, which passes inputs to the `Match` and its effects to the seats.

The driver also asks workers for the actions of house bots, and notifies bots.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Final, assert_never

import trio

from arena.house import HouseBot, title
from arena.ladder import live
from arena.log.head import LogEntry
from arena.match.effects import (
    Ask,
    Back,
    Cause,
    Effect,
    Force,
    Gone,
    Hold,
    Over,
    Refusal,
    Refuse,
    Release,
    Show,
    Substitute,
    Suspend,
)
from arena.match.inputs import Acted, Begun, Input, Instant, Left, Restored, Returned, Sent, StoodIn, TimeUp
from arena.match.match import Match
from arena.replay.header import Header, MatchKind, OfferOutcome
from arena.replay.lines import input_line
from arena.replay.record import Draft, Recorder
from arena.replay.thinking import Thinking
from arena.scheduling.pace import OwedTime
from arena.server.matches.notices import NoticeTexts, too_slow
from arena.server.sessions.messages import Answer, MatchOver, MatchStart, Notice, RatingMove, RoundOver
from arena.server.sessions.player import BotPlayer, HousePlayer, Player
from arena.server.sessions.session import Session
from arena.server.workers.pool import WorkerPool
from arena.store.journal.journal import Journal
from engine.game import RoundReport, option_text

MOST_STRAYS: Final = 500
"""Maximum number of late or unexpected answers that a match records from one seat. Even a slow bot sends fewer."""


class MatchDriver:
    """Driver of one match for the players at its table."""

    def __init__(
        self,
        match: Match,
        header: Header,
        players: Sequence[Player],
        stand_in: HouseBot,
        chance: bytes,
        pool: WorkerPool,
        journal: Journal | None,
        watch: Callable[[MatchDriver], None],
        charged: bool = True,
        round_over: Callable[[int, RoundReport], None] | None = None,
    ) -> None:
        """Prepare to drive a match. Without a journal, an unfinished match is lost.

        `charged`: true if mistakes count as trouble for their bot. `round_over` is called with the match's number and
        the report of each finished round.
        """
        self.match_id = header.match_id
        self.header = header
        """Players, settings and secret seed of the match. Must stay secret until the match has ended."""
        self.players = players
        self.wakes_at = math.inf
        self.timer_id = 0
        self.owed = OwedTime(len(players))
        """The time during which each seat owed an answer."""
        self.forced: list[Cause] = []
        """The reason for each decision that the server has forced so far."""
        self._absences = [0] * len(players)
        """By seat, the number of its bot's current absence; 0 if the bot is present."""
        self._charged = charged
        self._notices = NoticeTexts(
            header.match_id, [each.name for each in players], stand_in.name, header.game.actions
        )
        self._seats = {player: seat for seat, player in enumerate(players) if isinstance(player, BotPlayer)}
        self._match = match
        self._stand_in = stand_in
        self._actions = header.game.actions
        self._journal = journal
        self._recorder = Recorder(header)
        self._fault: Exception | None = None
        self._frozen = False
        self._chance = chance
        self._pool = pool
        self._over: Over | None = None
        self._ended = trio.Event()
        self._strays = [0] * len(players)
        self._late = [False] * len(players)
        """By seat, true if its bot has been notified of a late answer."""
        self._chooses: set[int] = set()
        """Numbers of the decisions for which a worker is choosing an action."""
        self._watch = watch
        self._round_over = round_over
        self._began = trio.current_time()
        for bot_player in self._seats:
            bot_player.playing.running[self.match_id] = self

    @property
    def deadline(self) -> float:
        """Next deadline of the match, in seconds of the server's clock."""
        deadline = self._match.deadline
        return math.inf if deadline is None or self._frozen else self._began + deadline / 1e6

    def on_timer(self, now: float) -> None:
        """Act on the match's deadlines that have passed."""
        self._feed(TimeUp(max(self._instant(now), self._match.deadline or Instant(0))))

    @property
    def ladder_id(self) -> str:
        """The id of the ladder."""
        return self.header.ladder_id

    @property
    def kind(self) -> MatchKind:
        """The kind of match."""
        return self.header.kind

    @property
    def tells_paces(self) -> Sequence[bool]:
        """By seat, true if its bot made enough decisions to measure its pace."""
        return [2 * seat.missed < seat.decisions for seat in self.thinking]

    @property
    def length(self) -> float:
        """Length of the match in seconds."""
        return self._match.now / 1e6

    @property
    def over(self) -> bool:
        """True if the match has ended, even if its result is not stored yet."""
        return self._over is not None

    def begin(self) -> None:
        """Start the match. Bots that have already left are absent from the start."""
        now = trio.current_time()
        for seat in self._seats.values():
            self._start(seat)
        self._feed(Begun(self._instant(now)))
        for bot_player in [each for each in self._seats if each.session is None]:
            self.left(now, bot_player)

    def resume(self, inputs: Sequence[Input]) -> None:
        """Continue a match of an earlier server, with all clocks stopped until every bot has returned."""
        questions: dict[int, Ask] = {}
        for event in inputs:
            effects = self._match.receive(event)
            self._record(event, effects, input_line(event, self.header.game))
            questions |= {effect.seat: effect for effect in effects if isinstance(effect, Ask)}
            self._over = next((effect for effect in effects if isinstance(effect, Over)), self._over)
            if self._round_over is not None:
                for shown in effects:
                    if isinstance(shown, Show):
                        self._round_over(self.match_id, shown.report)
        if self._over is not None:
            self._ended.set()
            return
        now = self._match.now
        self._began = trio.current_time() - now / 1e6
        if not inputs:
            self._feed(Begun(now))
        # Stop all clocks until every bot has returned. House bots count as present.
        house = [(seat, player) for seat, player in enumerate(self.players) if isinstance(player, HousePlayer)]
        self._feed(Restored(now, title(self._stand_in), tuple(seat for seat, player in house if player.plays_for)))
        for seat, _ in house:
            self._feed(Returned(now, seat))
        for seat, player in enumerate(self.players):
            if (
                isinstance(player, BotPlayer)
                and self._match.substituted(seat)
                and self._match.open_decision(seat) is not None
            ):
                todo: list[Input] = []
                self._put(questions[seat], now, todo)
                for choice in todo:
                    self._feed(choice)

    def freeze(self) -> None:
        """Accept no more inputs: the next server continues from here."""
        self._frozen = True

    async def played(self) -> Over:
        """Wait for the end of the match and return its outcome."""
        await self._ended.wait()
        assert self._over is not None, "that is what has ended"
        return self._over

    def open_decision(self, seat: int) -> int | None:
        """Return the number of a seat's open decision, or None."""
        return self._match.open_decision(seat)

    @property
    def thinking(self) -> Sequence[Thinking]:
        """By seat, how the bot has used its time so far."""
        return self._recorder.thinking()

    @property
    def due_so_far(self) -> Sequence[int]:
        """By seat, the number of decisions so far."""
        return self._recorder.due_so_far()

    def stored(self) -> None:
        """Release the match's part of the journal, because the result is stored."""
        if self._journal is not None:
            self._journal.forget(self.match_id)

    def draft(self) -> Draft:
        """Return the replay of a finished match, without ratings.

        Raises: Exception: the error with which recording failed, if it did.
        """
        if self._fault is not None:
            raise self._fault
        return self._recorder.draft()

    def report(self, over: Over, changes: Sequence[live.RatingChange], entry: LogEntry | None = None) -> None:
        """Send the bots the result and its log entry. `changes` is empty if the match was not rated."""
        for bot_player, seat in self._seats.items():
            if bot_player.session is not None:
                rating = RatingMove(changes[seat].before.value, changes[seat].after.value) if changes else None
                bot_player.session.report(
                    MatchOver(
                        self.match_id,
                        seat,
                        over.scores,
                        over.places,
                        rating,
                        over.counts,
                        over.interrupted,
                        self.header.kind,
                        over.spoilt,
                        entry,
                    )
                )

    def troubles(self, over: Over) -> list[bool | None]:
        """Return, by seat, whether the match counts as trouble for the bot. None if the same absence already counted in
        another match.
        """
        if not self._charged:
            return [None] * len(over.troubled)
        troubles: list[bool | None] = list(over.troubled)
        for bot_player, seat in self._seats.items():
            absence = self._absences[seat]
            if over.troubled[seat] and absence:
                troubles[seat] = bot_player.playing.count_absence(absence, self.header.further_ladder) or None
        return troubles

    def delayed(self) -> None:
        """Notify the bots that the result cannot be stored yet."""
        for seat in self._seats.values():
            self._notify(seat, self._notices.result_delayed())

    def dissolve(self) -> None:
        """Remove the match from its players."""
        for bot_player in self._seats:
            bot_player.playing.end(self.match_id)

    def sent(self, now: float, seat: int, decision: int, lag: int) -> None:
        """Start the clock of a question that the transport has accepted. `lag`: the bot's round-trip time in
        microseconds.
        """
        self._feed(Sent(self._instant(now), seat, decision, lag))

    def answered(self, at: float, bot_player: BotPlayer, answer: Answer) -> None:
        """Apply a bot's answer that arrived at the time `at`."""
        seat = self._seats[bot_player]
        if not self._match.owes(seat, answer.decision):
            self._strays[seat] += 1
            if self._strays[seat] > MOST_STRAYS:
                bot_player.shut_out(f"flooding: {MOST_STRAYS} answers to no open decision in match {self.match_id}")
                return
        self._feed(Acted(self._instant(at), seat, answer.decision, answer.action))
        if bot_player.session is not None and self._match.open_decision(seat) != answer.decision:
            bot_player.session.settle(self.match_id, answer.decision, at)

    def left(self, now: float, bot_player: BotPlayer, in_order: bool = False) -> None:
        """Record that a bot left. With `in_order`, the bot announced this, and the stand-in takes over its seat at
        once.
        """
        seat = self._seats[bot_player]
        self._absences[seat] = bot_player.playing.absence
        self._feed(Left(self._instant(now), seat, in_order))

    def ready(self, now: float, bot_player: BotPlayer) -> None:
        """End the suspension of a bot that is ready again; no effect if it is not suspended."""
        seat = self._seats[bot_player]
        if self._match.suspended(seat):
            self._feed(Returned(self._instant(now), seat))

    def returned(self, now: float, bot_player: BotPlayer) -> None:
        """Record a bot's return and send its open decisions again."""
        seat = self._seats[bot_player]
        self._start(seat)
        self._feed(Returned(self._instant(now), seat))
        if self._match.substituted(seat):
            self._notify(seat, self._notices.wait_for_the_round())

    def _instant(self, now: float) -> Instant:
        return Instant(max(0, int((now - self._began) * 1e6 + 0.5)))

    def _feed(self, first: Input) -> None:
        if self._frozen:
            return
        todo = [first]
        for happened in todo:  # The loop appends choices of house bots to `todo`.
            effects = self._match.receive(happened)
            line = (
                input_line(happened, self.header.game)
                if self._journal is None
                else self._journal.add(self.header, happened)
            )
            self._record(happened, effects, line)
            for effect in effects:
                self._do(effect, happened.at, todo)
        deadline = self._match.deadline
        if deadline is not None and self._began + deadline / 1e6 < self.wakes_at:
            self._watch(self)

    def _record(self, event: Input, effects: Sequence[Effect], line: str) -> None:
        """Record an input with its effects. If this fails, the match still runs to its end, but has no result."""
        self._count_owed(event, effects)
        if self._fault is None:
            try:
                self._recorder.add(event, effects, line)
            except Exception as fault:  # noqa: BLE001 - raised again by `draft`
                self._fault = fault

    def _count_owed(self, event: Input, effects: Sequence[Effect]) -> None:
        """Start and stop the clocks that measure how long seats owe answers."""
        owed, at = self.owed, self._match.now
        if isinstance(event, (Acted, StoodIn)) and self._match.open_decision(event.seat) != event.decision:
            owed.made(event.seat, event.decision, at)
        for effect in effects:
            if type(effect) is Ask:
                owed.owes(effect.seat, effect.decision, at)
            elif isinstance(effect, Force):
                owed.made(effect.seat, effect.decision, at)
            elif isinstance(effect, (Hold, Release)):
                owed.hold(at, held=isinstance(effect, Hold))

    def _do(self, effect: Effect, at: Instant, todo: list[Input]) -> None:
        match effect:
            case Ask():
                self._put(effect, at, todo)
            case Refuse() | Suspend():
                if not self._known_to_be_late(effect):
                    self._notify(effect.seat, self._notices.to_seat(effect))
            case Force():
                self._forced(effect)
            case Gone() | Substitute() | Back() | Hold() | Release():
                notice = self._notices.to_all(effect)
                for seat in self._seats.values():
                    self._notify(seat, notice)
            case Show():
                for session in self._sessions():
                    session.show(RoundOver(self.match_id, effect.report))
                if self._round_over is not None:
                    self._round_over(self.match_id, effect.report)
            case Over():
                self._over = effect
                self._ended.set()
            case _:
                assert_never(effect)

    def _known_to_be_late(self, effect: Refuse | Suspend) -> bool:
        """Return whether an answer is late and its bot already knows that it answers late.

        The notice of the forced decision is enough for a bot that knows.
        """
        if not (isinstance(effect, Refuse) and effect.why is Refusal.STALE and effect.time):
            return False
        known, self._late[effect.seat] = self._late[effect.seat], True
        return known

    def _forced(self, effect: Force) -> None:
        """Count a forced decision and notify its bot, unless the bot is suspended."""
        self.forced.append(effect.why)
        if (session := self._session(effect.seat)) is not None:
            session.withdraw(self.match_id, effect.decision)
            if effect.why is not Cause.SUSPENSION:
                session.notify(self._notices.to_seat(effect, self._advice(effect, session)))

    def _advice(self, effect: Force, session: Session) -> str:
        """Return advice for the author of a slow bot; empty if an earlier notice in this session contained the
        advice.
        """
        bot_player = self.players[effect.seat]
        if effect.why is not Cause.TIME or not isinstance(bot_player, BotPlayer) or session.knows_it_is_slow:
            return ""
        advice = too_slow(self.header.policy, self.thinking[effect.seat].times, session.capacity)
        session.knows_it_is_slow = bool(advice)
        return advice

    def _put(self, ask: Ask, at: Instant, todo: list[Input]) -> None:
        """Send a question to the player of a seat. A house bot may answer at once."""
        player = self.players[ask.seat]
        if isinstance(player, BotPlayer) and not self._match.substituted(ask.seat):
            if player.session is not None:
                player.session.ask(self.match_id, ask, self.sent)
        elif ask.decision not in self._chooses:  # the question may be repeated after a hold
            if (action := self._choose(ask)) is not None:
                todo.append(self._choice(at, ask, action))
            else:
                self._chooses.add(ask.decision)

    def _choose(self, ask: Ask) -> int | None:
        """Return a house bot's action, or None if `_chosen` will deliver it later."""
        chance = hashlib.sha256(self._chance + ask.decision.to_bytes(4)).digest()
        player = self.players[ask.seat]
        bot = self._stand_in if isinstance(player, BotPlayer) else player.bot
        return self._pool.choose(bot, self.match_id, ask, self._actions[ask.legal[0]].kind, chance, self._chosen)

    def _chosen(self, ask: Ask, action: int) -> None:
        self._chooses.discard(ask.decision)
        self._feed(self._choice(self._instant(trio.current_time()), ask, action))

    def _choice(self, at: Instant, ask: Ask, action: int) -> Input:
        if isinstance(self.players[ask.seat], BotPlayer):
            return StoodIn(at, ask.seat, ask.decision, action)
        return Acted(at, ask.seat, ask.decision, action)

    def _start(self, seat: int) -> None:
        """Send a bot the start of the match or, after its return, the match's state."""
        header, session = self.header, self._session(seat)
        if session is None:
            return
        accepted = (each for each in header.offers if each.seat == seat and each.outcome is OfferOutcome.ACCEPTED)
        if (offer := next(accepted, None)) is None:
            return  # The match was started by a server of an older format (before 4), which recorded no offers.
        defaults = {option.name: option.default for option in header.game.options}
        session.start(
            MatchStart(
                self.match_id,
                offer.invitation_id,
                header.game.name,
                header.kind,
                seat,
                tuple(bot.name for bot in header.bots),
                {name: option_text(value) for name, value in header.options.items() if value != defaults[name]},
                header.commitment,
                offer.salt,
                header.further_ladder,
            )
        )

    def _sessions(self) -> list[Session]:
        return [bot_player.session for bot_player in self._seats if bot_player.session is not None]

    def _session(self, seat: int) -> Session | None:
        player = self.players[seat]
        return player.session if isinstance(player, BotPlayer) else None

    def _notify(self, seat: int, notice: Notice) -> None:
        session = self._session(seat)
        if session is not None:
            session.notify(notice)
