"""The TV page in a browser: it plays by itself, continues with the next match, and stops at once on request."""

from __future__ import annotations

from playwright.sync_api import Browser, Page

from tests.web.browser import Look, looking, needs_browser
from tests.web.test_web_replay import ready, stepping

pytestmark = needs_browser


def match_of(page: Page) -> str:
    return page.locator("#steps").get_attribute("data-number") or ""


def test_it_begins_by_itself_and_goes_on_with_the_next_match(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/tv")
        page.wait_for_function("() => Number(document.getElementById('at').textContent) > 3")
        first = match_of(page)
        page.locator("[data-speed]").select_option("4")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("End")
        assert "Play" in page.locator("[data-play]").inner_text(), "whoever steps has stopped it"
        page.wait_for_function(
            "() => document.getElementById('at').textContent === document.getElementById('steps').dataset.last"
        )
        queue = page.locator(".queue li a").all_inner_texts()
        page.evaluate("""() => {
          const last = document.getElementById("steps").dataset.last;
          const slider = document.querySelector("input[type=range]");
          slider.value = Number(last) - 1;
          slider.dispatchEvent(new Event("input"));
        }""")
        page.locator("[data-play]").click()
        page.wait_for_function("first => document.getElementById('steps').dataset.number !== first", arg=first)
        assert match_of(page) in queue, "as the queue said, whose order follows the ratings"
        page.wait_for_function("() => Number(document.getElementById('at').textContent) > 3")


def test_pause_is_seen_and_works_with_space_also_on_a_wall(browser: Browser, site: str) -> None:
    for path in ("/tv", "/tv?kiosk"):
        with looking(browser, site, Look(1280, 800)) as seen:
            page = seen.go(path)
            ready(page)
            button = page.locator("[data-play]")
            box = button.bounding_box()
            assert box
            assert box["y"] + box["height"] <= 800
            assert "Pause" in button.inner_text()
            page.keyboard.press("Space")
            assert "Play" in button.inner_text()
            at = stepping(page)
            page.wait_for_timeout(1500)
            assert stepping(page) == at
            assert page.locator("header").is_visible() == (path == "/tv")
            seen.picture(f"tv-{'wall' if 'kiosk' in path else 'page'}")


def test_it_waits_for_readers_who_want_less_motion(browser: Browser, site: str) -> None:
    with looking(browser, site, Look(reduced_motion=True)) as seen:
        page = seen.go("/tv")
        ready(page)
        page.wait_for_timeout(1500)
        assert stepping(page) == 1
        page.locator("[data-play]").click()
        page.wait_for_function("() => Number(document.getElementById('at').textContent) > 1")


def test_skipping_puts_the_next_match_in_place_and_keeps_the_focus(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/tv")
        ready(page)
        page.keyboard.press("Space")
        page.evaluate("window.kept = true")
        shown = [match_of(page)]
        for _ in range(2):
            page.locator("[data-skip]").focus()
            page.keyboard.press("Enter")
            page.wait_for_function("last => document.getElementById('steps').dataset.number !== last", arg=shown[-1])
            shown.append(match_of(page))
            assert page.evaluate("document.activeElement.dataset.skip") == ""
            assert "Play" in page.locator("[data-play]").inner_text(), "it stays stopped"
        assert len({*shown}) == 3
        assert page.evaluate("window.kept"), "no page was loaded"


def test_without_scripts_it_is_a_match_with_its_links(browser: Browser, site: str) -> None:
    with looking(browser, site, Look(scripts=False)) as seen:
        page = seen.go("/tv")
        first = match_of(page)
        page.locator("[data-skip]").click()
        assert match_of(page) != first
        page.locator("[data-way=next]").click()
        assert page.url.endswith("/steps/2")
