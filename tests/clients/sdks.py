"""The SDKs as their users use them: the build, an author's project, and bots and samples as command lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar, Final, TypeAlias

from tests.documents import ROOT, blocks
from tests.interop.interop_rig import BUF, built

ADDRESS: Final = "localhost:50051"
"""The server's address in the READMEs' bots."""
Command: TypeAlias = Sequence[str]
"""A command line. `{home}` stands for the folder in which it runs."""
End: TypeAlias = tuple[Sequence[str], int, str]
"""Words of a command line, its exit status, and a pattern for the last line on standard error."""


def started(command: Command, folder: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start a program in a folder that is also its home folder."""
    line = [word.replace("{home}", str(folder)) for word in (*command, *words)]
    home = {**os.environ, "HOME": str(folder), **env}
    return subprocess.Popen(line, cwd=folder, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Sdk:
    """An SDK. The attributes describe the differences between the languages."""

    name: ClassVar[str]
    tools: ClassVar[Sequence[str]]
    """The programs that the SDK needs."""
    fence: ClassVar[str]
    """The language tag of the code block with the README's bot."""
    lines: ClassVar[int]
    """Maximum number of lines for the README's bot."""
    samples: ClassVar[Sequence[str]]
    """The names of the two samples. The random bot comes first."""
    mine: ClassVar[str]
    """The source of a bot that decides according to `DECIDES`, plays `MATCHES` matches without receipts, and prints its
    actions.
    """
    bot: ClassVar[str] = "mine"
    """The name of the bot in `source`."""
    legal: ClassVar[str] = r"decision.legal is \[0, 1, 2\]"
    """A pattern for the legal actions in a message."""
    error: ClassVar[str]
    """A pattern for the line about an error of the bot's own code."""
    kinds: ClassVar[Sequence[str]] = ("", "", "", "")
    """The names that the bot prints before the messages of four errors: a bad answer, an exception, a bad argument and
    a refused token.
    """
    printed_after_failure: ClassVar[str] = "after the run\n"
    """The last line that the bot prints if its run failed."""
    where_to_unpark: ClassVar[str] = r" \(arena-bot comes with the Python SDK"
    """A pattern for the words after the command that resumes a parked bot."""
    without_tls: ClassVar[str]
    """The options to leave out if the server has no TLS."""
    untrusted: ClassVar[str] = "is not trusted "
    """The words that follow the certificate options."""
    authorities: ClassVar[bool] = True
    """True if the SDK accepts an authority's certificate in place of the server's."""
    wrong: ClassVar[Sequence[End]]
    """Command lines with which the random sample ends with an error, besides those in `ALIKE`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        """A folder for authors' projects."""
        self.source = ROOT / "clients" / self.name
        self.build = ROOT / "build" / f"client-{self.name}"
        built("make", f"client-{self.name}", where=ROOT, GOFLAGS="")
        self.mine_command = cache(lambda: self.compiled(self.mine, "mine"))

    def shown(self, language: str) -> str:
        """Return the only block of the README in a language."""
        [block] = blocks((self.source / "README.md").read_text(encoding="utf-8"), language)
        return block

    def readme_command(self, pattern: str) -> str:
        """Return the only line of the README that matches a pattern."""
        [found] = re.findall(pattern, (self.source / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
        return str(found)

    def readme_bot(self) -> Command:
        """Return the README's bot, changed to use the server in `ARENA_SERVER`."""
        return self.compiled(self.shown(self.fence), "readme")

    def sample(self, number: int) -> Command:
        """Return the command of a sample bot: the random one or the rule-based one."""
        return (str(self.build / self.samples[number]),)

    @abstractmethod
    def compiled(self, program: str, name: str) -> Command:
        """Compile an author's bot, in a project that the README's commands create."""

    def generated(self, to: Path) -> tuple[Path, Path]:
        """Generate the protocol's code. Return its folder and the folder of the repository's copy."""
        raise NotImplementedError


class TypeScript(Sdk):
    name = "typescript"
    tools = ("npm",)
    fence = "ts"
    lines = 10
    samples = ("random_bot", "rule_bot")
    bot = "Mine"
    error = "Error: my own fault"
    printed_after_failure = ""
    without_tls = "--tls, --tls-roots and tls"
    untrusted = ""
    wrong = (
        (("--server", "localhost"), 2, "random: the address 'localhost' is not of the form HOST:PORT; .*"),
        (("--capacity", "many"), 2, "random_bot.js: --capacity is 'many': it takes a number; see --help.*"),
        (("--colour", "red"), 2, "random_bot.js: Unknown option '--colour'.*"),
    )
    mine = """
import { existsSync, writeFileSync } from "node:fs";
import { Bot, run } from "arena-client";

class Mine extends Bot {
  version = "1";
  decide(decision) {
    switch (process.env.DECIDES) {
      case "illegal":
        return 99;
      case "error":
        throw new Error("my own fault");
      case "later":
        console.log(decision.decisionId);
        writeFileSync("begun", "");
        while (!existsSync("done"));
    }
    return decision.legal[0];
  }
}
const matches = Number(process.env.MATCHES) || undefined;
await run(new Mine(), undefined, { tokenFile: "token", receipts: false, matches });
console.log("after the run");
"""

    def compiled(self, program: str, name: str) -> Command:
        modules = self.folder / name / "node_modules"
        (modules / "@types").mkdir(parents=True)
        (modules / "arena-client").symlink_to(self.source)
        (modules / "@types" / "node").symlink_to(self.source / "node_modules" / "@types" / "node")
        (modules.parent / "package.json").write_text('{"type": "module"}')
        if program is self.mine:
            (modules.parent / "bot.js").write_text(program)
        else:
            (modules.parent / "bot.ts").write_text(program)
            compiler = self.source / "node_modules" / ".bin" / "tsc"
            built(compiler, "--init", where=modules.parent)
            built(compiler, where=modules.parent)
        return ("node", str(modules.parent / "bot.js"))

    def readme_bot(self) -> Command:
        bot = self.shown(self.fence)
        assert bot.count(f', "{ADDRESS}"') == 1
        return self.compiled(bot.replace(f', "{ADDRESS}"', ""), "readme")

    def sample(self, number: int) -> Command:
        return ("node", str(self.source / "dist" / "samples" / f"{self.samples[number]}.js"))

    def generated(self, to: Path) -> tuple[Path, Path]:
        built(BUF, "generate", "-o", to, where=self.source)
        return to / "src" / "v1", self.source / "src" / "v1"


class Go(Sdk):
    name = "go"
    tools = ("go",)
    fence = "go"
    lines = 12
    samples = ("random", "rules")
    legal = r"decision.Legal is \[0 1 2\]"
    error = "mine: the bot panicked: my own fault"
    without_tls = "--tls, --tls-roots, TLS and TLSRoots"
    wrong = (
        (("--capacity", "many"), 2, 'random: invalid value "many" for flag -capacity: parse error; see --help.*'),
        (("--colour", "red"), 2, "random: flag provided but not defined: -colour; see --help.*"),
        (("--on-error", "die"), 2, "random: --on-error is 'die': it takes raise or continue; see --help.*"),
    )
    mine = """package main

import (
	"fmt"
	"os"
	"strconv"

	"arena.example/client"
)

func main() {
	bot := client.Bot{Name: "mine", Version: "1"}
	bot.Decide = func(d *client.Decision) int {
		switch os.Getenv("DECIDES") {
		case "illegal":
			return 99
		case "error":
			panic("my own fault")
		case "never":
			select {}
		case "later":
			fmt.Println(d.DecisionID)
			os.WriteFile("begun", nil, 0o600)
			for _, err := os.Stat("done"); err != nil; _, err = os.Stat("done") {
			}
		}
		return d.Legal[0]
	}
	matches, _ := strconv.Atoi(os.Getenv("MATCHES"))
	err := client.Run(bot, "", client.Options{TokenFile: "token", NoReceipts: true, Matches: matches})
	fmt.Println("after the run")
	os.Exit(client.Told(bot, err))
}
"""

    def compiled(self, program: str, name: str) -> Command:
        folder = self.folder / name
        folder.mkdir()
        command = self.readme_command(r"^go mod init .*$")
        assert "../arena/clients/go" in command
        built("sh", "-c", command.replace("../arena/clients/go", str(self.source)), where=folder, GOFLAGS="")
        (folder / "main.go").write_text(program)
        built("go", "build", "-buildvcs=false", "-o", "bot", ".", where=folder, GOFLAGS="")
        return (str(folder / "bot"),)

    def generated(self, to: Path) -> tuple[Path, Path]:
        tools = self.build / "bin"
        built("go", "install", "tool", where=self.source, GOBIN=str(tools), GOFLAGS="")
        built(BUF, "generate", "-o", to, where=self.source, PATH=f"{tools}{os.pathsep}{os.environ['PATH']}")
        return to / "v1", self.source / "v1"


class Cpp(Sdk):
    name = "cpp"
    tools = ("cmake", "grpc_cpp_plugin")
    fence = "cpp"
    lines = 10
    samples = ("random_bot", "rule_bot")
    bot = "Mine"
    error = "Mine: the bot failed: my own fault"
    without_tls = "--tls, --tls-roots, tls and tls_roots"
    wrong = (
        (("--server", "localhost"), 2, "random: the address 'localhost' is not of the form HOST:PORT; .*"),
        (("--capacity", "many"), 2, "random_bot: --capacity is 'many': it takes a number; see --help.*"),
        (("--colour", "red"), 2, "random_bot: there is no option '--colour'; see --help.*"),
        (("--matches",), 2, "random_bot: --matches takes a value; see --help.*"),
        (("--tls-roots", "nowhere.pem", "--token", "t"), 2, "random: the file nowhere.pem cannot be used: .*"),
        # no name contains two dots in a row, so the generator has nothing to complete
        (
            ("--server", "no..host:1", "--token", "t"),
            4,
            "random: there is no host 'no..host': check the address no..host:1",
        ),
    )
    mine = """
#include <arena_client/client.h>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>

std::string told(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct Mine : arena::Bot {
  int decide(const arena::Decision& decision) override {
    const std::string does = told("DECIDES");
    if (does == "error") throw std::runtime_error("my own fault");
    if (does == "illegal") return 99;
    if (does == "later") {
      std::cout << decision.decision_id << std::endl;
      std::ofstream("begun").close();
      while (!std::ifstream("done")) continue;
    }
    return decision.legal[0];
  }
};

int main() {
  Mine bot;
  bot.name = "Mine";
  bot.version = "1";
  arena::Options options;
  options.token_file = "token";
  options.receipts = false;
  if (told("MATCHES") != "0") options.matches = std::stoi(told("MATCHES"));
  const int status = arena::run(bot, options);
  std::cout << "after the run" << std::endl;
  return status;
}
"""

    def compiled(self, program: str, name: str) -> Command:
        folder = self.folder / name
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(self.shown("cmake"))
        (folder / "bot.cc").write_text(program)
        built("cmake", "-S", ".", "-B", "build", f"-Darena_client_DIR={self.build}", where=folder)
        built("cmake", "--build", "build", where=folder)
        return (str(folder / "build" / "my_bot"),)

    def readme_bot(self) -> Command:
        bot = self.shown(self.fence)
        assert bot.count(f', "{ADDRESS}"') == 1
        return self.compiled(bot.replace(f', "{ADDRESS}"', ""), "readme")


class Rust(Sdk):
    name = "rust"
    tools = ("cargo",)
    fence = "rust"
    lines = 14
    samples = ("random", "rules")
    error = "mine: the bot panicked: my own fault"
    without_tls = "--tls, --tls-roots, `tls` and `tls_roots`"
    authorities = False
    wrong = (
        (("--capacity", "many"), 2, "random: --capacity is 'many': it takes 1 or more; see --help.*"),
        (("--colour", "red"), 2, "random: there is no option --colour; see --help.*"),
        (("--on-error", "die"), 2, "random: --on-error is 'die': it takes raise or continue; see --help.*"),
    )
    mine = """use arena_client::{Bot, Decision, Options, Profile, run, told};

struct Mine;

impl Bot for Mine {
    fn profile(&self) -> Profile {
        Profile { version: "1".into(), ..Profile::new("mine", &[]) }
    }
    fn decide(&mut self, decision: &Decision) -> usize {
        match std::env::var("DECIDES").as_deref() {
            Ok("illegal") => return 99,
            Ok("error") => panic!("my own fault"),
            Ok("later") => {
                println!("{}", decision.decision_id);
                std::fs::write("begun", "").unwrap();
                while !std::path::Path::new("done").exists() {}
            }
            Ok("never") => loop {
                std::hint::black_box(decision);
            },
            _ => {}
        }
        decision.legal[0]
    }
}

fn main() -> std::process::ExitCode {
    let matches = std::env::var("MATCHES").unwrap().parse().unwrap();
    let options = Options { token_file: Some("token".into()), no_receipts: true, matches, ..Options::default() };
    let ended = run(Mine, "", &options);
    println!("after the run");
    told("mine", &ended)
}
"""

    def compiled(self, program: str, name: str) -> Command:
        """Compile the bot with the package versions that are already installed."""
        folder = self.folder / name
        folder.mkdir()
        command = self.readme_command(r"^cargo new .*$")
        assert "--path ../arena/clients/rust" in command
        command = command.replace("../arena/clients/rust", str(self.source))
        built("sh", "-c", command, where=folder, CARGO_NET_OFFLINE="true")
        shutil.copy(self.source / "Cargo.lock", folder / "my-bot")
        with (folder / "my-bot" / "Cargo.toml").open("a") as manifest:
            manifest.write("\n[profile.dev]\ndebug = false\n")  # the versions that are already compiled
        (folder / "my-bot" / "src" / "main.rs").write_text(program)
        built("cargo", "build", "--offline", where=folder / "my-bot", CARGO_TARGET_DIR=str(self.build))
        shutil.copy(self.build / "debug" / "my-bot", folder / "bot")
        return (str(folder / "bot"),)

    def generated(self, to: Path) -> tuple[Path, Path]:
        command = ("cargo", "run", "--locked", "--package", "generate", "--", ROOT / "proto", to)
        built(*command, where=self.source, CARGO_TARGET_DIR=str(self.build))
        return to, self.source / "src" / "v1"


class Java(Sdk):
    name = "java"
    tools = ("mvn",)
    fence = "java"
    lines = 12
    samples = ("RandomBot", "Rules")
    legal = r"decision.legal\(\) is \[0, 1, 2\]"
    error = "mine: BOT_FAILED: the bot failed: java.lang.IllegalStateException: my own fault"
    kinds = ("BAD_ANSWER: ", "", "BAD_ARGUMENT: ", "TOKEN_REFUSED: ")
    without_tls = "--tls, --tls-roots, tls() and tlsRoots()"
    wrong = (
        (("--capacity", "many"), 2, "random: --capacity is 'many': it takes a number from 1 on; see --help.*"),
        (("--colour", "red"), 2, "random: there is no option '--colour'; see --help.*"),
        (("--on-error=die",), 2, "random: --on-error is 'die': it takes raise or continue; see --help.*"),
    )
    mine = """
import arena.client.*;
import java.io.File;

class Mine extends Bot {
    Mine() { super("mine"); }

    @Override public String version() { return "1"; }

    @Override public int decide(Decision d) {
        switch (String.valueOf(System.getenv("DECIDES"))) {
            case "illegal": return 99;
            case "error": throw new IllegalStateException("my own fault");
            case "never": while (true) Thread.onSpinWait();
            case "later":
                System.out.println(d.decisionId());
                new File("begun").mkdir();
                while (!new File("done").exists()) Thread.onSpinWait();
        }
        return d.legal().get(0);
    }

    public static void main(String[] arguments) {
        int status = 0;
        try {
            Options options = new Options().tokenFile(java.nio.file.Path.of("token")).noReceipts();
            Arena.run(new Mine(), "", options.matches(Integer.parseInt(System.getenv("MATCHES"))));
        } catch (ArenaException why) {
            System.err.println("mine: " + why.kind() + ": " + why.getMessage());
            status = why.status();
        }
        System.out.println("after the run");
        System.exit(status);
    }
}
"""

    @property
    def _java(self) -> Command:
        return ("java", "-Duser.home={home}", "-cp", f"{self.build}/arena-client.jar:{self.build}/jars/*")

    def compiled(self, program: str, name: str) -> Command:
        """Do nothing: Java runs the source file directly."""
        (self.folder / name).mkdir()
        (self.folder / name / "Bot.java").write_text(program)
        return (*self._java, str(self.folder / name / "Bot.java"))

    def readme_bot(self) -> Command:
        words = self.readme_command(rf"^java -cp '(\S+)' MyBot.java --server {ADDRESS}$")
        assert words.replace("../arena", str(ROOT)) == self._java[-1]
        return super().readme_bot()

    def sample(self, number: int) -> Command:
        return (*self._java, f"arena.samples.{self.samples[number]}")


class Python(Sdk):
    """The Python SDK, for the tests of signals and threads. clients/python tests everything else."""

    name = "python"
    tools = ()
    bot = "Mine"
    error = "RuntimeError: my own fault"
    printed_after_failure = ""
    where_to_unpark = ""
    mine = """
import os
from pathlib import Path
from arena_client import Bot, run

class Mine(Bot):
    version = "1"

    def decide(self, decision):
        match os.environ["DECIDES"]:
            case "illegal":
                return 99
            case "error":
                raise RuntimeError("my own fault")
            case "never":
                while True:
                    pass
            case "later":
                print(decision.decision_id, flush=True)
                Path("begun").touch()
                while not Path("done").exists():
                    pass
        return decision.legal[0]

run(Mine(), token_file="token", receipts=False, matches=int(os.environ["MATCHES"]) or None)
print("after the run")
"""

    def __init__(self, folder: Path) -> None:
        self.mine_command = cache(lambda: self.compiled(self.mine, "mine"))

    def compiled(self, program: str, name: str) -> Command:
        """Do nothing: Python runs the source file directly."""
        return (sys.executable, "-c", program)


SDKS: Final = {sdk.name: sdk for sdk in (TypeScript, Go, Cpp, Rust, Java)}
ALIKE: Final[Sequence[End]] = (
    (("--server", "127.0.0.1:1", "--give-up-after=0", "--token", "t"), 4, "random: no connection to 127.0.0.1:1.*"),
)
"""Command lines with which every SDK's sample ends in the same way."""
