#!/usr/bin/env bash
# Checks that package.json and CHANGELOG.md have the version of a tag, and prints its notes: check-release.sh TAG
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/ci/common.sh
TAG=${1-}
must_be TAG 'v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?' 'a tag such as v1.2.3'
version=$(node -p 'require("./package.json").version')
[[ $TAG == "v$version" ]] || refuse "the tag is $TAG, but package.json says $version"
notes=$(awk -v title="## $version" 'index($0, "## ") == 1 { inside = ($0 == title || index($0, title " ") == 1); next } inside' CHANGELOG.md)
[[ $notes =~ [^[:space:]] ]] || refuse "CHANGELOG.md has no section ## $version"
printf '%s\n' "$notes"
