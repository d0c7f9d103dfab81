"""grpc-java on Netty, gRPC written anew in Java, plays a match on a real server."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_health.v1 import health_pb2

from arena.v1 import bots_pb2, matches_pb2, play_pb2
from tests.interop.interop_rig import BUILD, HERE, built, checked, tool

SOURCE = HERE / "java"

pytestmark = [pytest.mark.long, tool("java"), tool("mvn")]


@pytest.fixture(scope="module")
def jars() -> Path:
    """The folder with the libraries that the project file names, and what these need."""
    folder = BUILD / "java"
    project = (SOURCE / "pom.xml").read_text()
    if not (folder / "jars").exists() or (folder / "pom.xml").read_text() != project:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / "pom.xml", folder)
        built("mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=jars", where=folder)
    return folder / "jars"


def described(*files: FileDescriptor) -> FileDescriptorSet:
    """These files and all they import, the imported first."""
    found: dict[str, FileDescriptor] = {}

    def visit(file: FileDescriptor) -> None:
        for needed in file.dependencies:
            visit(needed)
        found.setdefault(file.name, file)

    for file in files:
        visit(file)
    described = FileDescriptorSet()
    for each in found.values():
        each.CopyToProto(described.file.add())
    return described


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_java_plays_looks_up_and_is_refused(tmp_path: Path, jars: Path, tls: bool) -> None:
    files = tmp_path / "descriptors"
    modules = (bots_pb2, matches_pb2, play_pb2, health_pb2)
    files.write_bytes(described(*(module.DESCRIPTOR for module in modules)).SerializeToString())
    checked(tmp_path, ["java", "-cp", f"{jars}/*", SOURCE / "Client.java", files], tls=tls)
