"""OpenSpiel games in Python: importing this module registers python_arena_<game> for every game of the registry.

Parameters are `players` and the game's options. Actions are indices of `game.actions`, the observation tensor is that
of `game.observation`, and returns are the final scores. Chance is explicit: at the start of every round the deck is
dealt card by card in the order of `engine.deal`, each remaining card being equally likely, and dice are rolled one by
one. At chance nodes the tensors are all zeros. Seats that choose simultaneously are asked in ascending order; no view
shows a choice before all are made, so the game is equivalent.

An information state is a text with perfect recall. For every finished round it has the seat's last view, its choices
and the public report; for the current round, its choices and its view. `resample_from_infostate` returns another world
that a seat could be in, with the same view, information state and finished rounds. The engine samples the hidden part
of the current round; all possibilities that fit are equally likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, ClassVar, Final, NamedTuple, NoReturn

import numpy as np
import pyspiel

from engine.adapters.openspiel_limits import install
from engine.game import LARGEST_DIE, OVER, Game, Option, OptionError, RoundReport, SeatView, State
from engine.registry import GAMES

PLAYERS: Final = 4
"""Default number of players. If a game does not allow it, the nearest number is used."""
ROLLS: Final = 20
"""Maximum number of dice rolls after one choice."""
STOP: Final = "stop_after"
"""Parameter: the number of rounds after which a game ends early. 0 stands for whole games."""
_SEEDS: Final = 1 << 53
_OWN: Final = pyspiel.PrivateInfoType.SINGLE_PLAYER


class NoTensorError(ValueError):
    """Error for tensors of information states, which exist only as text.

    With empty tensors, a program would learn nothing and get no error.
    """

    def __init__(self) -> None:
        super().__init__("an information state is text only: use information_state_string, or observation_tensor")


def default_players(game: Game) -> int:
    """Return the default number of seats of a game."""
    return min(game.seats, key=lambda seats: abs(seats - PLAYERS))


def type_of(game: Game) -> pyspiel.GameType:
    """Describe a game to OpenSpiel."""
    return pyspiel.GameType(
        short_name=f"python_arena_{game.name}",
        long_name=f"{game.title} (Arena)",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.seats[-1],
        min_num_players=game.seats[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={
            "players": default_players(game),
            STOP: 0,
            **{spec.name: spec.default for spec in game.options},
        },
    )


class Draw(NamedTuple):
    """A request for a chance outcome: cards from a round's deck, or one roll of a die."""

    round: int
    roll: int | None
    """Number of the roll, or None for cards."""
    size: int
    """Cards in the deck, or faces of the die."""
    draws: int
    """Number of chance outcomes that the draw needs."""


class Dealer:
    """Decks whose outcomes the caller chooses. They return the outcomes in `drawn`, or record a missing draw in
    `wanted`.
    """

    __slots__ = ("drawn", "wanted")

    def __init__(self) -> None:
        self.drawn: Mapping[Draw, Sequence[int]] = {}
        self.wanted: Draw | None = None
        """First draw requested that is not in `drawn`."""

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """Return the given cards, or placeholders if there are none."""
        return self._of(Draw(round, None, size, count))

    def roll(self, round: int, number: int, faces: int) -> int:  # noqa: A002 - the contract's word
        """Return the given face, or a placeholder if there is none."""
        return self._of(Draw(round, number, faces, 1))[0]

    def _of(self, draw: Draw) -> Sequence[int]:
        if draw in self.drawn:
            return self.drawn[draw]
        self.wanted = self.wanted or draw
        return range(draw.draws)


class GameSetup(NamedTuple):
    """Parameters of a game: game, number of seats and options."""

    game: Game
    seats: int
    options: dict[str, Option]
    stop_after: int = 0
    """Number of rounds after which the game is stopped. 0 plays it to its end."""

    def new(self, dealer: Dealer) -> State[SeatView, RoundReport]:
        """Create a game with the dealer's cards. Raises OptionError for invalid seats or options."""
        return self.game.new(self.seats, dealer, **self.options)


