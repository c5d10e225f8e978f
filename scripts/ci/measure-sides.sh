#!/usr/bin/env bash
# Measures the two plugins of prepare-sides.sh in one campaign by turns and compares them: the base is the reference. From the environment:
# TARGET, WORK and the settings of benchmark.sh. Outputs: `campaign` (a folder), `comment` (a file), `code` (the exit
# code of the comparison).
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/ci/common.sh"
must_be TARGET "$targets" 'one target'
: "${WORK:?the working folder}"
campaign_settings
client=${TARGET%%[@:+~]*}
base=$client-base${TARGET#"$client"} head=$client-head${TARGET#"$client"}

printf '%s: the base %s is added as the reference of the head %s\n' "$TARGET" "$base" "$head"
run_campaign "$root/scripts/run-all.sh" --clients "$base,$head" --reference "$base" "${settings[@]}" --output "$WORK/results" \
  --plugin "$WORK/$client-base" --plugin "$WORK/$client-head"
campaign=$(cd "$WORK/results/latest" && pwd -P)
set_output campaign "$campaign"

code=0
node "$root/dist/orchestrator/cli.js" compare "$base" "$head" --campaign "$campaign" --format md \
  >"$WORK/comparison.md" || code=$?
# 6 is a regression, 7 is not decided. With any other code there is no comparison.
case $code in 0 | 6 | 7) ;; *) exit "$code" ;; esac
# A head that fails every run is a regression. Whatever else failed must not pass as a comparison.
((campaign_code != 4 || code == 6)) || exit 4
{
  [[ ! -e $WORK/sides.md ]] || cat "$WORK/sides.md"
  cat "$WORK/comparison.md"
  printf '\n<details><summary>The campaign</summary>\n\n'
  "$root/scripts/ci/print-summary.sh" "$campaign"
  printf '\n</details>\n'
} >"$WORK/comment.md"
set_output comment "$WORK/comment.md"
set_output code "$code"
