#!/usr/bin/env bash
# Stores and the server in containers, by hand. Campaigns need none of it: they start their own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'TEXT'
usage: scripts/containers.sh [--dry-run] up STORES | server CLIENT | down [STORES] | build

  up STORES      starts them and waits until they are usable
  server CLIENT  starts the server under test with this client, beside standalone stores, and prints its address
  down [STORES]  removes them, with the server, network and volumes; everything, without STORES
  build          builds the images of the server and the load generator

STORES is valkey, redis, valkey-cluster or redis-cluster; CLIENT a target: valkey-glide, iovalkey, ioredis@valkey, ...
--dry-run prints the commands and runs nothing. docs/containers.md tells more.
TEXT
}

fail() { printf '%s\n' "$2" >&2; exit "$1"; }
bad() { fail 2 "$1: see scripts/containers.sh --help"; }

dry_run=
run() {
  if [[ $dry_run ]]; then printf '%s\n' "$*"; else "$@"; fi
}

# The compose file of stores by their name.
file_of() {
  case $1 in
    valkey | redis) printf docker-compose.yml ;;
    valkey-cluster | redis-cluster) printf 'docker-compose-%s.yml' "$1" ;;
    *) bad "there are no stores ${1@Q}; valid: valkey, redis, valkey-cluster, redis-cluster" ;;
  esac
}

gave_up() {
  [[ $action == server ]] && docker compose logs --no-log-prefix --tail 1 server >&2
  fail 3 'the containers did not come up: see above'
}

# Starts services. Some engines may not grant as many open files as we ask for: then as many as they may.
up() {
  local log
  if [[ $dry_run ]]; then run docker compose "$@"; return; fi
  local asked=${NOFILE:-}
  export NOFILE=${asked:-65535}
  log=$(mktemp)
  trap 'rm -f "$log"' RETURN
  docker compose "$@" 2>&1 | tee "$log" >&2 && return
  if [[ $asked ]] || ! grep -q rlimit "$log"; then gave_up; fi
  NOFILE=$(docker run --rm --entrypoint sh "${VALKEY_IMAGE:-valkey/valkey:8.1}" -c 'ulimit -Hn')
  export NOFILE
  printf 'the engine grants %s open files, not 65535: again with NOFILE=%s\n' "$NOFILE" "$NOFILE" >&2
  docker compose "$@" >&2 || gave_up
}

words=()
for word in "$@"; do
  case $word in
    --help | -h) usage; exit 0 ;;
    --dry-run) dry_run=yes ;;
    -*) bad "unknown flag ${word@Q}" ;;
    *) words+=("$word") ;;
  esac
done
action=${words[0]:-} name=${words[1]:-}
((${#words[@]} <= 2)) || bad "too many words: ${words[*]@Q}"

case $action in
  up | server) [[ $name ]] || bad "$action needs a name" ;;
  build) [[ -z $name ]] || bad 'build takes no name' ;;
  down) ;;
  '') usage >&2; exit 2 ;;
  *) bad "there is no action ${action@Q}" ;;
esac
# A name that is wrong is told before anything is asked of an engine.
files=(docker-compose.yml docker-compose-valkey-cluster.yml docker-compose-redis-cluster.yml)
if [[ $action == up || ($action == down && $name) ]]; then
  file=$(file_of "$name")
  [[ $action == down ]] && files=("$file")
fi
[[ $dry_run ]] || docker compose version >/dev/null 2>&1 || fail 3 'Docker Compose 2 is missing: install Docker with its Compose plugin'
[[ $dry_run ]] || docker version >/dev/null 2>&1 || fail 3 'no Docker engine answers: start it, or set DOCKER_HOST'

case $action in
  up)
    services=()
    [[ $file == docker-compose.yml ]] && services=("$name")
    up -f "$file" up --detach --build --wait "${services[@]}"
    ;;
  server)
    export MODE=$name
    [[ $dry_run ]] && printf 'MODE=%s ' "$MODE"
    up up --detach --build --wait server
    run docker compose port server 3001
    ;;
  down) for file in "${files[@]}"; do run docker compose -f "$file" --profile bench down --volumes; done ;;
  build) run docker compose --profile bench build ;;
esac