def table_of(game: Game, parameters: Mapping[str, Any]) -> GameSetup:
    """Convert OpenSpiel's parameters, with defaults for absent ones."""
    options = {spec.name: type(spec.default)(parameters.get(spec.name, spec.default)) for spec in game.options}
    return GameSetup(game, int(parameters.get("players", default_players(game))), options, parameters.get(STOP, 0))


class ArenaGame(pyspiel.Game):  # type: ignore[misc] # the library has no types
    """A game with its parameters. It has no attributes of its own, because OpenSpiel stores only the C++ part."""

    house: ClassVar[Game]

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        """Create a game from its parameters.

        Raises `engine.game.OptionError` for players or options that the game does not have.
        """
        game, seats, options, stop = table_of(self.house, parameters or {})
        if stop < 0:
            raise OptionError(f"{STOP} takes a number of rounds, or 0 for whole games, not {stop}")
        points = game.points(seats, **options)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(game.actions),
            max_chance_outcomes=max(len(game.cards), LARGEST_DIE),
            num_players=seats,
            min_utility=float(points[0]),
            max_utility=float(points[-1]),
            max_game_length=game.longest(seats, **options),
        )
        super().__init__(type_of(game), info, dict(parameters or {}))

    @property
    def table(self) -> GameSetup:
        """The game's parameters."""
        return table_of(self.house, self.get_parameters())

    def new_initial_state(self) -> ArenaState:
        """Create a state before the first round is dealt."""
        return ArenaState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return an upper bound: a whole deck and `ROLLS` rolls for every choice."""
        return (len(self.house.cards) + ROLLS) * (int(self.max_game_length()) + 1)

    def information_state_tensor_shape(self) -> NoReturn:
        """Raise `NoTensorError`."""
        raise NoTensorError

    def information_state_tensor_size(self) -> NoReturn:
        """Raise `NoTensorError`."""
        raise NoTensorError

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> ArenaObserver | RecallObserver:
        """Create an observer of a player's present knowledge or, with perfect recall, of everything that it ever knew.

        Raises ValueError for any other kind of observation.
        """
        if params:
            raise ValueError(f"an observer takes no parameters, not {params}")
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if not kind.public_info or kind.private_info != _OWN:
            raise ValueError("an observer shows what is public and what is the player's own, not one without the other")
        return RecallObserver() if kind.perfect_recall else ArenaObserver(self.table)


class GameProgress:
    """A game in progress with its chance outcomes. At a chance node, `state` is the state before the last choice."""

    __slots__ = (
        "_drawn",
        "_last",
        "_moves",
        "begun",
        "dealer",
        "outcomes",
        "own",
        "past",
        "state",
        "stopped",
        "table",
        "wanted",
    )

    def __init__(self, table: GameSetup) -> None:
        self.table = table
        self.dealer = Dealer()
        self.outcomes: list[int] = []
        """Outcomes so far of the draw `wanted`."""
        self.wanted: Draw | None = None
        """The draw that chance must decide; None if a seat must choose."""
        self.state: State[SeatView, RoundReport] | None = None
        self._drawn: dict[Draw, Sequence[int]] = {}
        """Outcomes of the draws of the round."""
        self._last: tuple[int, int] | None = None
        """Action and seat of the choice to apply once chance has decided."""
        self._moves = 0
        """Number of choices and chance outcomes so far."""
        self.begun = 0
        """Number of choices and chance outcomes before this round was dealt."""
        self.own: tuple[tuple[int, ...], ...] = ((),) * table.seats
        """Each seat's choices in this round."""
        self.past = ("",) * table.seats
        """By seat, the finished rounds in its information state."""
        self.stopped = False
        """True if the game is stopped. `state` then has the result and a meaningless deal."""
        self._go_on()

    def __deepcopy__(self, _: dict[int, Any]) -> GameProgress:
        """Return an independent copy. It shares the dealer, which is given its outcomes before each deal."""
        copy = GameProgress.__new__(GameProgress)
        copy.table, copy.dealer, copy.outcomes = self.table, self.dealer, self.outcomes[:]
        copy._drawn, copy._last, copy.wanted = self._drawn.copy(), self._last, self.wanted
        copy.state = None if self.state is None else self.state.clone()
        copy._moves, copy.begun, copy.own, copy.past = self._moves, self.begun, self.own, self.past
        copy.stopped = self.stopped
        return copy

    @property
    def player(self) -> int:
        """The seat that must choose, or `OVER`. Meaningless at a chance node."""
        assert self.state is not None
        return OVER if self.stopped else self.state.player

    def knows(self, seat: int) -> str:
        """Return the information state of a seat."""
        if self.wanted or self.state is None or self.stopped:
            now = "the game was stopped" if self.stopped else "cards are dealt"
        else:
            now = str(self.state.view(seat))
        return f"{self.past[seat]}{now}; chose {self.own[seat]}"

    def rolled(self, roll: Draw) -> int | None:
        """Return the face that a roll of this round showed; None if it was not rolled."""
        return self._drawn[roll][0] if roll in self._drawn else None

    def choose(self, action: int) -> None:
        """Make the next choice."""
        assert self.state is not None
        before, seat = self.state, self.state.player
        self._last = (action, seat)
        self._moves += 1
        self.own = (*self.own[:seat], (*self.own[seat], action), *self.own[seat + 1 :])
        after = self._go_on()
        if (report := after.report) is not None and report is not before.report:
            self.past = tuple(
                f"{known}{before.view(each)}; chose {self.own[each]}; {report}\n"
                for each, known in enumerate(self.past)
            )
            self.own, self.begun = ((),) * self.table.seats, self._moves
            if report.round + 1 == self.table.stop_after:
                self.state, self.stopped, self.wanted = after, True, None

    def decide(self, outcome: int) -> None:
        """Add an outcome of chance, and continue after the last one of a draw."""
        assert self.wanted is not None
        self.outcomes.append(outcome)
        self._moves += 1
        if len(self.outcomes) == self.wanted.draws:
            self._drawn = {draw: drawn for draw, drawn in self._drawn.items() if draw.round == self.wanted.round}
            self._drawn[self.wanted] = tuple(self.outcomes)
            self.outcomes = []
            self._go_on()

    def _go_on(self) -> State[SeatView, RoundReport]:
        """Apply the last choice, or begin the game, unless this needs a draw that chance has yet to decide.

        Return the state after it. If chance has yet to decide, only the state's report and scores are meaningful.
        """
        dealer = self.dealer
        dealer.drawn, dealer.wanted = self._drawn, None
        if self.state is None or self._last is None:
            after = self.table.new(dealer)
        else:
            after = self.state.clone()
            after.apply(*self._last)
        self.wanted = dealer.wanted
        if self.wanted is None:
            self.state, self._last = after, None
        return after


