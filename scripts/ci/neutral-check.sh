#!/usr/bin/env bash
# Writes a neutral check run where nothing was decided, as a job can only succeed or fail: neutral-check.sh FILE
# From the environment: CODE, GH_TOKEN, GITHUB_REPOSITORY, HEAD_SHA, MARK (names the check run).
# A token that may not write checks is no failure: the job has a warning, too.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
file=${1:?the file with the text}
must_be CODE '0|6|7' 'the exit code of a comparison'
[[ $CODE == 7 ]] || exit 0
must_be GITHUB_REPOSITORY '[A-Za-z0-9._-]+/[A-Za-z0-9._-]+' 'owner/name'
must_be HEAD_SHA '[0-9a-f]{40}' 'a full commit id'
must_be MARK '[A-Za-z0-9@:+~._ -]{1,160}' 'a short text'
body=$(mktemp)
trap 'rm -f "$body"' EXIT
FILE=$file MARK=$MARK HEAD_SHA=$HEAD_SHA node -p '
  const { FILE, MARK, HEAD_SHA } = process.env;
  // GitHub allows 65 535 characters.
  const summary = fs.readFileSync(FILE).subarray(0, 60_000).toString().replace(/\uFFFD$/, "");
  const output = { title: "Not decided", summary };
  JSON.stringify({ name: `Rate limiting: ${MARK}`, head_sha: HEAD_SHA, status: "completed", conclusion: "neutral", output })' \
  >"$body"
gh api --method POST "repos/$GITHUB_REPOSITORY/check-runs" --input "$body" --silent 2>/dev/null || true
