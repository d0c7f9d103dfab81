"""The documentation at `/docs`, as `make docs` installs it, and the page that replaces it if it is not installed."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser

from arena.web.pages.documentation import WHEEL
from tests.cli.web_data import directory_of, pages_of
from tests.cli.web_process_rig import ask, browsing
from tests.cli.web_rig import WebPages
from tests.web.browser import DARK_PHONE, DESKTOP, Look, looking, needs_browser, picture_name
from tests.web.test_web_axe import violations
from tools import documentation

needs_site = pytest.mark.skipif(
    find_spec("arena_docs") is None and os.environ.get("CI") != "true", reason="make docs has not installed the site"
)
SEEN: Final = (("/docs/", DESKTOP), ("/docs/design.html", DARK_PHONE), ("/docs/search.html?q=trump", DESKTOP))
"""Pages that a browser opens: the first page, a page with diagrams, and a search result."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return directory_of(tmp_path_factory.mktemp("documentation") / "data")


@pytest.fixture(scope="module")
def pages(data: Path) -> WebPages:
    return pages_of(data)


@needs_site
def test_the_site_is_served_with_a_policy_of_its_own_and_the_other_pages_with_theirs(pages: WebPages) -> None:
    ours = pages.get("/").headers["content-security-policy"]
    assert "unsafe" not in ours
    assert "data:" not in ours
    page = pages.get("/docs/ladder.html", accept_encoding="gzip")
    assert "<h1>The ladder" in page.text
    policy = dict(each.split(" ", 1) for each in page.headers["content-security-policy"].split("; "))
    scripts = policy.pop("script-src").split(" ")
    assert scripts[0] == "'self'"
    assert len(scripts) == 1 + len(set(re.findall(r"<script>.*?</script>", page.text, re.DOTALL)))
    assert all(re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", each) for each in scripts[1:])
    assert policy == {
        "default-src": "'none'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    assert pages.get("/docs/nothing.html").headers["content-security-policy"] == ours


@needs_site
def test_files_of_the_site_are_found_compressed_and_asked_for_once_and_nothing_else_is(pages: WebPages) -> None:
    for name, media_type in (
        ("index.html", "text/html; charset=utf-8"),
        ("searchindex.js", "text/javascript; charset=utf-8"),
        ("_static/mermaid/mermaid.esm.min.mjs", "text/javascript; charset=utf-8"),
        ("_static/styles/furo.css", "text/css; charset=utf-8"),
        ("pictures/docs/match-still.webp", "image/webp"),
    ):
        answer = pages.get(f"/docs/{name}", accept_encoding="gzip")
        assert (answer.status, answer.headers["content-type"]) == (200, media_type)
        assert answer.headers["content-encoding"] == "gzip"
        again = pages.get(f"/docs/{name}", accept_encoding="gzip", if_none_match=answer.headers["etag"])
        assert (again.status, again.text) == (304, "")
        plain = pages.get(f"/docs/{name}")
        assert ("content-encoding" in plain.headers, plain.text) == (False, answer.text)
    head = pages.get("/docs/ladder.html", "HEAD")
    assert (head.status, head.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert pages.get("/docs/ladder.html", "POST").status == 405
    answer = pages.get("/docs")
    assert (answer.status, answer.headers["location"]) == (302, "/docs/")
    for path in (
        "nothing.html",
        "../__init__.py",
        "..%2f__init__.py",
        "/etc/passwd",
        "_static",
        "_static/",
        "./index.html",
    ):
        assert pages.get(f"/docs/{path}").status == 404, path


def test_where_no_site_is_installed_a_page_says_where_it_is(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arena_docs", None)
    pages = pages_of(data)
    for path in ("/docs", "/docs/"):
        answer = pages.get(path)
        assert answer.status == 200
        assert f"pip install ./{WHEEL}" in answer.text
        assert "make docs" in answer.text
    answer = pages.get("/docs/ladder.html")
    assert (answer.status, "/docs says where it is" in answer.text) == (404, True)


def test_the_wheel_has_the_name_that_the_page_says() -> None:
    name, _ = documentation.packed_site({})
    assert name == WHEEL


@needs_site
@needs_browser
def test_a_browser_shows_diagrams_and_finds_words_with_nothing_from_elsewhere(data: Path, browser: Browser) -> None:
    with browsing("--data", str(data)) as place:
        host, port = place
        for path, look in SEEN:
            see(browser, f"http://{host}:{port}", path, look)
        answer, _ = ask(place, "/docs/../../../../etc/passwd")
        assert answer.status == 404


def see(browser: Browser, site: str, path: str, look: Look) -> None:
    with looking(browser, site, look) as seen:
        page = seen.go(path)
        if "design" in path:
            for diagram in page.locator("pre.mermaid").all():
                diagram.locator("svg").wait_for()
            assert page.locator("pre.mermaid").count() == page.locator("pre.mermaid svg").count() > 1
        if "search" in path:
            page.wait_for_selector("ul.search li a")
            assert "Nullern" in page.locator("ul.search").inner_text()
        seen.picture(picture_name(path))
        assert violations(page) == []
