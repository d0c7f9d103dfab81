"""Accessibility that axe cannot check: keyboard, narrow and zoomed windows, forced colours, motion, languages,
print.
"""

from __future__ import annotations

import re
from typing import Any, Final

from playwright.sync_api import Browser

from arena.rules import LANGUAGES
from tests.web.browser import DARK_DESKTOP, Look, looking, needs_browser, overflow, picture_name
from tests.web.pages import pages

pytestmark = needs_browser

NARROW: Final = Look(320, 640)
"""1280 pixels at a zoom of 400 %."""
_STOPS: Final = """() => [...document.querySelectorAll(
    "a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((each) => each.checkVisibility() && !each.disabled).length"""
_FOCUS: Final = """() => {
  const here = document.activeElement;
  if (here === document.body) return null;
  const style = getComputedStyle(here), box = here.getBoundingClientRect();
  return { name: here.outerHTML.slice(0, 120), outline: style.outlineStyle, width: parseFloat(style.outlineWidth),
    seen: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    first: [...document.querySelectorAll("*")].indexOf(here) };
}"""


def test_no_page_is_wider_than_its_window(browser: Browser, site: str) -> None:
    with looking(browser, site, Look(reduced_motion=True)) as seen:
        last = seen.go("/matches/1").locator('[data-way="last"]').get_attribute("data-to")
        embedded = ("/embed/matches/1", "/embed/matches/4?step=9&seat=1")
        for path in (*pages(site), f"/matches/1/steps/{last}", *embedded, "/tv?kiosk"):
            page = seen.go(path)
            for width, height in ((1440, 900), (960, 600), (390, 844), (NARROW.width, NARROW.height)):
                page.set_viewport_size({"width": width, "height": height})
                found = overflow(page)
                assert not found, (path, found)


def test_every_control_is_reached_with_the_keyboard_in_order_and_seen_to_be(browser: Browser, site: str) -> None:
    with looking(browser, site, Look(reduced_motion=True)) as seen:  # the TV page shows no motion
        for path in pages(site):
            page = seen.go(path)
            expected, reached = page.evaluate(_STOPS), dict[int, dict[str, Any]]()
            page.keyboard.press("Tab")
            while (focus := page.evaluate(_FOCUS)) is not None and len(reached) < expected:
                reached.setdefault(focus["first"], focus)  # a date field has several tab stops
                page.keyboard.press("Tab")
            assert len(reached) == expected, (path, reached)
            assert [*reached] == sorted(reached), path
            dark = [
                each for each in reached.values() if each["outline"] == "none" or each["width"] < 2 or not each["seen"]
            ]
            assert not dark, (path, dark)


def test_the_first_stop_leads_past_the_links_of_every_page(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_with_forced_colours_and_reduced_motion_all_is_there(browser: Browser, site: str) -> None:
    look = Look(colours="dark", forced_colours=True, reduced_motion=True)
    with looking(browser, site, look) as seen:
        for path in pages(site):
            page = seen.go(path)
            moving = page.evaluate("""() => [...document.querySelectorAll("*")].filter((each) => {
              const style = getComputedStyle(each);
              return style.transitionDuration !== "0s" || style.animationName !== "none";
            }).map((each) => each.outerHTML.slice(0, 80))""")
            assert moving == [], path
            seen.picture(f"{picture_name(path)}-{look.name}")


def test_rules_are_read_aloud_in_their_own_language(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        for language in LANGUAGES:
            page = seen.go(f"/rules/sixth_sense?language={language}")
            assert page.locator("article h1").evaluate("it => it.closest('[lang]').lang") == language
            assert page.locator("header nav").evaluate("it => it.closest('[lang]').lang") == "en"


def test_every_drawing_has_its_words(browser: Browser, site: str) -> None:
    """A picture has a name, or screen readers skip it because a text beside it has the same content."""
    with looking(browser, site) as seen:
        drawn = 0
        for path in pages(site):
            page = seen.go(path)
            for drawing in page.locator("main svg").all():
                drawn += 1
                hidden = drawing.get_attribute("aria-hidden") == "true"
                assert hidden or drawing.locator("> title").text_content(), path
        assert drawn > 10


def test_a_match_is_printed_on_two_pages_at_most(browser: Browser, site: str) -> None:
    with looking(browser, site, DARK_DESKTOP) as seen:
        page = seen.go("/")
        match = page.locator("main a[href^='/matches/']").first.get_attribute("href")
        assert match
        page = seen.go(match)
        for path in (match, f"{match}/steps/1"):
            page = seen.go(path)
            paper = page.pdf(format="A4")
            assert 1 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", paper)) <= 2, path
            page.emulate_media(media="print")
            assert not page.locator("header").is_visible()
            assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
            seen.picture(f"{picture_name(path)}-print")
            page.emulate_media(media="screen")
