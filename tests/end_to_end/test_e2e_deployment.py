"""Deployment files: the offline archive, its systemd units in a booted Debian, and its container image."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.end_to_end.e2e_rig import until

pytestmark = [pytest.mark.process, pytest.mark.long]

ROOT = Path(__file__).parents[2]
DEBIAN = "systemd,systemd-sysv,dbus,python3,python3-venv"
"""Packages of the booted system besides Debian's essential packages."""
HERE = "localhost:50051"
PROXY, SERVER = "172.31.7.2", "172.31.7.3"
"""Addresses in compose.yaml."""
STREAMS = "/usr/lib/nginx/modules/ngx_stream_module.so"
SLIM = ("path-exclude=/usr/share/man/*", "path-exclude=/usr/share/doc/*", "path-exclude=/usr/share/locale/*")
"""Options of dpkg with which Debian builds its slim images."""
READ = """
import ssl, sys
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import urlsplit

url, host, roots = urlsplit(sys.argv[1]), sys.argv[2:3], sys.argv[3:]
if roots:
    connection = HTTPSConnection(url.netloc, context=ssl.create_default_context(cafile=roots[0]))
else:
    connection = HTTPConnection(url.netloc)
connection.request("GET", url.path, headers={"Host": host[0]} if host else {})
answer = connection.getresponse()
print(answer.status, answer.headers["Location"], answer.read().decode())
"""
"""A program that prints a web server's response: status, redirect address, and content."""
THINKER = """
import sys, time
from arena_client import Bot, run

class Thinker(Bot):
    name = "thinker"
    games = ("nullern",)

    def decide(self, decision):
        time.sleep(float(sys.argv[3]))
        return decision.legal[0]

run(Thinker(), sys.argv[4], token_file=sys.argv[1], matches=int(sys.argv[2]))
"""


