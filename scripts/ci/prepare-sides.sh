#!/usr/bin/env bash
# Prepares the base and the head, to be compared. From the environment:
#   TARGET  what is measured, e.g. ioredis@valkey+rate-limit-redis: the limiter that it names is compared, or else its client
#   APP     in its place the command of an HTTP server in the repository, which listens at the port that PORT names
#   BASE    commit of the base, or a published version  PACKAGE_FOLDER  folder of the package.json
#   HEAD    the same of the head (the checkout)         BUILD           command that builds the package in a checkout
#   WORK    working folder: gets base.side and head.side, the targets or commands, and a plugin or a checkout of each
# In this project's own repository the two sides are its adapters, with the versions of their lock files.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/ci/common.sh"
: "${PACKAGE_FOLDER:=.}" "${BUILD:=npm ci && npm run build --if-present}"
one_side_each
: "${HEAD:=$(git rev-parse HEAD 2>/dev/null || true)}"
version='[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]{1,30})?'
revisions="[0-9a-f]{40}|$version" meaning='a full commit id or a version of the package'
[[ ! ${APP-} ]] || { revisions='[0-9a-f]{40}' meaning='a full commit id'; }
for name in BASE HEAD; do must_be $name "$revisions" "$meaning"; done
must_be PACKAGE_FOLDER '[A-Za-z0-9._/@ -]{1,200}' 'a folder of the repository'
[[ /$PACKAGE_FOLDER/ != */../* && $PACKAGE_FOLDER != /* ]] || refuse 'PACKAGE_FOLDER must be inside the repository'
: "${WORK:?the working folder}"
if [[ ! ${APP-} ]]; then
  HARNESS=$root part=$(HARNESS=$root TARGET=$TARGET node "$root/scripts/ci/compared-part.mjs") ||
    refuse "ratelimit-bench has no client or limiter of an npm package in $TARGET: measure it as a plugin, see docs/ci.md"
  read -r kind id package_name _ framework <<<"$part"
  # Names of targets have their framework before their limiter.
  [[ ! $framework || +$TARGET+ == *"+$framework+"* ]] || TARGET=${TARGET/"+$id"/"+$framework+$id"}
fi

# Checks out a commit and enters the package's folder in it.
check_out() { # SIDE COMMIT
  git cat-file -e "$2^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$2"
  git worktree add --quiet --force --detach "$WORK/$1" "$2"
  cd "$WORK/$1/$PACKAGE_FOLDER"
}

# The commands of apps are scripts of their own: each starts in its checkout.
prepare_app() { # SIDE COMMIT
  check_out "$1" "$2"
  bash -euo pipefail -c "$BUILD" >&2
  printf 'cd %q || exit 1\nexec %s\n' "$PWD" "$APP" >"$WORK/$1.sh"
  printf '%s' "$1" >"$WORK/$1.side"
}

prepare_package() { # SIDE COMMIT
  local side=$1 commit=$2 harness=$root package
  if [[ $commit =~ ^$version$ ]]; then
    package=$package_name@$commit
  else
    check_out "$side" "$commit"
    if [[ $(node -p 'require("./package.json").name') == ratelimit-bench ]]; then
      npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2
      npm run --silent build >&2
      harness=$PWD
      package=$(HARNESS=$harness TARGET=$TARGET node "$root/scripts/ci/compared-part.mjs" | cut -d' ' -f3,4)
      package=${package/ /@}
    else
      bash -euo pipefail -c "$BUILD" >&2
      mkdir "$WORK/$side-package"
      npm pack --silent --pack-destination "$WORK/$side-package" >/dev/null
      package=$(printf '%s' "$WORK/$side-package"/*.tgz)
    fi
  fi
  "$root/scripts/ci/make-plugin.sh" "$side" "$kind" "$id" "$package_name" "$harness" "$package" "$WORK/plugin-$side"
  target_of "$side" >"$WORK/$side.side"
}

# The target with that side's client or limiter.
target_of() { # SIDE
  local text=+$TARGET rest
  if [[ $kind == client ]]; then
    printf '%s-%s%s' "$id" "$1" "${TARGET#"$id"}"
  else
    rest=${text#*"+$id"}
    text=${text%%"+$id"*}+$id-$1$rest
    printf '%s' "${text#+}"
  fi
}

mkdir -p "$WORK"
: >"$WORK/sides.md"
for side in base head; do
  commit=$([[ $side == base ]] && printf '%s' "$BASE" || printf '%s' "$HEAD")
  printf 'The %s is %s. ' "$side" "$commit" >>"$WORK/sides.md"
  repository=$PWD
  if [[ ${APP-} ]]; then prepare_app "$side" "$commit"; else prepare_package "$side" "$commit"; fi
  cd "$repository"
done
printf '\n\n' >>"$WORK/sides.md"
