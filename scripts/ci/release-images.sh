#!/usr/bin/env bash
# Builds the two images for a release and pushes them: release-images.sh VERSION
# From the environment: IMAGES (registry and owner, e.g. registry.example/owner); DRY_RUN=1 only prints the commands.
# Outputs: server_name, server_digest, loadtest_name, loadtest_digest.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/ci/common.sh
VERSION=${1-}
must_be VERSION '[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?' 'a version'
# Registries accept lower-case names only.
IMAGES=${IMAGES,,}
must_be IMAGES '[a-z0-9.:-]+(/[a-z0-9._-]+)+' 'a registry with an owner'
run() { if [[ ${DRY_RUN:-} ]]; then printf '%s\n' "$*" >&2; else "$@" >&2; fi; }

for id in server loadtest; do
  name=$IMAGES/ratelimit-bench-$id
  run docker build --file "Dockerfile.$id" --build-arg "INPUTS=release-$VERSION" \
    --label "org.opencontainers.image.version=$VERSION" \
    --label "org.opencontainers.image.revision=${GITHUB_SHA:-unknown}" --tag "$name:$VERSION" .
  run docker push "$name:$VERSION"
  digest=sha256:dry
  [[ ${DRY_RUN:-} ]] || digest=$(docker inspect --format '{{index .RepoDigests 0}}' "$name:$VERSION" | sed 's/.*@//')
  set_output "${id}_name" "$name"
  set_output "${id}_digest" "$digest"
done
