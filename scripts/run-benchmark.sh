#!/usr/bin/env bash
# Measures one configuration, set by environment variables, or those of the original's flags (--help):
#   DURATION=60 CONNECTIONS=50 REQUEST_TYPE=light RATE_LIMITER_TYPE=valkey-glide ./scripts/run-benchmark.sh
set -euo pipefail
unset CDPATH NODE_OPTIONS
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Help needs no installation: npm run generate writes it.
for word in "$@"; do case $word in --help | -h) exec cat "$root/scripts/help/single.txt" ;; esac; done
"$root/scripts/setup.sh"
exec node "$root/dist/orchestrator/cli.js" single "$@"
