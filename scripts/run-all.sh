#!/usr/bin/env bash
# Runs a campaign: measures every configuration several times, then writes the report. --help lists the flags.
set -euo pipefail
unset CDPATH NODE_OPTIONS
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# --help needs no Python packages.
setup=()
for word in "$@"; do case $word in --help | -h) setup=(--node) ;; esac; done
"$root/scripts/setup.sh" ${setup[@]+"${setup[@]}"}
exec node "$root/dist/orchestrator/cli.js" run "$@"
