#!/usr/bin/env bash
# Runs the contract suite of the project's own clients, limiters, options and traffic on a plugin, with real stores.
#   npm run test:plugin -- /home/me/my-client.js
set -euo pipefail
unset CDPATH NODE_OPTIONS
usage() {
  cat <<'TEXT'
test-plugin.sh PLUGIN [--verbose]: runs the tests that the project's own clients, limiters, options and traffic must pass on a
plugin (a file or folder), with a real Valkey and, if redis-server is installed, with a real Redis

  npm run test:plugin -- /home/me/my-client.js

  --verbose   name each promise that does not apply to the plugin
  --help

Exit codes: 0 the plugin passes, 1 it fails a test, 2 bad usage or the plugin cannot be loaded, 3 Node.js or Python is
missing
TEXT
}
refuse() { printf 'test-plugin.sh: %s; see --help\n' "$1" >&2; exit 2; }
[[ $# -ne 1 || ($1 != --help && $1 != -h) ]] || { usage; exit 0; }
if [[ $# -eq 2 && $2 == --verbose ]]; then export PLUGIN_TEST_VERBOSE=1; set -- "$1"; fi
[[ $# -eq 1 ]] || refuse 'give one plugin, such as /home/me/my-client.js'
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
# npm runs scripts in the package's folder, but the path is relative to the user's.
[[ ${npm_lifecycle_event:-} != test:plugin ]] || cd "$INIT_CWD"
[[ -e $1 ]] || refuse "$1: no such file or folder"
folder=$(cd "$(dirname "$1")" && pwd)
path=${folder%/}/$(basename "$1")
list() { node -p 'JSON.stringify(process.argv.slice(1))' "$1"; }
"$root/scripts/setup.sh" --dev
# Load the plugin as a campaign does first: that names the file and line of an error.
PLUGINS=$(list "$path") node "$root/dist/orchestrator/cli.js" run --clients none --runtime local --dry-run >/dev/null
cd "$root"
copy=
if [[ -f $path ]]; then
  # The tests' loader treats a .js file as CommonJS unless a package.json next to it says otherwise.
  copy=$(mktemp -d)
  trap 'rm -rf "$copy"' EXIT
  printf '{"type":"module"}' >"$copy/package.json"
  cp "$path" "$copy"
fi
# Stack traces must name the user's file, not the copy, which they name from here or from the root.
own_path() {
  [[ $copy ]] || { cat; return; }
  local from_here own
  from_here=$(node -p 'path.relative(".", process.argv[1])' "$copy")
  own=$(printf '%s' "${folder%/}" | sed 's/[|&\\]/\\&/g')
  # Line by line: a promise is told as soon as it was asked.
  sed -u -e "s|${from_here//./\\.}|$own|g" -e "s|\(file://\)\{0,1\}$copy|$own|g"
}
PLUGINS=$(list "${copy:-$folder}/$(basename "$path")") node_modules/.bin/vitest run --project plugin --reporter ./test/plugin/reporter.ts 2>&1 | own_path
