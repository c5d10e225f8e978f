#!/usr/bin/env bash
# Makes a plugin from the base and one from the head, to be compared. From the environment:
#   TARGET  what is measured, e.g. ioredis@valkey       PACKAGE_FOLDER  folder of the client's package.json
#   BASE    commit of the base, or a published version  BUILD           command that builds the package in a checkout
#   HEAD    the same of the head (the checkout)         WORK            working folder
# In this project's own repository the two sides are its adapters, with the client versions of their lock files.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/ci/common.sh"
: "${PACKAGE_FOLDER:=.}" "${BUILD:=npm ci && npm run build --if-present}"
must_be TARGET '[a-z0-9][a-z0-9.-]{0,34}([@:+~][A-Za-z0-9.@:+~-]{1,80})?' 'one target, such as ioredis@valkey'
: "${HEAD:=$(git rev-parse HEAD 2>/dev/null || true)}"
version='[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]{1,30})?'
for name in BASE HEAD; do must_be $name "[0-9a-f]{40}|$version" 'a full commit id or a version of the client'; done
must_be PACKAGE_FOLDER '[A-Za-z0-9._/@ -]{1,200}' 'a folder of the repository'
[[ /$PACKAGE_FOLDER/ != */../* && $PACKAGE_FOLDER != /* ]] || refuse 'PACKAGE_FOLDER must be inside the repository'
: "${WORK:?the working folder}"
client=${TARGET%%[@:+~]*}

# The client's package: its name, and the version in the lock file of a checkout of this project.
package_of() { # HARNESS
  CLIENT=$client HARNESS=$1 node --input-type=module -e '
    import { readFileSync } from "node:fs";
    const { CLIENT, HARNESS } = process.env;
    const { clients } = await import(`${HARNESS}/dist/targets/clients/index.js`);
    const name = clients.find(({ id }) => id === CLIENT)?.package;
    if (!name) process.exit(2);
    const lock = JSON.parse(readFileSync(`${HARNESS}/package-lock.json`, "utf8"));
    console.log(name, lock.packages[`node_modules/${name}`].version);'
}

unknown_client() { refuse "ratelimit-bench has no client $client with a package: measure it as a plugin, see docs/ci.md"; }

mkdir -p "$WORK"
: >"$WORK/sides.md"
for side in base head; do
  commit=$([[ $side == base ]] && printf '%s' "$BASE" || printf '%s' "$HEAD")
  harness=$root
  printf 'The %s is %s. ' "$side" "$commit" >>"$WORK/sides.md"
  if [[ $commit =~ ^$version$ ]]; then
    name=$(package_of "$root") || unknown_client
    package=${name% *}@$commit
  else
    git cat-file -e "$commit^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$commit"
    git worktree add --quiet --force --detach "$WORK/$side" "$commit"
    cd "$WORK/$side/$PACKAGE_FOLDER"
    if [[ $(node -p 'require("./package.json").name') == ratelimit-bench ]]; then
      npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
      npm run --silent build >&2
      harness=$PWD
      name=$(package_of "$harness") || unknown_client
      package=${name/ /@}
    else
      bash -euo pipefail -c "$BUILD" >&2
      mkdir "$WORK/$side-package"
      npm pack --silent --pack-destination "$WORK/$side-package" >/dev/null
      package=$(printf '%s' "$WORK/$side-package"/*.tgz)
    fi
    cd - >/dev/null
  fi
  "$root/scripts/ci/make-plugin.sh" "$side" "$client" "$harness" "$package" "$WORK/$client-$side"
done
printf '\n\n' >>"$WORK/sides.md"
