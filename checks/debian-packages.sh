#!/bin/sh
# Installs the Debian packages that tests need and that no other package manager brings: bubblewrap, for boxes.
set -eu

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

if ! as_root true 2>/dev/null; then
    command -v bwrap >/dev/null || echo "bubblewrap is not installed, and only root can: apt-get install bubblewrap" >&2
    exit 0
fi
if ! command -v bwrap >/dev/null; then
    if ! command -v apt-get >/dev/null; then
        echo "bubblewrap is not installed, and there is no apt-get: tests of boxes cannot run here" >&2
        exit 0
    fi
    as_root apt-get update
    as_root apt-get install --yes --no-install-recommends bubblewrap
fi
restricted=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
if [ "${CI:-}" = true ] && [ -e "$restricted" ]; then # Ubuntu lets nobody but root make boxes
    echo 0 | as_root tee "$restricted" >/dev/null
fi
