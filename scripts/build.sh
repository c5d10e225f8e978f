#!/usr/bin/env bash
# Builds dist/ if the sources changed. A finished build replaces dist/ as a whole, so no program runs half a build.
set -euo pipefail
unset CDPATH NODE_OPTIONS
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

sources=$(find src package.json tsconfig.json tsconfig.build.json -type f -print0 | sort -z | xargs -0 cat | cksum)
[[ -e dist/.setup-stamp && $(<dist/.setup-stamp) == "$sources" ]] && exit 0
printf 'setup: building\n' >&2
new=$(mktemp -d node_modules/.build-XXXXXX)
trap 'rm -rf "$new"' EXIT
node_modules/.bin/tsc -p tsconfig.build.json --outDir "$new" >&2 || {
  printf 'the build failed: see above\n' >&2
  exit 3
}
printf '%s' "$sources" >"$new/.setup-stamp"
chmod 755 "$new"
rm -rf dist
mv "$new" dist
