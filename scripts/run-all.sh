#!/usr/bin/env bash
# A campaign: every configuration several times, then the report. `run-all.sh --help` lists the flags.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/setup.sh"
exec node "$root/dist/orchestrator/cli.js" run "$@"
