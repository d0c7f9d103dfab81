#!/bin/sh
# Install Arena from this folder into a new virtual environment. Nothing comes from the network.
# Usage: ./install.sh /opt/arena     (another Python: PYTHON=python3.12 ./install.sh …) With
# PUBLIC_KEY=RW…, the publisher's key of minisign, it installs only files signed with that key.
set -eu
refuse() { echo "nothing is installed: $1" >&2; exit 1; }
[ $# = 1 ] || { echo "usage: $0 DIRECTORY, which must not exist yet" >&2; exit 2; }
[ ! -e "$1" ] || { echo "$1 exists: name a new directory" >&2; exit 2; }
cd "$(dirname "$0")"
here=$(pwd)
target=$(case $1 in /*) echo "$1" ;; *) echo "$OLDPWD/$1" ;; esac)
if [ -n "${PUBLIC_KEY:-}" ]; then
    command -v minisign >/dev/null || refuse "PUBLIC_KEY needs the program minisign, which Debian's package minisign has"
    [ -e SHA256SUMS.minisig ] || refuse "there is no signature: SHA256SUMS.minisig is missing"
    minisign -V -m SHA256SUMS -P "$PUBLIC_KEY" || refuse "SHA256SUMS is not signed with the key $PUBLIC_KEY"
elif [ -e SHA256SUMS.minisig ]; then
    echo "The signature is not checked: PUBLIC_KEY names no key." >&2
fi
sha256sum --check --quiet SHA256SUMS || refuse "a file differs from SHA256SUMS"
"${PYTHON:-python3}" -m venv "$target"
"$target/bin/pip" install --quiet --no-index --find-links "$here/wheels" --require-hashes --requirement requirements.txt
"$target/bin/arena" --version
