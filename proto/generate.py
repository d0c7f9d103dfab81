"""Generates arena_client.v1 of the Python client from proto/, with the pinned tools of `make proto`.

The tools are the oldest usable versions: their code runs on every newer grpcio and protobuf, while code of newer tools
would refuse older libraries that a bot author may have.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "clients" / "python" / "arena_client" / "v1"
GAMES = ROOT / "arena" / "api"
"""The server's folder for the messages of games that clients contain no code for; the codecs are beside them."""


def generate(target: Path) -> list[Path]:
    """Write the modules and their stubs below `target` and return them."""
    protos = sorted(path.relative_to(ROOT / "proto") for path in (ROOT / "proto").rglob("*.proto"))
    of_games = sorted(path.relative_to(ROOT) for path in GAMES.glob("*.proto"))
    plugins = Path(sys.executable).parent
    options = [
        f"-I{ROOT / 'proto'}",
        f"-I{ROOT}",
        f"-I{Path(protoc.__file__).parent / '_proto'}",
        f"--plugin=protoc-gen-mypy={plugins / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={plugins / 'protoc-gen-mypy_grpc'}",
    ]
    for files, kinds in ((protos, ("python", "grpc_python", "mypy", "mypy_grpc")), (of_games, ("python", "mypy"))):
        outputs = [f"--{kind}_out={target}" for kind in kinds]
        if files and (status := protoc.main(["protoc", *options, *outputs, *map(str, files)])):
            raise SystemExit(status)
    return sorted(target.rglob("*_pb2*.py*"))


def main() -> None:
    """Generate the code; with --check, compare the checked-in code with it instead."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if it is out of date")
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as scratch:
        wanted = {
            (GAMES if path.parent.name == GAMES.name else FOLDER) / path.name: re.sub(
                r"\barena\.v1\b(?!\.[A-Z])", "arena_client.v1", path.read_text()
            )
            for path in generate(Path(scratch))
        }
    wanted[FOLDER / "__init__.py"] = '"""Generated from proto/; never edited."""\n'
    present = {path: path.read_text() for path in (*FOLDER.glob("*.py*"), *GAMES.glob("*_pb2.py*"))}
    drift = [str(path) for path in sorted(wanted | present) if wanted.get(path) != present.get(path)]
    if not check:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for path in present.keys() - wanted.keys():
            path.unlink()
        for path, text in wanted.items():
            path.write_text(text)
    if check and drift:
        raise SystemExit("out of date, run `make proto`:\n" + "\n".join(drift))


if __name__ == "__main__":
    main()
