"""A new bot's project in a language other than Python: the bot, the sources of its SDK, and the commands that start it.

No registry has the SDKs, so a project contains them. The bot and the files that build it are those of the SDK's README.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Final, NamedTuple

from arena.local.errors import LocalMatchError
from arena.wheels import client_wheel

_ARENA: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = (_ARENA / "sdks", _ARENA.parent)
"""The folder of `clients` and `proto` in an installed arena, and in a checkout."""
INSIDE: Final = "arena"
"""The folder of the SDK in a project, laid out like a checkout."""
MADE: Final = {"__pycache__", "build", "dist", "node_modules", "target"}
"""Folders of a checkout that contain no sources."""
IGNORED: Final = "".join(f"{folder}/\n" for folder in sorted({*MADE, ".venv"}))
SERVER: Final = "localhost:50051"
PIPED: Final = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"
README: Final = """\
# $name

A bot for the Arena in $title. It plays every game, so far by chance: `$bot` is where it becomes better.

Build it, and play rated matches until Ctrl-C on a server, here on one that runs on this machine (`arena serve`):

```console
$commands
```

The first start registers the bot under its name and stores its token below `~/.arena/tokens`. Whoever has the token is
the bot.

`arena check -- COMMAND` tests whether a bot follows the protocol. `$sdk` describes what a bot can do.
`$inside` has the sources that this bot needs. They are files of this project because no registry has them: whatever
one may hold under their names is not ours.
"""


class Language(NamedTuple):
    """A language, and the way to build and start a bot in it."""

    title: str
    sdk: str
    """Folder of the language's SDK below `clients`."""
    build: str
    start: str
    files: Mapping[str, str] = {}
    """Files that the commands of the SDK's README create."""
    protocol: bool = False
    """True if the build of the SDK generates the protocol's code."""


class Starter(NamedTuple):
    """A language without an SDK; `arena-bot pipe` connects its program."""

    title: str
    file: str
    start: str
    """The command that starts the program."""
    build: str = ""


LANGUAGES: Final[Mapping[str, Language]] = {
    "typescript": Language(
        "TypeScript",
        "typescript",
        "npm run setup && npx tsc",
        "node bot.js",
        {
            "package.json": json.dumps(
                {
                    "name": "bot",
                    "private": True,
                    "type": "module",
                    "scripts": {
                        "setup": f"npm ci --ignore-scripts --prefix {INSIDE}/clients/typescript && "
                        f"npm pack ./{INSIDE}/clients/typescript && npm install ./arena-client-*.tgz typescript"
                    },
                },
                indent=2,
            )
            + "\n",
            "tsconfig.json": '{ "compilerOptions": { "target": "ES2022", "module": "NodeNext", "strict": true },'
            ' "files": ["bot.ts"] }\n',
        },
    ),
    "go": Language(
        "Go",
        "go",
        "go build -o bot .",
        f"./bot --server {SERVER}",
        {"go.mod": "module bot\n\ngo 1.25.0\n", "go.work": f"go 1.25.0\n\nuse (\n\t.\n\t./{INSIDE}/clients/go\n)\n"},
    ),
    "cpp": Language("C++", "cpp", "cmake -S . -B build && cmake --build build", "build/my_bot", {}, protocol=True),
    "rust": Language(
        "Rust",
        "rust",
        "cargo build",
        f"cargo run -- --server {SERVER}",
        {
            "Cargo.toml": '[package]\nname = "bot"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\n'
            f'fastrand = "2"\narena-client = {{ path = "{INSIDE}/clients/rust" }}\n'
        },
    ),
    "java": Language(
        "Java",
        "java",
        f"mvn -q -f {INSIDE}/clients/java package dependency:copy-dependencies",
        f"java -cp '{INSIDE}/build/client-java/*' MyBot.java --server {SERVER}",
        {
            f"{INSIDE}/clients/java/.mvn/maven.config": "-Dmaven.test.skip=true\n-DincludeScope=runtime\n"
            "-DoutputDirectory=../../build/client-java\n"
        },
        protocol=True,
    ),
}
STARTERS: Final[Mapping[str, Starter]] = {
    "bash": Starter("Bash", "bot.bash", "bash bot.bash"),
    "awk": Starter("AWK", "bot.awk", "awk -W interactive -f bot.awk"),
    "ruby": Starter("Ruby", "bot.rb", "ruby bot.rb"),
    "lua": Starter("Lua", "bot.lua", "lua bot.lua"),
    "csharp": Starter(
        "C#",
        "Bot.cs",
        "mono Bot.exe",
        "mcs -r:System.Runtime.Serialization -r:System.Xml -r:System.Xml.Linq Bot.cs",
    ),
}


