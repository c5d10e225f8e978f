#!/usr/bin/env bash
# Fails the job if the gate fails. From the environment: CODE, FAIL_ON (regression, not-decided or never).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
must_be CODE '0|6|7' 'the exit code of a comparison'
must_be FAIL_ON 'regression|not-decided|never' 'regression, not-decided or never'
case $CODE in
  0) printf 'passes\n' ;;
  6)
    printf '::%s::fails: see the summary\n' "$([[ $FAIL_ON == never ]] && echo warning || echo error)"
    [[ $FAIL_ON == never ]] || exit 6
    ;;
  7)
    printf '::%s::not decided: give more time (budget), or use a quieter machine\n' \
      "$([[ $FAIL_ON == not-decided ]] && echo error || echo warning)"
    [[ $FAIL_ON != not-decided ]] || exit 7
    ;;
esac
