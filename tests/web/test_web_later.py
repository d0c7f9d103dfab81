"""Parts of a page that arrive late. The browser inserts them without reloading, and the focus does not move."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from typing import Final
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, Route

from arena.web.answers.static_files import static_path
from tests.cli.cli_rig import Played
from tests.cli.web_process_rig import browsing
from tests.web.browser import PATIENCE, Look, looking, needs_browser
from tests.web.pages import pages

pytestmark = needs_browser

BOT: Final = "/bots/rules?game=sixth_sense"
READ: Final = re.compile(r"From \d+ of its newest replays\.")
LATER: Final = 3000
"""Milliseconds after which a page asks for late parts again."""


@pytest.fixture
def fresh_site(arena: Played) -> Iterator[str]:
    """Pages that have received no request yet."""
    with browsing("--server", arena.server) as (host, port):
        yield f"http://{host}:{port}"


def test_no_page_is_loaded_anew_under_its_reader(fresh_site: str) -> None:
    for path in pages(fresh_site):
        with urlopen(fresh_site + path, timeout=PATIENCE) as answer:
            assert answer.headers["refresh"] is None, path
            assert 'http-equiv="refresh"' not in answer.read().decode(), path


def test_what_replays_say_comes_while_the_focus_stays(browser: Browser, fresh_site: str) -> None:
    with looking(browser, fresh_site) as seen:
        seen.page.clock.install()
        page = seen.go(BOT)
        told = page.locator("#bids")
        assert "of its newest replays are being read" in told.inner_text()
        assert not page.get_by_role("link", name="Look again").is_visible()
        page.locator("table.matches a").first.focus()
        page.evaluate("window.kept = document.activeElement")
        while not READ.search(told.inner_text()):
            page.clock.run_for(LATER)
        assert page.evaluate("window.kept === document.activeElement")
        assert page.locator("#rounds th").count() > 2
        assert told.get_attribute("role") == "status"
        before = len(seen.asked)
        page.clock.run_for(10 * LATER)
        assert len(seen.asked) == before, "nothing more is to come, so nothing more is asked for"


def test_the_focus_stays_in_a_part_that_changes_and_its_place_is_kept(browser: Browser, site: str) -> None:
    """The first three responses of a real server are changed to say that replays are still being read."""
    looks = count(1)

    def waiting(route: Route) -> None:
        answer, look = route.fetch(), next(looks)
        text = answer.text().replace("Mean points", f"Mean points, look {look}, in so wide a column " + "x" * 400)
        if look < 4:
            text = text.replace('role="status" data-later', 'role="status" data-later data-waiting')
            text = text.replace("</head>", f'<script type="module" src="{static_path("")}/later.js"></script></head>')
        route.fulfill(response=answer, body=text)

    with looking(browser, site) as seen:
        seen.page.clock.install()
        while "data-waiting" in seen.page.request.get(site + BOT).text():
            pass  # the pages still read the replays
        seen.page.route("**/bots/rules*", waiting)
        page = seen.go(BOT)
        page.locator("#rounds .wide").focus()
        page.locator("#rounds .wide").evaluate("it => { it.scrollLeft = 60; }")
        for look in (2, 3, 4):
            page.clock.run_for(LATER)
            page.locator("#rounds").get_by_text(f"look {look},").wait_for()
            assert page.evaluate("document.querySelector('#rounds .wide') === document.activeElement"), look
            assert page.evaluate("document.activeElement.scrollLeft") == 60
        page.unroute_all(behavior="wait")


def test_without_scripts_a_link_looks_again(browser: Browser, fresh_site: str) -> None:
    with looking(browser, fresh_site, Look(scripts=False)) as seen:
        page = seen.go(BOT)
        while not READ.search(page.locator("#bids").inner_text()):
            page.get_by_role("link", name="Look again").click()
            page.wait_for_load_state()
        assert page.locator("#rounds th").count() > 2
        assert page.get_by_role("link", name="Look again").count() == 0


def test_an_analysis_comes_to_its_place(browser: Browser, site: str) -> None:
    """The test waits only for the first finding, because the costliest choices need minutes."""
    with looking(browser, site) as seen:
        seen.page.clock.install()
        page = seen.go("/matches/1/analysis")
        page.get_by_role("button", name="Work it out").click()
        page.wait_for_url("**/matches/1/analysis")
        page.evaluate("window.kept = true")
        told = page.locator("#state")
        while not re.search(r"\d of \d+ seats looked at|seats were looked at", told.inner_text()):
            page.clock.run_for(LATER)
        assert page.locator("#found").get_by_role("table").count() > 2
        assert page.evaluate("window.kept")
