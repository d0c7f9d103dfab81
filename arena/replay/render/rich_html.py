"""The command line's drawings as HTML: texts, tables and groups of Rich, with styles as classes."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup, escape
from rich.console import Console, Group, RenderableType
from rich.style import Style
from rich.table import Table
from rich.text import Text

from arena.replay.render.tricks import Fitted

WIDE: Final = 200
"""Columns available to drawings, many because a page can scroll."""
_CONSOLE: Final = Console(width=WIDE, color_system="truecolor", force_terminal=True)


class NoHtmlError(TypeError):
    """There is no HTML for a renderable of this kind."""


def html(drawn: RenderableType) -> Markup:
    """Return a Rich renderable as HTML without styles. Raises: NoHtmlError."""
    match drawn:
        case Group():
            return Markup("").join(map(html, drawn.renderables))
        case Table():
            return _table(drawn)
        case Fitted():
            return html(drawn.drawn(WIDE))
        case Text():
            return Markup('<p class="drawn">{}</p>').format(_inline(drawn)) if drawn.plain.strip() else Markup("")
        case str():
            return html(Text.from_markup(drawn))
        case _:
            raise NoHtmlError(f"no HTML for {type(drawn).__name__}")


def _table(table: Table) -> Markup:
    caption = Markup("")
    if table.title:
        caption = Markup("<caption>{}</caption>").format(_inline(_as_text(table.title)))
    head = Markup("").join(
        Markup('<th scope="col"{}>{}</th>').format(_justified(column.justify), _inline(_as_text(column.header)))
        for column in table.columns
    )
    rows = [
        _row(cells, [column.justify for column in table.columns])
        for cells in zip(*(column.cells for column in table.columns), strict=True)
    ]
    body = Markup("").join(rows)
    parts = Markup("<table>{}<thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(caption, head, body)
    return Markup('<div class="wide" tabindex="0" role="group">{}</div>').format(parts)


def _row(cells: tuple[RenderableType, ...], justify: list[str]) -> Markup:
    found = [
        Markup("<td{}>{}</td>").format(_justified(side), _inline(_as_text(cell)))
        for cell, side in zip(cells, justify, strict=True)
    ]
    return Markup("<tr>{}</tr>").format(Markup("").join(found))


def _justified(side: str) -> Markup:
    return Markup(' class="number"') if side == "right" else Markup("")


def _as_text(cell: RenderableType) -> Text:
    match cell:
        case Text():
            return cell
        case str():
            return Text.from_markup(cell)
        case _:
            raise NoHtmlError(f"no HTML for {type(cell).__name__} in a table")


def _inline(text: Text) -> Markup:
    parts = []
    for segment in text.render(_CONSOLE, end=""):
        lines = Markup("<br>").join(map(escape, segment.text.split("\n")))
        names = _classes(segment.style)
        parts.append(Markup('<span class="{}">{}</span>').format(names, lines) if names else lines)
    return Markup("").join(parts)


def _classes(style: Style | None) -> str:
    """Return the classes of a style: its colour's name and its attributes."""
    if style is None:
        return ""
    names = [name for name in ("bold", "dim", "italic", "strike", "reverse") if getattr(style, name)]
    if style.color is not None and not style.color.is_default:
        names.append(f"ink-{style.color.name.removeprefix('bright_')}")
    return " ".join(names)
