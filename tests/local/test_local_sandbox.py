"""Sandboxed bots play as they do outside, cannot escape, and get an error that names a missing system feature."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.local.commands.command import RunningCommand
from arena.local.errors import SandboxRefused
from arena.local.sandbox.box import Ability
from arena.local.sandbox.readable import outermost, readable_folders
from arena.local.sandbox.sandbox import Sandbox, probed
from arena.local.server.command_bot import CommandPlace
from tests.cli.cli_rig import PATIENCE
from tests.local import escapes
from tests.local.bots import written
from tests.local.boxes import needs_boxes
from tests.local.test_local_commands import PYTHON, command, played_by, subject

pytestmark = [pytest.mark.process, needs_boxes]
ROOT = Path(__file__).parents[2]
NOBODY = 65534
only_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root can be another user; who is not is what the others are about"
)
IN_PLAIN = {
    "tcp",
    "udp",
    "abstract_socket",
    "write_outside",
    "read_secrets",
    "signal_runner",
    "others_processes",
    "others_environment",
    "ptrace",
    "temporary",
    "unbound_memory",
    "outlive_others",
}
"""Ways that are open to any program outside a sandbox."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for a bot that others may read, unlike pytest's own folder."""
    made = tmp_path / "project"
    made.mkdir(mode=0o755)
    return made


@pytest.fixture
def outside(folder: Path) -> Iterator[dict[str, Any]]:
    """Objects outside a sandbox: servers, secrets, writable places, other players."""
    data, tokens, out = folder / "data", folder / ".arena" / "tokens", folder.parent / "outside"
    for place in (data, tokens, out):
        place.mkdir(parents=True)
    secrets = [data / "operator.token", data / "log.key", tokens / "bot.token", out / "secret"]
    for path in secrets:
        path.write_text("secret")
    name = f"arena-test-{os.getpid()}"
    with (
        socket.socket() as tcp,
        socket.socket(type=socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as abstract,
    ):
        abstract.bind("\0" + name)
        for each in (tcp, udp):
            each.bind(("127.0.0.1", 0))
        threads = [threading.Thread(target=answer, args=(udp,))]
        for each in (tcp, abstract):
            each.listen()
            threads.append(threading.Thread(target=greet, args=(each,)))
        for thread in threads:
            thread.start()
        yield {
            "tcp": tcp.getsockname()[1],
            "udp": udp.getsockname()[1],
            "abstract": name,
            "not writable": [str(out)],
            "secrets": [str(path) for path in secrets],
            "logs": str(folder / "logs"),
            "runner": os.getpid(),
            "word": "python",
            "uid": os.getuid(),
            "own user": os.geteuid() == 0,
        }
        for each in (tcp, abstract, udp):
            each.shutdown(socket.SHUT_RDWR) if each is not udp else each.sendto(b"", each.getsockname())
        for thread in threads:
            thread.join()


def greet(listening: socket.socket) -> None:
    while True:
        try:
            there, _ = listening.accept()
        except OSError:
            return
        with there:
            there.sendall(b"hello")


def answer(bound: socket.socket) -> None:
    while True:
        try:
            asked, whose = bound.recvfrom(10)
            if not asked:
                return
            bound.sendto(b"hello", whose)
        except OSError:
            return


def said(text: str) -> dict[str, str | None]:
    """Return what each way out reached."""
    return dict(json.loads(line.partition(" ")[2]) for line in text.splitlines() if line.startswith("probe "))


def test_none_of_the_ways_out_is_open(folder: Path, outside: dict[str, Any]) -> None:
    shutil.copy(escapes.__file__, folder / "escapes.py")
    walls = ("/", "/usr", "/etc", "/dev", "/proc/sys/kernel", "/sys", "/var/tmp", "/home", sys.prefix, str(folder))
    outside["not writable"] += walls
    bot = f"cmd:{PYTHON} {folder / 'escapes.py'} {shlex.quote(json.dumps(outside))}"
    place = CommandPlace(folder / "logs", sandbox=probed(weak=False))
    played_by(subject(bot, "house:random", "house:random"), 1, place)
    found = said((folder / "logs" / "escapes.log").read_text())
    assert {name: got for name, got in found.items() if got is not None} == {}
    assert set(found) == {probe.__name__ for probe in escapes.PROBES}
    assert len(found) >= 20


def test_the_ways_are_open_where_there_is_no_box(folder: Path, outside: dict[str, Any]) -> None:
    words = [sys.executable, escapes.__file__, json.dumps(outside), *IN_PLAIN]
    environment = {"ARENA_SERVER": "unix:nowhere", "SECRET": "x"}
    plain = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True, cwd=folder)
    assert {name for name, got in said(plain.stdout).items() if got is None} == set()


