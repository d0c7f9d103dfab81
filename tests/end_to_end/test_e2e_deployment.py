"""What an operator hands out: the archive without a network, signed, and its units in a booted Debian."""

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
from contextlib import suppress
from pathlib import Path

import pytest

from tests.end_to_end.e2e_rig import until

pytestmark = [pytest.mark.process, pytest.mark.long]

ROOT = Path(__file__).parents[2]
DEBIAN = "systemd,systemd-sysv,dbus,python3,python3-venv"
"""Packages of the system that is booted, beside the essential ones."""
HERE = "localhost:50051"
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
    """Skip a test, loudly, where root or a program of `tools/debian-packages.sh --deployment` is missing."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and {', '.join(missing) or 'nothing else'}: tools/debian-packages.sh --deployment")


def ran(*words: str | Path, **options: object) -> str:
    """The output of a program that must succeed."""
    result = subprocess.run(
        [*map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=600,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert result.returncode == 0, (words, result.stdout)
    return str(result.stdout)


def codename() -> str:
    """The release of Debian on which this runs."""
    found = re.search(r"^VERSION_CODENAME=(\w+)$", Path("/etc/os-release").read_text(), re.MULTILINE)
    assert found
    return found[1]


def key_pair(folder: Path) -> tuple[Path, str]:
    """The file of a new secret key of minisign, and its public key."""
    ran("minisign", "-G", "-W", "-p", folder / "key.pub", "-s", folder / "key")
    return folder / "key", (folder / "key.pub").read_text().split()[-1]


@pytest.fixture(scope="session")
def publisher(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The keys with which the archive is signed."""
    needed("minisign")
    return key_pair(tmp_path_factory.mktemp("publisher"))


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory, publisher: tuple[Path, str]) -> Path:
    """The unpacked archive, in a folder that knows nothing of this checkout."""
    said = ran(sys.executable, ROOT / "tools" / "bundle.py", "--key", publisher[0], cwd=ROOT)
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
    """Change a byte of a copied file, and not of its original, which it is a link to."""
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
    """A booted system, in which programs can be run."""

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
    """A Debian of its own whose systemd is booted, with the archive installed as docs/run-a-server.md says."""
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
                os.kill(leader, signal.SIGKILL)  # The system outlives its host, and then hinders the next.
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
        time.sleep(1.1)  # a backup's name has its second
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
