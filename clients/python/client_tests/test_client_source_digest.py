"""The default version of a bot: it changes exactly when the bot's code, files or arguments change."""

from __future__ import annotations

import ast
import gc
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from threading import Thread
from time import sleep

import arena_client
import pytest
from arena_client.source_digest import canonical

BOT = """
from arena_client import Bot
from helper import answer

class Mine(Bot):
    files = ["weights.bin"]

    def __init__(self, depth=1, **about):
        super().__init__(**about)

    def decide(self, decision):
        return answer(decision)
"""
HELPER = "def answer(decision):\n    return decision.legal[0]\n"
pytestmark = pytest.mark.process

EVERYTHING = Path(__file__).with_name("every_syntax.py.txt")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bot.py").write_text(BOT)
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "weights.bin").write_bytes(b"\x01\x02")
    return tmp_path


def ran(project: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd or project, capture_output=True, text=True, timeout=60, check=False
    )


def version(project: Path, made: str = "Mine()", before: str = "") -> str:
    """Return the version of a bot that a program in the project creates."""
    code = f"import sys; sys.path.insert(0, {str(project)!r})\n{before}\nfrom bot import Mine\nprint({made}.digest())"
    done = ran(project, "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_it_is_short_and_always_the_same(project: Path) -> None:
    assert len(version(project)) == 12
    assert version(project) == version(project)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("bot.py", "    def decide", "    # better than before\n\n    def decide"),
        ("bot.py", "depth=1", "depth = 1"),
        ("helper.py", "\n    return", "\n        return"),
        ("helper.py", "decision.legal[0]", "(decision.legal[0])"),
    ],
)
def test_comments_and_formatting_do_not_count(project: Path, file: str, old: str, new: str) -> None:
    before = version(project)
    changed = (project / file).read_text().replace(old, new)
    assert changed != (project / file).read_text()
    (project / file).write_text(changed)
    assert version(project) == before


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("bot.py", b"depth=1", b"depth=2"),
        ("helper.py", b"legal[0]", b"legal[1]"),
        ("weights.bin", b"\x02", b"\x03"),
    ],
)
def test_code_modules_of_the_project_and_named_files_count(project: Path, file: str, old: bytes, new: bytes) -> None:
    before = version(project)
    (project / file).write_bytes((project / file).read_bytes().replace(old, new))
    assert version(project) != before


def test_what_is_not_imported_or_lies_elsewhere_does_not_count(project: Path) -> None:
    before = version(project)
    (project / "notes.py").write_text("x = 1")
    library = project / ".venv/lib/site-packages"
    library.mkdir(parents=True)
    (library / "lib.py").write_text("x = 1")
    assert version(project, before=f"sys.path.append({str(library)!r}); import lib, json") == before
    program = project / ".venv/bin/arena"
    program.parent.mkdir()
    program.write_text("")
    environment = f"import sysconfig; sysconfig.get_path = lambda name, get=sysconfig.get_path: {str(program.parent)!r}"
    started = f"sys.modules['__main__'].__file__ = {str(program)!r}"
    assert version(project, before=started) != before, "it is any file"
    scripts = f"{environment} if name == 'scripts' else get(name)"
    assert version(project, before=f"{scripts}\n{started}") == before
    assert version(project, before="import notes") != before


def test_the_arena_s_own_packages_do_not_count_for_a_bot_that_lies_in_its_checkout(project: Path) -> None:
    for package in ("arena", "engine", "trio_grpc"):
        (project / package).mkdir()
        (project / package / "__init__.py").write_text("")
    everything = "import arena, engine, trio_grpc"
    alone = version(project)
    assert version(project, before=everything) != alone, "of an author's own packages with these names"
    client = project / "clients/python/arena_client"
    shutil.copytree(Path(arena_client.__file__).parent, client, ignore=shutil.ignore_patterns("__pycache__"))
    from_checkout = f"sys.path.insert(0, {str(client.parent)!r})"
    assert version(project, before=from_checkout) == alone
    assert version(project, before=f"{from_checkout}; {everything}") == alone


