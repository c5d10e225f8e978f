#!/usr/bin/env bash
# Measures the two plugins of prepare-sides.sh in one interleaved campaign and compares them. From the environment:
# TARGET, WORK and the settings of benchmark.sh. Outputs: `campaign`, `comment` (a file), `code` (that of the comparison).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/ci/common.sh"
must_be TARGET "$targets" 'one target'
: "${WORK:?a folder to work in}"
campaign_settings
client=${TARGET%%[@:+~]*}
base=$client-base${TARGET#"$client"} head=$client-head${TARGET#"$client"}

run_campaign "$root/scripts/run-all.sh" --clients "$base,$head" "${settings[@]}" --output "$WORK/results" \
  --plugin "$WORK/$client-base" --plugin "$WORK/$client-head"
campaign=$(cd "$WORK/results/latest" && pwd -P)
tell campaign "$campaign"

code=0
node "$root/dist/orchestrator/cli.js" compare "$base" "$head" --campaign "$campaign" --format md \
  >"$WORK/comparison.md" || code=$?
# 6 is a regression, 7 inconclusive; others mean that there is no comparison.
case $code in 0 | 6 | 7) ;; *) exit "$code" ;; esac
{
  cat "$WORK/comparison.md"
  printf '\n<details><summary>The campaign</summary>\n\n'
  "$root/scripts/ci/summary.sh" "$campaign"
  printf '\n</details>\n'
} >"$WORK/comment.md"
tell comment "$WORK/comment.md"
tell code "$code"