def test_in_a_box_a_bot_plays_the_same(folder: Path) -> None:
    bots = subject(command(folder), "house:random", "house:random")
    assert played_by(bots, 3, CommandPlace(sandbox=probed(weak=False))) == played_by(bots)


def test_a_bot_plays_under_a_name_that_is_a_link(folder: Path) -> None:
    (folder / "link").symlink_to(folder / "real")
    command(folder / "real")
    bots = subject(f"cmd:{PYTHON} {folder / 'link' / 'bot.py'}", "house:random", "house:random")
    assert len(played_by(bots, 1, CommandPlace(sandbox=probed(weak=False)))) == 1


LINES = """
import json, sys
for line in sys.stdin:
    answers = [
        {"matchId": each["matchId"], "decisionId": each["decisionId"], "action": each["legal"][0]}
        for each in json.loads(line).get("decisions", ())
    ]
    if answers:
        print(json.dumps({"answers": answers}), flush=True)
"""


def test_a_program_that_speaks_json_lines_plays_in_a_box_too(folder: Path) -> None:
    bots = subject(f"pipe:{PYTHON} {written(folder, LINES, 'lines.py')}", "house:random", "house:random")
    plain = subject(command(folder), "house:random", "house:random")
    boxed = played_by(bots, 2, CommandPlace(sandbox=probed(weak=False)))
    assert boxed == played_by(plain, 2), "both choose what is first"


