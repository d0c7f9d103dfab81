"""`arena cert`: make a certificate for development with the `openssl` program; the arena has no cryptography code."""

from __future__ import annotations

import os
import subprocess
import tempfile
from ipaddress import ip_address
from pathlib import Path
from shutil import which
from typing import Final

import click

from arena.cli.terminal.screen import json_option, print_json

NAMES: Final = ("localhost", "127.0.0.1", "::1")
INSTALL: Final = "install it: `apt install openssl`, `dnf install openssl`, `brew install openssl`"
REQUEST: Final = """[req]
distinguished_name = subject
x509_extensions = extensions
prompt = no
[subject]
CN = arena (development)
[extensions]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = {names}
"""


@click.command(epilog="Example: arena cert ./tls")
@click.argument("directory", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help=f"Name or address of the server; repeatable.  [default: {', '.join(NAMES)}]",
)
@click.option("--days", type=click.IntRange(1, 825), default=90, show_default=True, help="Days until it expires.")
@json_option
def command(directory: Path, hosts: tuple[str, ...], days: int, as_json: bool) -> None:
    """Make a certificate for development: cert.pem and its private key.pem.

    It is self-signed: clients must be given cert.pem as the certificate to trust (--tls-roots). For a public server get
    one from a certificate authority. Existing files are never overwritten.

    \b
    JSON: {"cert", "key", "hosts", "days"}
    """
    names = hosts or NAMES
    cert, key = directory / "cert.pem", directory / "key.pem"
    openssl = which("openssl")
    if openssl is None:
        raise click.ClickException(f"the program openssl is not there; {INSTALL}")
    _make(openssl, cert, key, names, days)
    if as_json:
        print_json({"cert": str(cert), "key": str(key), "hosts": names, "days": days})
        return
    click.echo(f"arena serve --tls-cert {cert} --tls-key {key}")
    click.echo(f"Bots and verbs reach it with --tls-roots {cert}; it is good for {', '.join(names)}.", err=True)


def _make(openssl: str, cert: Path, key: Path, names: tuple[str, ...], days: int) -> None:
    """Write both files, or neither."""
    for path in (cert, key):
        if path.exists():
            raise click.ClickException(f"{path} is there already; remove it or choose another directory")
    cert.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cert.parent, prefix=".cert-") as scratch:  # Accessible to its user only.
        request, new_key, new_cert = (Path(scratch, name) for name in ("request", "key", "cert"))
        request.write_text(REQUEST.format(names=", ".join(map(_alternative, names))))
        done = subprocess.run(  # noqa: S603 - a fixed program; names are checked
            [
                *(openssl, "req", "-x509", "-new", "-nodes", "-sha256", "-newkey", "ec"),
                *("-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", str(days), "-config", str(request)),
                *("-keyout", str(new_key), "-out", str(new_cert)),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise click.ClickException(f"openssl failed: {done.stderr.strip()}")
        new_key.chmod(0o600)
        os.link(new_key, key)  # Unlike a rename, a link never overwrites a file.
        os.link(new_cert, cert)


def _alternative(name: str) -> str:
    """Return a host as a subjectAltName entry. Raises: UsageError: It is neither a name nor an address."""
    try:
        return f"IP:{ip_address(name)}"
    except ValueError:
        pass
    if not name or not all(letter.isascii() and (letter.isalnum() or letter in "-.*") for letter in name):
        raise click.UsageError(f"{name!r} is neither a host's name nor an address")
    return f"DNS:{name}"
