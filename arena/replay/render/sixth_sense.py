"""6th Sense in the terminal: rounds, tricks and steps as tables.

In tables a card is its colour's letter and its value: R0, G6/9, P12. The other signs are explained under each table.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.replay.header import Header
from arena.replay.render.scores import plain_table, seat_in_words, seat_name
from arena.replay.render.sixth_sense_cards import LEGEND, card_style, code, forced_sign, hand_text
from arena.replay.render.sixth_sense_picture import Answer, Marks, Picture, dealt, marks, picture
from arena.replay.steps import Course
from engine.sixth_sense.cards import ACTIONS, CARDS, COLOURS


class SixthSenseRenderer:
    """Draws 6th Sense: `arena.replay.render.renderer.Renderer`."""

    def tricks(self, course: Course, number: int) -> int:
        """How many tricks of a round were begun."""
        seen = picture(course, course.ends(number), 0)
        return -(-len(seen.plays) // seen.seats)

    def round(self, course: Course, number: int, seat: int | None) -> RenderableType:
        """One round: hands as dealt less the predictions, and all tricks."""
        end = course.ends(number)
        seen, made, header = picture(course, end, seat), marks(course, end), course.replay.header
        return Group(
            _title(header, f"Round {number + 1}", seen, seat),
            Text(),
            _seats(header, seen, made),
            Text(),
            _hands(header, "was dealt", dealt(course, number, seat)),
            Text(),
            _tricks(header, seen, made, range(self.tricks(course, number))),
            Text(),
            LEGEND,
        )

    def trick(self, course: Course, number: int, trick: int, seat: int | None) -> RenderableType:
        """One trick, card by card, and what came of it."""
        end = course.ends(number)
        seen, made, header = picture(course, end, seat), marks(course, end), course.replay.header
        title = _title(header, f"Round {number + 1}, trick {trick + 1}", seen, seat)
        return Group(title, Text(), _cards(header, seen, made, trick), Text(), *_outcome(header, seen, made, trick))

    def step(self, course: Course, index: int, seat: int | None) -> RenderableType:
        """The position at a step: the last choice, what is in hand, and the last two tricks."""
        step, seen, header = course.steps[index], picture(course, index, seat), course.replay.header
        made = marks(course, index)
        begun = -(-len(seen.plays) // seen.seats)
        parts: list[RenderableType] = [
            _title(header, f"Round {step.round + 1}", seen, seat),
            _choice(course, index, seat),
            Text(),
            _seats(header, seen, made),
            Text(),
            _hands(header, "holds", seen.hands),
        ]
        if begun:
            parts += [Text(), _tricks(header, seen, made, range(max(0, begun - 2), begun)), Text(), LEGEND]
        return Group(*parts)


def _title(header: Header, what: str, seen: Picture, seat: int | None) -> Text:
    title = Text.assemble((what, "bold"), " · ")
    if seen.turned is None:
        title.append("no card turned")
    else:
        title.append_text(Text.assemble("trump ", (COLOURS[CARDS[seen.turned].colour], card_style(seen.turned))))
        title.append(f" ({CARDS[seen.turned].name} turned)")
    title.append(f" · {header.bots[seen.dealer].name} deals")
    return title if seat is None else title.append(f"\nAs {seat_in_words(header, seat)} sees it", "italic")


def _seats(header: Header, seen: Picture, made: Marks) -> Table:
    """Who foretold what and took how much."""
    table = plain_table()
    table.add_column("seat and bot", no_wrap=True, overflow="ellipsis", max_width=40)
    table.add_column("foretold", no_wrap=True)
    table.add_column("took", justify="right")
    table.add_column("points", justify="right")
    table.add_column("score", justify="right")
    for seat, card in enumerate(seen.predictions):
        foretold = Text("?" if seen.leaders else "–", style="dim") if card is None else code(card)
        if seen.leaders or card is not None:  # until all have chosen nobody knows who has (S4)
            foretold.append_text(forced_sign(made.predictions.get(seat)))
        table.add_row(
            seat_name(header, seat),
            foretold,
            f"{seen.taken[seat]}",
            "" if seen.points is None else f"{seen.points[seat]:+d}",
            f"{seen.scores[seat]}",
        )
    return table


def _hands(header: Header, verb: str, hands: Iterable[bytes | None]) -> Table:
    """The hands that are not hidden."""
    table = plain_table()
    table.add_column("seat and bot", no_wrap=True, overflow="ellipsis", max_width=14)
    table.add_column(verb)
    for seat, hand in enumerate(hands):
        if hand is not None:
            table.add_row(seat_name(header, seat), hand_text(hand))
    return table


def _tricks(header: Header, seen: Picture, made: Marks, numbers: Iterable[int]) -> Table:
    """A row a trick, a column a seat."""
    table = plain_table()
    table.add_column("#", justify="right")
    for seat in range(seen.seats):
        table.add_column(seat_name(header, seat), no_wrap=True, overflow="ellipsis", min_width=9, max_width=9)
    table.add_column("by", no_wrap=True)
    for number in numbers:
        cells = {}
        for place in range(len(seen.trick(number))):
            player = (seen.leaders[number] + place) % seen.seats
            cells[player] = Text(" " if place else "▸").append_text(_card(seen, made, number, place))
        row = [cells.get(seat, Text()) for seat in range(seen.seats)]
        taker = seen.takers[number] if number < len(seen.takers) else None
        if taker is not None and taker < seen.seats:
            row[taker].stylize("bold reverse", 1)
        table.add_row(f"{number + 1}", *row, "" if taker is None else _taken(seen, number, taker))
    return table


def _taken(seen: Picture, number: int, taker: int) -> str:
    """Who took a trick, with the signs of what was special about it."""
    if taker == seen.seats:
        return "–"
    split = "×2" if seen.worths[number] == 2 else ""
    return f"{taker}{split}{'↓' if _reversed(seen, number) else ''}{'?' if seen.peeks[number] else ''}"


def _cards(header: Header, seen: Picture, made: Marks, number: int) -> Table:
    table = plain_table()
    table.add_column("place", justify="right")
    table.add_column("seat and bot", no_wrap=True, overflow="ellipsis", max_width=24)
    table.add_column("card", no_wrap=True)
    table.add_column("")
    taker = seen.takers[number] if number < len(seen.takers) else None
    blocked = _blocked(seen, number)
    for place, action in enumerate(seen.trick(number)):
        player = (seen.leaders[number] + place) % seen.seats
        card = ACTIONS[action].card
        notes = [
            *(["leads"] if place == 0 else []),
            *(["trump"] if card is not None and _is_trump(seen, card) else []),
            *([f"blocked by place {blocked[place] + 1}"] if place in blocked else []),
            *([f"forced by {cause.value}"] if (cause := made.plays[number * seen.seats + place]) else []),
            *(["takes the trick"] if player == taker else []),
        ]
        name = Text(ACTIONS[action].name, style="" if card is None else card_style(card))
        if place in blocked:
            name.stylize("strike")
        if player == taker:
            name.stylize("bold reverse")
        table.add_row(f"{place + 1}", seat_name(header, player), name, ", ".join(notes))
    return table


def _outcome(header: Header, seen: Picture, made: Marks, number: int) -> list[Text]:
    """What a trick led to, a sentence a line."""
    if number >= len(seen.takers):
        return [Text("The trick was not played out.")]
    taker = seen.takers[number]
    if taker == seen.seats:
        ends_round = seen.points is not None and number == len(seen.takers) - 1
        again = "" if ends_round else f"; {seat_in_words(header, seen.leaders[number])} leads again"
        return [Text(f"Nobody takes it{again}.")]
    lines = []
    if _reversed(seen, number):
        lines.append(Text("An odd number of 4s counts: the lowest card takes the trick."))
    if number in made.doubles:
        double = made.doubles[number]
        choice = "splits it: it counts as two" if double.yes else "keeps it as one"
        lines.append(Text(f"With a 12 in it, {seat_in_words(header, taker)} {choice}{_by(double)}."))
    if number in made.peeks:
        peek = made.peeks[number]
        leader, looks = seat_in_words(header, peek.seat), "looks" if peek.yes else "does not look"
        line = Text(f"Having led an 8, {leader} {looks} at what {seat_in_words(header, taker)} foretold")
        card = seen.predictions[taker]
        if peek.yes and card is not None:
            line.append_text(Text.assemble(": ", (CARDS[card].name, card_style(card))))
        lines.append(line.append(f"{_by(peek)}."))
    return lines or [Text(f"{seat_in_words(header, taker)} takes it.")]


def _by(answer: Answer) -> str:
    return f" (forced by {answer.forced.value})" if answer.forced else ""


def _choice(course: Course, index: int, seat: int | None) -> Text:
    """What was chosen to get to a step, as far as the seat may know."""
    made = course.steps[index].made
    if made is None:
        return Text("The cards are dealt.")
    action = ACTIONS[made.action]
    name, style = action.name, "" if action.card is None else card_style(action.card)
    if seat not in {None, made.seat}:
        if action.kind == "predict":
            return Text("The others choose what they foretell.")
        if action.kind == "block":
            name, style = f"a 0 blocks place {(action.place or 0) + 1}", ""
    text = Text(f"{seat_in_words(course.replay.header, made.seat)}: ").append(name, style)
    return text.append(f" (forced by {made.forced.value})" if made.forced else "")


def _card(seen: Picture, made: Marks, number: int, place: int) -> Text:
    """One card in a table of tricks."""
    action = ACTIONS[seen.trick(number)[place]]
    if action.card is None:
        text = Text("?0⊘")
    elif action.kind == "block":
        text = code(action.card).append("⊘")
    else:
        letter = COLOURS[CARDS[action.card].colour][0].upper()
        text = Text(
            f"{letter}{action.value}{'*' if _is_trump(seen, action.card) else ''}", style=card_style(action.card)
        )
    if place in _blocked(seen, number):
        text = Text.assemble("(", text, ")")
        text.stylize("strike dim")
    return text.append_text(forced_sign(made.plays[number * seen.seats + place]))


def _blocked(seen: Picture, number: int) -> dict[int, int]:
    """The place that is blocked, if any, with the place of the card that blocks it."""
    actions = [ACTIONS[action] for action in seen.trick(number)]
    return {action.place: place for place, action in enumerate(actions) if action.place is not None}


def _reversed(seen: Picture, number: int) -> bool:
    """Whether the lowest card takes it (S10)."""
    blocked = _blocked(seen, number)
    actions = [ACTIONS[action] for action in seen.trick(number)]
    fours = [place for place, action in enumerate(actions) if action.value == 4 and place not in blocked]
    return len(fours) % 2 == 1


def _is_trump(seen: Picture, card: int) -> bool:
    return seen.turned is not None and CARDS[card].colour == CARDS[seen.turned].colour
