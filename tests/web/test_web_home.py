"""The first page: the TV, the ladders, pictures of the game for newcomers, lists on a phone, and times."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.web.browser import PHONE, Look, looking, needs_browser
from tests.web.test_web_board import LAPTOP
from tests.web.test_web_replay import ready

pytestmark = needs_browser

LEGIBLE = 9.0

SOURCE = """
const Source = window.EventSource;
window.EventSource = class extends Source {
  constructor(address) {
    super(address);
    window.source = this;
    this.addEventListener("rows", () => setTimeout(() => { window.came = true; }));
  }
};
"""
"""A script that records the page's event stream, and which rows arrived and appeared."""


def test_the_first_page_shows_a_board_with_pause_and_explains_the_game(browser: Browser, site: str) -> None:
    with looking(browser, site, LAPTOP) as seen:
        page = seen.go("/")
        ready(page)
        pause = page.locator("#tv [data-play]")
        box = pause.bounding_box()
        assert box
        assert box["y"] + box["height"] <= LAPTOP.height
        page.wait_for_function("() => Number(document.getElementById('at').textContent) > 1")
        pause.click()
        assert "Play" in pause.inner_text()
        assert page.locator(".pictures figure").count() == 5
        names = page.locator(".pictures svg > title").all_text_contents()
        assert len({*names}) == 5
        for name in ("Watch", "Read the rules", "Write a bot"):
            assert page.locator("#new").get_by_role("link", name=name).is_visible()


def test_lists_on_a_phone_have_rank_name_and_elo_in_the_window(browser: Browser, site: str) -> None:
    with looking(browser, site, PHONE) as seen:
        page = seen.go("/ladder/sixth_sense")
        rows = page.locator("table.ladder tbody tr")
        assert rows.count() >= 3
        for row in rows.all():
            for part in ("td:first-child", "th", ".elo", ".bar svg"):
                box = row.locator(part).bounding_box()
                assert box, part
                assert 0 <= box["x"] < box["x"] + box["width"] <= PHONE.width, part
        page = seen.go("/matches")
        for bots in page.locator("table.matches tbody td:nth-child(4)").all():
            box = bots.bounding_box()
            assert box
            assert box["x"] + box["width"] <= PHONE.width


def test_letters_on_a_curve_can_be_read_on_a_phone(browser: Browser, site: str) -> None:
    with looking(browser, site, Look(390, 844, touch=True)) as seen:
        page = seen.go("/bots/rules?game=sixth_sense")
        sizes = page.locator("svg.curve text").evaluate_all(
            "all => all.map((it) => parseFloat(getComputedStyle(it).fontSize) * it.getScreenCTM().a)"
        )
        assert sizes
        assert min(sizes) >= LEGIBLE


def test_times_are_relative_with_the_instant_in_the_title(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen, looking(browser, site, Look(scripts=False)) as plain:
        page = seen.go("/matches")
        page.wait_for_function("() => document.querySelector('tbody time').textContent.includes('ago')")
        instant = plain.go("/matches").locator("tbody time").first.inner_text()
        assert "UTC" in instant
        assert page.locator("tbody time").first.get_attribute("title") == instant


def test_a_row_that_did_not_change_is_left_alone_when_its_ladder_comes_live(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.page
        page.add_init_script(SOURCE)
        seen.go("/ladder/sixth_sense")
        page.evaluate("document.querySelectorAll('table.ladder tbody td').forEach((each) => { each.kept = true; })")
        page.wait_for_function("() => window.came")
        ago = page.locator("table.ladder tbody time").first.inner_text()
        assert "UTC" not in ago
        assert page.evaluate("[...document.querySelectorAll('table.ladder tbody td')].every((each) => each.kept)")


def test_what_just_ended_can_be_held_and_comes_all_at_once_after_that(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.page
        page.add_init_script(SOURCE)
        page.add_init_script("""
          window.ended = (number) => window.source.dispatchEvent(new MessageEvent("rows", { data: JSON.stringify({
            order: [String(number), "1"], rows: { [number]: `<tr><th scope="row">match ${number}</th></tr>` },
          }) }));
        """)
        seen.go("/")
        page.wait_for_function("() => window.came")
        rows, hold = page.locator("[data-live] tbody tr"), page.get_by_role("button", name="Hold")
        page.evaluate("window.ended(901)")
        assert rows.first.inner_text() == "match 901"
        hold.click()
        page.evaluate("window.ended(902); window.ended(903);")
        assert (rows.first.inner_text(), hold.get_attribute("aria-pressed")) == ("match 901", "true")
        hold.press("Enter")
        assert (rows.first.inner_text(), hold.get_attribute("aria-pressed")) == ("match 903", "false")
        assert rows.count() == 2
