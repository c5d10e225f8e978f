#!/usr/bin/env bash
# Checks and tests of a fresh checkout: sets up what they need, then runs them. What for is told by scripts/test.ts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --dev
exec node_modules/.bin/tsx scripts/test.ts "$@"
