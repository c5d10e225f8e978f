#!/usr/bin/env bash
# Runs the campaign of a workflow, set by environment variables: CLIENTS, CONCURRENCY, DURATION_MODE, RUNS, WORKLOAD,
# TRAFFIC, RUNTIME. The output `campaign` is its folder.
set -euo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$root/scripts/ci/common.sh"

: "${CLIENTS:=standalone,controls}"
must_be CLIENTS "$targets" 'targets and groups, such as ioredis@valkey,iovalkey'
campaign_settings
# Later campaigns are compared through a reference: a single target gets one, and the plan names it.
run_campaign "$root/scripts/run-all.sh" --clients "$CLIENTS" --reference auto "${settings[@]}" --output "${OUTPUT:-results}"
campaign=$(cd "${OUTPUT:-results}/latest" && pwd -P)
set_output campaign "$campaign"
((campaign_code != 4)) || exit 4
