#!/usr/bin/env bash
# Fails the job if the comparison failed. From the environment: CODE, FAIL_ON (regression, not-decided or never).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
must_be CODE '0|6|7' 'the exit code of a comparison'
must_be FAIL_ON 'regression|not-decided|never' 'regression, not-decided or never'
case $CODE in
  0) printf 'no regression\n' ;;
  6)
    printf '::%s::regression: see the summary\n' "$([[ $FAIL_ON == never ]] && echo warning || echo error)"
    [[ $FAIL_ON == never ]] || exit 6
    ;;
  7)
    printf '::%s::not decided: use more runs or a quieter machine\n' \
      "$([[ $FAIL_ON == not-decided ]] && echo error || echo warning)"
    [[ $FAIL_ON != not-decided ]] || exit 7
    ;;
esac
