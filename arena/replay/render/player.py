"""A replay to step through in a notebook: one HTML frame that loads no files and is independent of the page around it.

The frame is a separate document, so that its styles and names do not clash with the page or another replay. Its content
security policy does not allow it to load anything.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from importlib.resources import files
from typing import Final

from markupsafe import Markup, escape

from arena.replay.render.show import (
    in_plain_text,
    part_name,
    show_match,
    show_step,
    step_words,
    table_scene,
)
from arena.replay.render.table_svg import table_svg
from arena.replay.render.ways import Ways, pace
from arena.replay.replay import Replay
from arena.replay.steps import Course

HEIGHT: Final = 720
"""Height of the frame in pixels. It scrolls if a step needs more."""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_DOCUMENT: Final = Markup(
    '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    '<meta http-equiv="content-security-policy" content="{policy}"><title>{title}</title><style>{style}</style></head>'
    '<body><main class="match" data-step="1"><h1>{title}</h1>'
    '<details><summary>Result and points by round</summary><pre tabindex="0">{overview}</pre></details>'
    '<div id="frame">{first}</div><div class="controls" data-scripted hidden>'
    '<nav class="choices bar" aria-label="Steps">{buttons}</nav>'
    '<input type="range" min="1" max="{last}" value="1" aria-label="Step"></div>'
    '<p role="status">Step <span id="at">1</span> of {last}, {eyes}</p></main>'
    '<script type="text/plain" id="packed">{packed}</script><script type="module">{script}</script></body></html>'
)
_SCRIPTS: Final = ("replace.js", "player.js", "notebook.js")
"""The scripts of a frame in order. They are joined into one script without imports."""


class Player:
    """A replay that Jupyter can show, or that `document()` returns as a file."""

    def __init__(self, replay: Replay, seat: int | None = None) -> None:
        """Show a replay from the view of `seat`, or with all hands open if it is None.

        Raises:
            ShowError: there is no such seat.
        """
        self._course = Course(replay)
        self._seat = seat
        self._first = self._frame(1)

    def document(self) -> str:
        """Return a self-contained page."""
        course, header = self._course, self._course.replay.header
        ways, times = Ways(course), pace(course)
        frames = [
            {"html": self._frame(step), "ways": ways.at(step), "ms": times[step - 1]}
            for step in range(1, len(course.steps) + 1)
        ]
        content = json.dumps(frames, separators=(",", ":"))
        eyes = "all hands open" if self._seat is None else f"as {header.bots[self._seat].name} saw it"
        return _DOCUMENT.format(
            policy=_POLICY,
            title=f"{header.game.title}: {', '.join(bot.name for bot in header.bots)}",
            style=_resource("table.css") + _resource("notebook.css"),
            overview=in_plain_text(show_match(course)),
            buttons=_buttons(part_name(course)),
            last=len(frames),
            eyes=eyes,
            first=Markup(self._first),  # noqa: S704 - of ours
            packed=b64encode(zlib.compress(content.encode(), 9)).decode(),
            script=Markup("").join(map(_without_imports, _SCRIPTS)),
        )

    def _repr_html_(self) -> str:
        title = f"Replay: {self._course.replay.header.game.title}"
        return (
            f'<iframe title="{escape(title)}" sandbox="allow-scripts" srcdoc="{escape(str(self.document()))}"'
            f' style="width: 100%; height: {HEIGHT}px; border: 0"></iframe>'
        )

    def _frame(self, step: int) -> Markup:
        scene = table_scene(self._course, step, self._seat)
        words = step_words(self._course, step, self._seat)
        if scene is None or words is None:
            text = in_plain_text(show_step(self._course, step, self._seat))
            return Markup('<pre class="drawn" tabindex="0">{}</pre>').format(text)
        drawn = Markup(table_svg(scene, f"The table at step {step}"))  # noqa: S704 - its input is escaped
        told = Markup("").join(
            Markup('<p class="happened">{}</p>').format(each) for each in (words.happened, *words.outcome)
        )
        frame = Markup('<figure class="seats">{}</figure><div class="told"><p class="dim">{}</p>{}</div>')
        return frame.format(drawn, words.title, told)


def _buttons(part: str) -> Markup:
    labels = {
        "first": "|‹",
        "previous round": "‹‹ round",
        "previous part": f"‹‹ {part}",
        "previous": "‹ back",
        "next": "on ›",
        "next part": f"{part} ››",
        "next round": "round ››",
        "last": "›|",
        "next forced": "next forced",
    }
    play = Markup('<button type="button" class="play" data-play>▶ Play</button>')
    button = Markup('<button type="button" data-way="{}">{}</button>')
    return play + Markup("").join(button.format(way, label) for way, label in labels.items())


def _resource(name: str) -> Markup:
    text = (files("arena.replay.render") / "page" / name).read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - a file of ours


def _without_imports(name: str) -> Markup:
    return Markup("").join(line for line in _resource(name).splitlines(keepends=True) if not line.startswith("import "))
