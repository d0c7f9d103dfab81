"""The pages of events in a browser: no violation, no overflow, no script error; a countdown that runs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import cycle

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.test_cli_web_events import STATES, with_events
from tests.cli.web_process_rig import browsing
from tests.web.browser import LOOKS, looking, needs_browser, overflow
from tests.web.test_web_axe import violations

pytestmark = needs_browser

PATHS = ("/events", *(f"/event/{name}" for name in STATES))


@pytest.fixture(scope="module")
def events_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of pages with an event in each state, without a final slash."""
    data = with_events(tmp_path_factory.mktemp("events") / "data", time.time_ns() // 1000)
    with browsing("--data", str(data)) as (host, port):
        yield f"http://{host}:{port}"


def test_no_page_of_an_event_has_a_violation_or_is_wider_than_its_window(browser: Browser, events_site: str) -> None:
    for path, look in zip(PATHS, cycle(LOOKS), strict=False):
        with looking(browser, events_site, look) as seen:
            page = seen.go(path)
            seen.picture(f"{path.strip('/').replace('/', '-')}-{look.name}")
            assert (violations(page), overflow(page)) == ([], []), (path, look)


def test_the_countdown_of_an_announced_event_runs(browser: Browser, events_site: str) -> None:
    with looking(browser, events_site) as seen:
        page = seen.go("/event/sunday")
        countdown = page.locator("[data-countdown]")
        before = countdown.inner_text()
        assert before.startswith("in ")
        expect(countdown).not_to_have_text(before)
