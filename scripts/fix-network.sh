#!/usr/bin/env bash
# Finds and lists container networks that campaigns left behind, and removes them if the user agrees.
set -euo pipefail

usage() {
  cat <<'TEXT'
fix-network.sh: removes networks that campaigns left behind

  --yes       remove without a question; otherwise the script asks on a terminal, and only lists elsewhere
  --dry-run   list, and remove nothing
  --podman    use Podman instead of Docker
  --help

Networks of other programs and of running campaigns are never touched.
Exit codes: 0 done, 2 bad usage, 3 the engine does not answer or a network could not be removed
TEXT
}
refuse() { printf 'fix-network.sh: %s; see --help\n' "${1//$'\n'/ }" >&2; exit 2; }

yes= dry= engine=docker
while (($#)); do
  case $1 in
    --yes) yes=1 ;;
    --dry-run) dry=1 ;;
    --podman) engine=podman ;;
    --help | -h) usage; exit 0 ;;
    *) refuse "unknown $1" ;;
  esac
  shift
done

command -v "$engine" >/dev/null || { printf '%s is not installed\n' "$engine" >&2; exit 3; }
"$engine" info >/dev/null 2>&1 || { printf '%s does not answer: start it, or see scripts/check-config.sh\n' "$engine" >&2; exit 3; }

# An owner is `pid:start time:host`: the process id alone may belong to another process by now.
lives() {
  local pid=${1%%:*} rest=${1#*:} started host
  started=${rest%:*} host=${rest##*:}
  # An owner that cannot be checked counts as alive.
  [[ $pid && $pid != *[!0-9]* && $host == "$(uname -n)" ]] || return 0
  # Without /proc (macOS) start times depend on the locale, so any process with that id counts.
  if [[ ! -r /proc/self/stat ]]; then ps -p "$pid" >/dev/null 2>&1; return; fi
  [[ -r /proc/$pid/stat ]] && [[ $(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20) == "$started" ]]
}

left=()
while read -r id; do
  [[ -n $id ]] || continue
  # The network may have been removed meanwhile.
  owner=$("$engine" network inspect --format '{{index .Labels "ratelimit-bench.owner"}}' "$id" 2>/dev/null) || continue
  name=$("$engine" network inspect --format '{{.Name}}' "$id" 2>/dev/null) || continue
  if lives "$owner"; then printf 'in use   %s (process %s)\n' "$name" "${owner%%:*}"; continue; fi
  printf 'left     %s (process %s is gone)\n' "$name" "${owner%%:*}"
  left+=("$id")
done < <("$engine" network ls --quiet --filter label=ratelimit-bench.owner)
while read -r id; do
  [[ -n $id ]] || continue
  name=$("$engine" network inspect --format '{{.Name}}' "$id" 2>/dev/null) || continue
  if [[ -n $("$engine" ps --all --quiet --filter "network=$id") ]]; then
    printf 'in use   %s (compose, by hand)\n' "$name"
    continue
  fi
  printf 'left     %s (compose, by hand; no container)\n' "$name"
  left+=("$id")
done < <("$engine" network ls --quiet --filter label=ratelimit-bench.by-hand=true)

if ((${#left[@]} == 0)); then printf 'no network is left behind\n'; exit 0; fi
[[ -z $dry ]] || exit 0
if [[ -z $yes ]]; then
  if [[ ! -t 0 || ! -t 1 ]]; then printf 'to remove them: scripts/fix-network.sh --yes\n'; exit 0; fi
  read -r -p "remove ${#left[@]} networks? [y/N] " answer
  [[ $answer == [yY]* ]] || exit 0
fi
failed=
for id in "${left[@]}"; do
  # A network in use cannot be removed, so the containers that a dead owner left in it go first.
  while read -r container; do
    [[ -z $container ]] || "$engine" rm --force --volumes "$container" >/dev/null || failed=1
  done < <("$engine" ps --all --quiet --filter "network=$id" --filter label=ratelimit-bench.owner)
  if "$engine" network rm "$id" >/dev/null; then printf 'removed  %s\n' "$id"; else failed=1; fi
done
[[ -z $failed ]] || exit 3
