"""Every setting of a server has the same name in a file, as a flag and in the code."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.cli.operate.config_file import read_config, write_config
from arena.cli.operate.nodes import OF_A_MACHINE, shared_settings
from arena.cli.operate.serve import command
from arena.cli.operate.setting_options import SettingOption
from arena.cli.operate.settings import MOST, SETTINGS, TABLES, ServerSetting, Value, configure
from arena.match.policy import Policy
from arena.server.config import LADDER_NAME, LADDER_SETTINGS, Config, LadderTable, quota_in_force
from arena.server.sessions.limits import Limits
from engine.deal import SeededDecks
from engine.game import Game, Option, OptionError
from engine.registry import GAMES
from tests.cli.cli_rig import arena, shown
from tests.end_to_end.e2e_rig import Crowd, server
from trio_grpc.limits.settings import TransportSettings

ROOT = Path(__file__).parents[2]


def another(setting: ServerSetting) -> Value:
    """Return a value other than the default."""
    if setting.kind is bool:
        return not setting.default
    if setting.kind is frozenset:
        return sorted({*setting.choices} ^ {*(setting.default or ())})  # type: ignore[misc]  # a list of names
    if setting.choices:
        return next(word for word in setting.choices if word != setting.default)
    if setting.kind is float:
        return setting.least + 1.5 if setting.most == MOST else (setting.least + setting.most) / 2 + 0.25
    if setting.kind is int:
        return int(setting.least) + 6
    return f"other-{setting.name}"


OTHERS = {name: another(setting) for name, setting in SETTINGS.items()} | {
    "address": "[::1]:1",
    "embed_origins": "https://blog.example, http://[::1]:3",
    "metrics": "[::1]:2",
    "public_address": "arena.example:443",
    "public_url": "https://arena.example/cards",
    "proxies": "10.0.0.0/8, ::1",
    "web": "[::1]:2",
    "web_origin": "https://arena.example, http://[::1]:2",
    "webhook": "https://club.example/arena?room=2",
}


def typed(setting: ServerSetting, value: Value) -> list[str]:
    """Return the arguments that set a setting to a value."""
    if isinstance(value, bool):
        return [setting.flag if value else f"--no-{setting.flag[2:]}"]
    if isinstance(value, list):
        return [word for name in value or ["off"] for word in (setting.flag, name)]
    return [setting.flag, str(value)]


def needed(name: str) -> dict[str, Value]:
    """Return the setting together with the settings that it requires."""
    pair = ("tls_cert", "tls_key")
    more = {"tls_cert": pair, "tls_key": pair, "node": ("node", "store")}
    return {each: OTHERS[each] for each in more.get(name, (name,))}


def found(text: str, setting: ServerSetting) -> Any:
    document = tomllib.loads(text)
    return (document[setting.table] if setting.table else document)[setting.name]


# --- one definition ---


@pytest.mark.parametrize("holder", [Config, Limits, Policy, TransportSettings])
def test_every_field_is_a_setting_or_the_ladders(holder: type) -> None:
    for field in fields(holder):
        assert field.name in SETTINGS or field.name in TABLES or field.name == "ladder_tables"


def test_a_name_is_used_once_and_is_the_name_of_the_flag() -> None:
    flags = {param.setting.name: param for param in command.params if isinstance(param, SettingOption)}
    assert [*flags] == [*SETTINGS]
    assert (
        len(SETTINGS)
        == sum(len(fields(each)) for each in (Config, Limits, Policy, TransportSettings)) - len(TABLES) - 1
    )
    for name, option in flags.items():
        assert option.name == name
        assert option.opts == ["--" + name.replace("_", "-")]


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_is_explained_and_its_default_is_in_its_bounds(setting: ServerSetting) -> None:
    assert re.fullmatch(r"[A-Z].*\.", setting.meaning)
    if setting.default is not None:
        assert setting.checked(setting.default) == setting.default
    assert OTHERS[setting.name] != setting.default
    assert setting.checked(OTHERS[setting.name]) == OTHERS[setting.name]


def test_the_page_of_settings_is_what_the_fields_say(tmp_path: Path) -> None:
    script = tmp_path / "settings.py"
    script.write_text((ROOT / "docs" / "settings.py").read_text())
    exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__", "__file__": str(script)})
    assert (tmp_path / "settings.md").read_text() == (ROOT / "docs" / "settings.md").read_text()


# --- from a file and from a flag ---


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_reached_by_flag_and_by_file(name: str, tmp_path: Path) -> None:
    changes = needed(name)
    words = [word for each, value in changes.items() for word in typed(SETTINGS[each], value)]
    by_flag = shown("serve", "--print-config", *words)
    assert found(by_flag, SETTINGS[name]) == OTHERS[name]
    file = tmp_path / "arena.toml"
    file.write_text(by_flag)
    by_file = shown("serve", "--print-config", "--config", file)
    assert by_file == by_flag
    config = read_config(file)
    assert SETTINGS[name].of(configure((), config.values)) == OTHERS[name]


def test_a_flag_goes_before_the_file_and_the_file_before_the_default(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text("patience = 7\nhouse = false\nluck = ['all']\n[policy]\nbank = 5\ngrace = 6\n")
    text = shown("serve", "--print-config", "--config", file, "--bank", "8", "--house", "--luck", "off")
    asked = {"patience": 7, "house": True, "luck": [], "bank": 8, "grace": 6, "soft_limit": 1}
    assert {name: found(text, SETTINGS[name]) for name in asked} == asked


def test_games_of_the_command_line_go_before_those_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(
        "[games.sixth_sense]\nseats = [3, 5]\noptions = { target = 50 }\n[games.nullern]\nseats = [7]\n[games]\n"
    )

    def offered(*words: str) -> dict[str, Any]:
        games: dict[str, Any] = tomllib.loads(shown("serve", "--print-config", "--config", file, *words))["games"]
        return games

    sixth_sense, nullern = {"seats": [3, 5], "options": {"target": 50}}, {"seats": [7]}
    assert offered() == {"sixth_sense": sixth_sense, "nullern": nullern}
    assert offered("--game", "nullern") == {"nullern": nullern}
    assert offered("--seats", "nullern:2") == {"sixth_sense": sixth_sense, "nullern": {"seats": [2]}}
    assert offered("--seats", "4") == {"sixth_sense": {**sixth_sense, "seats": [4]}, "nullern": {"seats": [4]}}
    assert offered("--option", "target=60")["sixth_sense"] == {"seats": [3, 5], "options": {"target": 60}}


# --- a printed file can be read back ---


def values_of(setting: ServerSetting) -> st.SearchStrategy[Value]:
    """Return valid values of a setting, as users write them."""
    if setting.kind is bool:
        return st.booleans()
    if setting.kind is frozenset:
        return st.lists(st.sampled_from(setting.choices), unique=True).map(sorted)
    if setting.choices:
        return st.sampled_from(setting.choices)
    if setting.kind is int:
        return st.integers(int(setting.least), int(setting.most))
    if setting.unit == "us":
        return st.integers(0, int(setting.most) * 1_000_000).map(lambda us: us / 1e6)
    if setting.kind is float:
        return st.floats(setting.least, setting.most)
    return st.text(min_size=1).filter(lambda text: "\0" not in text)


def takes(game: Game, seats: list[int], options: dict[str, Option]) -> bool:
    try:
        for size in seats:
            game.new(size, SeededDecks(bytes(32)), **options)
    except OptionError:
        return False
    return True


@st.composite
def ladders(draw: Callable[[st.SearchStrategy[Any]], Any]) -> tuple[LadderTable, ...]:
    chosen = []
    for name in draw(st.lists(st.sampled_from([*GAMES]), min_size=1, unique=True)):
        game = GAMES[name]
        seats = draw(st.lists(st.sampled_from(game.seats), min_size=1, unique=True))
        given = {
            spec.name: type(spec.default)(draw(st.integers(0, 50))) for spec in game.options if draw(st.booleans())
        }
        chosen.append(LadderTable(game, tuple(seats), given if takes(game, seats, given) else {}))
    names = st.from_regex(LADDER_NAME, fullmatch=True).filter(lambda name: name not in GAMES)
    for name in draw(st.lists(names, unique=True, max_size=3)):
        usual = draw(st.sampled_from(chosen[: len(GAMES)]))
        chosen.append(replace(usual, name=name, entry=draw(ENTRIES), policy=draw(POLICIES), **draw(OWN)))
    return tuple(chosen)


ENTRIES = st.sampled_from(["open", "invited"]) | st.lists(st.sampled_from(["ann", "B.o-b", "7"]), min_size=1).map(tuple)
OWN = st.fixed_dictionaries({}, optional={name: values_of(SETTINGS[name]) for name in LADDER_SETTINGS})
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        name: values_of(setting).map(setting.stored).filter(bool)
        for name, setting in SETTINGS.items()
        if setting.table == "policy"
    },
)


@settings(max_examples=60, deadline=None)
@given(ladders=ladders(), values=st.fixed_dictionaries({}, optional={n: values_of(s) for n, s in SETTINGS.items()}))
def test_what_is_printed_is_read_back_as_the_same(
    ladders: tuple[LadderTable, ...], values: dict[str, Value], tmp_path_factory: pytest.TempPathFactory
) -> None:
    config = configure(ladders, values)
    file = tmp_path_factory.mktemp("config") / "arena.toml"
    file.write_text(write_config(config), encoding="utf-8", newline="")
    read = read_config(file)
    assert configure(read.ladders((), (), ()), read.values) == config


# --- further ladders ---


def ladders_of(tmp_path: Path, text: str, *words: str) -> list[dict[str, Any]]:
    """Return the additional ladders that the command prints for a file with this text."""
    file = tmp_path / "arena.toml"
    file.write_text(text)
    found: list[dict[str, Any]] = tomllib.loads(shown("serve", "--print-config", "--config", file, *words))["ladders"]
    return found


def test_a_ladder_is_like_the_default_one_in_what_it_leaves_out(tmp_path: Path) -> None:
    text = """
        [games.sixth_sense]
        seats = [3, 5]
        options = { target = 50 }
        [[ladders]]
        name = "plain"
        game = "sixth_sense"
        [[ladders]]
        name = "other_7"
        game = "sixth_sense"
        seats = [2, 2]
        options = { novice = true }
        policy = { soft_limit = 120, bank = 1800.5 }
        entry = ["ann", "Bob"]
        patience = 60
        house = false
        slow_percent = 40
        matches_per_hour = 30
    """
    target = {"target": 50}
    plain = {"name": "plain", "game": "sixth_sense", "seats": [3, 5], "options": target, "entry": "open", "policy": {}}
    other = {
        "name": "other_7",
        "game": "sixth_sense",
        "seats": [2],
        "options": target | {"novice": True},
        "entry": ["ann", "Bob"],
        "policy": {"soft_limit": 120, "bank": 1800.5},
        "patience": 60,
        "house": False,
        "slow_percent": 40,
        "matches_per_hour": 30,
    }
    assert ladders_of(tmp_path, text) == [plain, other]
    changed = ladders_of(tmp_path, text, "--seats", "4", "--option", "target=60")
    assert changed == [
        plain | {"seats": [4], "options": {"target": 60}},
        other | {"options": {"target": 60, "novice": True}},
    ]


def test_flags_change_what_a_ladder_leaves_out(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(SLOW + "policy = { soft_limit = 120 }")
    read = read_config(file)
    config = configure(read.ladders((), (), ()), {**read.values, "bank": 9.0, "soft_limit": 3.0, "patience": 7.0})
    slow = config.ladders[-1]
    assert (slow.name, slow.policy) == ("slow", Policy(soft_limit=120_000_000, bank=9_000_000))
    assert slow.patience == 7


def test_the_example_of_a_page_is_a_file(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "run-a-server.md").read_text()
    [example] = re.findall(r"```toml\n(\[\[ladders\]\].*?)```", page, re.DOTALL)
    slow, own = ladders_of(tmp_path, example)
    assert (slow["name"], slow["policy"]) == ("nullern-slow", {"soft_limit": 120, "bank": 1800})
    assert (own["name"], own["entry"], own["matches_per_hour"]) == ("class", "invited", 30)


SLOW = '[[ladders]]\nname = "slow"\ngame = "nullern"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ladders = 3", "ladders must be tables, each below a line [[ladders]], not 3"),
        ("[ladders]\nname = 'slow'", "ladders must be tables, each below a line [[ladders]], not {'name': 'slow'}"),
        ("[[ladders]]\ngame = 'nullern'", 'ladder 1 of [[ladders]] has no name; add one, such as name = "slow"'),
        ("[[ladders]]\nname = 'Slow'", "'Slow' is no name of a ladder: it must be a text of 1 to 40 lower-case"),
        (f"[[ladders]]\nname = '{41 * 'a'}'", "is no name of a ladder"),
        ("[[ladders]]\nname = '_a'", "'_a' is no name of a ladder"),
        ("[[ladders]]\nname = 'slow/2'", "'slow/2' is no name of a ladder"),
        ("[[ladders]]\nname = 3", "3 is no name of a ladder"),
        (
            "[[ladders]]\nname = 'sixth_sense'\ngame = 'nullern'",
            "the ladder sixth_sense cannot have the name of a game, which is that of the game's default ladder: choose "
            "another, such as sixth_sense-2, or set the seats and options of the default ladder in [games.sixth_sense]",
        ),
        (SLOW + SLOW, "the ladder slow is there twice; give one of them another name, or remove it"),
        ("[[ladders]]\nname = 'slow'", "the ladder slow: game is missing; there is sixth_sense, nullern"),
        ("[[ladders]]\nname = 'slow'\ngame = 'nulern'", "slow: game 'nulern' is no game; did you mean nullern?"),
        (
            "[games.sixth_sense]\n" + SLOW,
            "the ladder slow is of nullern, which is not played; play it, by [games.nullern] or --game nullern, or "
            "remove the ladder",
        ),
        (SLOW + "seats = 4", "the ladder slow: seats must be a list of whole numbers, not 4"),
        (SLOW + "seats = []", "the ladder slow: seats must be a list of whole numbers, not []"),
        (SLOW + "seats = [4, 9]", "the ladder slow: Nullern is for 2 to 7 seats, not 9"),
        (SLOW + "options = 1", "the ladder slow: options must be a table, not 1"),
        (SLOW + "options = { novice = true }", "the ladder slow: options.novice is no option; there is none"),
        (
            "[[ladders]]\nname = 'slow'\ngame = 'sixth_sense'\noptions = { novice = 1 }",
            "the ladder slow: option novice takes a bool, not 1",
        ),
        (
            "[games.sixth_sense]\nseats = [4]\noptions = { novice = true }\n"
            + SLOW.replace("nullern", "sixth_sense")
            + "options = { late_trump = true }",
            "the ladder slow: option late_trump does not go with novice",
        ),
        (SLOW + "policy = 3", "the ladder slow: policy must be a table, not 3"),
        (SLOW + "policy = { banc = 3 }", "the ladder slow: policy.banc is no setting; did you mean bank?"),
        (SLOW + "policy = { bank = -1 }", "slow: policy.bank must be a number of seconds from 0 to 86,400, not -1"),
        (SLOW + "policy = { soft_limit = '3' }", "slow: policy.soft_limit must be a number of seconds"),
        (
            SLOW + "policy = { soft_limit = 0 }",
            "the ladder slow: policy.soft_limit must be above 0, not 0: on such a clock no bot could answer in time",
        ),
        (SLOW + "soft_limit = 3", "soft_limit is no setting of a ladder by itself; write policy = { soft_limit = … }"),
        (SLOW + "park_after = 3", "slow: park_after is the same for all ladders; set it at the top of the file"),
        (SLOW + "byte_rate = 3", "byte_rate is the same for all ladders; set it in the table [limits]"),
        (SLOW + "patienc = 3", "the ladder slow: patienc is no setting; did you mean patience?"),
        (SLOW + "patience = 'x'", "the ladder slow: patience must be a number of seconds from 0 to 86,400, not 'x'"),
        (SLOW + "house = 1", "the ladder slow: house must be true or false, not 1"),
        (SLOW + "matches_per_hour = 3601", "slow: matches_per_hour must be a whole number from 0 to 3,600, not 3601"),
        (SLOW + "slow_percent = 101", "slow: slow_percent must be a whole number of percent from 0 to 100, not 101"),
        (
            SLOW + "entry = 'closed'",
            'the ladder slow: entry must be "open", "invited" or a list of owners, such as ["ann"], not \'closed\'',
        ),
        (SLOW + "entry = []", 'of owners, such as ["ann"], not []'),
        (SLOW + "entry = [3]", 'of owners, such as ["ann"], not [3]'),
        (SLOW + "entry = ['ann smith']", "the ladder slow: entry: 'ann smith' cannot be an owner"),
    ],
)
def test_what_is_wrong_in_a_ladder_is_named(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(text)
    result = arena("serve", "--print-config", "--config", file)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert result.stdout == ""


# --- errors name the wrong setting ---


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("patients = 3", "patients is no setting; did you mean patience?"),
        ("xyzzy = 3", "xyzzy is no setting; there is address, data, store"),
        ("[policy]\nbanc = 3", "policy.banc is no setting; did you mean bank?"),
        ("bank = 3", "bank is no setting; bank is one, in the table [policy]"),
        ("byte_rat = 3", "byte_rat is no setting; byte_rate is one, in the table [limits]"),
        ("[limits]\npatience = 3", "limits.patience is no setting; patience is one, at the top, before any table"),
        ("[limit]\nbyte_rate = 3", "limit is no setting; did you mean limits?"),
        ("'not a name' = 3", '"not a name" is no setting'),
        ("patience = '3'", "patience must be a number of seconds from 0 to 86,400, not '3'"),
        ("patience = true", "patience must be a number of seconds"),
        ("patience = -1", "not -1"),
        ("patience = nan", "not nan"),
        ("patience = inf", "not inf"),
        (f"patience = 1{'0' * 400}", "patience must be a number of seconds"),
        ("park_after = 2.0", "park_after must be a whole number from 1 up, not 2.0"),
        ("park_after = 0", "park_after must be a whole number from 1 up, not 0"),
        ("house = 1", "house must be true or false, not 1"),
        ("registration = 'close'", "registration must be one of open, invited, not 'close'"),
        ("data = ''", "data must be a path, not ''"),
        ('data = "a\\u0000"', "data must be a path, not"),
        ("luck = ['chess']", f"luck must be a list of {', '.join(GAMES)}, or of all or off alone, not chess"),
        ("luck = 'nullern'", "luck must be a list of"),
        ("luck = [[1], 2]", "not [1], 2"),
        ("limits = 3", "limits must be a table, not 3"),
        ("games = ['nullern']", "games must be a table"),
        ("[games.nulern]", "games.nulern is no game; did you mean nullern?"),
        ("[games.nullern]\nseat = [4]", "games.nullern.seat is no setting; did you mean seats?"),
        ("[games.nullern]\nseats = 4", "games.nullern.seats must be a list of whole numbers, not 4"),
        ("[games.nullern]\nseats = []", "games.nullern.seats must be a list of whole numbers, not []"),
        ("[games.nullern]\nseats = [9]", "Nullern is for 2 to 7 seats, not 9"),
        ("[games.sixth_sense]\noptions = 1", "games.sixth_sense.options must be a table, not 1"),
        (
            "[games.sixth_sense.options]\nnovize = true",
            "games.sixth_sense.options.novize is no option; did you mean novice?",
        ),
        ("[games.nullern.options]\nnovice = true", "games.nullern.options.novice is no option; there is none"),
        ("[games.sixth_sense.options]\ntarget = 'x'", "must be true, false or a whole number, not 'x'"),
        ("[games.sixth_sense.options]\nnovice = 1", "option novice takes a bool, not 1"),
        ("patience", "is not TOML: "),
        ("patience = 1\npatience = 2", "is not TOML: "),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    file.write_text(text)
    result = arena("serve", "--print-config", "--config", file)
    assert result.exit_code == 2, result.output
    assert str(file) in result.output
    assert said in result.output
    assert result.stdout == ""


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"data = '\xff'")
    for name, said in (("none", "No such file"), (".", "Is a directory"), ("bytes", "is not TOML: ")):
        result = arena("serve", "--config", tmp_path / name)
        assert result.exit_code == 2
        assert str(tmp_path / name) in result.output
        assert said in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--patience", "x"), "'--patience': must be a number of seconds from 0 to 86,400, not 'x'"),
        (("--patience", "nan"), "'--patience': must be a number of seconds"),
        (("--park-after", "2.5"), "'--park-after': must be a whole number from 1 up, not '2.5'"),
        (("--substituted-percent", "101"), "must be a whole number of percent from 0 to 100, not 101"),
        (("--registration", "close"), "must be one of open, invited, not 'close'"),
        (("--data", ""), "must be a path, not ''"),
        (("--byte-rat", "1"), "--byte-rate"),
        (("--quiet", "--debug"), "--quiet and --debug: choose one"),
        (("--address", "foo"), "address: 'foo' is no HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051"),
        (("--address", "localhost:65536"), "address: 'localhost:65536' is no HOST:PORT"),
        (
            ("--public-url", "arena.example"),
            "public_url: 'arena.example' is no address of pages, such as https://arena",
        ),
        (
            ("--embed-origins", "blog.example"),
            "embed_origins: 'blog.example' is no origin, such as https://arena.example or http://192.0.2.7:8080; * "
            "allows all sites, none no site",
        ),
        (("--public-address", "arena.example"), "public_address: 'arena.example' is no address of a server, such as"),
        (
            ("--webhook", "http://club.example/"),
            "webhook: 'http://club.example/' would leave this machine in clear text",
        ),
        (("--node", "2"), "node: only servers on a PostgreSQL database share it: name the database with --store"),
        (("--node", "0", "--store", "postgresql://a@b/c"), "must be a whole number from 1 to 99, not 0"),
        (
            ("--node", "98", "--store", "postgresql://a@b/c", "--processes", "3"),
            "node: 3 processes from 98 are nodes up to 100, above 99",
        ),
        (
            ("--node", "2", "--store", "postgresql://a@b/c", "--address", "0.0.0.0:50051"),
            "node: bots that come from another machine cannot dial 0.0.0.0:50051: name the address of this machine "
            "with --public-address HOST:PORT",
        ),
        (("--proxies", "10.0.0.1, proxy"), "proxies: 'proxy' does not appear to be an IPv4 or IPv6 network"),
    ],
)
def test_what_is_wrong_in_a_flag_is_named(words: tuple[str, ...], said: str) -> None:
    result = arena("serve", "--print-config", *words)
    assert result.exit_code == 2, result.output
    assert said in result.output


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_nodes_share_the_settings_of_the_game_and_not_those_of_a_machine(setting: ServerSetting) -> None:
    own, other = (configure((), values) for values in ({}, {setting.name: OTHERS[setting.name]}))
    differing = {each.partition(":")[0] for each in {*shared_settings(own).split()} ^ {*shared_settings(other).split()}}
    assert ("quota" in differing) == (quota_in_force(own) != quota_in_force(other))
    of_a_machine = {setting.name, setting.table} & {*OF_A_MACHINE}
    assert differing - {"quota"} == (set() if of_a_machine else {setting.name})


def test_nodes_share_the_ladders(tmp_path: Path) -> None:
    file = tmp_path / "arena.toml"
    texts = []
    for seats in ("[3, 4]", "[3]"):
        file.write_text(f"[games.nullern]\nseats = {seats}\n")
        read = read_config(file)
        texts.append(shared_settings(configure(read.ladders((), (), ()), read.values)))
    assert {each.partition(":")[0] for each in {*texts[0].split()} ^ {*texts[1].split()}} == {"games"}


def test_a_path_that_toml_cannot_hold_is_refused_and_not_printed() -> None:
    result = arena("serve", "--print-config", "--data", "caf\udce9")
    assert result.exit_code == 1
    assert "TOML is UTF-8" in result.output


def test_help_and_settings_are_there_before_the_server_is_imported() -> None:
    heavy = {"grpc", "sqlalchemy", "trio", "rich", "google", "numpy", "structlog", "h2"}
    for asked in ("--help", "--print-config"):
        program = (
            f"import sys; from arena.cli.main import main; main(['serve', {asked!r}], standalone_mode=False);"
            f"print(sorted({heavy!r} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == "[]"


# --- in a server ---


def test_a_server_plays_by_its_file_and_tells_bots_so(tmp_path: Path) -> None:
    told = {name: value for name, value in OTHERS.items() if SETTINGS[name].table == "policy"}
    told |= {name: OTHERS[name] for name in ("ready_limit", "park_after")}
    file = tmp_path / "arena.toml"
    file.write_text(
        f"{settings_text('', told)}\nquiet = true\n[limits]\nbots_per_owner = 1\n{settings_text('policy', told)}"
    )
    with server(tmp_path / "data", "--config", str(file)) as running, Crowd(running.address) as crowd:
        conduct = crowd.come("ann").read().welcome.conduct
    for name, value in told.items():
        milliseconds = "ready_ms" if name == "ready_limit" else f"{name}_ms"
        if SETTINGS[name].unit in ("s", "us"):
            assert isinstance(value, float)
            assert getattr(conduct, milliseconds) == round(value * 1000), name
        else:
            assert getattr(conduct, name) == value


def settings_text(table: str, values: dict[str, Value]) -> str:
    lines = [f"{name} = {value}" for name, value in values.items() if SETTINGS[name].table == table]
    return "\n".join([f"[{table}]", *lines] if table else lines)