class ArenaState(pyspiel.State):  # type: ignore[misc] # the library has no types
    """One game in progress."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self._progress = GameProgress(game.table)

    @property
    def state(self) -> State[SeatView, RoundReport] | None:
        """The engine's state. None at a chance node, and after a game that was stopped."""
        return None if self._progress.wanted or self._progress.stopped else self._progress.state

    def current_player(self) -> int:
        """Return the seat that must choose, or OpenSpiel's id of chance or of the terminal state."""
        if self._progress.wanted:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self._progress.player == OVER else self._progress.player

    def is_terminal(self) -> bool:
        """Return True if the game is over."""
        return not self._progress.wanted and self._progress.player == OVER

    def returns(self) -> list[float]:
        """Return the scores when the game is over, zeros before."""
        state = self._progress.state
        if state is None or not self.is_terminal():
            return [0.0] * self._progress.table.seats
        return [float(score) for score in state.scores]

    def information_state_tensor(self, player: int | None = None) -> NoReturn:
        """Raise `NoTensorError`: the library would return an empty list."""
        raise NoTensorError

    def resample_from_infostate(self, player_id: int, probability_sampler: Callable[[], float]) -> ArenaState:
        """Return another game that a player could be in, with the same information state for that player.

        `probability_sampler` returns numbers in [0, 1). If it is the player's turn now, it is also that
        player's turn in the new game. Raises ValueError for an invalid player, at a chance node and after the end.
        """
        progress, state = self._progress, self.state
        if state is None or state.player == OVER or player_id not in range(progress.table.seats):
            raise ValueError(
                f"no world can be sampled for player {player_id} "
                f"{'here' if state is not None and state.player != OVER else 'while nobody is to choose'}: "
                f"players are 0 to {progress.table.seats - 1}, and one of them must be to choose"
            )
        chance = Random(int(probability_sampler() * _SEEDS))  # noqa: S311 - no secret
        deck, choices = progress.table.game.truth(state.view(player_id), chance)
        world: ArenaState = self.get_game().new_initial_state()
        for action in self.history()[: progress.begun]:
            world.apply_action(action)
        world._deal(iter(deck), progress, chance)
        for seat, action in choices:
            world._ask(seat, chance)
            world.apply_action(action)
            world._deal(iter(()), progress, chance)
        world._ask(state.player, chance)
        return world

    def _deal(self, cards: Iterator[int], like: GameProgress, chance: Random) -> None:
        """Resolve the chance nodes with these cards and with the dice of `like`."""
        while (wanted := self._progress.wanted) is not None:
            if wanted.roll is None:
                self.apply_action(next(cards))
            else:
                face = like.rolled(wanted)
                self.apply_action(chance.randrange(wanted.size) if face is None else face)

    def _ask(self, seat: int, chance: Random) -> None:
        """Choose at random for the simultaneous seats that are asked before this one."""
        while (state := self.state) is not None and seat in state.waiting() and state.player != seat:
            self.apply_action(chance.choice(state.legal(state.player)))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the cards left in the deck, or the faces of the die, with their probabilities."""
        assert self._progress.wanted is not None
        left = sorted(set(range(self._progress.wanted.size)) - set(self._progress.outcomes))
        return [(card, 1 / len(left)) for card in left]

    def _legal_actions(self, player: int) -> list[int]:
        assert self.state is not None
        return list(self.state.legal(player))

    def _apply_action(self, action: int) -> None:
        if self.state is None:
            self._progress.decide(action)
        else:
            self._progress.choose(action)

    def _action_to_string(self, player: int, action: int) -> str:
        game = self._progress.table.game
        if player == pyspiel.PlayerId.CHANCE:
            wanted = self._progress.wanted
            return f"roll {action}" if wanted and wanted.roll is not None else f"deal {game.cards[action].name}"
        return game.actions[action].name

    def __str__(self) -> str:
        return f"{self._progress.table.game.title}: {self.history_str()}"


class RecallObserver:
    """Information state of a player, as text only."""

    def __init__(self) -> None:
        self.tensor = None
        self.dict: dict[str, Any] = {}

    def set_from(self, state: ArenaState, player: int) -> None:
        """Do nothing: there is no tensor."""

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return all that the player has seen and chosen, as text."""
        return state._progress.knows(player)


class ArenaObserver:
    """Observation of a player: its view as a tensor, as fields of the tensor, and as text."""

    def __init__(self, table: GameSetup) -> None:
        fields = table.game.observation(table.seats)
        self.tensor = np.zeros(sum(field.size for field in fields), np.float32)
        self.dict = {
            field.name: self.tensor[field.offset : field.offset + field.size].reshape(field.shape) for field in fields
        }

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fill `tensor` from the state, or with zeros at a chance node. `dict` has views into it."""
        if state.state is None:
            self.tensor[:] = 0
        else:
            state.state.vector_into(player, self.tensor)

    def string_from(self, state: ArenaState, player: int) -> str:
        """Return the view as text."""
        if state.state is None:
            return "the game was stopped" if state.is_terminal() else "cards are dealt"
        return str(state.state.view(player))


for _game in GAMES.values():
    _class = type(f"{_game.name.title().replace('_', '')}Game", (ArenaGame,), {"house": _game, "__module__": __name__})
    globals()[_class.__name__] = _class  # for pickle
    pyspiel.register_game(type_of(_game), _class)
install(ArenaState)
