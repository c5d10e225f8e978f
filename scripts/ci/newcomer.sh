#!/usr/bin/env bash
# Runs a command as on a newcomer's machine: with Node.js, Python, git and what every Debian has (bash, tar, the core
# utilities), and without an engine, a store, a browser or another shell, even where they are installed.
#   scripts/ci/newcomer.sh npm test
set -euo pipefail
fail() { printf 'newcomer.sh: %s\n' "$2" >&2; exit "$1"; }
(($#)) || fail 2 'give a command, such as: scripts/ci/newcomer.sh npm test'
command -v dpkg-query >/dev/null || fail 3 'it needs Debian or Ubuntu, whose list of essential packages it reads'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dpkg-query --show --showformat '${Essential} ${Package}\n' | sed -n 's/^yes //p' | xargs dpkg --listfiles |
  grep -E '^(/usr)?/s?bin/[^/]+$' | while read -r path; do ln -sf "$path" "$folder"; done
for name in awk bash git npm npx sh tar; do
  path=$(command -v "$name") || fail 3 "$name is missing"
  ln -sf "$path" "$folder/$name"
done
# A version manager's node and python3 are scripts that look for their programs on PATH.
ln -sf "$(node -p process.execPath)" "$folder/node"
# No link: an environment that is made with it would need this folder.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(python3 -c 'import sys; print(sys.executable)')" >"$folder/python3"
chmod +x "$folder/python3"

hidden=(env -u CHROMIUM -u REDIS_SERVER -u VALKEY_SERVER PATH="$folder" DOCKER_HOST=unix:///nonexistent/docker.sock)
# Programs that are started without DOCKER_HOST look for the usual socket: root can hide that, too.
socket=/var/run/docker.sock
if [[ -S $socket ]] && unshare --mount true 2>/dev/null; then
  hidden=(unshare --mount bash -c 'mount --bind /dev/null "$0" && exec "$@"' "$socket" "${hidden[@]}")
fi
"${hidden[@]}" "$@"
