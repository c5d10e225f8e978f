#!/usr/bin/env bash
# Runs a campaign: measures every configuration several times, then writes the report. --help lists the flags.
set -euo pipefail
unset CDPATH NODE_OPTIONS
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# Help needs no installation: npm run generate writes it.
if [[ ${1:-} == help ]]; then
  topic=${2:-run}
  if [[ ! $topic =~ ^[a-z]+$ || ! -e $root/scripts/help/$topic.txt ]]; then
    topics=$(sed -n '/ help TOPIC:$/,/^$/s/^  \([a-z]*\) .*/\1/p' "$root/scripts/help/run.txt" | tr '\n' ' ')
    printf 'there is no help on %q; topics: %s\n' "$topic" "${topics% }" >&2
    exit 2
  fi
  exec cat "$root/scripts/help/$topic.txt"
fi
for word in "$@"; do case $word in --help | -h) exec cat "$root/scripts/help/run.txt" ;; esac; done
# Before a set-up of minutes a flag is looked up in the help; afterwards the program itself says more.
if [[ ! -e $root/dist/orchestrator/cli.js ]]; then
  for word in "$@"; do
    [[ $word =~ ^--[a-z] ]] || continue
    grep -qwF -e "${word%%=*}" "$root"/scripts/help/*.txt && continue
    printf 'unknown flag %q; see %s --help\n' "${word%%=*}" "$0" >&2
    exit 2
  done
fi
# Node.js forgets that nohup ignores hang-ups.
[[ $(trap -p HUP) != "trap -- ''"* ]] || export IGNORE_HANGUP=true
"$root/scripts/setup.sh"
exec node "$root/dist/orchestrator/cli.js" run "$@"
