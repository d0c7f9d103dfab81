#!/bin/sh
# Install the Debian packages that tests need and no other package manager provides: bubblewrap for sandboxes, Chromium
# with a font for the pages, nginx for the documentation on proxies (it is not started), gRPC for C++, and the languages of the
# starter bots.
set -eu

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

missing=
command -v bwrap >/dev/null || missing=bubblewrap
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null && ! command -v google-chrome >/dev/null; then
    missing="$missing chromium fonts-dejavu-core"
fi
if [ ! -e /usr/lib/nginx/modules/ngx_stream_module.so ] || ! command -v nginx >/dev/null && [ ! -x /usr/sbin/nginx ]; then
    missing="$missing nginx-light libnginx-mod-stream"
fi
command -v grpc_cpp_plugin >/dev/null ||
    missing="$missing pkg-config zlib1g-dev libprotobuf-dev libgrpc++-dev protobuf-compiler protobuf-compiler-grpc"
command -v jq >/dev/null || missing="$missing jq"
command -v ruby >/dev/null || missing="$missing ruby"
lua -e 'require "dkjson"' 2>/dev/null || missing="$missing lua5.4 lua-dkjson"
if ! command -v mcs >/dev/null || ! command -v mono >/dev/null; then
    missing="$missing mono-mcs libmono-system-runtime-serialization4.0-cil libmono-system-xml-linq4.0-cil"
fi
command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$missing postgresql"
command -v nft >/dev/null || [ -x /usr/sbin/nft ] || missing="$missing nftables"
if [ "${1:-}" = --deployment ]; then
    command -v mmdebstrap >/dev/null || missing="$missing mmdebstrap"
    command -v systemd-nspawn >/dev/null || missing="$missing systemd-container"
    command -v promtool >/dev/null || missing="$missing prometheus"
    command -v minisign >/dev/null || missing="$missing minisign"
    command -v buildah >/dev/null || missing="$missing buildah"
    command -v docker-compose >/dev/null || missing="$missing docker-compose"
fi
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "not installed, and there is no apt-get: $missing; tests of boxes, pages, C++ or starters cannot run here" >&2
        exit 0
    fi
    if ! as_root true 2>/dev/null; then
        echo "not installed, and only root can: apt-get install $missing" >&2
        exit 0
    fi
    as_root apt-get update
    # shellcheck disable=SC2086 # several words
    as_root apt-get install --yes --no-install-recommends $missing
    case "$missing" in *nginx*) # with systemd it would start and serve port 80
        if [ -d /run/systemd/system ]; then as_root systemctl disable --now nginx; fi ;;
    esac
fi
restricted=/proc/sys/kernel/apparmor_restrict_unprivileged_userns
if [ "${CI:-}" = true ] && [ -e "$restricted" ]; then # Ubuntu lets only root create sandboxes
    echo 0 | as_root tee "$restricted" >/dev/null
fi
