#!/usr/bin/env bash
# Sets up a checkout for checks and tests, then runs them. scripts/test.ts explains the arguments.
set -euo pipefail
unset CDPATH NODE_OPTIONS
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
scripts/setup.sh --dev
exec node_modules/.bin/tsx scripts/test.ts "$@"
