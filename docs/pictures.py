"""Draws the README's pictures from a real demo, as a browser shows its pages.

python docs/pictures.py DATA

`make pictures` plays the demo first. match.webp plays the first steps of the newest match; match-still.webp is one of
them, for readers who want no motion. ladder-light.webp and ladder-dark.webp are the ladder.
"""

from __future__ import annotations

import io
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from PIL import Image
from playwright.sync_api import FloatRect

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
LADDER: Final = (1200, 560)
STEPS: Final = 60
STEP_MS: Final = 700
END_MS: Final = 3_000
"""Time for which the last step is shown before the animation restarts."""
PATIENCE: Final = 60.0


def main() -> None:
    """Draw all pictures."""
    sys.path.insert(0, str(ROOT))
    from tests.web.browser import started

    with _pages(Path(sys.argv[1])) as site, started() as browser:
        _draw_match(browser, site)
        for colours in ("light", "dark"):
            _draw_ladder(browser, site, colours)


@contextmanager
def _pages(data: Path) -> Iterator[str]:
    """Serve the pages over a data directory; yield their address."""
    command = [sys.executable, "-m", "arena.cli", "web", "--listen", "127.0.0.1:0", "--data", str(data)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as pages:  # noqa: S603 - our own program
        try:
            assert pages.stdout is not None
            assert select.select([pages.stdout], [], [], PATIENCE)[0], "arena web did not start"
            found = re.match(r"Pages at (http://\S+)/;", pages.stdout.readline())
            assert found, "arena web did not print its address"
            yield found[1]
        finally:
            pages.send_signal(signal.SIGINT)


def _draw_match(browser: Browser, site: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(f"{site}/matches?game=sixth_sense")
    newest = page.locator("a[href*='/matches/']").first.get_attribute("href")
    page.goto(f"{site}{newest}/steps/1")
    page.wait_for_load_state("networkidle")
    box = page.locator("svg.table").bounding_box()
    assert box is not None, "the page has no board"
    table = FloatRect(**box)
    frames = [_photograph(page, table)]
    for _ in range(STEPS - 1):
        before = page.locator("#at").inner_text()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("before => document.getElementById('at').textContent !== before", arg=before)
        frames.append(_photograph(page, table))
    times = [STEP_MS] * (STEPS - 1) + [END_MS]
    moving = DOCS / "match.webp"
    frames[0].save(moving, save_all=True, append_images=frames[1:], duration=times, loop=0, quality=80, method=6)
    frames[STEPS // 2].save(DOCS / "match-still.webp", lossless=True)
    page.close()


def _draw_ladder(browser: Browser, site: str, colours: Literal["light", "dark"]) -> None:
    page = browser.new_page(viewport={"width": LADDER[0], "height": LADDER[1]}, color_scheme=colours)
    page.goto(f"{site}/ladder/sixth_sense")
    page.wait_for_load_state("networkidle")
    _photograph(page).save(DOCS / f"ladder-{colours}.webp", lossless=True)
    page.close()


def _photograph(page: Page, part: FloatRect | None = None) -> Image.Image:
    return Image.open(io.BytesIO(page.screenshot(clip=part))).convert("RGB")


if __name__ == "__main__":
    main()
