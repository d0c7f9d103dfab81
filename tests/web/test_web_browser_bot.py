"""A bot that plays in a page of a real browser. A page of another site must not play."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from arena.web.application import application
from tests.cli.test_cli_serve_web import Server, serving
from tests.web.browser import DARK_PHONE, DESKTOP, looking, needs_browser
from tests.web.test_web_axe import check

pytestmark = needs_browser

STATIC: Final = Path(application.__code__.co_filename).parent / "static"
CROSS: Final = """(url) => new Promise((done) => {
  const socket = new WebSocket(url);
  socket.onopen = () => done("open");
  socket.onclose = ({ code }) => done(`closed ${code}`);
})"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    data = tmp_path_factory.mktemp("page") / "data"
    # A house bot that searches would need most of a busy machine's time.
    with serving(data, "--seats", "2", "--patience", "0", "--luck", "off", "--house-search", "0") as server:
        yield server


@contextmanager
def another_site() -> Iterator[str]:
    """An empty page with another origin on this machine."""

    class Empty(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>empty</title><link rel=icon href=data:,>")

        def log_message(self, *_: object) -> None:
            pass

    site = ThreadingHTTPServer(("127.0.0.1", 0), Empty)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{site.server_address[1]}"
    finally:
        site.shutdown()
        site.server_close()


def test_the_bot_has_about_fifty_lines() -> None:
    assert len((STATIC / "browser_bot.js").read_text().splitlines()) <= 60


@pytest.mark.parametrize("game", ["sixth_sense", "nullern"])
def test_a_bot_in_a_page_plays_rated_matches_and_comes_again(browser: Browser, server: Server, game: str) -> None:
    with looking(browser, f"http://{server.host}:{server.port}") as seen:
        page = seen.go("/write-a-bot")
        page.get_by_role("link", name="a bot plays in a page").click()
        page.get_by_label("Name").fill(f"page-{game.replace('_', '-')}")
        page.get_by_label("Game").select_option(game)
        page.get_by_role("button", name="Play").click()
        expect(page.locator("#results li").first).to_contain_text("place", timeout=60_000)
        seen.picture(f"browser-bot-{game}")
        played = json.loads(server.get(f"/api/v1/matches?bot=page-{game.replace('_', '-')}")[1])
        finished = [match for match in played["matches"] if match["state"] == "finished"]
        assert finished
        assert {match["kind"] for match in finished} == {"rated"}
        page.reload()
        page.get_by_label("Name").fill(f"page-{game.replace('_', '-')}")
        page.get_by_label("Game").select_option(game)
        page.get_by_role("button", name="Play").click()
        expect(page.locator("#state")).to_contain_text("Match", timeout=60_000)


def test_a_bot_in_a_page_connects_again_after_a_lost_connection(browser: Browser, server: Server) -> None:
    with looking(browser, f"http://{server.host}:{server.port}") as seen:
        page = seen.go("/write-a-bot/browser")
        page.get_by_label("Name").fill("page-again")
        page.get_by_role("button", name="Play").click()
        results = page.locator("#results li")
        expect(results.first).to_contain_text("place", timeout=60_000)
        os.kill(server.beside, signal.SIGKILL)
        expect(page.locator("#state")).to_contain_text("connects again")
        before = results.count()
        expect(results.nth(before + 1)).to_contain_text("place", timeout=60_000)


def test_the_page_has_no_violation(browser: Browser, server: Server) -> None:
    for look in (DESKTOP, DARK_PHONE):
        check(browser, f"http://{server.host}:{server.port}", "/write-a-bot/browser", look)


def test_what_the_server_refuses_is_on_the_page(browser: Browser, server: Server) -> None:
    with looking(browser, f"http://{server.host}:{server.port}") as seen:
        page = seen.go("/write-a-bot/browser")
        page.get_by_label("Name").fill("house-of-cards")
        page.get_by_role("button", name="Play").click()
        expect(page.locator("#state")).to_contain_text("NAME_NOT_ALLOWED")


def test_a_page_of_another_site_cannot_play(browser: Browser, server: Server) -> None:
    with another_site() as site:
        context = browser.new_context()
        page = context.new_page()
        page.goto(site)
        assert page.evaluate(CROSS, f"ws://{server.host}:{server.port}/play") == "closed 1006"
        page.goto(f"http://{server.host}:{server.port}/live")
        assert page.evaluate(CROSS, f"ws://{server.host}:{server.port}/play") == "open"
        context.close()
