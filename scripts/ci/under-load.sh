#!/usr/bin/env bash
# Runs a command next to busy loops. A test that fails only because it is slower there is a defect.
#   for run in 1 2 3; do scripts/ci/under-load.sh 8 npm test || break; done
set -euo pipefail
[[ $# -ge 2 && $1 =~ ^[0-9]+$ ]] || {
  printf 'under-load.sh: give the number of busy loops and a command, such as: 8 npm test\n' >&2
  exit 2
}
loops=()
trap 'kill "${loops[@]}" 2>/dev/null || true' EXIT
for ((loop = 0; loop < $1; loop++)); do
  while :; do :; done &
  loops+=($!)
done
shift
"$@"
