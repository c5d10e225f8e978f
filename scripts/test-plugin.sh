#!/usr/bin/env bash
# Asks of a plugin what every client, limiter, option and traffic of the project must do, on real stores.
#   npm run test:plugin -- /home/me/my-client.js
set -euo pipefail
[[ $# -eq 1 ]] || { printf 'give one plugin: npm run test:plugin -- /home/me/my-client.js\n' >&2; exit 2; }
[[ -e $1 ]] || { printf '%s: there is no such file or folder\n' "$1" >&2; exit 2; }
path=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --dev
if [[ -f $path ]]; then
  # The loader of the tests takes a .js for CommonJS unless a package.json beside it says otherwise.
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  printf '{"type":"module"}' >"$copy/package.json"
  cp "$path" "$copy"
  path=$copy/$(basename "$path")
fi
PLUGINS=$(node -p 'JSON.stringify(process.argv.slice(1))' "$path") node_modules/.bin/vitest run --project plugin
