"""The tested clients contain the excerpts of the page about generating code."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Final

import google.protobuf
import google.rpc.error_details_pb2
import google.rpc.status_pb2
import grpc
import pytest

from arena.api.statuses import refused
from tests.end_to_end.e2e_rig import ROOT
from tests.interop.interop_rig import HERE, PROTOS, built, tool

GOOGLE: Final = ROOT / "third_party" / "googleapis"
READ: Final = """
import json, sys
import google.rpc.status_pb2
from arena.v1 import play_pb2
from reason import reason

class Refused:
    def __init__(self, *metadata): self.metadata = metadata
    def trailing_metadata(self): return self.metadata

details = ("grpc-status-details-bin", bytes.fromhex(sys.argv[1]))
hello = play_pb2.PlayRequest(hello=play_pb2.Hello(games=["sixth"])).SerializeToString()
print(json.dumps({
    "reason": reason(Refused(("x", "y"), details)),
    "none": reason(Refused()),
    "hello": hello.hex(),
    "folders": sorted({module.__file__.rsplit("/", 3)[0] for module in (play_pb2, google.rpc.status_pb2)}),
}))
"""
"""A program that reads a refusal as a client does, and prints the folder of the generated code."""

PAGE = (ROOT / "docs" / "generating.md").read_text()
BLOCKS = re.findall(r"^```\w+\n\W+ ([\w/.]+)(?: -->)?\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_there_are_blocks_of_every_language() -> None:
    shown = {path.removeprefix("tests/interop/").partition("/")[0] for path, _ in BLOCKS}
    assert shown == {"buf.gen.yaml", "go", "cpp", "java", "rust", "javascript", "python"}


@pytest.mark.parametrize(("path", "block"), BLOCKS, ids=[path for path, _ in BLOCKS])
def test_what_is_shown_is_cut_from_what_is_tested(path: str, block: str) -> None:
    assert block in (ROOT / path).read_text()


def protoc(folder: Path, language: str = "python") -> Path:
    """Run the page's command for a language. Return the folder with the code."""
    [command] = re.findall(r"^```sh\n(mkdir.*?protoc .*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for name in ("proto", "third_party"):
        (folder / name).symlink_to(ROOT / name)
    assert "--python_out=" in command
    options = " ".join(re.findall(rf"add `(--{language}_opt=\S*)`", PAGE))
    built("sh", "-e", "-c", command.replace("--python_out=", f"{options} --{language}_out="), where=folder)
    return folder / "generated"


@tool("protoc")
def test_the_command_of_the_page_generates_code_in_every_language_that_it_names(tmp_path: Path) -> None:
    [named] = re.findall(r"^`protoc` has the generators (.*?)\. ", PAGE, re.MULTILINE)
    for language in re.findall(r"`(\w+)`", named):
        (tmp_path / language).mkdir()
        assert len([path for path in protoc(tmp_path / language, language).rglob("*") if path.is_file()]) >= 12, (
            language
        )


@tool("protoc")
def test_the_command_of_the_page_generates_code_that_reads_the_reason_of_a_refusal(tmp_path: Path) -> None:
    made = protoc(tmp_path)
    assert sorted(path.name for path in made.rglob("*_pb2.py")) == sorted(
        f"{path.stem}_pb2.py" for folder in (PROTOS / "arena", GOOGLE) for path in folder.rglob("*.proto")
    )
    refusal = refused(grpc.StatusCode.NOT_FOUND, "NO_RULES", "there are no rules", wait=1.5)
    shutil.copy(HERE / "python" / "reason.py", tmp_path)
    (tmp_path / "read.py").write_text(READ)
    # An environment with only protobuf and gRPC, as on the machine of an author without an SDK.
    sites = [str(Path(module.__file__ or "").parents[depth]) for module, depth in ((google.protobuf, 2), (grpc, 1))]
    path = os.pathsep.join([str(made), *sites])
    said = built(sys.executable, "-S", "read.py", refusal.details.hex(), where=tmp_path, PYTHONPATH=path)
    assert json.loads(said) == {"reason": "NO_RULES", "none": "", "hello": "0a070a057369787468", "folders": [str(made)]}


@pytest.mark.parametrize("file", ["google/rpc/status.proto", "google/rpc/error_details.proto"])
def test_the_files_of_google_are_those_of_its_library(file: str) -> None:
    """Compare descriptors and not files, because comments may change between versions."""
    library = {"status": google.rpc.status_pb2, "error_details": google.rpc.error_details_pb2}[Path(file).stem]
    text = (GOOGLE / file).read_text()
    for name, message in library.DESCRIPTOR.message_types_by_name.items():
        body = re.search(rf"^message {name} \{{(.*?)^\}}", text, re.MULTILINE | re.DOTALL)
        assert body is not None, name
        for field in message.fields:
            assert re.search(rf"\b{field.name} = {field.number};", body[1]), f"{name}.{field.name}"
