"""Stepping through a replay in a browser: keys, touch, no page load per step, and the time of a step."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Browser, CDPSession, Page

from tests.web.browser import PHONE, Look, looking, needs_browser

pytestmark = needs_browser

STEPS: Final = 40
STEP_MS: Final = 16
"""Maximum number of milliseconds for a step: one frame at 60 Hz."""
_STEPS: Final = """async (count) => {
  const at = document.getElementById("at");
  for (let step = Number(at.textContent); count > 0; count--) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    while (Number(at.textContent) === step) await new Promise(requestAnimationFrame); // the next round comes
    step = Number(at.textContent);
    await new Promise(requestAnimationFrame); // it is drawn
  }
}"""
_HELD: Final = """() => {
  for (let times = 0; times < 60; times++) {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
  }
}"""


def stepping(page: Page) -> int:
    """Return the number of the shown step."""
    return int(page.locator("#at").inner_text())


def ready(page: Page) -> None:
    """Wait until the first requested rounds have arrived."""
    page.wait_for_load_state("networkidle")


def test_keys_step_without_loading_a_page_and_show_what_the_page_shows(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1/steps/1")
        ready(page)
        page.evaluate("window.kept = true")
        for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "r"):
            before = stepping(page)
            page.keyboard.press(key)
            assert (stepping(page) < before) == (key == "ArrowLeft"), key
            drawn, step = page.locator("#frame").inner_html(), stepping(page)
            page.wait_for_url(f"**/matches/1/steps/{step}")
            with looking(browser, site, Look(scripts=False)) as plain:
                assert plain.go(f"/matches/1/steps/{step}").locator("#frame").inner_html() == drawn
        assert page.evaluate("window.kept")


def test_a_step_takes_no_longer_than_a_frame(browser: Browser, site: str) -> None:
    """Count the processor time of the page's thread, with style, layout and painting. The machine's other work has no
    effect.
    """
    with looking(browser, site) as seen:
        page = seen.go("/matches/1/steps/1")
        ready(page)
        measuring = page.context.new_cdp_session(page)
        measuring.send("Performance.enable", {"timeDomain": "threadTicks"})
        took = -spent(measuring)
        page.evaluate(_STEPS, STEPS)
        took = 1000 * (took + spent(measuring)) / STEPS
        assert stepping(page) == 1 + STEPS
        assert 0 < took <= STEP_MS


def spent(measuring: CDPSession) -> float:
    """Return the processor time of the page's thread in seconds."""
    return float(
        next(
            each["value"]
            for each in measuring.send("Performance.getMetrics")["metrics"]
            if each["name"] == "TaskDuration"
        )
    )


def test_a_key_that_is_held_goes_to_the_end_and_the_address_follows(browser: Browser, site: str) -> None:
    """The test makes more steps than the address changes that browsers allow a page in this time."""
    with looking(browser, site) as seen:
        page = seen.go("/matches/1/steps/1")
        last = int(page.locator("#steps").get_attribute("data-last") or 0)
        assert last > 200
        page.evaluate("window.kept = true")
        while (at := stepping(page)) < last:
            page.evaluate(_HELD)
            page.wait_for_function("at => Number(document.getElementById('at').textContent) > at", arg=at)
        assert page.evaluate("window.kept"), "no page was loaded"
        page.wait_for_url(f"**/steps/{last}")
        assert page.locator("[data-way=next]").get_attribute("aria-disabled") == "true"


def test_touch_steps_and_a_finger_finds_each_button(browser: Browser, site: str) -> None:
    with looking(browser, site, PHONE) as seen:
        page = seen.go("/matches/1/steps/5")
        ready(page)
        page.locator("[data-way=next]").tap()
        assert stepping(page) == 6
        sizes = page.locator(".choices a").evaluate_all(
            "all => all.map((it) => it.getBoundingClientRect()).map((box) => Math.min(box.width, box.height))"
        )
        assert min(sizes) >= 24, "WCAG 2.2, 2.5.8"


def test_the_focus_stays_where_it_is_while_steps_change(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches/1/steps/2")
        ready(page)
        page.locator("[data-way=previous]").focus()
        page.keyboard.press("Enter")
        assert stepping(page) == 1
        assert page.evaluate("document.activeElement.dataset.way") == "previous"
        page.locator("#frame .words").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        assert stepping(page) == 3
        assert page.evaluate("document.activeElement.className") == "words"


def test_without_scripts_links_step(browser: Browser, site: str) -> None:
    with looking(browser, site, Look(scripts=False)) as seen:
        page = seen.go("/matches/1")
        page.locator("[data-way=next]").click()
        assert page.url.endswith("/matches/1/steps/2")
        page.locator("[data-eyes]").nth(1).click()
        assert page.url.endswith("/matches/1/steps/2?seat=0")
