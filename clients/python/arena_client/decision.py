"""The questions to a bot: a `Decision`, and the `Catalog` that maps numbers to cards and actions."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from google.protobuf.any_pb2 import Any as AnyMessage

from arena_client.v1 import game_pb2, play_pb2
from arena_client.v1.nullern_pb2 import NullernView
from arena_client.v1.sixth_sense_pb2 import SixthSenseView

View: TypeAlias = SixthSenseView | NullernView | Any
"""The game as one seat sees it: a message of the game's own type. A catalogue describes each later game's type."""
GAMES: Final = tuple(
    field.name
    for field in sorted(play_pb2.Decision.DESCRIPTOR.oneofs_by_name["view"].fields, key=lambda field: field.number)
)
"""Names of the games whose messages this client contains, as used in requests. The oldest game comes first.

A bot may also name other games: their catalogues describe their messages.
"""


def conduct_of(welcome: play_pb2.Welcome, start: play_pb2.MatchStart) -> play_pb2.Conduct:
    """Return the limits of a match: those of its ladder if `start` names one, otherwise those of default ladders."""
    return next((each.conduct for each in welcome.ladders if each.name == start.ladder), welcome.conduct)


@dataclass(frozen=True, slots=True)
class Card:
    """One card of a game."""

    name: str
    """The card's name, such as "red 7" or "blue 6/9"."""
    colour: int
    """An index into `Catalog.colours`."""
    values: tuple[int, ...]
    """The values that the card can count as. If there are several, its player chooses one."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a game. Fields that do not apply are None."""

    name: str
    """The action's name, such as "red 7" or "red 0 blocks place 2"."""
    kind: str
    """The kind of choice, in the game's own terms, such as "play", "bid" or "raise"."""
    card: int | None = None
    """The played or chosen card, an index into `Catalog.cards`; None if there is no card or if it is hidden."""
    value: int | None = None
    """The value that a played card counts as, the number predicted or bid, or 1 for yes and 0 for no."""
    place: int | None = None
    """The place in the trick, counted from 0, of the card that the action blocks."""


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """One game: its colours, cards and actions. Created once per connection, whose decisions share the object."""

    name: str
    """The name for programs, such as "sixth_sense"."""
    title: str
    """The name for people, such as "6th Sense"."""
    min_seats: int
    max_seats: int
    colours: tuple[str, ...]
    cards: tuple[Card, ...]
    actions: tuple[Action, ...]
    message: game_pb2.GameCatalog = field(default_factory=game_pb2.GameCatalog, repr=False)
    """The catalogue as the server sent it, with the options and the descriptors of the game's messages."""

    @classmethod
    def of(cls, message: game_pb2.GameCatalog) -> Catalog:
        """Create the catalogue from a message."""

        def given(action: game_pb2.Action, field: str) -> int | None:
            return getattr(action, field) if action.HasField(field) else None  # type: ignore[arg-type]

        return cls(
            name=message.name,
            title=message.title,
            min_seats=message.min_seats,
            max_seats=message.max_seats,
            colours=tuple(message.colours),
            cards=tuple(Card(card.name, card.colour, tuple(card.values)) for card in message.cards),
            actions=tuple(
                Action(each.name, each.kind, given(each, "card"), given(each, "value"), given(each, "place"))
                for each in message.actions
            ),
            message=message,
        )


@dataclass(slots=True, eq=False)
class Decision:
    """A choice that the bot must make, with everything that its seat may know, so that a bot needs no memory."""

    match_id: int
    decision_id: int
    """Number of the decision, unique within the match."""
    game: Catalog
    view: View
    """The game as this seat sees it."""
    legal: list[int]
    """The legal actions in rising order, never empty: indices into `game.actions`."""
    soft_ms: int
    """Milliseconds left before the bank is used."""
    bank_ms: int
    """Milliseconds left in the bank, for the rest of the match."""
    other: AnyMessage | None = field(default=None, repr=False)
    """The view as the server sent it, with the name of its type; None for the games in `GAMES`."""
    _open: Container[tuple[int, int]] | None = field(default=None, repr=False)
    """The open decisions of the stream; None without a stream."""

    @property
    def closed(self) -> bool:
        """True if further thinking is useless: the server has decided for the bot, or the match has ended.

        Check it during a long search, in any thread.
        """
        return self._open is not None and (self.match_id, self.decision_id) not in self._open

    def text(self, *, legal: bool = True) -> str:
        """Return the view as text, followed by the legal actions with their numbers unless `legal` is false.

        Without the games' rules (the distribution arena-engine), it raises `arena_client.engine.EngineMissingError`.
        """
        from arena_client.engine import view_text

        return view_text(self.view, self.legal if legal else ())

    @property
    def hand(self) -> list[Card]:
        """The seat's own cards, in the order of `view.hand`; empty if the seat may not see them or there is no hand."""
        cards = self.game.cards
        return [cards[number] for number in getattr(self.view, "hand", ())]

    @property
    def actions(self) -> list[Action]:
        """The legal actions as `Action` objects, in the order of `legal`."""
        actions = self.game.actions
        return [actions[number] for number in self.legal]
