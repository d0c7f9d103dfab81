"""The renderer of 6th Sense: the visible state of a round, and the game's rounds, tricks and steps as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rich.table import Table
from rich.text import Text

from arena.match.effects import Cause
from arena.replay.render.picture import PLAYS, Marks, Picture, emptied
from arena.replay.render.renderer import CardFace, forced_sign, forced_words
from arena.replay.render.scores import seat_in_words, seat_name, seats_table
from arena.replay.render.tricks import Scene, TrickRenderer
from arena.replay.steps import Course, Made
from engine.game import RoundReport, SeatView
from engine.sixth_sense import SIXTH_SENSE, SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import ACTIONS, CARDS, HIDDEN_BLOCKS, PEEK
from engine.sixth_sense.text import blocked_places, lowest_takes

_LEGEND = (
    "▸ leads  * trump  0⊘ a 0 that blocks  (R7) blocked  ×2 split  ↓ lowest takes it\n"
    "? leader peeked  !t !i !s !a forced by time, illegality, suspension, absence"
)


@dataclass(frozen=True, slots=True)
class SixthSensePicture(Picture):
    """A round of 6th Sense. Sequences have one entry per seat or trick."""

    predictions: tuple[int | None, ...]
    """Predicted cards by seat, where None is hidden or not chosen yet."""
    worths: bytes
    peeks: bytes


class YesNoAnswer(NamedTuple):
    """A seat's decision to split a trick in two, or to peek at a prediction."""

    seat: int
    yes: bool
    forced: Cause | None


@dataclass(frozen=True, slots=True)
class SixthSenseMarks(Marks):
    """Causes of the server's choices in a round, and the yes-or-no answers that no card shows."""

    predictions: Mapping[int, Cause | None]
    """Causes of predictions by seat. None for a bot's own choice."""
    doubles: Mapping[int, YesNoAnswer]
    """Decisions to split, by trick."""
    peeks: Mapping[int, YesNoAnswer]
    """Decisions to peek, by trick."""


