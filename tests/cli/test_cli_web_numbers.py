"""Replace every number in an address of the pages with a huge, negative, non-ASCII or very long number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http.client import HTTPConnection
from itertools import chain, islice
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from starlette.applications import Starlette
from starlette.datastructures import QueryParams

from arena.web.api.application import PATH
from arena.web.api.endpoints import ENDPOINTS
from tests.cli.cli_rig import PATIENCE, Played
from tests.cli.web_data import pages_of
from tests.cli.web_process_rig import browsing
from tests.cli.web_rig import routes

LARGEST = (1 << 63) - 1
VALUES = (
    *("0", "2", "-1", "+1", "1.5", "1e3", "0x10", "1_0", " 1", "nan", "None"),
    *(f"{LARGEST - 1}", f"{LARGEST}", f"{LARGEST + 1}", f"-{LARGEST + 2}", f"{1 << 64}"),
    *("9" * 5000, "-" + "9" * 5000, "0" * 5000, "0" * 30 + "9" * 30, "0" * 4999 + "1"),
    *("١", "１", "²", "é", "☃", "\0", "\n", "0001-01-01", "9999-12-31", "0001-01-01T00:00+23:59", "1969-12-31"),
    *("matches/" + number for number in (f"{LARGEST}", f"{LARGEST + 1}", "9" * 5000, "١")),
)
THERE = "2"
"""The number of an existing match without an analysis."""
USUAL = {"number": "1", "match": "1", "step": "2", "round": "1", "game": "sixth_sense", "ladder": "sixth_sense"}
USUAL |= {"name": "counter"}
"""Values of existing objects, by parameter."""


class Address(NamedTuple):
    """A route with the parameters of its path and query."""

    method: str
    path: str
    """The path, with its parameters in braces."""
    in_path: Sequence[str]
    in_query: Sequence[str]

    def of(self, given: dict[str, str]) -> str:
        values = {name: quote(given.get(name, USUAL.get(name, "matches")), safe="") for name in self.in_path}
        query = {name: given.get(name, USUAL.get(name, "")) for name in self.in_query}
        return self.path.format(**values) + "?" + urlencode({name: each for name, each in query.items() if each})

    @property
    def with_each_value(self) -> Iterator[str]:
        for name in chain(self.in_path, self.in_query):
            for value in VALUES:
                if self.method != "POST" or value != THERE:
                    yield self.of({name: value})


@pytest.fixture(scope="module")
def addresses(played: Played) -> Sequence[Address]:
    """Return all routes of the application with the query parameters that each reads."""
    pages = pages_of(played.data)
    assert isinstance(pages.app, Starlette)
    of_endpoints = {PATH + each.path: [one.name for one in each.parameters] for each in ENDPOINTS}
    found, get = [], QueryParams.get
    with pytest.MonkeyPatch.context() as patched:
        for method, path, in_path in routes(pages.app.routes):
            if path in of_endpoints:
                in_query = [name for name in of_endpoints[path] if name not in in_path]
                found.append(Address(method, path, in_path, in_query))
                continue
            names = list[str]()

            def noted(query: QueryParams, name: str, default: Any = None, names: list[str] = names) -> Any:
                names += [] if name in names else [name]
                return get(query, name, default)

            patched.setattr(QueryParams, "get", noted)
            known = -1
            while len(names) > known:  # some parameters are read only together with others
                known = len(names)
                address = Address(method, path, in_path, tuple(names))
                pages.get(address.of({"number": "9", "name": "nobody"} if method == "POST" else {}), method)
            found.append(Address(method, path, in_path, tuple(names)))
    return found


def test_all_numbers_that_the_code_reads_are_found(addresses: Sequence[Address]) -> None:
    by_path = {each.path: each for each in addresses}
    assert by_path["/matches/{number}/steps/{step}"] == (
        "GET",
        "/matches/{number}/steps/{step}",
        ["number", "step"],
        ("seat",),
    )
    assert set(by_path["/ladder/{ladder}"].in_query) == {"season", "seats", "at"}
    assert set(by_path["/bots/{name}/opponents"].in_query) == {"game", "ladder", "season", "after"}
    assert {"before", "seats", "since", "until"} <= set(by_path["/matches"].in_query)
    assert set(by_path[f"{PATH}/bots/{{name}}/opponents/{{ladder}}"].in_query) == {"season", "limit", "after", "last"}
    assert "/static/{path}" in by_path
    assert ("POST", "/matches/{number}/analysis") in [each[:2] for each in addresses]
    assert len(by_path) > 30


@pytest.mark.parametrize("source", ["server", "data"])
def test_no_number_in_any_address_is_a_fault(source: str, played: Played, addresses: Sequence[Address]) -> None:
    options = ("--server", played.server) if source == "server" else ("--data", str(played.data))
    with browsing(*options) as place:  # at the end, the log must contain no line about a fault
        connection = HTTPConnection(*place, timeout=PATIENCE)
        for first, address in enumerate(addresses):
            # A server is slower: each address gets some of the values, and together they get all.
            every = 3 if source == "server" else 1
            for path in islice(address.with_each_value, first % every, None, every):
                connection.request(address.method, path)
                answer = connection.getresponse()
                content = answer.read()
                kind = str(answer.getheader("content-type")).partition(";")[0]
                of_no_format = {501} if path.startswith("/oembed?format=") else set[int]()  # the URL format of oEmbed
                assert answer.status in {200, 303, 400, 404} | of_no_format, (path[:200], answer.status, content[:500])
                if answer.status >= 400:
                    assert kind == ("application/problem+json" if path.startswith(PATH) else "text/html"), path[:200]
        connection.close()
