"""The pages that a browser reaches through links from the first page, one of each kind."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser
from urllib.parse import urlsplit
from urllib.request import urlopen

from tests.web.browser import kind


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (link := dict(attrs).get("href")):
            self.found.append(link)


@cache
def pages(site: str) -> tuple[str, ...]:
    """Return the paths of all linked pages of a site, the first of each kind."""
    waiting, found = ["/"], dict[str, str]()
    while waiting:
        path = waiting.pop(0)
        if kind(path) in found:
            continue
        with urlopen(site + path, timeout=60) as answer:
            if not answer.headers["content-type"].startswith("text/html"):
                continue
            found[kind(path)] = path
            page = _Links()
            page.feed(answer.read().decode())
        there = [each for each in map(urlsplit, page.found) if each.path != "/docs/"]  # this page has its own tests
        waiting += [each.path + (f"?{each.query}" if each.query else "") for each in there if each.path]
    return tuple(found.values())
