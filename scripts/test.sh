#!/usr/bin/env bash
# All checks and tests of a fresh checkout: sets up what they need, then runs them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --dev
npm run --silent check
