#!/usr/bin/env bash
# Asks the registry for the digest of each image in the list, writes them there, and says which tags have moved.
set -euo pipefail
unset CDPATH
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
list=${1:-src/runtimes/containers/image-digests.ts}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
entry='^  "([^"]+)": (null|"(.*)"),$'
while IFS= read -r line; do
  if [[ $line =~ $entry ]]; then
    name=${BASH_REMATCH[1]} before=${BASH_REMATCH[3]}
    digest=$(docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$name" 2>&1 </dev/null) || true
    if ! [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]]; then
      printf 'no digest of %s (%s): docker with buildx must reach its registry; the list is as it was\n' \
        "$name" "$(tail -n 1 <<<"$digest")" >&2
      exit 3
    fi
    [[ -z $before || $before == "$digest" ]] || printf 'the tag %s has moved: %s, now %s\n' "$name" "$before" "$digest"
    line="  \"$name\": \"$digest\","
  fi
  printf '%s\n' "$line" >>"$new"
done <"$list"
cat "$new" >"$list"
