"""A local table: one game under the server's referee, without clocks, and its replay.

Thinking times are measured but not limited, because a limit would judge the shared machine rather than the bots.
"""

from __future__ import annotations

import random
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter, time_ns
from typing import Any, Final, NamedTuple, TypeAlias

from arena.local.errors import BotFailed, LocalMatchError
from arena.local.play.players import LocalHousePlayer, LocalPlayer
from arena.match.effects import Ask, Effect, Force, Over, Show
from arena.match.inputs import Acted, Begun, Input, Instant
from arena.match.match import Match
from arena.match.policy import Policy
from arena.replay.header import DEALT_BY_MATCH_RUNNER, Entry, Header, MatchKind, SeatedBot
from arena.replay.record import encode
from arena.replay.replay import RecordedResult, Replay
from arena.replay.steps import Course, Made, Step
from arena.server.sessions.messages import MatchOver, MatchStart, Outgoing, Question, RoundOver
from arena.version import __version__
from engine.deal import NONCE_BYTES, SeededDecks, commitment, match_key
from engine.game import OVER, Game, Option, option_text

NOTHING_YET: Final = RecordedResult((), (), (), (), (), "")
Watch: TypeAlias = "Callable[[Input, Sequence[Effect]], None]"
"""Function that receives every input of a match and its effects as they happen."""
POLICY: Final = Policy()
START: Final = Instant(0)
NO_STAND_IN: Final = "none"
"""The stand-in's name at a table where every bot is always present."""


def runner_header(
    match_id: int,
    game: Game,
    options: Mapping[str, Option],
    bots: Iterable[SeatedBot],
    seed: bytes,
    started: int,
    **more: Any,
) -> Header:
    """Return the header of a match on this machine: no commitment was published, and unless `more` says otherwise,
    nonces are zero and no bot is ever absent.
    """
    seated = tuple(bots)
    usual: dict[str, Any] = {"nonces": (bytes(NONCE_BYTES),) * len(seated), "stand_in": NO_STAND_IN, "policy": POLICY}
    return Header(
        match_id=match_id,
        game=game,
        options=options,
        bots=seated,
        seed=seed,
        commitment=commitment(seed),
        started=started,
        server=__version__,
        kind=MatchKind.CASUAL,
        dealt_by=DEALT_BY_MATCH_RUNNER,
        **usual | more,
    )