def test_a_command_in_a_box_is_told_to_end_and_says_how_it_did(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    text = """
import os, signal, sys, time
def told(*_):
    # print() may have been interrupted in the middle, and is not entered twice
    os.write(1, f"{sorted(os.environ)} {os.getcwd()} told to end\\n".encode())
    sys.exit(7)
signal.signal(signal.SIGTERM, told)
print("waits", flush=True)
while True:
    time.sleep(0.05)  # a signal just before pause() would wait for another
"""
    sandbox = probed(weak=False)
    words = sandbox.box().words([sys.executable, written(folder, text)])
    log = folder / "log"
    running = RunningCommand(words, {"ARENA_TOKEN": "x", "OTHER": "y"}, log, fence=sandbox.fence)
    until = time.monotonic() + PATIENCE
    while "waits" not in log.read_text() and time.monotonic() < until:
        time.sleep(0.01)
    end = running.end()
    assert end is not None
    assert end.last == ("waits", f"['ARENA_TOKEN', 'HOME', 'LC_CTYPE', 'PATH'] {folder} told to end")
    assert end.status == 7


FORKS = """
import os, sys, time
shared = bytearray(os.urandom(1 << 20) * 16)      # of all processes
for _ in range(8):
    if not os.fork():
        own = bytearray(os.urandom(1 << 20) * int(sys.argv[1]))
        time.sleep(1000)
print("forked", flush=True)
time.sleep(1000)
"""


def test_a_box_whose_processes_use_too_much_memory_together_is_ended_by_name(folder: Path) -> None:
    sandbox, bot = probed(weak=False), written(folder, FORKS)
    words = sandbox.box().words([sys.executable, bot, "32"])
    fence = sandbox.fence._replace(memory=200 << 20)
    running = RunningCommand(words, {}, folder / "log", fence=fence)
    end = running.ended(PATIENCE)
    assert end is not None
    assert running.end() == end
    assert end.status == -9
    assert str(end).startswith("was ended, as its box used more than 200 MiB of memory")


TABLES = """
import mmap, os, time
size = 3 << 30
for _ in range(40):
    if not os.fork():
        read = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
        for at in range(0, size, 2 << 20):
            read[at]     # of a page that all share; what says where it lies is 4 KiB for 2 MiB
        break
time.sleep(1000)
"""


def test_page_tables_are_memory_of_a_box(folder: Path) -> None:
    sandbox = probed(weak=False)
    words = sandbox.box().words([sys.executable, written(folder, TABLES)])
    running = RunningCommand(words, {}, folder / "log", fence=sandbox.fence._replace(memory=200 << 20))
    end = running.ended(PATIENCE)
    assert running.end() == end
    assert str(end).startswith("was ended, as its box used more than 200 MiB of memory")


FILES = """
import os, sys, time
kind, place, most, again = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
os.makedirs(place + "/own/deep")
os.chdir(place + "/own")
open("first", "w").close()
for _ in range(again):
    for at in range(most):
        if kind == "link":
            os.link("first", f"{at}")
        elif kind == "folder":
            os.mkdir(f"deep/{at}")
        else:
            os.close(os.open(f"{at}", os.O_CREAT))
    time.sleep(1000 if again == 1 else 0.3)
    for at in range(most):
        os.unlink(f"{at}")
print("done", flush=True)
"""


def filling(folder: Path, *arguments: str) -> RunningCommand:
    """Start a sandbox that may contain two thousand files, with a program that creates files."""
    sandbox = probed(weak=False)
    words = sandbox.box().words([sys.executable, written(folder, FILES), *arguments])
    return RunningCommand(words, {}, folder / "log", fence=sandbox.fence._replace(files=2000))


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_a_box_that_has_too_many_files_is_ended_by_name(folder: Path, kind: str, place: str) -> None:
    """Empty files do not count towards the allowed bytes, but each needs kernel memory."""
    running = filling(folder, kind, place, "2100", "1")
    end = running.ended(PATIENCE)
    assert running.end() == end
    assert str(end).startswith("was ended, as its box had more than 2000 files in /tmp and /dev/shm")


def test_files_that_a_box_has_deleted_count_no_more(folder: Path) -> None:
    running = filling(folder, "file", "/tmp", "1500", "3")
    end = running.ended(PATIENCE)
    running.end()
    assert end is not None
    assert (end.status, end.last) == (0, ("done",))


def test_what_a_boxs_processes_share_counts_once(folder: Path) -> None:
    """If it counted per process, a bot that forks after loading its data would be killed although it fits."""
    text = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from arena.local.commands import keeper
shared = bytearray(os.urandom(1 << 20) * 64)
hears, _ = os.pipe()
for _ in range(5):
    if not os.fork():
        if not os.fork():
            os.read(hears, 1)
        os.read(hears, 1)
print(keeper.used_memory(1 << 60) >> 20, keeper.used_memory(0) >> 20, flush=True)
os.killpg(0, 9)
"""
    ran = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True, process_group=0, check=False)
    apart, together = map(int, ran.stdout.split())
    assert apart > 5 * 64
    assert together < 3 * 64


def test_processes_that_come_and_go_during_a_look_are_no_fault() -> None:
    """If the supervisor failed on them, it would kill a command only because its processes are short-lived."""
    text = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from arena.local.commands import keeper
for _ in range(4):
    if not os.fork():
        while True:
            if not os.fork():
                os._exit(0)
            os.wait()
try:
    looks = [keeper.used_memory(1 << 60) + keeper.own_files() for _ in range(1500)]
    print(min(looks) > 0, flush=True)
except OSError as error:
    print(error, flush=True)
os.killpg(0, 9)
"""
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", text]
    ran = subprocess.run(words, stdout=pipe, stderr=pipe, text=True, process_group=0, check=False, timeout=PATIENCE)
    assert (ran.stdout, ran.stderr) == ("True\n", "")


REFUSED = {
    "a home": "has more in it than the bot, which would see all of it: put the bot into a folder of its own",
    "above temporary folders": "has more in it than the bot",
    "a server's": "is a server's data directory: put the bot into a folder of its own",
    "not for others": "is not for others, and in a box the bot has a user of its own: chmod o+rx it",
}


@pytest.mark.parametrize("how", REFUSED)
def test_a_folder_that_a_bot_must_not_see_or_cannot_is_refused(
    folder: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bot = written(folder)
    if how == "a home":
        monkeypatch.setenv("HOME", str(folder / "me"))
    elif how == "above temporary folders":
        monkeypatch.setattr("tempfile.tempdir", str(folder / "tmp"))
    elif how == "a server's":
        (folder / "log.key").touch()
    else:
        folder.chmod(0o700)
    sandbox = Sandbox("bwrap", frozenset(Ability), (), 1)
    with pytest.raises(SandboxRefused) as refused:
        sandbox.box().words([sys.executable, bot])
    assert str(refused.value).startswith(f"{folder} ")
    assert REFUSED[how] in str(refused.value)


def test_a_bot_sees_its_own_folder_its_programs_and_no_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = folder / "me"
    one, other = Path(written(home / "one")), home / "other"
    other.mkdir()
    own = [home / "bin" / "mybot", home / "tools" / "node" / "bin" / "node", other / "native"]
    for program in own:
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home)

    def mine(*words: str) -> list[str]:
        found = readable_folders(words, own_user=False)
        return [str(each.relative_to(home)) for each in found if each.is_relative_to(home)]

    assert mine(sys.executable, str(one)) == ["one"]
    assert mine(sys.executable, "one/bot.py") == ["one"]
    assert mine("bin/mybot") == ["bin"], "a folder of programs in a home is not the home"
    assert mine("tools/node/bin/node", str(one)) == ["one", "tools/node"], "with its libraries"
    assert mine("other/native") == ["other"]
    assert mine(sys.executable, "-m", "mybot") == [], "who is at home does not show all of it"
    monkeypatch.chdir(other)
    assert mine(sys.executable, "-m", "mybot") == ["other"]
    (home / "link").symlink_to("one")
    assert mine(sys.executable, str(home / "link" / "bot.py")) == ["link", "one"], "under both names"
    (home / "native").symlink_to("other/native")
    with pytest.raises(SandboxRefused, match=f"{home} has more in it than the bot"):
        mine(str(home / "native"))


def test_a_link_does_not_show_a_bot_what_lies_elsewhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot's author also created its links and chooses the files that the command names."""
    stranger, private = folder / "stranger", folder / "private"
    for place in (stranger / "bin", private / "python-tools"):
        place.mkdir(parents=True)
    bot, secret = Path(written(stranger)), private / "secret"
    secret.touch()
    for tool in (private / "tool", private / "python-tools" / "python3"):
        tool.touch(mode=0o755)
    links = {
        "data": secret,
        "folder": private,
        "twice": stranger / "data",
        "program": private / "tool",
        "python3": private / "python-tools" / "python3",
        "own": bot,
        "bin/up": bot,
    }
    for name, target in links.items():
        (stranger / name).symlink_to(target)
    monkeypatch.chdir(folder)

    def seen(*words: str) -> set[Path]:
        return {each for each in readable_folders(words, own_user=False) if each.is_relative_to(folder)}

    assert seen(PYTHON, "stranger/bot.py", "stranger/own", "stranger/bin/../own") == {stranger}
    assert seen(PYTHON, str(bot), "private/secret") == {stranger, private}, "who names it himself shows it"
    for word, target in {
        "stranger/data": secret,
        f"{stranger}/data": secret,
        "stranger/twice": secret,
        "stranger/bin/up": bot,
        "stranger/folder/secret": private,
        "stranger/folder/../private/secret": private,
    }.items():
        with pytest.raises(SandboxRefused, match=f"is a link to {target}, outside of its folder, .*: name {target}"):
            seen(PYTHON, "stranger/bot.py", word)
    for words in (("stranger/program",), (PYTHON, "stranger/bot.py", "--", "stranger/program"), ("stranger/python3",)):
        with pytest.raises(SandboxRefused, match=f"is a link to {private}/"):
            seen(*words)


def test_a_virtual_environment_leads_to_its_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed, project = folder / "pythons" / "cpython-3.12" / "bin" / "python3.12", folder / "project"
    for place in (installed.parent, project / ".venv" / "bin"):
        place.mkdir(parents=True)
    installed.touch(mode=0o755)
    (project / ".venv" / "pyvenv.cfg").touch()
    (project / ".venv" / "bin" / "python").symlink_to(installed)
    (project / ".venv" / "bin" / "python3").symlink_to("python")
    written(project)
    monkeypatch.chdir(project)
    found = readable_folders([".venv/bin/python3", "bot.py"], own_user=False)
    assert {each for each in found if each.is_relative_to(folder)} == {project, installed.parent.parent}


def test_each_box_has_a_user_of_its_own_and_a_match_a_group() -> None:
    sandbox = Sandbox("bwrap", frozenset(Ability), (), 0x70000001)
    identities = [sandbox.box().identity for _ in range(20)]
    assert len({each.user for each in identities if each is not None}) == 20
    assert {each.group for each in identities if each is not None} == {0x70000001}
    assert all(0x70000000 <= each.user < 0x7FFFFFFF for each in identities if each is not None)


@only_root
def test_none_of_the_ways_out_is_open_where_the_runner_is_not_root(folder: Path, outside: dict[str, Any]) -> None:
    """Use a mount namespace in which another user can read this Python and the bot, which may be in root's home."""
    shutil.copy(escapes.__file__, folder / "escapes.py")
    outside |= {"own user": False, "secrets": outside["secrets"][:-1]}
    outside["not writable"] += ["/", "/usr", "/etc", "/dev", "/var/tmp", str(folder)]
    for path in folder.rglob("*"):
        os.chown(path, NOBODY, NOBODY)
    os.chown(folder, NOBODY, NOBODY)
    bot = f"cmd:{PYTHON} {folder / 'escapes.py'} {shlex.quote(json.dumps(outside))}"
    match = [sys.executable, "-m", "arena.cli", "match", bot, "house:random", "--game", "nullern", "--seats", "2"]
    match += ["--sets", "1", "--sandbox", "--out", str(folder / "sets"), "--json"]
    played = run_by_nobody(match, folder)
    assert played.returncode == 0, played.stderr
    found = said((folder / "sets.logs" / "escapes.log").read_text())
    assert {name: got for name, got in found.items() if got is not None} == {}
    assert set(found) == {probe.__name__ for probe in escapes.PROBES}


@only_root
@pytest.mark.parametrize(
    ("text", "arguments", "why"),
    [(FORKS, ["32"], "used more than 200 MiB of memory"), (FILES, ["file", "/tmp", "2100", "1"], "had more than 2000")],
)
def test_too_much_memory_or_too_many_files_end_a_box_where_the_runner_is_not_root(
    folder: Path, text: str, arguments: list[str], why: str
) -> None:
    script = f"""
import sys
from pathlib import Path
from arena.local.commands.command import RunningCommand
from arena.local.sandbox.sandbox import probed
sandbox = probed(weak=False)
words = sandbox.box().words([sys.executable, {written(folder, text)!r}, *sys.argv[2:]])
fence = sandbox.fence._replace(memory=200 << 20, files=2000)
command = RunningCommand(words, {{}}, Path({str(folder / "log")!r}), fence=fence)
print(command.ended(float(sys.argv[1])))
command.end()
"""
    os.chown(folder, NOBODY, NOBODY)
    ended = run_by_nobody([sys.executable, "-c", script, str(PATIENCE), *arguments], folder)
    assert ended.stdout.startswith(f"was ended, as its box {why}"), ended.stderr


def run_by_nobody(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the bot where another user can read this Python and a folder. Both may be in root's home."""
    options = ["--dev-bind", "/", "/"]
    for hidden in ("/root", "/tmp"):
        options += ["--perms", "1777", "--tmpfs", hidden]
    for place in outermost([Path(sys.prefix), Path(sys.base_prefix), ROOT, folder]):
        for above in reversed(place.parents):
            options += ["--perms", "0755", "--dir", str(above)]
        options += ["--bind", str(place), str(place)]
    who = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    environment = {"HOME": "/nonexistent", "PATH": os.environ["PATH"]}
    boxed = ["bwrap", *options, "--chdir", str(ROOT), "--", *who, *words]
    return subprocess.run(boxed, env=environment, capture_output=True, text=True, check=False)
