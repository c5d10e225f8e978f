#!/usr/bin/env bash
# Measures one configuration, set by environment variables, or those of the original's flags (--help):
#   DURATION=60 CONNECTIONS=50 REQUEST_TYPE=light RATE_LIMITER_TYPE=valkey-glide ./scripts/run-benchmark.sh
set -euo pipefail
unset CDPATH NODE_OPTIONS
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# Help needs no installation: npm run generate writes it.
for word in "$@"; do case $word in --help | -h) exec cat "$root/scripts/help/single.txt" ;; esac; done
# Before a set-up of minutes a flag is looked up in the help; afterwards the program itself says more.
if [[ ! -e $root/dist/orchestrator/cli.js ]]; then
  for word in "$@"; do
    [[ $word =~ ^--[a-z] ]] || continue
    grep -qwF -e "${word%%=*}" "$root"/scripts/help/single.txt && continue
    printf 'unknown flag %q; see %s --help\n' "${word%%=*}" "$0" >&2
    exit 2
  done
fi
# Node.js forgets that nohup ignores hang-ups.
[[ $(trap -p HUP) != "trap -- ''"* ]] || export IGNORE_HANGUP=true
"$root/scripts/setup.sh"
exec node "$root/dist/orchestrator/cli.js" single "$@"
