#!/usr/bin/env bash
# Starts stores and the server in containers by hand. Campaigns do not need this: they start their own containers.
set -euo pipefail
unset CDPATH NODE_OPTIONS
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

usage() {
  cat <<'TEXT'
usage: scripts/containers.sh [--dry-run] up STORES | server CLIENT | down [STORES] | build [PREFIX]

  up STORES      starts these stores and waits until they are ready
  server CLIENT  starts the server under test with this client and standalone stores, and prints its address
  down [STORES]  removes these stores with server, network and volumes; without STORES, everything
  build [PREFIX] builds the images of the server and the load generator, and names them as Kubernetes campaigns do;
                 with a registry's PREFIX, e.g. registry.example.org/bench, also for that, and prints how to push them

STORES is valkey, redis, memcached, valkey-cluster or redis-cluster.
CLIENT is a target: valkey-glide, iovalkey, ioredis@valkey, memcached, ...
--dry-run prints the commands and runs nothing. More: docs/containers.md
TEXT
}

fail() { printf '%s\n' "$2" >&2; exit "$1"; }
bad() { fail 2 "$1: see scripts/containers.sh --help"; }

dry_run=
run() {
  if [[ $dry_run ]]; then printf '%s\n' "$*"; else "$@"; fi
}

# Prints the compose file of these stores.
file_of() {
  case $1 in
    valkey | redis | memcached) printf docker-compose.yml ;;
    valkey-cluster | redis-cluster) printf 'docker-compose-%s.yml' "$1" ;;
    *) bad "unknown stores ${1@Q}; valid: valkey, redis, memcached, valkey-cluster, redis-cluster" ;;
  esac
}

gave_up() {
  [[ $action == server ]] && docker compose logs --no-log-prefix --tail 1 server >&2
  fail 3 'the containers did not start: see above'
}

# Starts services. If the engine refuses 65535 open files, tries again with the most that it grants.
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
  printf 'the engine grants %s open files, not 65535: trying again with NOFILE=%s\n' "$NOFILE" "$NOFILE" >&2
  docker compose "$@" >&2 || gave_up
}

# Names the images by the hash of their sources, as campaigns in Kubernetes ask for them. @ PREFIX
name_images() {
  local prefix=${1:+$1/} program tagged
  if [[ ! $dry_run && ! -d dist && ! $prefix ]]; then
    printf 'not named for Kubernetes: npm run build, then again\n' >&2
    return
  fi
  for program in server loadtest; do
    if [[ $dry_run ]]; then tagged=ratelimit-bench-$program:HASH; else
      tagged=$(node --input-type=module --eval '
        const { ownName } = await import(process.argv[1]);
        console.log(await ownName(process.argv[2], process.argv[3]));
      ' "$PWD/dist/runtimes/containers/own-images.js" "$program" "$PWD/") ||
        fail 3 'the images have no names of their own yet: npm run build, then again'
    fi
    run docker tag "ratelimit-bench-$program" "$tagged"
    [[ -z $prefix ]] || run docker tag "ratelimit-bench-$program" "$prefix$tagged"
    if [[ $prefix ]]; then printf 'docker push %s\n' "$prefix$tagged"; else printf '%s\n' "$tagged"; fi
  done
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
  build) [[ -z $name || $name =~ ^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)*$ ]] || bad "PREFIX ${name@Q} is no registry" ;;
  down) ;;
  '') usage >&2; exit 2 ;;
  *) bad "unknown action ${action@Q}" ;;
esac
# A wrong name is reported before the engine is called.
files=(docker-compose.yml docker-compose-valkey-cluster.yml docker-compose-redis-cluster.yml)
if [[ $action == up || ($action == down && $name) ]]; then
  file=$(file_of "$name")
  [[ $action == down ]] && files=("$file")
fi
[[ $dry_run ]] || docker compose version >/dev/null 2>&1 || fail 3 'Docker Compose 2 is missing: install Docker with its Compose plugin'
[[ $dry_run ]] || docker version >/dev/null 2>&1 || fail 3 'no Docker engine answers: start one, or set DOCKER_HOST'

case $action in
  up)
    services=()
    [[ $file == docker-compose.yml ]] && services=("$name")
    up -f "$file" up --detach --build --wait "${services[@]}"
    ;;
  server)
    export MODE=$name
    [[ $dry_run ]] && printf 'MODE=%s ' "$MODE"
    # This store starts only where it is asked for.
    profile=()
    [[ $name == memcached* || $name == *@memcached* ]] && profile=(--profile memcached)
    up "${profile[@]}" up --detach --build --wait server
    run docker compose port server 3001
    ;;
  down) for file in "${files[@]}"; do run docker compose -f "$file" --profile bench --profile memcached down --volumes; done ;;
  build)
    run docker compose --profile bench build
    name_images "$name"
    ;;
esac