class Project(NamedTuple):
    """A new project."""

    bot: str
    """The file for the author to edit."""
    commands: tuple[str, ...]
    """The commands to run next in the project's folder."""
    files: Mapping[str, bytes]


def sdk_project(name: str, language: str) -> Project:
    """Return the project of a bot. Raises: LocalMatchError, ModuleNotFoundError."""
    starter = STARTERS.get(language)
    return _piped(name, starter) if starter is not None else _with_sdk(name, LANGUAGES[language])


def _with_sdk(name: str, language: Language) -> Project:
    sdk = f"clients/{language.sdk}"
    found = dict(_sources(sdk, *(["proto/arena"] if language.protocol else [])))
    text = found[f"{sdk}/README.md"].decode()
    shown = dict(re.findall(r"(?:^|[ (])([\w./]+\.\w+):\n\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    bot = next(iter(shown))
    shown[bot] = shown[bot].replace('"my-bot"', f'"{name}"')
    if "CMakeLists.txt" in shown:
        shown["CMakeLists.txt"] = shown["CMakeLists.txt"].replace(
            "find_package(arena_client REQUIRED)", f"add_subdirectory({INSIDE}/{sdk})"
        )
    commands = (language.build, language.start)
    files = {place: content.encode() for place, content in {**shown, **language.files}.items()}
    files |= {f"{INSIDE}/{place}": content for place, content in found.items()}
    readme = _readme(name, language.title, bot, commands, f"{INSIDE}/{sdk}/README.md", f"{INSIDE}/")
    return Project(bot, commands, {**files, "README.md": readme, ".gitignore": IGNORED.encode()})


def _piped(name: str, starter: Starter) -> Project:
    found = dict(_sources("clients/starters"))
    wheel, packed = client_wheel()
    play = f".venv/bin/arena-bot pipe --server {SERVER} --name {name} -- {starter.start}"
    commands = (PIPED, *([starter.build] if starter.build else []), play)
    files = {
        starter.file: found[f"clients/starters/{starter.file}"],
        f"wheels/{wheel}": packed,
        "requirements.txt": f"./wheels/{wheel}\n".encode(),
        ".gitignore": IGNORED.encode(),
        "README.md": _readme(name, starter.title, starter.file, commands, "arena-bot pipe --help", "wheels/"),
    }
    return Project(starter.file, commands, files)


def _readme(name: str, title: str, bot: str, commands: tuple[str, ...], sdk: str, inside: str) -> bytes:
    typed = "\n".join(f"$ {command}" for command in commands)
    words = {"name": name, "title": title, "bot": bot, "sdk": sdk, "inside": inside, "commands": typed}
    return Template(README).substitute(words).encode()


def _sources(*folders: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each source file in these folders.

    Raises:
        LocalMatchError: This installation has no sources of the SDKs.
    """
    root = next((each for each in SOURCES if (each / folders[0]).is_dir()), None)
    if root is None:
        raise LocalMatchError(f"this installation lacks {folders[0]}: install arena's own wheel, or use a checkout")
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            place = path.relative_to(root)
            if path.is_file() and MADE.isdisjoint(place.parts):
                yield place.as_posix(), path.read_bytes()
