"""A match on other sites: which sites may embed it, and the oEmbed description of its URL."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest

from arena.queries.directory import opening_directory
from arena.store.opening import open_to_amend
from arena.web.answers.addresses import Addresses
from arena.web.requests.each_request import RequestRules
from arena.web.requests.sites import frame_ancestors
from tests.cli.test_cli_web_replays import keep
from tests.cli.web_data import directory_of, pages_of
from tests.cli.web_rig import WebPages

OWN = "https://arena.example/cards"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return directory_of(tmp_path_factory.mktemp("elsewhere") / "data", 4, 2)


@pytest.fixture
def site(data: Path) -> WebPages:
    return pages_of(data, RequestRules(addresses=Addresses(OWN)))


def oembed(site: WebPages, url: str, **bounds: int | str) -> dict[str, object]:
    more = "".join(f"&{name}={value}" for name, value in bounds.items())
    answer = site.get(f"/oembed?url={quote(url, safe='')}{more}", host="evil.example")
    assert answer.status == 200, answer
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "evil" not in answer.text
    found: dict[str, object] = json.loads(answer.text)
    return found


@pytest.mark.parametrize(
    ("setting", "ancestors"),
    [
        ("", "*"),
        ("*", "*"),
        ("none", "'none'"),
        ("https://Blog.example, http://[::1]:3", "https://blog.example http://[::1]:3"),
    ],
)
def test_the_sites_of_the_setting_may_frame_a_match_and_no_other_page(data: Path, setting: str, ancestors: str) -> None:
    with opening_directory(data) as source:
        site = WebPages(source, RequestRules(frames=frame_ancestors(setting)))
        policy = site.get("/embed/matches/1").headers["content-security-policy"]
        assert policy.endswith(f"form-action 'none'; frame-ancestors {ancestors}")
        for path in ("/", "/matches/1", "/matches/1/steps/2", "/tv?kiosk", "/embed/matches/99"):
            assert "frame-ancestors 'none'" in site.get(path).headers["content-security-policy"], path


def test_the_page_of_a_match_leads_to_its_description_and_that_to_its_frame(site: WebPages) -> None:
    for path, frame in {
        "/matches/1": "/embed/matches/1",
        "/matches/1/steps/7": "/embed/matches/1?step=7",
        "/matches/1/steps/7?seat=2": "/embed/matches/1?step=7&seat=2",
    }.items():
        page = site.get(path).text
        [link] = re.findall(r'type="application/json\+oembed" title="[^"]*" href="([^"]+)"', page)
        assert link.startswith(f"{OWN}/oembed?url=https%3A%2F%2Farena.example%2Fcards%2Fmatches")
        found = json.loads(site.get(unescape(link).removeprefix(OWN)).text)
        assert (found["version"], found["type"], found["provider_url"]) == ("1.0", "rich", f"{OWN}/")
        assert found["title"] == "Match 1: 6th Sense"
        assert found["thumbnail_url"] == f"{OWN}/matches/1/picture.png"
        [source] = re.findall(r'<iframe src="([^"]+)"', found["html"])
        assert unescape(source) == OWN + frame
        assert 'sandbox="allow-scripts' in found["html"]
        assert site.get(unescape(source).removeprefix(OWN)).status == 200
        assert f'width="{found["width"]}" height="{found["height"]}"' in found["html"]


@pytest.mark.parametrize(("width", "height"), [(100_000, 100_000), (700, 9999), (390, 844), (320, 300), (2000, 629)])
def test_frame_and_picture_keep_to_the_bounds(site: WebPages, width: int, height: int) -> None:
    found = oembed(site, f"{OWN}/embed/matches/2?step=3", maxwidth=width, maxheight=height)
    assert isinstance(found["width"], int)
    assert isinstance(found["height"], int)
    assert 0 < found["width"] <= width
    assert 0 < found["height"] <= height
    assert ("thumbnail_url" in found) == (width >= 1200 and height >= 630)


@pytest.mark.parametrize(
    ("query", "status", "why"),
    [
        ("", 404, "url is the address of a match here, such as https://arena.example/cards/matches/1, not &#39;&#39;"),
        ("url=https://evil.example/cards/matches/1", 404, "url is the address of a match here"),
        ("url=https://arena.example/matches/1", 404, "url is the address of a match here"),
        ("url=https://arena.example/cards.evil.example/matches/1", 404, "url is the address of a match here"),
        ("url=https://arena.example/cards/bots/bot-1", 404, "url is the address of a match here"),
        ("url=https://arena.example/cards/matches/99", 404, "there is no match 99"),
        ("url=https://arena.example/cards/matches/99999999999999999999", 404, "url is the address of a match here"),
        ("url=https://arena.example/cards/matches/1&maxwidth=x", 404, "maxwidth is a whole number"),
        ("url=https://arena.example/cards/matches/1&format=xml", 501, "only format=json is offered, not &#39;xml&#39;"),
    ],
)
def test_only_addresses_of_matches_here_are_described(site: WebPages, query: str, status: int, why: str) -> None:
    answer = site.get(f"/oembed?{query}")
    assert (answer.status, why in answer.text) == (status, True), answer.text


def test_a_match_without_a_replay_is_not_described(tmp_path: Path) -> None:
    path = directory_of(tmp_path / "data", 2)
    with open_to_amend(path) as connection:
        keep(connection, 1, b"")
    site = pages_of(path, RequestRules(addresses=Addresses(OWN)))
    answer = site.get(f"/oembed?url={OWN}/matches/1")
    assert (answer.status, "match 1 has no replay to play" in answer.text) == (404, True)
    assert "json+oembed" not in site.get("/matches/1").text
