"""Ladder, bots, matches and rules in a real browser, on a real server with matches of real bots."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser

from tests.cli.cli_rig import Played
from tests.cli.web_process_rig import browsing
from tests.web.browser import DESKTOP, PHONE, kind, looking, needs_browser, overflow, picture_name
from tests.web.pages import pages

pytestmark = needs_browser

FIRST_PAGE: Final = 100_000
"""Maximum number of bytes of the first page with all its files."""
LINKS_ALIKE: Final = 4
"""Number of followed links of each kind."""
HOSTILE: Final = (
    "<script>alert(1)<b>",
    '"><img src=x onerror=alert(1)>',
    "\u202egnp.tob\u202c שלום",
    "🃏🤖" * 16,
    "W" * 64,
    "{{ 7 * 7 }} ${7} &amp; <title>",
    "javascript:alert(1)?a=b&c#d %2f",
)


def test_no_link_is_dead_with_scripts_and_no_page_breaks_its_policy(browser: Browser, site: str) -> None:
    links = set[str]()
    alike = Counter[str]()
    with looking(browser, site) as seen:
        for path in pages(site):
            page = seen.go(path)
            page.wait_for_load_state("networkidle")
            links |= set(
                page.eval_on_selector_all("[href]:not(use), [src]", "all => all.map((it) => it.href || it.src)")
            )
            seen.check()
        for link in sorted({each.partition("#")[0] for each in links}):
            alike[kind(link)] += 1
            if alike[kind(link)] <= LINKS_ALIKE:
                assert page.request.head(link).ok, link


def test_all_of_the_first_page_is_at_most_a_hundred_thousand_bytes(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page, sizes = seen.page, dict[str, int]()
        page.on("requestfinished", lambda asked: sizes.update({asked.url: asked.sizes()["responseBodySize"]}))
        seen.go("/").wait_for_load_state("networkidle")
        assert {"arena.css", "tv.js", "player.js"} <= {each.rpartition("/")[2] for each in sizes}
        assert 1_000 < sum(sizes.values()) <= FIRST_PAGE, sizes


def test_every_page_has_a_favicon_and_tells_other_sites_what_it_is(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        for path in pages(site):
            page = seen.go(path)
            told = page.eval_on_selector_all(
                "meta[property^='og:']",
                "all => Object.fromEntries(all.map((it) => [it.getAttribute('property'), it.content]))",
            )
            assert all(told.get(f"og:{name}") for name in ("title", "description", "image", "type")), (path, told)
            assert told["og:image"].startswith(site), "other sites need the whole address"
            icon = page.request.get(page.locator("link[rel=icon]").evaluate("it => it.href"))
            assert icon.headers["content-type"] == "image/svg+xml"
        picture = page.request.get(told["og:image"])
        assert (picture.headers["content-type"], picture.body()[:4]) == ("image/png", b"\x89PNG")


def test_matches_are_filtered_by_the_form(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/matches")
        page.get_by_label("Game").select_option("nullern")
        bot = page.get_by_label("Bot", exact=True)
        bot.fill("rules")
        bot.press("Enter")
        page.wait_for_url("**/matches?**bot=rules**")
        games = page.locator("table.matches tbody td:nth-child(2)").all_text_contents()
        assert games
        assert set(games) == {"Nullern"}


@pytest.fixture
def hostile(arena: Played, tmp_path: Path) -> Iterator[str]:
    """Pages over a copy of the data with names, owners and versions that no server accepts."""
    data = tmp_path / "data"
    shutil.copytree(arena.data, data, ignore=shutil.ignore_patterns("arena.*", "*.sock"))
    with closing(sqlite3.connect(arena.data / "arena.db")) as here, closing(sqlite3.connect(data / "arena.db")) as copy:
        here.backup(copy)
        found = [row[0] for row in copy.execute("SELECT id FROM bots ORDER BY id")]
        for place, number in enumerate(found):
            odd = HOSTILE[place % len(HOSTILE)]
            name = odd if place < len(HOSTILE) else f"{odd}{number}"
            copy.execute("UPDATE bots SET name = ?, key = ?, owner = ? WHERE id = ?", (name, name.lower(), odd, number))
            copy.execute("UPDATE names SET key = ? WHERE bot_id = ?", (name.lower(), number))
            copy.execute("UPDATE versions SET version = ? || '#' || id WHERE bot_id = ?", (odd, number))
        copy.commit()
    with browsing("--data", str(data)) as (host, port):
        yield f"http://{host}:{port}"


def test_names_that_are_markup_do_nothing(browser: Browser, hostile: str) -> None:
    names = set[str]()
    for look in (DESKTOP, PHONE):
        with looking(browser, hostile, look) as seen:
            for path in pages(hostile):
                page = seen.go(path)
                assert page.locator("main img, main script, main b").count() == 0, path
                found = overflow(page)
                assert not found, (path, found)
                seen.picture(f"odd-names-{picture_name(path)}-{look.name}")
            page = seen.go("/bots")
            shown = page.locator("tbody th a")
            names = set(shown.all_text_contents())
            for link in shown.evaluate_all("all => all.map((it) => it.href)"):
                assert page.request.get(link).ok, link
    assert set(HOSTILE) <= names
