"""The games as OpenSpiel games in Python: importing this registers python_arena_<game> for each of the house.

Parameters are `players` and the game's options. Actions are the indices of `game.actions`; the observation tensor is
what `game.observation` describes; returns are the final scores. Chance is explicit: at the start of every round the
deck is dealt card by card in the order of `engine.deal`, each card left being equally likely, so whoever walks the tree
knows every probability. While cards are dealt there is nothing to observe, and the tensor is zeros. Where seats choose
at once they are asked in rising order; as no view shows a choice before all are made, the game is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import pyspiel

from engine.game import OVER, Game, Option, RoundReport, SeatView, State
from engine.registry import GAMES

DEFAULT_PLAYERS: Final = 4


def type_of(game: Game) -> pyspiel.GameType:
    """A game as OpenSpiel lists it."""
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
        provides_information_state_string=False,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"players": DEFAULT_PLAYERS, **{spec.name: spec.default for spec in game.options}},
    )


class Dealer:
    """The decks of a game whose cards come from outside: it deals what it was told, or else notes what was wanted."""

    __slots__ = ("cards", "wanted")

    def __init__(self) -> None:
        self.cards: Sequence[int] = ()
        self.wanted: tuple[int, int] | None = None
        """Size of the deck and number of cards asked for while there were none to deal."""

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """The cards it was told, or any in their place."""
        if self.cards:
            return self.cards
        self.wanted = (size, count)
        return range(count)


class Table(NamedTuple):
    """What is played: the game, the number of seats and the options."""

    game: Game
    seats: int
    options: dict[str, Option]

    def new(self, dealer: Dealer) -> State[SeatView, RoundReport]:
        """A game with the dealer's cards."""
        return self.game.new(self.seats, dealer, **self.options)


def table_of(game: Game, parameters: Mapping[str, Any]) -> Table:
    """What these parameters ask for, with defaults for those that are absent."""
    options = {spec.name: type(spec.default)(parameters.get(spec.name, spec.default)) for spec in game.options}
    return Table(game, int(parameters.get("players", DEFAULT_PLAYERS)), options)


class ArenaGame(pyspiel.Game):  # type: ignore[misc] # the library has no types
    """A game of the house with its parameters. It has no attributes: the library keeps only its own half of it."""

    house: ClassVar[Game]

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        """Raises `engine.game.OptionError` for players or options that the game does not have."""
        game, seats, options = table_of(self.house, parameters or {})
        points = game.points(seats, **options)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(game.actions),
            max_chance_outcomes=len(game.cards),
            num_players=seats,
            min_utility=float(points[0]),
            max_utility=float(points[-1]),
            max_game_length=game.longest(seats, **options),
        )
        super().__init__(type_of(game), info, dict(parameters or {}))

    @property
    def table(self) -> Table:
        """What is played."""
        return table_of(self.house, self.get_parameters())

    def new_initial_state(self) -> ArenaState:
        """A game whose first round is to be dealt."""
        return ArenaState(self)

    def max_chance_nodes_in_history(self) -> int:
        """No game deals more cards: but for the one turned over a round, each is for some choice."""
        return 2 * int(self.max_game_length())

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> ArenaObserver:
        """What shows states to players."""
        if params:
            raise ValueError(f"an observer takes no parameters, not {params}")
        return ArenaObserver(self.table)


