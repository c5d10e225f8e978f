#!/usr/bin/env bash
# Asks of a plugin what every client, limiter, option and traffic of the project must do, on real stores.
#   npm run test:plugin -- /home/me/my-client.js
set -euo pipefail
usage() {
  cat <<'TEXT'
test-plugin.sh PLUGIN: asks of a plugin, a file or a folder, what the project asks of its own clients, limiters,
options and traffic, on a real Valkey and, where a redis-server is found, on a real Redis

  npm run test:plugin -- /home/me/my-client.js

  --help

Exit codes: 0 it passes, 1 it fails a test, 2 bad usage or a plugin that cannot be loaded, 3 a missing Node.js or Python
TEXT
}
refuse() { printf 'test-plugin.sh: %s; see --help\n' "$1" >&2; exit 2; }
[[ $# -ne 1 || ($1 != --help && $1 != -h) ]] || { usage; exit 0; }
[[ $# -eq 1 ]] || refuse 'give one plugin, such as /home/me/my-client.js'
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# npm runs its scripts in the folder of the package.
[[ ${npm_lifecycle_event:-} != test:plugin ]] || cd "$INIT_CWD"
[[ -e $1 ]] || refuse "$1: there is no such file or folder"
folder=$(cd "$(dirname "$1")" && pwd)
path=${folder%/}/$(basename "$1")
list() { node -p 'JSON.stringify(process.argv.slice(1))' "$1"; }
"$root/scripts/setup.sh" --dev
# As a campaign loads it, which names the file and line of what is wrong.
PLUGINS=$(list "$path") node "$root/dist/orchestrator/cli.js" run --clients none --runtime local --dry-run >/dev/null
cd "$root"
copy=
if [[ -f $path ]]; then
  # The loader of the tests takes a .js for CommonJS unless a package.json beside it says otherwise.
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  printf '{"type":"module"}' >"$copy/package.json"
  cp "$path" "$copy"
fi
# Stacks name the file of the user.
own_path() {
  if [[ $copy ]]; then sed "s|\(file:\)\{0,1\}[./]*$copy|$(printf '%s' "${folder%/}" | sed 's/[|&\\]/\\&/g')|g"
  else cat; fi
}
PLUGINS=$(list "${copy:-$folder}/$(basename "$path")") node_modules/.bin/vitest run --project plugin 2>&1 | own_path
