"""The command itself: its help, and the time to print the help."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest

from arena.cli.main import VERBS, main
from arena.store.base.rows import (
    JSON_KEY,
    BotEventRow,
    BotRow,
    FlagRow,
    LadderRow,
    LadderRows,
    LuckRow,
    MatchRow,
    PastLadder,
    PastLadderRow,
    RatedRow,
    SeatRow,
    VersionRow,
)
from tests.cli.cli_rig import arena, shown


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return every verb, including verbs in groups."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


ALL = list(commands(main))


@pytest.mark.parametrize("words", [(), *ALL], ids=" ".join)
def test_help_explains_and_has_an_example(words: tuple[str, ...]) -> None:
    text = shown(*words, "--help")
    assert "Example: arena" in text
    assert text == shown(*words, "-h")


@pytest.mark.parametrize("words", [(), *ALL], ids=" ".join)
def test_help_fits_a_hundred_columns(words: tuple[str, ...]) -> None:
    assert [line for line in shown(*words, "--help").splitlines() if len(line) > 100] == []


def command_of(words: tuple[str, ...]) -> click.Command:
    command: click.Command = main
    for word in words:
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), word)
        assert found is not None
        command = found
    return command


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_every_option_is_explained(words: tuple[str, ...]) -> None:
    for option in command_of(words).params:
        if isinstance(option, click.Option):
            assert option.help, option.name


def test_help_lists_every_verb_and_the_exit_statuses() -> None:
    text = shown("--help")
    for name, (_, purpose) in VERBS.items():
        assert name in text
        assert purpose in text
    assert "0" in text
    assert "1" in text
    assert "2" in text


def test_the_help_of_a_server_begins_with_the_ten_options_that_most_need() -> None:
    sections = re.split(r"^(?=\S.*:$)", shown("serve", "--help"), flags=re.MULTILINE)
    assert sections[1].startswith("Options that most servers need:\n")
    flags = [re.findall(r"^  (--[a-z-]+)", section, re.MULTILINE) for section in sections[1:]]
    assert {"--data", "--address", "--web"} < {*flags[0]}
    assert len(flags[0]) == 10
    every = [flag for section in flags for flag in section]
    assert len(every) == len({*every}) >= 80, "each is in one section"


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys; from arena.cli.main import main; main(['--help'], standalone_mode=False);"
        "print(sorted({'grpc', 'sqlalchemy', 'trio', 'rich', 'google', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [("dance",), ("ladder", "--loud"), ("replay", "dance"), ("bots", "invite")])
def test_wrong_usage_has_status_2(words: tuple[str, ...]) -> None:
    assert arena(*words).exit_code == 2


def test_version() -> None:
    assert shown("--version").startswith("arena, version ")


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        (
            ("ladder",),
            (LadderRows, LadderRow, LuckRow, FlagRow, RatedRow, VersionRow, PastLadder, PastLadderRow),
        ),
        (("matches",), (MatchRow, SeatRow)),
        (("bots", "list"), (BotRow,)),
        (("bots", "events"), (BotEventRow,)),
    ],
)
def test_help_has_every_key_of_what_json_prints(words: tuple[str, ...], rows: tuple[type, ...]) -> None:
    text = shown(*words, "--help")
    for row in rows:
        assert row.__name__ not in text
        keys = [f'"{each.metadata.get(JSON_KEY, each.name)}"' for each in fields(row)]
        assert re.search(".*".join(keys), text, re.DOTALL), "all of them, in their order"


@pytest.mark.parametrize(
    "words",
    [
        ("ladder",),
        ("ladder", "--history", "rules"),
        ("ladder", "--versions", "rules"),
        ("ladder", "rebuild", "--verify"),
        ("matches",),
        ("bots", "show", "rules"),
        ("bots", "opponents", "rules"),
        ("replay", "list"),
        ("replay", "ask", "--bot", "rules", "house:random"),
    ],
    ids=" ".join,
)
def test_a_game_that_is_not_there_is_a_wrong_command_line(words: tuple[str, ...], empty: Path) -> None:
    result = arena(*words, "--game", "chess", "--data", empty)
    assert result.exit_code == 2
    assert "there is no game 'chess'; there are sixth_sense, nullern" in result.stderr


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("laddr",), "No such command 'laddr'. Did you mean ladder?"),
        (("serve", "--port", "50051"), "There is no option --port; use --address HOST:PORT."),
        (("replay", "show", "-1"), "Matches are numbered from 1; there is no match -1."),
        (("why", "abc"), "'abc' is neither the number of a match nor a file"),
        (("replay", "verify", "abc"), "'abc' is neither the number of a match nor a file"),
        (("ladder", "--server", "localhost"), "'localhost' has no port; write HOST:PORT, such as localhost:50051"),
        (("ladder", "--at", "2999-01-01"), "'2999-01-01' is in the future"),
    ],
    ids=str,
)
def test_a_wrong_command_line_names_the_remedy(words: tuple[str, ...], named: str) -> None:
    result = arena(*words)
    assert result.exit_code == 2
    assert named in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("bots", "show", "ruls"),
        ("bots", "opponents", "ruls", "--game", "sixth_sense"),
        ("ladder", "--history", "ruls"),
        ("ladder", "--versions", "ruls"),
        ("matches", "--bot", "ruls"),
        ("replay", "list", "--bot", "ruls"),
    ],
    ids=" ".join,
)
def test_an_unknown_bot_gets_a_suggestion(words: tuple[str, ...], source: tuple[str, str]) -> None:
    result = arena(*words, *source)
    assert result.exit_code == 1
    assert "there is no bot 'ruls'" in result.stderr
    assert "did you mean rules?" in result.stderr


def test_a_server_that_is_slow_is_not_called_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The socket listens but accepts no connection, so the call waits until its deadline."""
    monkeypatch.setattr("arena.queries.remote.CALL_TIMEOUT", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        result = arena("matches", "--server", f"127.0.0.1:{listening.getsockname()[1]}")
    assert result.exit_code == 1
    assert "did not answer in time" in result.stderr
    assert "no arena answers" not in result.stderr


def test_no_message_shows_the_number_of_a_system_error() -> None:
    result = arena("cert", "/proc/certificates")
    assert result.exit_code == 1
    assert "Errno" not in result.stderr
    assert "/proc/certificates" in result.stderr


def options_of(words: tuple[str, ...]) -> set[str]:
    """Return every option of a verb."""
    return {option for parameter in command_of(words).params for option in parameter.opts}


def test_the_verbs_without_json_print_no_table_or_draw_one() -> None:
    """docs/commands.md: "Verbs that print a table also print it as `--json`"."""
    groups = {words[:-1] for words in ALL}
    without = {" ".join(words) for words in ALL if words not in groups and "--json" not in options_of(words)}
    assert without == {"demo", "serve", "web", "rules", "replay show", "replay export"}


def test_the_verbs_that_read_no_results_are_those_without_a_server_and_a_directory() -> None:
    """docs/commands.md: "Verbs that read results work on a running server or on a data directory"."""
    groups = {words[:-1] for words in ALL}
    neither = {
        " ".join(words) for words in ALL if words not in groups and not {"--server", "--data"} & options_of(words)
    }
    assert neither == {"cert", "new", "play", "match", "check", "event verify", "games", "rules"}


def test_reading_a_ladder_loads_no_game_and_no_numpy(source: tuple[str, str]) -> None:
    """Loading the tables of both games once took a third of the run time of `arena ladder`."""
    program = (
        "import sys\nfrom arena.cli.main import main\n"
        f"main(['ladder', '--json', *{source!r}], standalone_mode=False)\n"
        "games = [name for name in sys.modules if name.startswith('engine.') and name.endswith('.game')]\n"
        "heavy = {'numpy', 'scipy'} & set(sys.modules)\n"
        "print(sorted({*games, *heavy} - {'engine.game'}), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stderr.strip() == "[]"
