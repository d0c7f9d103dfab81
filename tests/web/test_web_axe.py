"""Accessibility: axe-core finds no violation on any page. The test saves a screenshot of each page."""

from __future__ import annotations

from itertools import cycle
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page

from tests.web.browser import AXE, LOOKS, Look, looking, needs_browser, picture_name
from tests.web.pages import pages

pytestmark = needs_browser

RULES: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_RUN: Final = """async (rules) => {
  const found = await axe.run(document, { runOnly: rules, resultTypes: ["violations"] });
  return found.violations.map((each) => ({ id: each.id, help: each.help, where: each.nodes.map((node) =>
    `${node.target}: ${node.failureSummary}`) }));
}"""


def violations(page: Page) -> list[dict[str, Any]]:
    """Return axe's violations on a page."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = page.evaluate(_RUN, [*RULES])
    return found


def check(browser: Browser, site: str, path: str, look: Look) -> None:
    with looking(browser, site, look) as seen:
        page = seen.go(path)
        seen.picture(f"{picture_name(path)}-{look.name}")
        found = violations(page)
        assert not found, (path, look, found)


def test_no_page_has_a_violation(browser: Browser, site: str) -> None:
    """Each page is shown with one of four settings: light or dark, desktop or phone."""
    for path, look in zip(pages(site), cycle(LOOKS), strict=False):
        check(browser, site, path, look)


@pytest.mark.long
def test_no_page_has_a_violation_however_it_is_looked_at(browser: Browser, site: str) -> None:
    for path in pages(site):
        for look in LOOKS:
            check(browser, site, path, look)


def test_a_page_that_does_violate_is_noticed(browser: Browser, site: str) -> None:
    with looking(browser, site) as seen:
        page = seen.go("/")
        page.evaluate("document.querySelector('main').append(document.createElement('img'))")
        assert [each["id"] for each in violations(page)] == ["image-alt"]
