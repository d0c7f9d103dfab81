"""A match in a sandboxed frame of another site. No other page can be framed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

from playwright.sync_api import Browser

from tests.web.browser import needs_browser
from tests.web.pages import pages

pytestmark = needs_browser


@contextmanager
def other_site(folder: Path, framed: str) -> Iterator[str]:
    """Another site with a page that shows `framed` in a sandboxed frame."""
    (folder / "index.html").write_text(
        f'<!doctype html><title>Blog</title><iframe title="A match" sandbox="allow-scripts" width="900" height="700"'
        f' src="{framed}"></iframe>'
    )
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://localhost:{server.server_port}/"
        finally:
            server.shutdown()


def test_a_match_plays_in_a_sandboxed_frame_of_another_site(browser: Browser, site: str, tmp_path: Path) -> None:
    with other_site(tmp_path, f"{site}/embed/matches/1?step=3") as other:
        page, wrong = browser.new_page(), list[str]()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(other)
        frame = page.frame_locator("iframe")
        frame.locator("[data-play]").click()
        frame.locator("#at").filter(has_text="5").wait_for()
        frame.locator("[data-play]").click()
        frame.locator("[data-way=last]").click()
        last = frame.locator("#steps").get_attribute("data-last")
        frame.locator("#at").filter(has_text=last).wait_for()
        assert frame.locator("form").count() == 0
        page.wait_for_timeout(300)
        assert not wrong
        page.close()


def test_without_scripts_a_framed_match_steps_inside_its_frame(browser: Browser, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/embed/matches/1?step=3&seat=1")
    page.locator("[data-way=next]").click()
    assert page.url == f"{site}/embed/matches/1?step=4&seat=1"
    context.close()


def test_no_other_page_can_be_framed(site: str) -> None:
    for path in pages(site):
        with urlopen(site + path, timeout=60) as answer:
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], path
    with urlopen(f"{site}/embed/matches/1", timeout=60) as answer:
        policy = answer.headers["content-security-policy"]
    assert "frame-ancestors *" in policy
    assert "form-action 'none'" in policy
    assert "unsafe" not in policy
