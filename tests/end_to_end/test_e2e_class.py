"""An evening with a class: the commands of the page for operators, with a real server and the bots of three pupils."""

from __future__ import annotations

import csv
import json
import re
import shlex
from contextlib import ExitStack
from io import StringIO
from pathlib import Path

from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import PATIENCE, ROOT, Server, audit, program, register, server

PAGE = (ROOT / "docs" / "run-a-server.md").read_text()
MANY = 25
PUPILS = ("ann", "bob", "cleo")


def section(title: str) -> str:
    """Return the text of a section of the page."""
    found = re.search(rf"^## {title}$(.*?)^## ", PAGE, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def run(command: str, arena: Server, *more: str) -> str:
    """Run a command of the page on this server. Return its output."""
    return shown(*shlex.split(command.replace("/var/lib/arena", str(arena.data)))[1:], *more)


def play(command: str, arena: Server, home: Path, codes: dict[str, str]) -> None:
    """Let the pupils' bots register and play one match, each with the page's command and its own code."""
    with ExitStack() as stack:
        bots = []
        for name, code in codes.items():
            typed = command.replace("localhost:50051", arena.address).replace("CODE", code)
            typed = typed.replace("my_bot:MyBot", "arena_client.samples.random_bot:RandomBot")
            own = ("--name", name, "--token-file", str(home / f"{name}.token"), "--matches", "1", "--game", "nullern")
            bots.append(stack.enter_context(program("-m", "arena_client", *shlex.split(typed)[1:], *own)))
        for bot in bots:
            words, _ = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 0, words


def test_the_page_s_commands_make_the_evening_of_a_class(tmp_path: Path) -> None:
    (ladders,) = re.findall(r"```toml\n(.*?)```", section("Several ladders"), re.DOTALL)
    text = section("A class, one evening")
    blocks = [block.strip().splitlines() for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
    [[invite], [bot], [invitations, revoke], [reset, first, current]] = blocks
    (join,) = re.findall(r"`(arena-bot join [^`]+)`", text)
    (tmp_path / "arena.toml").write_text(f"house = false\nhouse_workers = 0\n{ladders}")

    with server(tmp_path / "data", "--config", str(tmp_path / "arena.toml")) as arena:
        made = [*csv.DictReader(StringIO(run(invite, arena)))]
        assert [row["owner"] for row in made] == [f"class-{number}" for number in range(1, MANY + 1)]
        codes = [row["invitation"] for row in made]
        (tmp_path / "dora.token").write_text(register(arena.address, "dora"))
        joining = shlex.split(join.replace("NAME", "dora").replace("CODE", codes[3]))[1:]
        where = ("--server", arena.address, "--token-file", str(tmp_path / "dora.token"))
        with program("-m", "arena_client", *joining, *where) as entering:
            words, _ = entering.communicate(timeout=PATIENCE)
            assert entering.returncode == 0, words
        play(bot, arena, tmp_path, dict(zip(PUPILS, codes, strict=False)))

        run(revoke, arena)
        listed = json.loads(run(invitations, arena, "--json"))["invitations"]
        assert [row["used_by"] for row in listed] == [*PUPILS, "dora", *[""] * (MANY - 4)]
        assert [row["number"] for row in listed if row["revoked"]] == [MANY]
        used = " ".join(run(invitations, arena).split())
        assert all(f"{number} class-{number} class used by {name}" in used for number, name in enumerate(PUPILS, 1))

        assert run(reset, arena) == "Season 2 of class begins.\n"
        shown, anew = (json.loads(run(command, arena, "--json"))["ladders"] for command in (first, current))
        assert [(each["ladder"], each["season"], len(each["standings"])) for each in shown] == [("class", 1, 3)]
        assert {row["bot"] for row in shown[0]["standings"]} == {*PUPILS}
        assert [(each["ladder"], each["season"], each["standings"]) for each in anew] == [("class", 2, [])]
    assert len(audit(arena.data).finished) == 1
    assert "1 season" in " ".join(run("arena log audit --data /var/lib/arena", arena).split())
