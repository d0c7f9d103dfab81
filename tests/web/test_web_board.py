"""The board of a match: it is at the top, fits the window, plays with a button or Space, and has a text beside it."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from arena.replay.render.renderer import CardFace, SeatScene, TableScene
from arena.replay.render.table_svg import table_svg
from tests.web.browser import Look, looking, needs_browser
from tests.web.test_web_replay import ready, stepping

pytestmark = needs_browser

LAPTOP: Final = Look(1280, 800)
BOARD: Final = 0.6
"""Minimum share of the window's width that the board takes up."""
OWN_CARD: Final = 40.0
LEGIBLE: Final = 11.0
"""Minimum size in pixels of a card in the bottom hand, and of the letters on all other cards."""
SHIFT: Final = 0.02
_SHIFTS: Final = """() => new Promise((resolve) => {
  window.shifts = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((each) => { window.shifts += each.value; }))
    .observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(resolve);
})"""


def large_table(seats: int) -> str:
    """Return a table with the largest possible hands."""
    hand = tuple(CardFace(colour, "6/9") for colour in ("red", "yellow", "green", "blue", "purple") * 3)
    hand = hand[: 15 if seats < 5 else 11]
    card = CardFace("red", "14", "*")
    seat = SeatScene("w" * 40, False, hand, "R9", 3, -120, 40, card, True, True, True, True, (6, 9), len(hand), True)
    return table_svg(TableScene((seat,) * seats, card, 3, "foretold"), "a table")


@pytest.mark.parametrize("path", ["/matches/1", "/matches/1/steps/30?seat=1"])
def test_the_board_comes_first_and_is_whole_with_its_controls(browser: Browser, site: str, path: str) -> None:
    with looking(browser, site, LAPTOP) as seen:
        page = seen.go(path)
        ready(page)
        board, controls = page.locator("svg.table").bounding_box(), page.locator(".controls").bounding_box()
        assert board
        assert controls
        assert board["width"] >= BOARD * LAPTOP.width
        assert board["width"] == pytest.approx(1.6 * board["height"], rel=0.01)
        assert board["y"] > 0
        assert controls["y"] >= board["y"] + board["height"] - 1
        assert controls["y"] + controls["height"] <= LAPTOP.height
        words = page.locator(".words").bounding_box()
        assert words
        assert words["x"] >= board["x"] + board["width"], "beside it"


@pytest.mark.parametrize("seats", range(2, 8))
def test_cards_can_be_read_whoever_sits_there(browser: Browser, site: str, seats: int) -> None:
    with looking(browser, site, LAPTOP) as seen:
        page = seen.go("/matches/1")
        ready(page)
        page.locator("figure.seats").evaluate("(it, drawn) => { it.innerHTML = drawn; }", large_table(seats))
        widths = page.locator(".hand > .card").evaluate_all("all => all.map((it) => it.getBoundingClientRect().width)")
        assert len(widths) == (15 if seats < 5 else 11)
        assert min(widths) >= OWN_CARD
        texts = page.locator("svg.table text").evaluate_all(
            "all => all.map((it) => parseFloat(getComputedStyle(it).fontSize) * it.getScreenCTM().a)"
        )
        assert min(texts) >= LEGIBLE
        seen.picture(f"board-of-{seats}")


def test_space_and_the_button_play_and_pause_and_it_goes_on_by_itself(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1")
        ready(page)
        button = page.locator("[data-play]")
        page.locator("[data-speed]").select_option("4")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("Space")
        assert "Pause" in button.inner_text()
        page.wait_for_function("() => Number(document.getElementById('at').textContent) >= 8")
        button.click()
        assert "Play" in button.inner_text()
        step = stepping(page)
        page.wait_for_timeout(700)
        assert stepping(page) == step
        assert page.evaluate("document.documentElement.scrollTop") == 0, "Space does not scroll"
        button.focus()
        page.keyboard.press("Space")
        assert "Pause" in button.inner_text(), "once, since the button has the focus"
        page.keyboard.press("ArrowLeft")
        assert "Play" in button.inner_text(), "whoever steps has stopped it"


def test_it_rests_while_nobody_can_see_it(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1")
        ready(page)
        page.locator("[data-speed]").select_option("4")
        page.evaluate("""() => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => window.away });
          window.away = true;
          document.dispatchEvent(new Event("visibilitychange"));
        }""")
        page.locator("[data-play]").click()
        page.wait_for_timeout(700)
        assert stepping(page) == 1
        page.evaluate("() => { window.away = false; document.dispatchEvent(new Event('visibilitychange')); }")
        page.wait_for_function("() => Number(document.getElementById('at').textContent) > 1")


def test_home_and_end_lead_to_the_ends_and_title_and_address_name_the_step(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1")
        ready(page)
        length = page.evaluate("history.length")
        page.keyboard.press("End")
        last = page.locator("#steps").get_attribute("data-last")
        page.wait_for_url(f"**/matches/1/steps/{last}")
        assert page.title() == f"Match 1, step {last} · Arena"
        page.keyboard.press("Home")
        page.wait_for_url("**/matches/1/steps/1")
        assert page.evaluate("history.length") == length, "the history is not filled"


def test_keys_of_one_character_can_be_switched_off_for_good(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1")
        ready(page)
        page.keyboard.press("]")
        assert stepping(page) > 1
        page.locator("#keys summary").click()
        page.locator("[data-letters]").uncheck()
        page = seen.go("/matches/1")
        ready(page)
        for key in ("]", "r", "?"):
            page.keyboard.press(key)
        assert stepping(page) == 1
        assert not page.locator("#keys p").first.is_visible()
        page.keyboard.press("ArrowRight")
        assert stepping(page) == 2


def test_a_chosen_seat_sits_at_the_bottom_and_sees_the_backs_of_the_others(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1/steps/1?seat=2")
        ready(page)
        names = page.locator("svg.table .seat.at-0 text").first.text_content()
        assert names
        assert names.startswith("2 ")
        assert page.locator("svg.table .seat.at-1 rect[stroke-dasharray]").count() > 0
        assert page.locator("svg.table .hand use").count() > 0
        assert page.locator("svg.table .hand rect[stroke-dasharray]").count() == 0


def played_through(page: Page) -> int:
    """Step through the match with a key. Return the number of steps."""
    page.evaluate("""async () => {
      const at = document.getElementById("at"), last = Number(document.getElementById("steps").dataset.last);
      while (Number(at.textContent) < last) {
        const step = at.textContent;
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
        while (at.textContent === step) await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
      }
    }""")
    return stepping(page)


def test_nothing_jumps_while_a_match_is_played_through(browser: Browser, site: str) -> None:
    with looking(browser, site, LAPTOP) as seen:
        page = seen.go("/matches/1")
        ready(page)
        page.evaluate(_SHIFTS)
        assert played_through(page) > 100
        assert page.evaluate("window.shifts") <= SHIFT


def test_tabs_are_links_that_lead_to_every_part_without_scripts(browser: Browser, site: str) -> None:
    with looking(browser, site, Look(scripts=False)) as seen:
        page = seen.go("/matches/1")
        for name, address in (("Tricks", "tricks"), ("Analysis", "analysis"), ("Why", "why"), ("Check", "check")):
            page.locator(".tabs").get_by_role("link", name=name).click()
            assert page.url.endswith(f"/matches/1/{address}")
            assert page.locator(".tabs [aria-current]").inner_text() == name
        page.locator(".tabs").get_by_role("link", name="Match", exact=True).click()
        assert page.url.endswith("/matches/1")
        assert page.locator("[data-play]").is_hidden(), "a button that does nothing is not there"
