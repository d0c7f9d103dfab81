"""The Python client as a wheel, made of what is installed: a project that carries it needs no registry for it.

A registry may one day hold something else under the client's name; a file in the project is what it is. The same
client gives the same bytes.
"""

from __future__ import annotations

import zipfile
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Final

from arena.local.errors import ClientMissing

WHEEL: Final = "Wheel-Version: 1.0\nGenerator: arena\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def client_wheel() -> tuple[str, bytes]:
    """Return the wheel's file name and content. ClientMissing where the client is not installed."""
    spec = find_spec("arena_client")
    try:
        installed = distribution("arena-client")
    except PackageNotFoundError as error:
        raise ClientMissing from error
    if spec is None or spec.origin is None:
        raise ClientMissing
    package = Path(spec.origin).parent
    files = {
        f"arena_client/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    stem = f"arena_client-{installed.version}"
    for name, text in (
        ("METADATA", installed.read_text("METADATA")),
        ("WHEEL", WHEEL),
        ("entry_points.txt", installed.read_text("entry_points.txt")),
    ):
        files[f"{stem}.dist-info/{name}"] = (text or "").encode()
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{name},sha256={_digest(content)},{len(content)}\n" for name, content in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980, so that the bytes follow from the content
            entry.external_attr, entry.compress_type = 0o644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return f"{stem}-py3-none-any.whl", packed.getvalue()


def _digest(content: bytes) -> str:
    return urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode()
