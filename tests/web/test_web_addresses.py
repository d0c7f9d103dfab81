"""The addresses on pages come from the settings or the socket, never from the Host header."""

from __future__ import annotations

import ast
import re
from html import unescape

import pytest
from starlette.datastructures import Headers
from structlog.testing import capture_logs

from arena.web.answers.addresses import Addresses, BotAddress, bot_address, pages_address
from arena.web.answers.static_files import static_path
from arena.web.requests.each_request import RequestRules
from arena.web.requests.sites import SiteRefused, Sites
from tests.cli.web_rig import WebPages
from tests.documents import ADDRESS
from trio_grpc.http2.proxy_protocol import networks

HERE = BotAddress("127.0.0.1:50051")
EVIL = {"host": "evil.example", "x_forwarded_host": "evil.example", "forwarded": "host=evil.example;proto=https"}


def shown(
    addresses: Addresses, path: str = "/write-a-bot", local: str = "127.0.0.1", port: int = 8080, proxies: str = ""
) -> str:
    """Return the page at one of the machine's addresses, requested by a client that forges the server's name."""
    rules = RequestRules(addresses=addresses, proxies=networks(proxies) if proxies else ())
    pages = WebPages(lambda: pytest.fail("this page reads no data"), rules)
    answer = pages.get(path, server=(local, port), **EVIL)
    assert answer.status == 200
    assert "evil" not in answer.text
    return unescape(answer.text)


def picture(page: str) -> str | None:
    found = re.search(r'og:image" content="([^"]+)"', page)
    return found and found[1]


@pytest.mark.parametrize(
    ("local", "port", "origin"),
    [
        ("127.0.0.1", 8080, "http://127.0.0.1:8080"),
        ("192.0.2.7", 80, "http://192.0.2.7"),
        ("::ffff:192.0.2.7", 8080, "http://192.0.2.7:8080"),
        ("2001:db8::1", 8080, "http://[2001:db8::1]:8080"),
    ],
)
def test_a_page_prints_the_address_at_which_the_request_arrived(local: str, port: int, origin: str) -> None:
    assert picture(shown(Addresses(), local=local, port=port)) == f"{origin}{static_path('')}/preview.png"
    assert f"curl '{origin}/api/v1/" in shown(Addresses(), "/api", local, port)


def test_a_page_prints_the_public_address_with_its_path() -> None:
    addresses = Addresses("HTTPS://Arena.example/cards/", "https://arena.example:443", HERE)
    page = shown(addresses)
    assert picture(page) == f"https://arena.example{static_path('/cards')}/preview.png"
    assert 'href="/cards/bots"' in page
    assert "arena.example:443</code>, with TLS." in page
    assert picture(shown(addresses, proxies="127.0.0.1")) == picture(page)


def test_behind_a_named_proxy_a_page_prints_no_address_and_the_log_says_once_what_to_set() -> None:
    addresses = Addresses(listens=HERE)
    with capture_logs() as log:
        for _ in range(2):
            page = shown(addresses, proxies="127.0.0.1")
            assert picture(page) is None
            assert "do not know the address" in page
            assert "127.0.0.1" not in page
    event = "pages behind a proxy print no address until it is set"
    assert log == [{"event": event, "settings": "public_url, public_address", "log_level": "warning"}]


@pytest.mark.parametrize(
    ("listens", "local", "server"),
    [
        ("127.0.0.1:50051", "127.0.0.1", "127.0.0.1:50051"),
        ("127.0.0.1:50051", "192.0.2.7", None),
        ("localhost:50051", "192.0.2.7", None),
        ("192.0.2.9:50051", "192.0.2.7", "192.0.2.9:50051"),
        (":50051", "192.0.2.7", "192.0.2.7:50051"),
        ("0.0.0.0:50051", "192.0.2.7", "192.0.2.7:50051"),
        ("0.0.0.0:50051", "2001:db8::1", None),
        ("[::]:50051", "2001:db8::1", "[2001:db8::1]:50051"),
    ],
)
def test_authors_see_where_bots_connect_if_they_can(listens: str, local: str, server: str | None) -> None:
    page = shown(Addresses(listens=BotAddress(listens)), local=local)
    assert (ADDRESS in page) is (server is None)
    if server is not None:
        assert page.count(f'"{server}"') == 3, "Python, TypeScript and C++ name it in the code"
        assert page.count(f"<code>--server {server}</code>") == 3, "Go, Rust and Java on the command line"


def test_the_bots_of_a_server_with_tls_use_tls() -> None:
    page = shown(Addresses(listens=BotAddress("127.0.0.1:50051", tls=True)))
    codes = re.findall(r'<pre[^>]*"A whole bot in [^>]*><code>(.*?)</code></pre>', page, re.DOTALL)
    [run] = [
        each for each in ast.walk(ast.parse(codes[0])) if isinstance(each, ast.Call) and "run" in ast.dump(each.func)
    ]
    assert ast.unparse(run) == "run(MyBot(), '127.0.0.1:50051', tls=True)"
    assert 'run(new MyBot(), "127.0.0.1:50051", { tls: true })' in codes[1]
    assert 'at.address = "127.0.0.1:50051"; at.tls = true; return arena::run(bot, at);' in codes[3]
    assert page.count("<code>--server 127.0.0.1:50051 --tls</code>") == 3


@pytest.mark.parametrize(
    "wrong",
    ["arena.example", "ftp://arena.example", "https://", "https://a b", "https://a/?q", "https://u@a", "//a", ""],
)
def test_an_address_of_pages_that_is_none_is_named(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"is no address of pages, such as https://arena\.example"):
        pages_address(wrong)


@pytest.mark.parametrize(
    "wrong", ["arena.example", "http://arena.example:1", "arena:0", "arena:65536", ":50051", "a b:1", ""]
)
def test_an_address_of_a_server_that_is_none_is_named(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"is no address of a server, such as arena\.example:50051"):
        bot_address(wrong)


def test_the_public_pages_may_do_more_than_read() -> None:
    headers = Headers({"host": "arena.example", "origin": "https://arena.example"})
    with pytest.raises(SiteRefused):
        Sites("127.0.0.1", "").check(headers)
    Sites("127.0.0.1", "", Addresses("https://arena.example/cards").origin).check(headers)
