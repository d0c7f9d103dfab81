"""Names of scripts, styles and pictures contain a hash of the content, so browsers request each file only once."""

from __future__ import annotations

import gzip
import re
from importlib.resources import files
from pathlib import Path

import pytest

from arena.web.answers.static_files import FILES, static_path
from tests.cli.web_data import directory_of, pages_of
from tests.cli.web_rig import WebPages


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> WebPages:
    return pages_of(directory_of(tmp_path_factory.mktemp("static") / "data"))


def test_a_file_may_be_kept_for_good_and_comes_compressed(site: WebPages) -> None:
    for name in FILES:
        answer = site.get(f"{static_path('')}/{name}", accept_encoding="gzip, br")
        assert (answer.status, answer.headers["cache-control"]) == (200, "public, max-age=31536000, immutable")
        assert answer.headers["access-control-allow-origin"] == "*", "for a frame without an origin"
        if name.endswith(".png"):
            continue
        [place] = [
            found
            for package, folder in (("arena.web", "static"), ("arena.replay.render", "page"))
            if (found := Path(str(files(package) / folder / name))).exists()
        ]
        assert answer.text == place.read_text(), "what is sent is what is there"
        assert answer.headers["content-encoding"] == "gzip"
        assert int(answer.headers["content-length"]) == len(gzip.compress(place.read_bytes())) < len(answer.text)
        plain = site.get(f"{static_path('')}/{name}")
        assert ("content-encoding" in plain.headers, plain.text) == (False, answer.text)
        tag = answer.headers["etag"]
        again = site.get(f"{static_path('')}/{name}", accept_encoding="gzip", if_none_match=tag)
        assert (again.status, again.text) == (304, "")


def test_an_address_of_another_version_leads_to_the_file_and_is_not_kept(site: WebPages) -> None:
    for path in ("/static/arena.css", "/static/0123456789abcdef/arena.css"):
        answer = site.get(path)
        assert (answer.status, answer.headers["location"]) == (302, f"{static_path('')}/arena.css")
        assert answer.headers["cache-control"] == "no-cache"
    for path in ("/static/nothing.css", f"{static_path('')}/nothing.css", "/static/", "/static/../responses.py"):
        assert site.get(path).status == 404, path


def test_every_script_and_style_of_a_page_has_the_name_of_this_version(site: WebPages) -> None:
    for path in ("/", "/tv", "/live", "/duels", "/status"):
        found = re.findall(r'(?:src|href|content)="([^"]*/static/[^"]*)"', site.get(path).text)
        assert found
        assert all(f"{static_path('')}/" in each for each in found), (path, found)


def test_pages_without_a_server_say_so_and_have_no_script_that_replaces_it(site: WebPages) -> None:
    for path in ("/live", "/status"):
        text = site.get(path).text
        assert "These pages read a data directory only" in text, path
        assert "<code>arena serve --web</code>" in text, path
        assert ("data-live=" in text, "<table" in text) == (False, False), path
