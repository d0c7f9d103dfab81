"""The renderer of Nullern: the visible state of a round, and the game's rounds, tricks and steps as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add

from rich.console import Group, RenderableType
from rich.text import Text

from arena.match.effects import Cause
from arena.replay.header import Header
from arena.replay.render.picture import PLAYS, Marks, Picture, emptied
from arena.replay.render.renderer import CardFace, forced_sign, forced_words
from arena.replay.render.scores import points_cell, points_table, seat_in_words, seat_name, seats_table
from arena.replay.render.tricks import Scene, TrickRenderer
from arena.replay.steps import Course, Made
from engine.game import RoundReport, SeatView
from engine.nullern import NULLERN, NullernRound, NullernView
from engine.nullern.cards import ACTIONS, BLIND
from engine.nullern.score import HUPFER_COST
from engine.nullern.text import winner_words

_LEGEND = (
    f"▸ leads  * trump  ^ had to follow with trump  H a Hupfer: −{HUPFER_COST} at the end\n"
    "!t !i !s !a forced by time, illegality, suspension, absence  net: after Hupfers"
)
_HUPFERS = Text(f"H a Hupfer: −{HUPFER_COST} at the end", style="dim")


@dataclass(frozen=True, slots=True)
class NullernPicture(Picture):
    """A round of Nullern. Sequences have one entry per seat or trick. `scores` do not include the cost of Hupfers."""

    last: bool
    """True in the last round, which is blind. After it, each Hupfer costs points."""
    bids: tuple[int | None, ...]
    """Bids by seat; None for a seat that has not bid yet."""
    hupfers: bytes
    """Hupfers by seat, including those of this round once it is over."""
    missed: bytes | None
    """By seat, 1 if this round brought a Hupfer, otherwise 0. None until the round is over."""

    @property
    def bidding_order(self) -> list[int]:
        """Seats in the order of bidding (N3)."""
        return [(self.dealer + 1 + place) % self.seats for place in range(self.seats)]

    @property
    def over(self) -> bool:
        """True if the game is over."""
        return self.last and self.points is not None

    @property
    def net(self) -> tuple[int, ...]:
        """Scores minus the cost of the Hupfers so far. After the game it is the result (N7)."""
        return tuple(score - HUPFER_COST * count for score, count in zip(self.scores, self.hupfers, strict=True))


@dataclass(frozen=True, slots=True)
class NullernMarks(Marks):
    """The reasons for the server's choices in a round. None for a bot's own choice."""

    bids: Mapping[int, Cause | None]
    """Causes of bids, by seat."""


class NullernRenderer(TrickRenderer[NullernPicture, NullernMarks]):
    """Renderer of Nullern."""

    def __init__(self) -> None:
        super().__init__(NULLERN, _LEGEND)

    def _from_views(self, views: Sequence[SeatView]) -> NullernPicture:
        seen = [view for view in views if isinstance(view, NullernView)]
        first = seen[0]
        last = first.round == first.rounds - 1
        # A view of the blind round has no hand, because no player may see any hand (N8).
        hands = {} if last else {view.seat: view.hand for view in seen}
        return NullernPicture(
            dealer=first.dealer,
            turned=first.turned,
            hands=tuple(hands.get(each) for each in range(first.seats)),
            plays=first.plays,
            leaders=first.leaders,
            takers=first.takers,
            taken=first.taken,
            scores=first.scores,
            points=None,
            hand_size=first.hand_size,
            last=last,
            bids=tuple(bid - 1 if bid else None for bid in first.bids),
            hupfers=first.hupfers,
            missed=None,
        )

    def _ended(self, before: NullernPicture, made: Made, report: RoundReport, seat: int | None) -> NullernPicture:
        assert isinstance(report, NullernRound)
        return replace(
            before,
            hands=emptied(before.hands),
            plays=report.plays,
            leaders=report.leaders,
            takers=report.takers,
            taken=report.taken,
            scores=tuple(map(add, before.scores, report.points)),
            points=report.points,
            hupfers=report.hupfers,
            missed=report.missed,
        )

    def _marks(self, course: Course, index: int) -> NullernMarks:
        bids: dict[int, Cause | None] = {}
        plays: list[Cause | None] = []
        for seat, _, made, forced in course.choices(index):
            if ACTIONS[made].kind in PLAYS:
                plays.append(forced)
            else:
                bids[seat] = forced
        return NullernMarks(plays, bids)

    def kept(self, report: RoundReport) -> Sequence[bool]:
        """Return, for each seat, True if it fulfilled its bid."""
        assert isinstance(report, NullernRound)
        return [bid == taken for bid, taken in zip(report.bids, report.taken, strict=True)]

    def worth(self, report: RoundReport) -> Sequence[int]:
        """Return the points by seat, minus the cost of a Hupfer (N7)."""
        assert isinstance(report, NullernRound)
        return [points - HUPFER_COST * hupfer for points, hupfer in zip(report.points, report.missed, strict=True)]

    def rounds(self, course: Course) -> RenderableType:
        """Draw the points by round with the Hupfers, and their cost at the end of the game (N7)."""
        table, seen = points_table(course.replay.header), self.picture(course, 0, 0)
        for report in course.reports:
            seen = self.picture(course, course.ends(report.round), 0)
            assert seen.points is not None
            assert seen.missed is not None
            rows = zip(seen.points, seen.scores, seen.missed, strict=True)
            table.add_row(
                f"{report.round + 1}", *(points_cell(points, score, "H" * missed) for points, score, missed in rows)
            )
        if seen.over:
            costs = zip(seen.hupfers, seen.net, strict=True)
            table.add_row("H", *(points_cell(-HUPFER_COST * count, net) for count, net in costs))
        return Group(table, Text(), _HUPFERS)

    def _title_details(self, seen: NullernPicture) -> list[str]:
        size = f"{seen.hand_size} card{'' if seen.hand_size == 1 else 's'} each"
        return [f"{size}, blind" if seen.last else size]

    def _seats(self, scene: Scene[NullernPicture, NullernMarks]) -> RenderableType:
        """Draw each seat's bid, tricks won and Hupfers, in bidding order. Then draw who leads first, and why."""
        seen = scene.seen
        table = seats_table("bid in turn", "Hupfers", "result" if seen.over else "net")
        for seat in seen.bidding_order:
            bid = seen.bids[seat]
            table.add_row(
                seat_name(scene.header, seat),
                Text("–", style="dim")
                if bid is None
                else Text(f"{bid}").append_text(forced_sign(scene.made.bids.get(seat))),
                f"{seen.taken[seat]}",
                _points(seen, seat),
                f"{seen.scores[seat]}",
                f"{seen.hupfers[seat]}",
                f"{seen.net[seat]}",
            )
        if not seen.leaders:
            return table
        return Group(table, Text(), _first_lead(scene))

    def _hands(self, header: Header, verb: str, seen: NullernPicture) -> RenderableType:
        if seen.last:
            return Text("Nobody may see a card before it is played, its owner included.")
        return super()._hands(header, verb, seen)

    def _card_code(self, scene: Scene[NullernPicture, NullernMarks], number: int, place: int) -> Text:
        seen = scene.seen
        card = seen.trick(number)[place]
        text = self._faces.code(card)
        if self._is_trump(seen, card):
            text.append("*^" if self._trump_is_due(seen, number, place) else "*")
        return text

    _called_word = "bid"

    def _target(self, seen: NullernPicture, seat: int) -> tuple[int, ...]:
        bid = seen.bids[seat]
        return () if bid is None else (bid,)

    def _face(self, seen: NullernPicture, number: int, place: int) -> CardFace:
        card = seen.trick(number)[place]
        return self._faces.face(card)._replace(note="*" if self._is_trump(seen, card) else "")

    def _called(self, seen: NullernPicture, seat: int) -> str:
        bid = seen.bids[seat]
        return "" if bid is None else f"{bid}"

    def _taker_cell(self, seen: NullernPicture, number: int, taker: int) -> str:
        return f"{taker}"

    def _card_name(self, scene: Scene[NullernPicture, NullernMarks], number: int, place: int) -> Text:
        return self._faces.name(scene.seen.trick(number)[place])

    def _notes(self, scene: Scene[NullernPicture, NullernMarks], number: int, place: int) -> list[str]:
        seen = scene.seen
        due = self._trump_is_due(seen, number, place)
        if self._is_trump(seen, seen.trick(number)[place]):
            return ["trump", "had to follow"] if due else ["trump"]
        return ["holds no trump"] if due else []

    def _outcome(self, scene: Scene[NullernPicture, NullernMarks], number: int) -> list[Text]:
        seen = scene.seen
        leader = seat_in_words(scene.header, seen.leaders[number])
        why = Text(f"{leader} leads, having taken the trick before.") if number else _first_lead(scene)
        taker = seen.taker(number)
        if taker is None:
            return [why, Text("The trick was not played out.")]
        assert seen.turned is not None, "a card is turned in every round (N2)"
        winner = winner_words(seen.trick(number), seen.turned)
        return [why, Text(f"{seat_in_words(scene.header, taker)} takes it with {winner}.")]

    def _choice(self, scene: Scene[NullernPicture, NullernMarks], made: Made) -> Text:
        text = Text(f"{seat_in_words(scene.header, made.seat)}: ")
        if made.action == BLIND:
            text.append("the blind card is ").append_text(self._faces.name(scene.seen.plays[-1]))
        elif (card := ACTIONS[made.action].card) is None:
            text.append(ACTIONS[made.action].name)
        else:
            text.append_text(self._faces.name(card))
        return text.append(forced_words(made.forced))

    def _trump_is_due(self, seen: NullernPicture, number: int, place: int) -> bool:
        """Return True if the player at this place must play a trump if able (N5). In the blind round there are no
        choices (N8).
        """
        return place > 0 and not seen.last and self._is_trump(seen, seen.trick(number)[0])


def _first_lead(scene: Scene[NullernPicture, NullernMarks]) -> Text:
    """Describe the seat that leads the first trick, and the reason (N4)."""
    leader = scene.seen.leaders[0]
    name, bid = seat_in_words(scene.header, leader), scene.seen.bids[leader]
    return Text(f"{name} leads first: the first to name the highest bid, {bid}.")


def _points(seen: NullernPicture, seat: int) -> Text:
    """Return a seat's points of the round; empty until the round is over."""
    if seen.points is None or seen.missed is None:
        return Text()
    missed = seen.missed[seat]
    return Text.assemble(("H " if missed else "", "red"), (f"{seen.points[seat]:+d}", "" if missed else "green"))
