#!/usr/bin/env bash
# Makes a plugin from a pull request's base and one from its head, to be compared. From the environment:
#   TARGET  what is measured, e.g. ioredis@valkey       PACKAGE_FOLDER  folder of the client's package.json
#   BASE    commit of the base                          BUILD           command that builds the package in a checkout
#   WORK    working folder
# In this project's own repository the two sides are its adapters, with the client versions of their lock files.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/ci/common.sh"
: "${PACKAGE_FOLDER:=.}" "${BUILD:=npm ci && npm run build --if-present}"
must_be TARGET '[a-z0-9][a-z0-9.-]{0,34}([@:+~][A-Za-z0-9.@:+~-]{1,80})?' 'one target, such as ioredis@valkey'
must_be BASE '[0-9a-f]{40}' 'a full commit id: this action measures pull requests'
must_be PACKAGE_FOLDER '[A-Za-z0-9._/@ -]{1,200}' 'a folder of the repository'
[[ /$PACKAGE_FOLDER/ != */../* && $PACKAGE_FOLDER != /* ]] || refuse 'PACKAGE_FOLDER must be inside the repository'
: "${WORK:?the working folder}"
client=${TARGET%%[@:+~]*}

mkdir -p "$WORK"
git cat-file -e "$BASE^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$BASE"
for side in base head; do
  commit=$([[ $side == base ]] && printf '%s' "$BASE" || git rev-parse HEAD)
  git worktree add --quiet --force --detach "$WORK/$side" "$commit"
  cd "$WORK/$side/$PACKAGE_FOLDER"
  if [[ $(node -p 'require("./package.json").name') == ratelimit-bench ]]; then
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
    npm run --silent build >&2
    harness=$PWD
    package=$(CLIENT=$client node --input-type=module -e '
      import { readFileSync } from "node:fs";
      const { clients } = await import(`${process.cwd()}/dist/targets/clients/index.js`);
      const name = clients.find(({ id }) => id === process.env.CLIENT)?.package;
      if (!name) throw new Error(`ratelimit-bench has no client ${process.env.CLIENT} with a package`);
      const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
      console.log(`${name}@${lock.packages[`node_modules/${name}`].version}`);')
  else
    bash -euo pipefail -c "$BUILD" >&2
    harness=$root
    mkdir "$WORK/$side-package"
    npm pack --silent --pack-destination "$WORK/$side-package" >/dev/null
    package=$(printf '%s' "$WORK/$side-package"/*.tgz)
  fi
  cd - >/dev/null
  "$root/scripts/ci/make-plugin.sh" "$side" "$client" "$harness" "$package" "$WORK/$client-$side"
done
