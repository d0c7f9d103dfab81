"""An event for a class: the page's commands, from the invitations to the certificate, with a real server and bots."""

from __future__ import annotations

import csv
import json
import re
import shlex
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest

from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import PATIENCE, ROOT, program, server, until

LIGHT: Final = ("--luck", "off", "--house-workers", "0")
"""Options of a server that leaves the cores to the bots."""
SECTION: Final = "A class, from invitation to certificate"
PUPILS: Final = {"ann": ("-m", "arena_client.samples.counter_bot"), "bob": (), "cleo": ()}
"""The pupils' bots. An empty command stands for the bot of `arena new`, which plays at random."""


def commands() -> list[list[str]]:
    """Return the commands of the section, block by block."""
    page = (ROOT / "docs" / "events.md").read_text()
    found = re.search(rf"^## {SECTION}$(.*?)^## ", page, re.DOTALL | re.MULTILINE)
    assert found is not None
    return [
        block.replace("\\\n", "").strip().splitlines() for block in re.findall(r"```sh\n(.*?)```", found[1], re.DOTALL)
    ]


def entrants(data: Path) -> set[str]:
    found = json.loads(shown("event", "show", "friday", "--data", data, "--json"))
    return {each["bot"] for each in found["entrants"]}


@pytest.mark.process
def test_the_page_s_commands_make_an_event_of_a_class(tmp_path: Path) -> None:
    [[serve], [invite, create], [bot], [here, start, show], [result, *check]] = commands()
    data, bundle = tmp_path / "class", tmp_path / "friday.bundle"

    def words(command: str) -> list[str]:
        """Return the words of a command with this test's directory."""
        return shlex.split(command.replace("./class", str(data)).replace("friday.bundle", str(bundle)))[1:]

    options = words(serve)[1:]
    for option in ("--data", "--address", "--web"):
        del options[options.index(option) : options.index(option) + 2]
    shown("new", "my-bot", "--game", "sixth_sense", "--directory", tmp_path / "my-bot")
    with server(data, "--house", "--web", "127.0.0.1:0", *LIGHT, *options, seats="4") as running, ExitStack() as stack:
        assert running.process.stdout is not None
        pages = running.process.stdout.readline().split("Pages at ")[1].strip()
        codes = [row["invitation"] for row in csv.DictReader(StringIO(shown(*words(invite))))]
        assert "bots enter it with --event friday" in shown(*words(create))
        for (name, own), code in zip(PUPILS.items(), codes, strict=False):
            typed = bot.replace("HOST:50051", running.address).replace("NAME", name).replace("CODE", code)
            started = (*(own or [str(tmp_path / "my-bot" / "bot.py")]), *shlex.split(typed)[2:])
            quick = ("--token-file", str(tmp_path / f"{name}.token"), "--capacity", "1", "--game", "sixth_sense")
            stack.enter_context(program(*started, *quick, listened_to=False))
        until(lambda: running.log.count("bot registered") == len(PUPILS), "all pupils to register")
        until(lambda: len(entrants(data)) == len(PUPILS), "all pupils to enter")
        until(lambda: shown(*words(here)[:-1], running.address).count("●") == len(PUPILS), "all pupils to be here")
        assert shown(*words(start)) == "The event friday has begun.\n"
        standings = shown(*words(show))
        assert "friday: playing, " in standings
        assert "No look was taken yet." in standings

        until(lambda: "event over" in running.log, "the event to end")
        with urlopen(f"{pages}event/friday", timeout=PATIENCE) as page:
            assert "ann wins." in page.read().decode()
        with urlopen(f"{pages}event/friday/certificate.svg", timeout=PATIENCE) as picture:
            certificate = picture.read().decode()
        assert "The event friday was won by" in certificate
        assert ">ann<" in certificate
        verdict = re.compile(r"ann wins after \d+ matches: with P 0\.0\d another bot is better by more than")
        assert verdict.search(shown(*words(result)))
        export, verify, head = (shown(*words(command)) for command in check)
        assert str(bundle) in export
        assert verdict.search(verify)
        [log] = re.findall(r"those of the log (\w+);", verify)
        assert f"Log {log}" in head
