#!/usr/bin/env bash
# A campaign: every configuration several times, then the report. `run-all.sh --help` lists the flags.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Help needs no Python packages.
setup=()
for word in "$@"; do case $word in --help | -h) setup=(--node) ;; esac; done
"$root/scripts/setup.sh" ${setup[@]+"${setup[@]}"}
exec node "$root/dist/orchestrator/cli.js" run "$@"