def needed(*programs: str) -> None:
    """Skip a test with a message unless it runs as root and has the programs of `tools/debian-packages.sh
    --deployment`.
    """
    missing = [name for name in programs if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and {', '.join(missing) or 'nothing else'}: tools/debian-packages.sh --deployment")


def ran(*words: str | Path, **options: object) -> str:
    """Return the output of a program that must succeed."""
    result = subprocess.run(
        [*map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=1200,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert result.returncode == 0, (words, result.stdout)
    return str(result.stdout)


def codename() -> str:
    """Return the release name of this machine's Debian."""
    found = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.MULTILINE)
    assert found
    return found[1]


def key_pair(folder: Path) -> tuple[Path, str]:
    """Create a minisign key pair. Return the file of the secret key, and the public key."""
    ran("minisign", "-G", "-W", "-p", folder / "key.pub", "-s", folder / "key")
    return folder / "key", (folder / "key.pub").read_text().split()[-1]


@pytest.fixture(scope="session")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the keys that sign the archive."""
    needed("minisign")
    return key_pair(tmp_path_factory.mktemp("publisher"))


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory, publisher: tuple[Path, str]) -> Path:
    """Unpack the archive into a folder that does not refer to this checkout."""
    said = ran("make", "bundle", f"MINISIGN_KEY={publisher[0]}", cwd=ROOT)
    archive = re.search(r"^(dist/arena-\S+\.tar\.gz): \d+ MB$", said, re.MULTILINE)
    assert archive, said
    folder = tmp_path_factory.mktemp("bundle")
    with tarfile.open(ROOT / archive[1]) as packed:
        packed.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return unpacked


def test_a_signed_archive_installs_and_plays_without_a_network(
    bundle: Path, publisher: tuple[Path, str], tmp_path: Path
) -> None:
    needed("unshare", "ip")
    assert (bundle / "container" / "compose.yaml").exists()
    listed = json.loads((bundle / "sbom.json").read_text())
    assert {"grpcio", "numpy", "trio"} <= {each["name"] for each in listed["components"]}
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    script = f"ip link set lo up && {bundle}/install.sh {tmp_path}/arena && exec {tmp_path}/arena/bin/arena demo"
    said = ran(
        "unshare",
        "--net",
        "sh",
        "-c",
        script,
        cwd=tmp_path,
        env={**clean, "PYTHON": sys.executable, "PUBLIC_KEY": publisher[1]},
    )
    assert "Signature and comment signature verified" in said
    assert f"Trusted comment: {bundle.name}" in said
    assert "(compiled)" in said
    assert "OK" in said


def change(file: Path) -> None:
    """Change a byte of a copied file without changing the original, to which the copy is a hard link."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.unlink()
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "refusal"),
    [
        (lambda copy: change(next((copy / "wheels").glob("arena-0*"))), "wheels/arena-0.*: FAILED"),
        (lambda copy: change(copy / "SHA256SUMS"), "SHA256SUMS is not signed with the key RW"),
        (lambda copy: change(copy / "SHA256SUMS.minisig"), "SHA256SUMS is not signed with the key RW"),
        (lambda copy: (copy / "SHA256SUMS.minisig").unlink(), "SHA256SUMS.minisig is missing"),
        (None, "SHA256SUMS is not signed with the key RW"),
    ],
    ids=["a changed wheel", "changed checksums", "a changed signature", "no signature", "another key"],
)
def test_what_its_publisher_did_not_sign_is_not_installed(
    bundle: Path,
    publisher: tuple[Path, str],
    tmp_path: Path,
    harm: Callable[[Path], object] | None,
    refusal: str,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy, copy_function=os.link)
    key = publisher[1] if harm else key_pair(tmp_path)[1]
    if harm:
        harm(copy)
    refused = subprocess.run(
        [copy / "install.sh", tmp_path / "arena"],
        env={**os.environ, "PUBLIC_KEY": key},
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1
    assert re.search(refusal, refused.stdout + refused.stderr)
    assert "nothing is installed: " in refused.stderr
    assert not (tmp_path / "arena").exists()


class Machine:
    """A booted system that can run programs."""

    def __init__(self, leader: int) -> None:
        self._enter = ("nsenter", "--target", str(leader), "--all")

    def run(self, *words: str) -> str:
        return ran(*self._enter, *words)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*self._enter, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def shown(self, name: str) -> str:
        return self.run("systemctl", "show", "arena", "--property", name, "--value").strip()

    def until(self, name: str, wanted: Callable[[str], bool], what: str) -> None:
        until(lambda: wanted(self.shown(name)), what)

    def answer(self, *words: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(
            self.run("/opt/arena/bin/arena", *words, "--data", "/var/lib/arena", "--json")
        )
        return found


@pytest.fixture(scope="session")
def machine(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A booted Debian with systemd, on which the archive is installed as docs/run-a-server.md describes."""
    needed("mmdebstrap", "systemd-nspawn", "nsenter")
    root = tmp_path_factory.mktemp("machine") / "root"
    ran("mmdebstrap", "--variant=minbase", f"--include={DEBIAN}", codename(), root)
    shutil.copytree(bundle, root / "opt" / "bundle")
    command = ("systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network", "-D", str(root), "-b")
    environment = {**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"}
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=environment) as host:
        children = Path(f"/proc/{host.pid}/task/{host.pid}/children")
        until(children.read_text, "the system's first process")
        leader = int(children.read_text().split()[0])
        booted = Machine(leader)
        try:

            def up() -> bool:
                with suppress(AssertionError):
                    return booted.run("systemctl", "is-active", "multi-user.target").strip() == "active"
                return False

            until(up, "the system is booted")
            yield booted
        finally:
            with suppress(AssertionError):
                booted.run("systemctl", "poweroff")
            try:
                host.wait(30)
            except subprocess.TimeoutExpired:
                os.kill(leader, signal.SIGKILL)  # the system would survive its host program and disturb the next system
                host.kill()


def test_a_server_lives_under_systemd(machine: Machine) -> None:
    page = (ROOT / "docs" / "run-a-server.md").read_text()
    (install,) = re.findall(r"```sh\n(\./install\.sh .*?)```", page, re.DOTALL)
    machine.run("sh", "-euxc", f"cd /opt/bundle\n{install}")
    machine.until("ActiveState", lambda state: state == "active", "the server is ready")
    assert "0 matches running" in machine.shown("StatusText")
    assert machine.shown("User") == "arena"

    python = "/opt/arena/bin/python"
    bot = (python, "-m", "arena_client.samples.random_bot", "--name", "ann", "--token-file", "/tmp/ann")
    machine.run(*bot, "--matches", "3")
    until(
        lambda: any('"fitted": 1' in json.dumps(each) for each in [machine.answer("ladder")]),
        "a ladder is fitted under the unit",
    )

    thinker = machine.start(python, "-c", THINKER, "/tmp/thinker", "1", "0.2", HERE)
    machine.until("StatusText", lambda text: "1 matches running" in text, "a match")
    machine.run("systemctl", "kill", "--signal=KILL", "arena")
    machine.until("NRestarts", lambda number: number == "1", "a restart after kill -9")
    assert thinker.wait(300) == 0, "its match goes on after the restart"

    machine.run("systemctl", "kill", "--signal=STOP", "--kill-who=main", "arena")
    machine.until("NRestarts", lambda number: number == "2", "a restart by the watchdog")
    machine.until("ActiveState", lambda state: state == "active", "the server is ready again")

    thinker = machine.start(python, "-c", THINKER, "/tmp/thinker", "2", "0.2", HERE)
    machine.until("StatusText", lambda text: "1 matches running" in text, "a match")
    before = time.monotonic()
    machine.run("systemctl", "stop", "arena")
    assert machine.shown("Result") == "success"
    assert time.monotonic() - before < 60
    machine.run("systemctl", "start", "arena")
    assert thinker.wait(300) == 0

    for _ in range(2):
        machine.run("systemctl", "start", "arena-backup.service")
        time.sleep(1.1)  # the name of a backup contains the second of its creation
    newest = machine.run("ls", "/var/backups/arena").split()[-1]
    assert "arena serve --data" in machine.run(
        "/opt/arena/bin/arena", "restore", f"/var/backups/arena/{newest}", "--data", "/tmp/restored"
    )
    assert "arena-backup.timer" in machine.run("systemctl", "list-timers", "--all")
    log = machine.run("journalctl", "--unit", "arena", "--output", "cat")
    assert '"event": "running"' in log
    assert '"match over"' not in log, "a match has a line with --debug only"
    matches = machine.answer("matches")["matches"]
    assert isinstance(matches, list)
    assert {each["state"] for each in matches} == {"finished"}


def inside(holder: subprocess.Popen[bytes]) -> tuple[str, ...]:
    """Return the command prefix that runs a command in the network namespace of a process."""
    return ("nsenter", "--net", "--target", str(holder.pid))


@contextmanager
def network() -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the command prefix that runs a command at the address of the proxy or the server in compose.yaml."""
    holders = [subprocess.Popen(["unshare", "--net", "sleep", "infinity"]) for _ in range(2)]
    try:
        own = Path("/proc/self/ns/net").readlink()
        until(lambda: all(Path(f"/proc/{each.pid}/ns/net").readlink() != own for each in holders), "two networks")
        proxy, server = map(inside, holders)
        link = ("ip", "link", "add", "inside", "type", "veth", "peer", "name", "inside", "netns", str(holders[1].pid))
        ran(*proxy, *link)
        for where, address in ((proxy, PROXY), (server, SERVER)):
            for words in ("link set lo up", "link set inside up", f"addr add {address}/24 dev inside"):
                ran(*where, "ip", *words.split())
        yield proxy, server
    finally:
        for each in holders:
            each.kill()
            each.wait()


class Container:
    """A container of the image, with a volume that is removed together with the container."""

    def __init__(self, buildah: tuple[str, ...], where: tuple[str, ...], *options: str) -> None:
        name = ran(*buildah, "from", "localhost/arena").strip()
        self.config = json.loads(ran(*buildah, "inspect", "--type", "image", "localhost/arena"))["Docker"]["config"]
        self._run = (*where, *buildah, "run", "--isolation", "chroot", *options, name, "--")

    def run(self, *words: str) -> str:
        return ran(*self._run, *words)

    def healthy(self) -> bool:
        kind, *words = self.config["Healthcheck"]["Test"]
        assert kind == "CMD"
        return subprocess.run([*self._run, *words], capture_output=True, check=False).returncode == 0

    @contextmanager
    def started(self, *words: str) -> Iterator[Callable[[], None]]:
        """Start the server, by default with the image's arguments. Yield a function that stops it as Docker does."""
        arguments = words or self.config["Cmd"]
        with subprocess.Popen([*self._run, *self.config["Entrypoint"], *arguments]) as outer:
            try:
                until(self.healthy, "the server is healthy")

                def stop() -> None:
                    os.kill(served_below(outer.pid), signal.SIGTERM)
                    assert outer.wait(60) == 0

                yield stop
            finally:
                if outer.poll() is None:
                    os.kill(served_below(outer.pid), signal.SIGKILL)


def served_below(pid: int) -> int:
    """Return the server's process, a descendant of the program that runs the container."""
    waiting = [pid]
    for each in waiting:
        if Path(f"/proc/{each}/comm").read_text().strip() == "arena":
            return each
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            waiting.extend(map(int, children.read_text().split()))
    raise AssertionError("no server runs in the container")


@pytest.fixture(scope="session")
def image(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ...]]:
    """Return the buildah command with a store that contains the image. Its base is built like Debian's slim images."""
    needed("mmdebstrap", "buildah", "nsenter", "ip")
    folder = tmp_path_factory.mktemp("image")
    store = ("--root", str(folder / "store"), "--runroot", str(folder / "run"), "--storage-driver", "vfs")
    buildah = ("buildah", *store)
    merged = ("--include=usr-is-merged", "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr")
    slim = (f"--dpkgopt={option}" for option in SLIM)
    try:
        ran("mmdebstrap", "--variant=minbase", *merged, *slim, codename(), folder / "base.tar")
        base = ran(*buildah, "from", "scratch").strip()
        ran(*buildah, "add", "--quiet", base, folder / "base.tar", "/")
        ran(*buildah, "commit", "--quiet", base, "localhost/base")
        ran("make", "image", f"BUNDLE={bundle}", "BASE=localhost/base", f"BUILDAH={' '.join(buildah)}", cwd=ROOT)
        yield buildah
    finally:
        for what in ("rm", "rmi"):
            with suppress(AssertionError):
                ran(*buildah, what, "--all", *(["--force"] if what == "rmi" else []))
        shutil.rmtree(folder, ignore_errors=True)


def test_a_match_in_a_container_goes_on_after_a_stop(image: tuple[str, ...], tmp_path: Path) -> None:
    size, unit = ran(*image, "images", "--format", "{{.Size}}", "localhost/arena").split()
    assert (int(size) <= 400, unit) == (True, "MB"), size
    address = f"{SERVER}:50051"
    with network() as (outside, where):
        container = Container(image, where)
        assert 0 < int(container.config["User"].split(":")[0]) < 1000

        def matches(state: str) -> set[int]:
            found = json.loads(container.run("arena", "matches", "--json"))["matches"]
            return {each["match"] for each in found if each["state"] == state}

        with container.started() as stop:
            bot = ("-m", "arena_client.samples.random_bot", "--name", "ann", "--token-file", str(tmp_path / "ann"))
            ran(*outside, sys.executable, *bot, "--server", address, "--matches", "1")
            for page in ("bots/ann", "docs/run-a-server.html"):
                assert ran(*outside, sys.executable, "-c", READ, f"http://{SERVER}:8080/{page}").startswith("200 "), (
                    page
                )
            words = ("-c", THINKER, str(tmp_path / "thinker"), "1", "1", address)
            thinker = subprocess.Popen([*outside, sys.executable, *words], stdout=subprocess.DEVNULL)
            try:
                until(lambda: matches("playing"), "a match")
                (running,) = matches("playing")
                stop()
                assert not container.healthy()
                assert matches("playing") == {running}
                with container.started():
                    assert thinker.wait(300) == 0
                    assert running in matches("finished")
                    assert not matches("playing")
            finally:
                thinker.kill()
                thinker.wait()


def test_the_files_for_compose_serve_bots_and_pages_by_tls(
    bundle: Path, image: tuple[str, ...], tmp_path: Path
) -> None:
    needed("nginx", "docker-compose", "promtool")
    files = bundle / "container"
    ran("docker-compose", "--file", files / "compose.yaml", "--profile", "metrics", "config")
    for file in (files / "prometheus.yml", bundle / "prometheus" / "arena.rules.yml"):
        shutil.copy(file, tmp_path)
    ran("promtool", "check", "config", tmp_path / "prometheus.yml")
    tls = tmp_path / "tls"
    ran(ROOT / ".venv" / "bin" / "arena", "cert", tls)
    roots = tls / "cert.pem"
    shutil.copy(roots, tls / "fullchain.pem")
    (tls / "key.pem").rename(tls / "privkey.pem")
    text = (files / "nginx.conf").read_text().replace("/etc/arena/tls", str(tls))
    config = tmp_path / "nginx.conf"
    config.write_text(f"load_module {STREAMS};\n" + text.replace("http {", "http {\n    access_log off;"))
    nginx = (
        "nginx",
        "-c",
        str(config),
        "-e",
        f"{tmp_path}/error.log",
        "-g",
        f"daemon off; user root; pid {tmp_path}/pid;",
    )
    with network() as (outside, where):
        container = Container(image, where, "--volume", f"{files}/arena.toml:/etc/arena/arena.toml:ro")
        ran(*nginx, "-t")
        with container.started("serve", "--config", "/etc/arena/arena.toml"):
            proxy = subprocess.Popen([*outside, *nginx])
            try:
                invited = container.run("arena", "bots", "invite", "--owner", "ann", "--json")
                invitation = json.loads(invited)["invitation"]
                bot = ("-m", "arena_client.samples.random_bot", "--name", "ann", "--token-file", str(tmp_path / "ann"))
                secured = ("--server", HERE, "--tls-roots", str(roots), "--invitation", invitation)
                ran(*outside, sys.executable, *bot, *secured, "--matches", "1")
                asked = (*outside, sys.executable, "-c", READ)
                assert ran(*asked, "https://localhost/bots/ann", "arena.example", roots).startswith("200 ")
                assert ran(*asked, "http://localhost/bots/ann").startswith("301 https://localhost/bots/ann")
                assert ran(*asked, "https://localhost/metrics", "arena.example", roots).startswith("403 ")
                assert "arena_healthy 1" in ran(*asked, f"http://{SERVER}:9464/metrics")
                container.run("arena", "backup", "/data/backups/first")
            finally:
                proxy.terminate()
                proxy.wait()
