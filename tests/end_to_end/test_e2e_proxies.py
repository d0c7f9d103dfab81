"""The page on proxies is correct: the test extracts its nginx configurations and runs them in front of a server."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPSConnection
from itertools import count
from pathlib import Path
from typing import Any, Final

import grpc
import pytest

from tests.cli.test_cli_serve_web import serving
from tests.cli.web_process_rig import browsing
from tests.cli.web_socket import Refusal, Socket
from tests.end_to_end.e2e_rig import ARENA, PATIENCE, ROOT, Ended, RawBot, Server, program, register, server, until

PAGE: Final = (ROOT / "docs" / "proxies.md").read_text()
STREAM, HTTP, SITE = re.findall(r"^```nginx\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
NGINX: Final = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
MODULE: Final = Path("/usr/lib/nginx/modules/ngx_stream_module.so")
NUMBERS: Final = count()
SLOW: Final = 20
"""Factor by which heartbeats and timeouts are shortened if a test has to wait for them."""

pytestmark = pytest.mark.skipif(
    not (NGINX and MODULE.exists()) and os.environ.get("CI") != "true",
    reason="there is no nginx: tools/debian-packages.sh installs it, where there is Debian",
)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a certificate."""
    folder = tmp_path_factory.mktemp("tls") / "tls"
    subprocess.run([str(ARENA), "cert", str(folder)], check=True, capture_output=True, timeout=PATIENCE, cwd=ROOT)
    return folder


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@contextmanager
def nginx(folder: Path, tls: Path, text: str, places: Mapping[str, str]) -> Iterator[str]:
    """Run a configuration of the page on any free port, with other upstream addresses. Yield its address."""
    assert NGINX, "there is no nginx: tools/debian-packages.sh installs it"
    port = free_port()
    for old, new in {"listen 443": f"listen 127.0.0.1:{port}", "/etc/arena": str(tls), **places}.items():
        assert old in text, old
        text = text.replace(old, new)
    kept = "\n".join(
        f"{name}_temp_path {folder / name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    text = text.replace("http {\n", f"http {{\naccess_log off;\n{kept}\n")
    user = "user root;\n" if os.geteuid() == 0 else ""
    config = folder / "nginx.conf"
    config.write_text(
        f"{user}load_module {MODULE};\ndaemon off;\nworker_processes 1;\npid {folder}/pid;\n"
        f"error_log {folder}/error.log;\nevents {{}}\n{text}"
    )
    process = subprocess.Popen([NGINX, "-c", str(config), "-e", f"{folder}/error.log"], stderr=subprocess.PIPE)
    try:
        until(lambda: process.poll() is not None or answers(port), "nginx listens")
        assert process.poll() is None, process.communicate()[1].decode()
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionError:
        return False
    return True


class SecureBot(RawBot):
    """A handwritten bot that connects with TLS."""

    def __init__(self, address: str, token: str, tls: Path, **how: Any) -> None:
        self._roots = (tls / "cert.pem").read_bytes()
        super().__init__(address, token, **how)

    def open_channel(self) -> grpc.Channel:
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        return grpc.secure_channel(self.address, grpc.ssl_channel_credentials(self._roots), options)


def lives(bot: RawBot) -> bool:
    """Return True if a stream stays open for one and a half timeouts. Then close it."""
    heartbeats = 0
    try:
        while heartbeats < 9:
            heartbeats += bot.read().HasField("heartbeat")
    except Ended:
        return False
    finally:
        bot.close()
    return True


def plays_a_match(address: str, tls: Path, folder: Path, name: str) -> None:
    command = ["-m", "arena_client.samples.random_bot", "--server", address, "--tls-roots", str(tls / "cert.pem")]
    with program(*command, "--name", name, "--token-file", str(folder / f"{name}.token"), "--matches", "1") as bot:
        words, _ = bot.communicate(timeout=PATIENCE)
    assert bot.returncode == 0, words


def here(running: Server) -> Mapping[str, str]:
    return {"127.0.0.1:50051": running.address}


@pytest.mark.parametrize(
    ("text", "options"), [(STREAM, ("--proxies", "127.0.0.1")), (HTTP, ())], ids=["stream", "http"]
)
def test_a_bot_plays_a_match_through_nginx_by_tls(
    tmp_path: Path, tls: Path, text: str, options: tuple[str, ...]
) -> None:
    with (
        server(tmp_path / "data", "--debug", "--house", "--patience", "0", "--luck", "off", *options) as running,
        nginx(tmp_path, tls, text, here(running)) as address,
    ):
        plays_a_match(address, tls, tmp_path, "ann")
        logged = re.findall(r'"peer": "([^"]+)"', running.log)
        assert logged
        assert all(peer.startswith("ipv4:127.0.0.1:") for peer in logged)


@pytest.fixture(scope="module", params=[True, False], ids=["with heartbeats", "without heartbeats"])
def beating(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, bool]]:
    """A server. Its heartbeats may be as frequent as the page's timeouts require, or rarer."""
    beats = bool(request.param)
    folder = tmp_path_factory.mktemp("beating")
    with server(folder / "data", "--heartbeat", str(10 / SLOW) if beats else "3600") as running:
        yield running, beats


@pytest.mark.parametrize("text", [STREAM, HTTP], ids=["stream", "http"])
def test_a_stream_without_a_match_lives_as_long_as_heartbeats_come(
    tmp_path: Path, tls: Path, text: str, beating: tuple[Server, bool]
) -> None:
    """All times are a twentieth of the page's. Without heartbeats these timeouts end the stream."""
    running, beats = beating
    text = text.replace("60s", f"{60 // SLOW}s").replace("proxy_protocol on;", "")
    with nginx(tmp_path, tls, text, here(running)) as address:
        bot = SecureBot(address, register(running.address, f"idle-{next(NUMBERS)}"), tls, capacity=0)
        assert lives(bot) == beats, bot.end


def test_a_stream_may_say_more_than_a_request_of_nginx(tmp_path: Path, tls: Path) -> None:
    with server(tmp_path / "data", "--heartbeat", "0.5") as running:
        for text, lifted in ((HTTP, True), (HTTP.replace("client_max_body_size 0;", ""), False)):
            with nginx(tmp_path, tls, text, here(running)) as address:
                bot = SecureBot(address, register(running.address, f"talker-{lifted:d}"), tls, capacity=0)
                bot.read()
                unknown = b"\x9a\x06\x80\x80\x04" + bytes(1 << 16)
                for _ in range(24):  # 1.5 MiB
                    bot.send(unknown)
                assert lives(bot) == lifted, bot.end


def test_pages_and_calls_share_a_port_and_each_knows_whose_a_request_is(tmp_path: Path, tls: Path) -> None:
    log: list[str] = []
    with server(tmp_path / "data", "--house", "--patience", "0", "--luck", "off") as running:
        options = ("--data", str(tmp_path / "data"), "--proxy", "127.0.0.1", "--access-log")
        public = ("--public-url", "https://arena.example/arena")
        with (
            browsing(*options, *public, log=log) as (host, port),
            nginx(tmp_path, tls, HTTP, {**here(running), "127.0.0.1:8080": f"{host}:{port}"}) as address,
        ):
            plays_a_match(address, tls, tmp_path, "ann")
            name, _, number = address.partition(":")
            secure = ssl.create_default_context(cafile=str(tls / "cert.pem"))
            connection = HTTPSConnection(name, int(number), context=secure, timeout=PATIENCE)
            connection.request("GET", "/arena/bots/ann", headers={"X-Forwarded-For": "192.0.2.7"})
            answer = connection.getresponse()
            text = answer.read().decode()
            connection.close()
            assert answer.status == 200
            assert 'og:image" content="https://arena.example/arena/static/' in text
            links = re.findall(r'href="(/[^"]*)"', text)
            assert links
            assert all(link.startswith("/arena/") for link in links)
    asked = [line for line in log if "/bots/ann" in line]
    assert asked
    assert all("192.0.2.7" in line for line in asked), "a named proxy is believed"


def site(host: str) -> Mapping[str, str]:
    """Return the headers that a browser sends from a page of this site."""
    return {"host": host, "origin": f"https://{host}"}


def test_a_bot_plays_over_a_websocket_through_nginx_if_its_site_is_named(tmp_path: Path, tls: Path) -> None:
    secure = ssl.create_default_context(cafile=str(tls / "cert.pem"))
    text = HTTP.replace("        location /arena/ {", f"{SITE}\n        location /arena/ {{")
    options = ("--seats", "2", "--patience", "0", "--luck", "off", "--public-url", "https://arena.example")
    with serving(tmp_path / "data", *options) as running:
        places = {"127.0.0.1:50051": running.address, "127.0.0.1:8081": f"{running.host}:{running.port}"}
        with nginx(tmp_path, tls, text, places) as address:
            name, _, port = address.partition(":")
            with pytest.raises(Refusal) as refused:
                Socket(name, int(port), site("evil.example"), secure)
            assert refused.value.problem["reason"] == "HOST_UNKNOWN"
            with Socket(name, int(port), site("arena.example"), secure) as socket:
                socket.say({"register": {"name": "ann"}})
                socket.say({"token": socket.hear()["token"]})
                socket.say({"hello": {"games": ["sixth_sense"], "capacity": 1}})
                assert socket.hear()["welcome"]["bot"] == "ann"
                socket.say({"leave": True})
                assert socket.end()[1].code == 1000


def test_nginx_and_the_server_understand_their_files_for_compose(tmp_path: Path, tls: Path) -> None:
    assert NGINX, "there is no nginx: tools/debian-packages.sh installs it"
    files = ROOT / "contrib" / "container"
    text = (files / "nginx.conf").read_text()
    for old, new in {
        "/etc/arena/tls/fullchain.pem": tls / "cert.pem",
        "/etc/arena/tls/privkey.pem": tls / "key.pem",
    }.items():
        assert old in text
        text = text.replace(old, str(new))
    (tmp_path / "nginx.conf").write_text(f"load_module {MODULE};\npid {tmp_path}/pid;\n{text}")
    command = [NGINX, "-t", "-c", str(tmp_path / "nginx.conf"), "-e", str(tmp_path / "error.log")]
    tested = subprocess.run(command, capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stderr
    settings = [str(ARENA), "serve", "--config", str(files / "arena.toml"), "--print-config"]
    shown = subprocess.run(settings, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout
    proxy, server = re.findall(r"ipv4_address: (\S+)", (files / "compose.yaml").read_text())[::-1]
    assert f'proxies = "{proxy}"' in shown
    for name in ("nginx.conf", "prometheus.yml"):
        assert {*re.findall(r"172\.\S+(?=:\d)", (files / name).read_text())} == {server}
