"""A replay to step through in a notebook: one HTML frame that loads nothing and is independent of the page around it.

The frame is a separate document, so that its styles and names do not clash with those of the page or of another replay.
Its content security policy lets it load nothing.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from importlib.resources import files
from typing import Final

from markupsafe import Markup, escape

from arena.replay.render.rich_html import html
from arena.replay.render.show import part_name, show_match, show_step, stops, table_scene
from arena.replay.render.table_svg import table_svg
from arena.replay.replay import Replay
from arena.replay.steps import Course

HEIGHT: Final = 720
"""Height of the frame in pixels; it scrolls if a step needs more."""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_DOCUMENT: Final = Markup(
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta http-equiv="content-security-policy" content="{policy}"><title>{title}</title><style>{style}</style></head>'
    "<body><main><h1>{title}</h1><details><summary>Result and points by round</summary>{overview}</details>"
    '<nav aria-label="Steps" hidden>{buttons}'
    '<input type="range" min="1" max="{last}" value="1" aria-label="Step"></nav>'
    '<p role="status">Step <span id="at">1</span> of {last}, {eyes}</p><div id="frame">{first}</div></main>'
    '<script type="text/plain" id="packed">{packed}</script><script type="module">{script}</script></body></html>'
)


class Player:
    """A replay that Jupyter can show, or that `document()` returns as a file."""

    def __init__(self, replay: Replay, seat: int | None = None) -> None:
        """Show a replay from the view of `seat`, or with all hands open if it is None.

        Raises: ShowError: There is no such seat.
        """
        self._course = Course(replay)
        self._seat = seat
        self._first = self._frame(1)

    def document(self) -> str:
        """Return a self-contained page."""
        course, header = self._course, self._course.replay.header
        frames = [self._first, *(self._frame(step) for step in range(2, len(course.steps) + 1))]
        forced = [step for step, each in enumerate(course.steps, 1) if each.made and each.made.forced]
        stopping = {
            "part": [stop + 1 for stop in stops(course)],
            "round": [course.begins(number) + 1 for number in range(course.rounds)],
            "forced": forced,
        }
        content = json.dumps({"frames": frames, "stops": stopping}, separators=(",", ":"))
        eyes = "all hands open" if self._seat is None else f"as {header.bots[self._seat].name} saw it"
        return _DOCUMENT.format(
            policy=_POLICY,
            title=f"{header.game.title}: {', '.join(bot.name for bot in header.bots)}",
            style=_resource("player.css"),
            overview=html(show_match(course)),
            buttons=_buttons(part_name(course)),
            last=len(frames),
            eyes=eyes,
            first=Markup(self._first),  # noqa: S704 - of ours
            packed=b64encode(zlib.compress(content.encode(), 9)).decode(),
            script=_resource("player.js"),
        )

    def _repr_html_(self) -> str:
        title = f"Replay: {self._course.replay.header.game.title}"
        return (
            f'<iframe title="{escape(title)}" sandbox="allow-scripts" srcdoc="{escape(str(self.document()))}"'
            f' style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def _frame(self, step: int) -> str:
        words = html(show_step(self._course, step, self._seat))
        scene = table_scene(self._course, step, self._seat)
        return words if scene is None else f"<figure>{table_svg(scene, f'The table at step {step}')}</figure>{words}"


def _buttons(part: str) -> Markup:
    labels = {
        "previous round": "|‹ round",
        "previous part": f"‹‹ {part}",
        "previous": "‹ back",
        "next": "on ›",
        "next part": f"{part} ››",
        "next round": "round ›|",
        "next forced": "next forced",
    }
    button = Markup('<button type="button" data-way="{}">{}</button>')
    return Markup("").join(button.format(way, label) for way, label in labels.items())


def _resource(name: str) -> Markup:
    return Markup((files("arena.replay.render") / name).read_text(encoding="utf-8"))  # noqa: S704 - a file of ours
