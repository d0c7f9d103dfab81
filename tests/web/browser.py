"""A real browser for the pages: Debian's Chromium, driven by Playwright without the browsers that it ships."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

ROOT: Final = Path(__file__).parents[2]
PICTURES: Final = ROOT / "build" / "screenshots"
"""The folder of screenshots for people to look at."""
AXE: Final = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
PROGRAM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE: Final = 60_000
"""Maximum number of milliseconds for any wait. Only a failing test waits that long."""

needs_browser = pytest.mark.skipif(
    PROGRAM is None and os.environ.get("CI") != "true",
    reason="there is no Chromium: tools/debian-packages.sh installs it, where there is Debian",
)

_LISTEN: Final = """
window.refusedByPolicy = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.refusedByPolicy.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


class Look(NamedTuple):
    """The settings of a window: size, colours, motion."""

    width: int = 1280
    height: int = 900
    colours: Literal["dark", "light"] = "light"
    touch: bool = False
    reduced_motion: bool = False
    forced_colours: bool = False
    scripts: bool = True

    @property
    def name(self) -> str:
        """Return the part of a picture's file name that identifies these settings."""
        return f"{self.colours}-{self.width}{'-forced' if self.forced_colours else ''}"


DESKTOP: Final = Look()
DARK_DESKTOP: Final = Look(colours="dark")
PHONE: Final = Look(360, 740, touch=True)
DARK_PHONE: Final = Look(360, 740, "dark", touch=True)
LOOKS: Final = (DESKTOP, DARK_PHONE, DARK_DESKTOP, PHONE)


class Seen:
    """A page in a browser, and the page's errors."""

    def __init__(self, page: Page, site: str) -> None:
        self.page = page
        self.wrong: list[str] = []
        self.asked: list[str] = []
        """Addresses that the page requested, in order."""
        self._site = site
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda said: self.wrong.append(f"{said.type}: {said.text}") if said.type != "log" else None)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("requestfailed", self._lost)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: self.wrong.append(f"dialog: {dialog.message}"))

    def _lost(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # the browser left the page before
            self.wrong.append(f"not loaded: {request.url} {request.failure}")

    def go(self, path: str) -> Page:
        """Open a page of the site that must exist."""
        answer = self.page.goto(self._site + path)
        assert answer is not None
        assert answer.ok, f"{path}: {answer.status}"
        return self.page

    def check(self) -> None:
        """Check that the content security policy refused nothing, no script failed, and no request went to another
        site.
        """
        refused = self.page.evaluate("window.refusedByPolicy || []")
        elsewhere = [each for each in self.asked if f"//{urlsplit(each).netloc}" != self._site.partition(":")[2]]
        wrong = [*refused, *self.wrong, *elsewhere]
        assert not wrong, (self.page.url, wrong)

    def picture(self, name: str) -> None:
        """Save a screenshot as build/screenshots/NAME.png, but not in CI, where no person would look at it."""
        if os.environ.get("CI") == "true":
            return
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


@contextmanager
def started() -> Iterator[Browser]:
    """Start the headless browser without its own sandbox. It opens only the tests' pages, and root cannot create a
    sandbox.
    """
    if PROGRAM is None:
        pytest.fail("there is no Chromium: tools/debian-packages.sh installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def looking(browser: Browser, site: str, look: Look = DESKTOP) -> Iterator[Seen]:
    """Open a page in a new window without stored data. The `with` block fails at its end if the page had errors."""
    context = browser.new_context(
        viewport={"width": look.width, "height": look.height},
        color_scheme=look.colours,
        has_touch=look.touch,
        reduced_motion="reduce" if look.reduced_motion else "no-preference",
        forced_colors="active" if look.forced_colours else "none",
        java_script_enabled=look.scripts,
    )
    context.add_init_script(_LISTEN)
    try:
        seen = Seen(context.new_page(), site)
        yield seen
        seen.check()
    finally:
        context.close()


def kind(path: str) -> str:
    """Return the kind of a page: its path without the parts that vary between pages of one kind."""
    name, _, query = path.partition("?")
    name = re.sub(r"/\d+", "/N", name)
    name = re.sub(r"^/(bots|ladder|rules)/[^/]+", r"/\1/NAME", name)
    asked = "&".join(sorted({each.partition("=")[0] for each in query.split("&") if each.partition("=")[2]}))
    return f"{name}?{asked}" if asked else name


def picture_name(path: str) -> str:
    """Return a name for files about a page."""
    return re.sub(r"\W+", "-", kind(path)).strip("-").lower() or "home"


def overflow(page: Page) -> list[str]:
    """Return the width of a page that is wider than its window, and the elements that extend beyond it."""
    found: list[str] = page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? [] :
      [`${document.documentElement.scrollWidth} > ${innerWidth}`, ...[...document.querySelectorAll("body *")].filter(
        (each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 150))]""")
    return found
