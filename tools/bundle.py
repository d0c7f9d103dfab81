"""Builds one archive that installs the arena on a machine without a network: `make bundle`.

The archive contains the compiled wheels of this repository, every wheel of the lock, and the other files that an
operator needs. It works on the system and Python version on which it was built.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from arena.version import __version__  # noqa: E402

OURS: Final = (".", "./engine", "./trio_grpc", "./clients/python")
PYTHON: Final = f"cp{sys.version_info.major}{sys.version_info.minor}"
NAME: Final = f"arena-{__version__}-{PYTHON}-{sysconfig.get_platform().replace('.', '_')}"


def run(*words: str | Path, **settings: str) -> str:
    """Run a program and return its output. Raises: SystemExit: The program failed."""
    ran = subprocess.run(
        words, cwd=ROOT, env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True, check=False
    )
    if ran.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} ended with exit status {ran.returncode}")
    return ran.stdout


def sha256(path: Path) -> str:
    """Return a file's SHA-256 in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def export(index: str, *words: str) -> str:
    """Return the locked requirements, without development tools, in one of uv's formats."""
    uv = Path(sys.executable).with_name("uv")
    return run(uv, "export", "--quiet", "--locked", "--no-dev", "--default-index", index, *words)


def collect_wheels(folder: Path, index: str, further: Sequence[Path]) -> str:
    """Collect this repository's wheels and those in the lock file in a folder; return requirements with hashes."""
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, *OURS, CI="true", UV_PYTHON="")
    for wheel in further:
        shutil.copy(wheel, folder)
    ours = "".join(f"./wheels/{wheel.name} --hash=sha256:{sha256(wheel)}\n" for wheel in sorted(folder.iterdir()))
    locked = export(index, "--no-emit-local")
    requirements = folder.parent / "requirements.txt"
    requirements.write_text(locked)
    run(*pip, "download", "--only-binary", ":all:", "--no-deps", "--require-hashes", "-d", folder, "-r", requirements)
    return locked + ours


def write_sums(folder: Path) -> Path:
    """Write SHA256SUMS for all other files below a folder, and return its path."""
    sums = folder / "SHA256SUMS"
    sums.unlink(missing_ok=True)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums.write_text("".join(f"{sha256(path)}  {path.relative_to(folder)}\n" for path in files))
    return sums


def build(key: Path | None, index: str, further: Sequence[Path]) -> Path:
    """Build the archive below dist/ and return its path.

    `key`: a minisign secret key with which to sign the checksums; `further`: wheels of the project built elsewhere.
    """
    folder = ROOT / "build" / "bundle" / NAME
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wheels").mkdir(parents=True)
    print("building and collecting wheels …", flush=True)
    requirements = collect_wheels(folder / "wheels", index, further)
    (folder / "requirements.txt").write_text(requirements)
    shutil.copytree(ROOT / "contrib" / "bundle", folder, dirs_exist_ok=True)
    for name in ("systemd", "container", "prometheus", "grafana"):
        private = shutil.ignore_patterns("tls")  # put beside compose.yaml by an operator who tried it here
        shutil.copytree(ROOT / "contrib" / name, folder / name, ignore=private)
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "sbom.json").write_text(export(index, "--format", "cyclonedx1.5"))
    print("installing from it …", flush=True)
    trial = folder.with_name("trial")
    shutil.rmtree(trial, ignore_errors=True)
    write_sums(folder)
    version = run(folder / "install.sh", trial, PYTHON=sys.executable)
    if "compiled" not in version:
        raise SystemExit(f"the installed arena is not compiled: {version}")
    sums = write_sums(folder)
    if key is not None:
        run("minisign", "-S", "-W", "-s", key, "-t", NAME, "-m", sums)
    archive = ROOT / "dist" / f"{NAME}.tar.gz"
    archive.parent.mkdir(exist_ok=True)
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(folder, NAME)
    newest = folder.with_name("newest")
    newest.unlink(missing_ok=True)
    newest.symlink_to(NAME)
    return archive


def main() -> None:
    """Build the archive, and print its path and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "wheels", nargs="*", type=Path, help="further wheels of ours, such as that of the documentation"
    )
    parser.add_argument("--key", type=Path, help="secret key of minisign, without a password, to sign SHA256SUMS with")
    parser.add_argument("--index", default="https://pypi.org/simple", help="package index that the lock names")
    arguments = parser.parse_args()
    archive = build(arguments.key, arguments.index, arguments.wheels)
    print(f"{archive.relative_to(ROOT)}: {archive.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