class SixthSenseRenderer(TrickRenderer[SixthSensePicture, SixthSenseMarks]):
    """Renderer of 6th Sense."""

    def __init__(self) -> None:
        super().__init__(SIXTH_SENSE, _LEGEND)

    def _from_views(self, views: Sequence[SeatView]) -> SixthSensePicture:
        seen = [view for view in views if isinstance(view, SixthSenseView)]
        first, hands = seen[0], {view.seat: view.hand for view in seen}
        known = [max(cards) for cards in zip(*(view.known_predictions for view in seen), strict=True)]
        return SixthSensePicture(
            dealer=first.dealer,
            turned=first.turned,
            hands=tuple(hands.get(each) for each in range(first.seats)),
            predictions=tuple(card - 1 if card else None for card in known),
            # Hidden forms of a block are numbered after all real actions, so the minimum is the real action.
            plays=bytes(map(min, zip(*(view.plays for view in seen), strict=True))),
            leaders=first.leaders,
            takers=first.takers,
            worths=first.worths,
            peeks=first.peeks,
            taken=first.taken,
            hand_size=first.hand_size,
            scores=first.scores,
            points=None,
        )

    def _ended(self, before: SixthSensePicture, made: Made, report: RoundReport, seat: int | None) -> SixthSensePicture:
        # What was hidden until the end of the round stays hidden.
        assert isinstance(report, SixthSenseRound)
        action = ACTIONS[made.action]
        plays = before.plays
        if action.kind == "block" and action.place is not None and seat not in {None, made.seat}:
            plays += bytes([HIDDEN_BLOCKS + action.place])
        elif action.kind in PLAYS:
            plays += bytes([made.action])
        peeks = before.peeks + bytes(len(report.takers) - len(before.peeks))
        predictions = list(before.predictions)
        if made.action == PEEK:
            peeks = peeks[:-1] + b"\1"
            if made.seat == seat:
                predictions[report.takers[-1]] = report.predictions[report.takers[-1]]
        return replace(
            before,
            hands=emptied(before.hands),
            predictions=tuple(predictions),
            plays=plays,
            leaders=report.leaders,
            takers=report.takers,
            worths=report.worths,
            peeks=peeks,
            taken=report.taken,
            scores=report.scores,
            points=report.points,
        )

    def _marks(self, course: Course, index: int) -> SixthSenseMarks:
        """Collect forced choices and yes/no answers of the round up to a step."""
        predictions: dict[int, Cause | None] = {}
        plays: list[Cause | None] = []
        answers: dict[str, dict[int, YesNoAnswer]] = {"double": {}, "peek": {}}
        seats = len(course.replay.header.bots)
        for seat, _, made, forced in course.choices(index):
            action = ACTIONS[made]
            if action.kind in PLAYS:
                plays.append(forced)
            elif action.kind in answers:
                answers[action.kind][len(plays) // seats - 1] = YesNoAnswer(seat, bool(action.value), forced)
            else:
                predictions[seat] = forced
        return SixthSenseMarks(plays, predictions, answers["double"], answers["peek"])

    def kept(self, report: RoundReport) -> Sequence[bool]:
        """Return, for each seat, True if its prediction was right. A card may predict several numbers."""
        assert isinstance(report, SixthSenseRound)
        return [taken in CARDS[card].values for card, taken in zip(report.predictions, report.taken, strict=True)]

    def worth(self, report: RoundReport) -> Sequence[int]:
        """Return the points by seat."""
        return report.points

    def _title_details(self, seen: SixthSensePicture) -> list[str]:
        return []

    def _seats(self, scene: Scene[SixthSensePicture, SixthSenseMarks]) -> Table:
        """Draw predictions, tricks taken, points and scores."""
        seen, table = scene.seen, seats_table("foretold")
        for seat, card in enumerate(seen.predictions):
            foretold = Text("?" if seen.leaders else "–", style="dim") if card is None else self._faces.code(card)
            if seen.leaders or card is not None:  # hide which seats have chosen until all have (S4)
                foretold.append_text(forced_sign(scene.made.predictions.get(seat)))
            table.add_row(
                seat_name(scene.header, seat),
                foretold,
                f"{seen.taken[seat]}",
                "" if seen.points is None else f"{seen.points[seat]:+d}",
                f"{seen.scores[seat]}",
            )
        return table

    def _card_code(self, scene: Scene[SixthSensePicture, SixthSenseMarks], number: int, place: int) -> Text:
        seen = scene.seen
        action = ACTIONS[seen.trick(number)[place]]
        if action.card is None:
            text = Text("?0⊘")
        elif action.kind == "block":
            text = self._faces.code(action.card).append("⊘")
        else:
            star = "*" if self._is_trump(seen, action.card) else ""
            text = Text(f"{self._faces.letter(action.card)}{action.value}{star}", style=self._faces.style(action.card))
        if place in blocked_places(seen.trick(number)):
            text = Text.assemble("(", text, ")")
            text.stylize("strike dim")
        return text

    _called_word = "foretold"

    def _target(self, seen: SixthSensePicture, seat: int) -> tuple[int, ...]:
        card = seen.predictions[seat]
        return () if card is None else CARDS[card].values

    def _aside(self, seen: SixthSensePicture) -> int:
        # The prediction card. Until it is shown, the picture must not reveal which seats have chosen (S4).
        return 1 if seen.leaders else 0

    def _face(self, seen: SixthSensePicture, number: int, place: int) -> CardFace:
        action, blocked = ACTIONS[seen.trick(number)[place]], place in blocked_places(seen.trick(number))
        if action.card is None:
            return CardFace("", "0⊘", blocked=blocked)
        if action.kind == "block":
            return CardFace(self._faces.colour(action.card), "0⊘", blocked=blocked)
        star = "*" if self._is_trump(seen, action.card) else ""
        return CardFace(self._faces.colour(action.card), f"{action.value}", star, blocked)

    def _called(self, seen: SixthSensePicture, seat: int) -> str:
        card = seen.predictions[seat]
        return "" if card is None else self._faces.code(card).plain

    def _may_know(self, scene: Scene[SixthSensePicture, SixthSenseMarks], made: Made) -> bool:
        # Hide which seats have chosen until all have (S4).
        return scene.seat in {None, made.seat} or ACTIONS[made.action].kind != "predict"

    def _taker_cell(self, seen: SixthSensePicture, number: int, taker: int) -> str:
        if taker == seen.seats:
            return "–"
        split = "×2" if seen.worths[number] == 2 else ""
        return f"{taker}{split}{'↓' if lowest_takes(seen.trick(number)) else ''}{'?' if seen.peeks[number] else ''}"

    def _card_name(self, scene: Scene[SixthSensePicture, SixthSenseMarks], number: int, place: int) -> Text:
        action = ACTIONS[scene.seen.trick(number)[place]]
        face = Text(action.name, style="" if action.card is None else self._faces.style(action.card))
        if place in blocked_places(scene.seen.trick(number)):
            face.stylize("strike")
        return face

    def _notes(self, scene: Scene[SixthSensePicture, SixthSenseMarks], number: int, place: int) -> list[str]:
        seen = scene.seen
        card, blocked = ACTIONS[seen.trick(number)[place]].card, blocked_places(seen.trick(number))
        return [
            *(["trump"] if card is not None and self._is_trump(seen, card) else []),
            *([f"blocked by place {blocked[place] + 1}"] if place in blocked else []),
        ]

    def _outcome(self, scene: Scene[SixthSensePicture, SixthSenseMarks], number: int) -> list[Text]:
        seen, made, header = scene.seen, scene.made, scene.header
        taker = seen.taker(number)
        if taker is None:
            return [Text("The trick was not played out.")]
        if taker == seen.seats:
            ends_round = seen.points is not None and number == len(seen.takers) - 1
            again = "" if ends_round else f"; {seat_in_words(header, seen.leaders[number])} leads again"
            return [Text(f"Nobody takes it{again}.")]
        lines = []
        if lowest_takes(seen.trick(number)):
            lines.append(Text("An odd number of 4s counts: the lowest card takes the trick."))
        if number in made.doubles:
            double = made.doubles[number]
            choice = "splits it: it counts as two" if double.yes else "keeps it as one"
            by = forced_words(double.forced)
            lines.append(Text(f"With a 12 in it, {seat_in_words(header, taker)} {choice}{by}."))
        if number in made.peeks:
            peek = made.peeks[number]
            leader, looks = seat_in_words(header, peek.seat), "looks" if peek.yes else "does not look"
            line = Text(f"Having led an 8, {leader} {looks} at what {seat_in_words(header, taker)} foretold")
            card = seen.predictions[taker]
            if peek.yes and card is not None:
                line.append(": ").append_text(self._faces.name(card))
            lines.append(line.append(f"{forced_words(peek.forced)}."))
        return lines or [Text(f"{seat_in_words(header, taker)} takes it.")]

    def _choice(self, scene: Scene[SixthSensePicture, SixthSenseMarks], made: Made) -> Text:
        action = ACTIONS[made.action]
        name, style = action.name, "" if action.card is None else self._faces.style(action.card)
        if scene.seat not in {None, made.seat}:
            if action.kind == "predict":
                return Text("The others choose what they foretell.")
            if action.kind == "block":
                name, style = f"a 0 blocks place {(action.place or 0) + 1}", ""
        text = Text(f"{seat_in_words(scene.header, made.seat)}: ").append(name, style)
        return text.append(forced_words(made.forced))
