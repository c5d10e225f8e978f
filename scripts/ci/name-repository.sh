#!/usr/bin/env bash
# Writes the repository of a release into package.json: name-repository.sh https://github.com/somebody/ratelimit-bench
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/ci/common.sh
REPOSITORY=${1-}
must_be REPOSITORY 'https://[A-Za-z0-9.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+' 'the address of a repository'
npm pkg set repository.type=git "repository.url=git+$REPOSITORY.git" "homepage=$REPOSITORY#readme" "bugs.url=$REPOSITORY/issues"