class LiveGame:
    """A game between the given players, by seat. Its positions can be watched while it is being played."""

    def __init__(
        self, game: Game, options: Mapping[str, Option], seed: int, players: Sequence[LocalPlayer], match_id: int = 1
    ) -> None:
        """`seed` determines the deals."""
        secret = sha256(f"arena play {seed}".encode()).digest()
        bots = [SeatedBot(player.name, isinstance(player, LocalHousePlayer)) for player in players]
        self.header = runner_header(match_id, game, dict(options), bots, secret, time_ns() // 1000, stand_in="")
        self.versions = tuple(player.version for player in players)
        """Versions of the players, by seat."""
        self._players = players
        self._entries: list[Entry] = []
        self._state = self.header.new_game()
        self._steps = [Step(START, None, 0, self._state.clone(), None)]

    @property
    def course(self) -> Course:
        """The positions so far."""
        return Course(Replay("", 0, self.header, (), NOTHING_YET, None, ()), self._steps)

    def play(self, watch: Callable[[], None]) -> PlayedGame:
        """Play the game to its end. Call `watch` after every choice.

        Raises:
            BotFailed: a player raised an exception.
        """

        def heard(event: Input, effects: Sequence[Effect]) -> None:
            self._entries.append((event, [*effects]))
            if isinstance(event, Acted):
                self._step(event)
                watch()

        header = self.header
        key = match_key(header.seed, header.nonces)
        return play_game(header.game, header.options, key, self._players, header.match_id, heard)

    def replay(self) -> bytes:
        """Return the replay file. The game must be over."""
        return encode(self.header, self._entries)

    def _step(self, event: Acted) -> None:
        played = self._state.round
        self._state.apply(event.action, event.seat)
        over = self._state.round != played or self._state.player == OVER
        made = Made(event.seat, event.decision, event.action, None)
        self._steps.append(Step(event.at, made, played, self._state.clone(), self._state.report if over else None))


class PlayedGame(NamedTuple):
    """The result of a game. Sequences are by seat."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    """The place of each seat. 1 is the best, and seats with equal points share a place."""
    decisions: tuple[int, ...]
    think_us: tuple[int, ...]
    """Total thinking time of each bot, in microseconds."""
    slowest_us: tuple[int, ...]
    """Time of each bot's slowest answer, in microseconds."""
    actions: tuple[int, ...] = ()
    """Actions by decision, from 0. Empty if they were not recorded."""
    began: int = 0
    """Beginning of the game, in microseconds since 1970 (UTC)."""


def play_game(
    game: Game,
    options: Mapping[str, Option],
    key: bytes,
    players: Sequence[LocalPlayer],
    match_id: int,
    watch: Watch | None = None,
    thinks: Callable[[int, float], None] | None = None,
) -> PlayedGame:
    """Play one game with the given players by seat.

    `thinks` is called before each turn of a player, with its seat and the time in seconds of `time.perf_counter`.

    Raises:
        BotFailed: a player raised an exception.
    """
    table = _LocalTable(game, options, key, players, match_id, watch, thinks)
    random.seed(key)  # so that bots draw the same random numbers every time
    return table.play()


class _LocalTable:
    def __init__(
        self,
        game: Game,
        options: Mapping[str, Option],
        key: bytes,
        players: Sequence[LocalPlayer],
        match_id: int,
        watch: Watch | None,
        thinks: Callable[[int, float], None] | None,
    ) -> None:
        self._match_id = match_id
        self._watch = watch
        self._thinks = thinks
        self._game = game
        self._players = players
        self._match = Match(game, len(players), options, SeededDecks(key), POLICY)
        self._messages = [Outgoing() for _ in players]
        self._round = 0
        self._actions: list[int] = []
        self._asked = deque[int]()
        """The seats that owe an answer, in the order of their decisions."""
        self._decisions = [0] * len(players)
        self._think = [0.0] * len(players)
        self._slowest = [0.0] * len(players)
        texts = {name: option_text(value) for name, value in options.items()}
        names = tuple(player.name for player in players)
        for seat, player in enumerate(players):
            player.begin(key, seat)
            start = MatchStart(match_id, 0, game.name, MatchKind.CASUAL, seat, names, texts, b"", b"")
            self._messages[seat].starts.append(start)

    def play(self) -> PlayedGame:
        began = time_ns() // 1000
        over = self._receive(Begun(START))
        while over is None:
            over = self._ask(self._asked.popleft())
        for seat in range(len(self._players)):
            self._messages[seat].reports.append(
                MatchOver(self._match_id, seat, over.scores, over.places, None, over.counts, "", MatchKind.CASUAL)
            )
            self._ask(seat)
        return PlayedGame(
            over.scores,
            over.places,
            tuple(self._decisions),
            tuple(round(each * 1e6) for each in self._think),
            tuple(round(each * 1e6) for each in self._slowest),
            tuple(self._actions),
            began,
        )

    def _ask(self, seat: int) -> Over | None:
        """Send a seat its waiting messages and apply its answers."""
        message = self._messages[seat]
        began = perf_counter()
        if self._thinks is not None:
            self._thinks(seat, began)
        try:
            answers = [*self._players[seat].hear(message)]
        except (LocalMatchError, KeyboardInterrupt):
            raise  # the error already names its bot, and Ctrl-C is not the bot's fault
        except BaseException as error:  # noqa: BLE001 - reported to the author, also a sys.exit()
            where = f"of {self._game.name}, round {self._round + 1}"
            raise BotFailed(self._players[seat].name, seat, where, own_trace(error)) from None
        took = perf_counter() - began
        if message.rounds or message.starts or message.reports:
            self._messages[seat] = Outgoing()
        else:
            message.questions.clear()  # the usual case, in which reuse is cheaper
        over = None
        for decision, action in answers:
            self._actions.append(action)  # seats are asked in the order of the decisions
            over = self._receive(Acted(START, seat, decision, action))
        if count := len(answers):
            self._decisions[seat] += count
            self._think[seat] += took
            if took > self._slowest[seat] * count:
                self._slowest[seat] = took / count
        return over

    def _receive(self, event: Input) -> Over | None:
        effects = self._match.receive(event)
        if self._watch is not None:
            self._watch(event, effects)
        over = None
        for effect in effects:
            if type(effect) is Ask:  # the usual case
                seat = effect.seat
                self._asked.append(seat)
                self._messages[seat].questions.append(Question(self._match_id, effect))
                continue
            match effect:
                case Show():
                    self._round += 1
                    for message in self._messages:
                        message.rounds.append(RoundOver(self._match_id, effect.report))
                case Over():
                    over = effect
                case Force():
                    raise AssertionError(f"without clocks and with legal answers nothing is forced: {effect}")
        return over


def own_trace(error: BaseException) -> str:
    """Return the error with its traceback, without the frames of our own code."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = Path(__file__).parents[1]
    own = [
        frame
        for frame in frames
        if not (file := Path(frame.filename)).is_relative_to(ours) and file.parent.name != "arena_client"
    ]
    return "".join([*traceback.format_list(own), *traceback.format_exception_only(error)])
