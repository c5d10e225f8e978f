#!/usr/bin/env bash
# Writes a comment on a pull request, or updates the earlier one: comment.sh FILE
# From the environment: GH_TOKEN, GITHUB_REPOSITORY, PULL_REQUEST, MARK (identifies this comment).
# Pull requests of forks have a read-only token. That is no failure: the job's summary has the same text.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
file=${1:?the file with the text}
must_be PULL_REQUEST '[0-9]{1,9}' 'the number of a pull request'
must_be GITHUB_REPOSITORY '[A-Za-z0-9._-]+/[A-Za-z0-9._-]+' 'owner/name'
must_be MARK '[A-Za-z0-9@:+~._ -]{1,160}' 'a short text'
body=$(mktemp)
trap 'rm -f "$body"' EXIT
printf '<!-- ratelimit-bench %s -->\n' "$MARK" >"$body"
# GitHub allows 65 536 characters.
FILE=$file node -p 'fs.readFileSync(process.env.FILE).subarray(0, 60_000).toString().replace(/\uFFFD$/, "")' >>"$body"

comments=repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments
old=$(MARK=$MARK gh api --paginate "$comments" \
  --jq '.[] | select(.body | startswith("<!-- ratelimit-bench " + env.MARK + " -->")) | .id' | head -1) || old=
if [[ $old ]]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$old" --field "body=@$body" --silent
else
  gh api --method POST "$comments" --field "body=@$body" --silent
fi || printf '::notice::no comment could be written (pull requests of forks may only read): see the summary of the job\n'