@pytest.mark.parametrize(
    ("made", "same"),
    [
        ("Mine(depth=1)", False),
        ("Mine(1)", False),
        ("Mine(name='ann', owner='ann', capacity=3, games=['nullern'], version=None)", True),
        ("Mine(depth={'a': [1, 2.5], 'b': {3, 4}})", False),
    ],
)
def test_arguments_count_but_not_those_that_name_the_bot(project: Path, made: str, same: bool) -> None:
    assert (version(project, made) == version(project)) == same


def test_arguments_that_are_no_plain_values_count_by_their_class(project: Path) -> None:
    assert version(project, "Mine(depth=object())") == version(project, "Mine(depth=object())")
    assert version(project, "Mine(depth={2, 1})") == version(project, "Mine(depth={1, 2})")
    assert version(project, "Mine(depth={1: 2, 3: 4})") == version(project, "Mine(depth={3: 4, 1: 2})")
    assert version(project, "Mine(depth=1)") != version(project, "Mine(depth=True)")


def test_a_program_and_a_package_are_projects_too(project: Path) -> None:
    program = "if __name__ == '__main__':\n    print(Mine().digest())\n"
    (project / "bot.py").write_text(BOT + program)
    before = ran(project, "bot.py").stdout.strip()
    assert len(before) == 12
    elsewhere = project.parent
    assert ran(project, str(project / "bot.py"), cwd=elsewhere).stdout.strip() == before
    package = project / "mine"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "deep/__init__.py").write_text("")
    (package / "deep/bot.py").write_text(
        BOT.replace("helper", "mine.helper").replace("weights", "../weights") + program
    )
    (package / "helper.py").write_text(HELPER)
    (package / "weights.bin").write_bytes(b"\x01\x02")
    before = ran(project, "-m", "mine.deep.bot").stdout.strip()
    assert len(before) == 12
    (package / "helper.py").write_text(HELPER.replace("0", "1"))
    assert ran(project, "-m", "mine.deep.bot").stdout.strip() != before


def test_a_file_that_is_not_there_is_named(project: Path) -> None:
    (project / "weights.bin").unlink()
    done = ran(project, "-c", "from bot import Mine; Mine().digest()")
    assert "ArgumentError: the bot's files name 'weights.bin', which cannot be read" in done.stderr


def test_code_in_no_file_has_a_random_version_and_that_is_said(project: Path) -> None:
    code = BOT.replace('    files = ["weights.bin"]', "") + "\nprint(Mine().digest())"
    first, second = ran(project, "-c", code), ran(project, "-c", code)
    assert len(first.stdout.strip()) == 12
    assert first.stdout != second.stdout
    assert first.stderr.count("the bot's code is in no file, so its version is random") == 1


def test_every_python_gives_the_same() -> None:
    """The digest was computed with Python 3.11, 3.12 and 3.13."""
    tree = canonical(EVERYTHING.read_text("utf-8"))
    assert sha256(tree.encode()).hexdigest()[:12] == "eb9cc38df777"


def test_several_bots_of_one_program_may_be_digested_at_once() -> None:
    """Garbage collection lets other threads run during a parse, which older Pythons do not expect."""
    source, found = EVERYTHING.read_text(), []

    def let_others_run(*_: object) -> None:
        sleep(0.0001)

    threads = [Thread(target=lambda: found.append(canonical(source))) for _ in range(4)]
    thresholds = gc.get_threshold()
    gc.callbacks.append(let_others_run)
    gc.set_threshold(100)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(let_others_run)
    assert found == [canonical(source)] * len(threads)


def test_what_other_threads_parse_at_the_same_time_does_not_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, left = ast.parse, [SystemError("AST constructor recursion depth mismatch (before=150, after=69)")] * 3

    def disturbed(source: str) -> ast.AST:
        if left:
            raise left.pop()
        return parse(source)

    whole = canonical(HELPER)
    monkeypatch.setattr(ast, "parse", disturbed)
    assert canonical(HELPER) == whole
    assert not left
