#!/usr/bin/env bash
# Runs a command as on a newcomer's machine: with Node.js, Python, git and what every Debian has (bash, tar, the core
# utilities). Engine, stores, browser and other shells are hidden, even if they are installed.
#   scripts/ci/newcomer.sh npm test
set -euo pipefail
fail() { printf 'newcomer.sh: %s\n' "$2" >&2; exit "$1"; }
(($#)) || fail 2 'give a command, such as: scripts/ci/newcomer.sh npm test'
command -v dpkg-query >/dev/null || fail 3 'this works on Debian and Ubuntu only: it reads their list of essential packages'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
dpkg-query --show --showformat '${Essential} ${Package}\n' | sed -n 's/^yes //p' | xargs dpkg --listfiles |
  grep -E '^(/usr)?/s?bin/[^/]+$' | while read -r path; do ln -sf "$path" "$folder"; done
for name in awk bash git npm npx sh tar; do
  path=$(command -v "$name") || fail 3 "$name is missing"
  ln -sf "$path" "$folder/$name"
done
# Version managers install node and python3 as scripts that search PATH, so take the programs themselves.
ln -sf "$(node -p process.execPath)" "$folder/node"
# Not a link: a virtual environment made with it would depend on this temporary folder.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(python3 -c 'import sys; print(sys.executable)')" >"$folder/python3"
chmod +x "$folder/python3"

hidden=(env -u CHROMIUM -u REDIS_SERVER -u VALKEY_SERVER -u ENVOY_RATELIMIT -u THROTTLECRAB_SERVER -u GUBERNATOR_SERVER -u NGINX -u REDIS_CELL_MODULE -u REDIS_SHIELD_MODULE PATH="$folder" DOCKER_HOST=unix:///nonexistent/docker.sock)
# Programs started without DOCKER_HOST use the default socket. Only root can hide that.
socket=/var/run/docker.sock
if [[ -S $socket ]] && unshare --mount true 2>/dev/null; then
  hidden=(unshare --mount bash -c 'mount --bind /dev/null "$0" && exec "$@"' "$socket" "${hidden[@]}")
fi
"${hidden[@]}" "$@"
