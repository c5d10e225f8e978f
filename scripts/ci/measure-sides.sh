#!/usr/bin/env bash
# Measures the two sides of prepare-sides.sh in one campaign by turns, audits what limits, and compares them: the base is
# the reference. From the environment: TARGET or APP, WORK, and
#   TOLERATE (10)  the loss in percent below which the head passes
#   RUNS (auto)    rounds; auto: until it passes or fails, or BUDGET (8m) or MAX_RUNS (20) is used up
#   AUDIT (true)   whether both sides are audited, CHECKS: these checks alone
#   APP_PATH, APP_STORE, APP_HEADER: of an app, as --path, --app-store and --header of run
# and the other settings of benchmark.sh. Outputs: `campaign` (a folder), `audit` (a folder), `comment` (a file), `code`
# (the exit code of the comparison).
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/ci/common.sh"
one_side_each
: "${WORK:?the working folder}" "${RUNS:=auto}" "${MAX_RUNS:=20}" "${BUDGET:=8m}" "${TOLERATE:=10}" "${AUDIT:=true}"
: "${DURATION_MODE:=custom:5}" "${WARMUP:=2}"
must_be TOLERATE '[0-9]{1,2}(\.[0-9]{1,2})?%?' 'a number of percent'
must_be MAX_RUNS '[0-9]{1,3}' 'a number of runs'
must_be BUDGET '[0-9]{1,4}(\.[0-9]{1,2})?[smh]' 'a time with its unit, such as 8m'
must_be AUDIT 'true|false' 'true or false'
must_be CHECKS '([a-z0-9-]{1,40}([ ,]+[a-z0-9-]{1,40}){0,30})?' 'ids of checks'
campaign_settings
base=$(<"$WORK/base.side") head=$(<"$WORK/head.side")
cli=("node" "$root/dist/orchestrator/cli.js")
if [[ $RUNS == auto ]]; then settings+=(--max-runs "$MAX_RUNS" --budget "$BUDGET" --tolerate "$TOLERATE"); fi

if [[ ${APP-} ]]; then
  AUDIT=false
  # The workload and the traffic of limiters say nothing about an app.
  sides=(--concurrency "$CONCURRENCY" --duration-mode "$DURATION_MODE" --warmup "$WARMUP" --runs "$RUNS")
  [[ $RUNS != auto ]] || sides+=(--max-runs "$MAX_RUNS" --budget "$BUDGET" --tolerate "$TOLERATE")
  sides+=(--app "base=sh '$WORK/base.sh'" --app "head=sh '$WORK/head.sh'")
  [[ ! ${APP_PATH-} ]] || sides+=(--path "$APP_PATH")
  [[ ! ${APP_STORE-} ]] || sides+=(--app-store "$APP_STORE")
  [[ ! ${APP_HEADER-} ]] || sides+=(--header "$APP_HEADER")
else
  plugins=(--plugin "$WORK/plugin-base" --plugin "$WORK/plugin-head")
  sides=(--clients "$base,$head" "${settings[@]}" "${plugins[@]}")
fi

printf 'the base %s is added as the reference of the head %s\n' "$base" "$head"
run_campaign "$root/scripts/run-all.sh" "${sides[@]}" --reference "$base" --no-copy --output "$WORK/results"
campaign=$(cd "$WORK/results/latest" && pwd -P)
set_output campaign "$campaign"

verdict=(--tolerate "$TOLERATE")
if [[ $AUDIT == true ]]; then
  audit_code=0
  "${cli[@]}" audit --clients "$base,$head" "${plugins[@]}" --runtime "$RUNTIME" ${CHECKS:+--checks "$CHECKS"} \
    --output "$WORK/results" --junit "$WORK/audit.xml" || audit_code=$?
  # 6 is a broken promise, 4 a check that could not be made. With any other code there is no audit.
  case $audit_code in 0 | 4 | 6) ;; *) exit "$audit_code" ;; esac
  audits=("$WORK/results/audits"/*/)
  audit=${audits[-1]%/}
  set_output audit "$audit"
  verdict+=(--audit "$audit")
fi

code=0
"${cli[@]}" compare "$base" "$head" --campaign "$campaign" "${verdict[@]}" --format md >"$WORK/comparison.md" || code=$?
# 6 fails, 7 is not decided. With any other code there is no comparison.
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
