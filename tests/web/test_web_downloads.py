"""Downloads for bot authors: the installed files and their digests."""

from __future__ import annotations

import io
import re
import zipfile
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest

from arena.web.answers.addresses import Addresses
from arena.web.requests.each_request import RequestRules
from tests.cli.web_rig import WebPages
from tests.web.test_web_addresses import shown

ROOT = Path(__file__).parents[2]
STARTERS = {path.name: path for path in (ROOT / "clients" / "starters").iterdir()}


@pytest.fixture(scope="module")
def pages() -> WebPages:
    return WebPages(lambda: pytest.fail("these pages read no data"), RequestRules(addresses=Addresses()))


def test_every_file_has_the_digest_that_the_page_shows(pages: WebPages) -> None:
    rows = re.findall(
        r'href="(/download/[^"]+)" download>([^<]+)<.*?<code>([0-9a-f]{64})<', pages.get("/download").text
    )
    names = [unescape(name) for _, name, _ in rows]
    assert names[0].startswith("arena_client-")
    assert names[1].startswith("arena_engine-")
    assert {*names[2:]} == {*STARTERS}
    for (_, _, digest), name in zip(rows, names, strict=True):
        path = f"/download/{name}"
        answer = pages.get(path)
        assert sha256(answer.content).hexdigest() == digest
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
        if name in STARTERS:
            assert answer.content == STARTERS[name].read_bytes()
        else:
            packed = zipfile.ZipFile(io.BytesIO(answer.content))
            assert packed.testzip() is None
            package = "engine" if "engine" in name else "arena_client"
            assert f"{package}/version.py" in packed.namelist()
        assert pages.get(path, if_none_match=answer.headers["etag"]).status == 304
        head = pages.get(path, "HEAD")
        assert (head.status, head.headers["content-length"]) == (200, str(len(answer.content)))


@pytest.mark.parametrize("name", ["nothing.whl", "../version.py", "..%2fversion.py", "/etc/passwd", "", "bot.awk/"])
def test_nothing_else_can_be_downloaded(pages: WebPages, name: str) -> None:
    assert pages.get(f"/download/{name}").status == 404


def test_the_page_for_authors_has_the_command_for_pip_with_the_address_of_these_pages_and_the_digest(
    pages: WebPages,
) -> None:
    [digest] = re.findall(r"arena_client[^<]*<.*?<code>([0-9a-f]{64})<", pages.get("/download").text)
    for path in ("/write-a-bot", "/download"):
        page = shown(Addresses("https://arena.example/cards"), path)
        found = re.search(r"pip install (\S+)</code>", page)
        assert found
        assert re.fullmatch(
            rf"https://arena\.example/cards/download/arena_client-[\w.+]+-py3-none-any\.whl#sha256={digest}", found[1]
        )
        assert "pip install http://192.0.2.7:8080/download/" in shown(Addresses(), path, "192.0.2.7")
        assert "pip install ./arena_client-" in shown(Addresses(), path, proxies="127.0.0.1")