class Progress:
    """How far a game is. While a round is dealt it stands before the last choice of the round before."""

    __slots__ = ("dealer", "dealt", "last", "state", "table", "wanted")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.dealer = Dealer()
        self.dealt: list[int] = []
        self.last: tuple[int, int] | None = None
        """The choice, with its seat, that is made once the next round is dealt."""
        table.new(self.dealer)
        self.wanted = self.dealer.wanted
        """Size of the deck and number of cards to deal from it; None when all is dealt."""
        self.state: State[SeatView, RoundReport] | None = None

    def __deepcopy__(self, _: dict[int, Any]) -> Progress:
        """An independent copy. The dealer is shared: it is told what to deal right before it deals."""
        copy = Progress.__new__(Progress)
        copy.table, copy.dealer, copy.dealt = self.table, self.dealer, self.dealt[:]
        copy.last, copy.wanted = self.last, self.wanted
        copy.state = None if self.state is None else self.state.clone()
        return copy

    def choose(self, action: int) -> None:
        """Makes the choice that is due; where it ends a round, the next is to be dealt first."""
        assert self.state is not None
        seat = self.state.player
        before = self.state.clone()
        self.dealer.cards, self.dealer.wanted = (), None
        self.state.apply(action, seat)
        if self.dealer.wanted:
            self.wanted, self.last, self.state = self.dealer.wanted, (action, seat), before

    def deal(self, card: int) -> None:
        """Deals a card; the last one begins the round."""
        assert self.wanted is not None
        self.dealt.append(card)
        if len(self.dealt) < self.wanted[1]:
            return
        self.dealer.cards = tuple(self.dealt)
        if self.state is None or self.last is None:
            self.state = self.table.new(self.dealer)
        else:
            self.state.apply(*self.last)
        self.dealt, self.last, self.wanted = [], None, None


class ArenaState(pyspiel.State):  # type: ignore[misc] # the library has no types
    """One game in progress."""

    def __init__(self, game: ArenaGame) -> None:
        super().__init__(game)
        self._progress = Progress(game.table)

    @property
    def state(self) -> State[SeatView, RoundReport] | None:
        """The game in progress as the engine has it; None while cards are dealt."""
        return None if self._progress.wanted else self._progress.state

    def current_player(self) -> int:
        """The seat to be asked; chance while cards are dealt."""
        if self.state is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.state.player == OVER else self.state.player

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.state is not None and self.state.player == OVER

    def returns(self) -> list[float]:
        """The scores when the game is over, zeros before."""
        if self.state is None or self.state.player != OVER:
            return [0.0] * self._progress.table.seats
        return [float(score) for score in self.state.scores]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Every card left in the deck."""
        assert self._progress.wanted is not None
        left = sorted(set(range(self._progress.wanted[0])) - set(self._progress.dealt))
        return [(card, 1 / len(left)) for card in left]

    def _legal_actions(self, player: int) -> list[int]:
        assert self.state is not None
        return list(self.state.legal(player))

    def _apply_action(self, action: int) -> None:
        if self.state is None:
            self._progress.deal(action)
        else:
            self._progress.choose(action)

    def _action_to_string(self, player: int, action: int) -> str:
        game = self._progress.table.game
        if player == pyspiel.PlayerId.CHANCE:
            return f"deal {game.cards[action].name}"
        return game.actions[action].name

    def __str__(self) -> str:
        return f"{self._progress.table.game.title}: {self.history_str()}"


class ArenaObserver:
    """What a player sees: the view as numbers, by field, and as text."""

    def __init__(self, table: Table) -> None:
        fields = table.game.observation(table.seats)
        self.tensor = np.zeros(sum(field.size for field in fields), np.float32)
        self.dict = {
            field.name: self.tensor[field.offset : field.offset + field.size].reshape(field.shape) for field in fields
        }

    def set_from(self, state: ArenaState, player: int) -> None:
        """Fills `tensor`, which `dict` shows by field; zeros while cards are dealt."""
        self.tensor[:] = 0 if state.state is None else state.state.vector(player)

    def string_from(self, state: ArenaState, player: int) -> str:
        """The view in words."""
        return "cards are dealt" if state.state is None else str(state.state.view(player))


for _game in GAMES.values():
    _class = type(f"{_game.name.title().replace('_', '')}Game", (ArenaGame,), {"house": _game, "__module__": __name__})
    globals()[_class.__name__] = _class  # where pickle looks for it
    pyspiel.register_game(type_of(_game), _class)
