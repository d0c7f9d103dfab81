#!/bin/sh
# Install Arena from this folder into a new virtual environment. Nothing comes from the network.
# Usage: ./install.sh /opt/arena     (another Python: PYTHON=python3.12 ./install.sh …)
set -eu
[ $# = 1 ] || { echo "usage: $0 DIRECTORY, which must not exist yet" >&2; exit 2; }
[ ! -e "$1" ] || { echo "$1 exists: name a new directory" >&2; exit 2; }
cd "$(dirname "$0")"
here=$(pwd)
target=$(case $1 in /*) echo "$1" ;; *) echo "$OLDPWD/$1" ;; esac)
sha256sum --check --quiet SHA256SUMS
"${PYTHON:-python3}" -m venv "$target"
"$target/bin/pip" install --quiet --no-index --find-links "$here/wheels" --require-hashes --requirement requirements.txt
"$target/bin/arena" --version
