"""A disk that is really full while a match ends: a named error, no half-recorded result, and success later."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

CHECKOUT = Path(__file__).parents[2]

# Finish a match three times: twice with a full disk, then with free space.
FINISH = """
import contextlib, json, os, resource, sys
from pathlib import Path
import trio
from arena.replay.hash_chain import PackedReplay
from arena.store.matches import matches
from arena.store.base.errors import StoreError
from arena.store.opening import open_readonly
from arena.store.store import open_store
from tests.store.jobs import NOW, add_bots, audit, begin, finish, replay

SIZE = 600_000
seen = {}

def big_finish(connection, match_id):
    return matches.finish(connection, match_id, scores=[2, 1], places=[1, 2], forced=[0, 0], counts=[True, True],
                          at=NOW, replay=lambda changes: PackedReplay(replay(changes).content + os.urandom(SIZE), None))

async def attempt(store, match_id):
    try:
        await store.write(lambda connection: big_finish(connection, match_id))
    except StoreError as error:
        return type(error).__name__ + ": " + str(error)
    return "stored"

async def main(directory):
    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        match_id = await store.write(lambda connection: begin(connection, players))
        take_room(directory)
        seen["full"] = [await attempt(store, match_id) for _ in range(2)]
        seen["audit when full"] = sorted(await store.read(audit))
        seen["playing when full"] = list(await store.read(matches.playing))
        give_room(directory)
        seen["with room"] = await attempt(store, match_id)
        other = await store.write(lambda connection: begin(connection, players))
        await store.write(lambda connection: finish(connection, other, [2, 1]))
    with open_readonly(directory) as connection:
        seen["audit in the end"] = sorted(audit(connection))
    print(json.dumps(seen))
"""

# A small file system, filled to the last byte. Only this process sees it, and it disappears with the process.
TMPFS = """
def take_room(directory):
    with (directory / "ballast").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    os.truncate(directory / "ballast", (directory / "ballast").stat().st_size - int(sys.argv[2]))

def give_room(directory):
    (directory / "ballast").unlink()

trio.run(main, Path(sys.argv[1]))
"""

# Limit the size of the process's files. This works everywhere, but the system reports another error.
LIMIT = """
def take_room(directory):
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))

def give_room(directory):
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

trio.run(main, Path(sys.argv[1]))
"""

MOUNT = ["unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=2m tmpfs "$0" && exec "$@"']


def can_mount(directory: Path) -> bool:
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*MOUNT, str(directory), "true"], capture_output=True, check=False).returncode == 0


def run(command: list[str]) -> dict[str, object]:
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, object] = json.loads(done.stdout)
    return seen


AFTERWARDS = {"audit when full": [], "playing when full": [1], "with room": "stored", "audit in the end": [1, 2]}


@pytest.mark.parametrize(("spare", "named"), [(0, "arena.db"), (400_000, "replays/00000001.gz")])
def test_a_full_disk_is_named_and_costs_nothing(tmp_path: Path, spare: int, named: str) -> None:
    """One of the disks has space for the rows, but not for the replay."""
    if not can_mount(tmp_path):
        pytest.skip("needs Linux and the right to mount a small file system; the next test does not")
    program = FINISH + TMPFS
    seen = run([*MOUNT, str(tmp_path), sys.executable, "-W", "error", "-c", program, str(tmp_path), str(spare)])
    why = f"DiskFull: no room left on the disk of {tmp_path / named}; nothing was stored, make room and try again"
    assert seen == {"full": [why, why], **AFTERWARDS}


def test_a_file_that_must_not_grow_is_named_and_costs_nothing(tmp_path: Path) -> None:
    seen = run([sys.executable, "-W", "error", "-c", FINISH + LIMIT, str(tmp_path)])
    why = f"StoreUnusable: {tmp_path / 'replays' / '00000001.gz'} cannot be used as arena data: File too large"
    assert seen == {"full": [why, why], **AFTERWARDS}


# Open a new and an old data directory with a running match, first with too little space, then with enough.
START = """
import json, shutil, sys
from pathlib import Path
import trio
from arena.store.base.errors import StoreError
from arena.store.store import open_store
from tests.store.jobs import NOW, add_bots, begin
from tests.store.test_store_journal import BEGUN, header

def attempt(directory):
    async def opened():
        async with open_store(directory, 1) as store:
            if directory.name == "old":
                assert len(store.unfinished.get(1, ())) == 2
    try:
        trio.run(opened)
    except StoreError as error:
        return type(error).__name__ + ": " + str(error)
    return "opened"

async def play(directory):
    async with open_store(directory, 1) as store:
        players = await store.write(lambda connection: add_bots(connection, "ann", "bob"))
        number = await store.write(lambda connection: begin(connection, players))
        began = header(number, started=NOW)
        store.journal.begin(began)
        store.journal.add(began, BEGUN)

room, seen = Path(sys.argv[1]), []
trio.run(play, room / "old")
for left in (0, 1, 2, 3, 8, 9, 10, 11, 20):
    for name in ("old", f"new{left}"):
        take_all_but(left)
        seen.append([name, left, attempt(room / name)])
        give_room()
        assert (said := attempt(room / name)) == "opened", said
    shutil.rmtree(room / f"new{left}")
print(json.dumps(seen))
"""

# Blocks of a disk with a given size.
BLOCKS = """
from pathlib import Path
import sys

ballast = Path(sys.argv[1]) / "ballast"

def take_all_but(left):
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - left * 4096))

def give_room():
    ballast.unlink()
"""

# Files on a disk that holds a given number of them.
FILES = """
from contextlib import suppress
from pathlib import Path
import sys

ballast = Path(sys.argv[1]) / "ballast"

def take_all_but(left):
    ballast.mkdir()
    files = []
    with suppress(OSError):
        for number in range(1000):
            (file := ballast / str(number)).touch()
            files.append(file)
    for file in files[len(files) - left:]:
        file.unlink()

def give_room():
    for file in ballast.iterdir():
        file.unlink()
    ballast.rmdir()
"""


@pytest.mark.parametrize(
    ("ballast", "size", "named"),
    [
        (BLOCKS, "size=2m", {"arena.lock", "arena.db", "journal/*.log", "log.key.next"}),
        (FILES, "size=2m,nr_inodes=90", {"", "arena.db", "journal/*.log", "operator.token"}),
    ],
    ids=["blocks", "files"],
)
def test_a_start_on_a_full_disk_names_the_file_and_loses_nothing(
    tmp_path: Path, ballast: str, size: str, named: set[str]
) -> None:
    """The error names a new directory that cannot be created."""
    if not can_mount(tmp_path):
        pytest.skip("needs Linux and the right to mount a small file system")
    mount = [word.replace("size=2m", size) for word in MOUNT]
    command = [*mount, str(tmp_path), sys.executable, "-W", "error", "-c", ballast + START, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    full = re.compile(rf"DiskFull: no room left on the disk of {re.escape(str(tmp_path))}/(?:old|new\d+)/?([^;]*); ")
    refused = [(left, full.match(said), said) for _, left, said in seen if said != "opened"]
    assert all(match for _, match, _ in refused), refused
    assert sum(left == 0 for left, _, _ in refused) == 2
    assert {re.sub(r"\d+.log", "*.log", match[1]) for _, match, _ in refused if match} >= named, refused
