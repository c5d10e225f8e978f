# shellcheck shell=bash disable=SC2034
# What the scripts of workflows share. They get what people typed by environment variables alone: nothing of it is
# ever part of a program's text.
LC_ALL=C
refuse() { printf '::error::%s\n' "${1//$'\n'/ }" >&2; exit 2; }
# A variable must be one line that is wholly of this form.
must_be() { # NAME PATTERN MEANING
  local value=${!1-}
  [[ $value != *$'\n'* && $value =~ ^($2)$ ]] || refuse "$1 must be $3"
}
# An output of the step.
tell() { printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/stdout}"; }

targets='[a-z0-9][a-zA-Z0-9@:+~., -]{0,399}'
# The settings of a campaign, checked; sets the array `settings`. Whoever sets none of a name gets the default.
campaign_settings() {
  : "${CONCURRENCY:=50}" "${DURATION_MODE:=fixed30}" "${RUNS:=5}" "${WORKLOAD:=light}" "${TRAFFIC:=realistic}" "${RUNTIME:=local}"
  must_be CONCURRENCY '[0-9]{1,5}([ ,]+[0-9]{1,5}){0,9}' 'numbers of connections'
  must_be DURATION_MODE 'dynamic|fixed30|fixed120|custom:[0-9]{1,5}' 'dynamic, fixed30, fixed120 or custom:N'
  must_be RUNS '[0-9]{1,3}' 'a number of runs'
  must_be WORKLOAD 'light|heavy|both' 'light, heavy or both'
  must_be TRAFFIC '[a-z0-9]{1,20}([ ,]+[a-z0-9]{1,20}){0,9}' 'traffic profiles'
  must_be RUNTIME 'auto|docker|podman|local' 'auto, docker, podman or local'
  settings=(--concurrency "$CONCURRENCY" --duration-mode "$DURATION_MODE" --runs "$RUNS" --workload "$WORKLOAD"
    --traffic "$TRAFFIC" --runtime "$RUNTIME" --warmup "${WARMUP:-5}" --cooldown "${COOLDOWN:-2}" --order interleaved)
}
# Invalid runs (5) are in the report with their reasons; everything else but 0 is a failure.
run_campaign() {
  local code=0
  "$@" || code=$?
  ((code == 5)) && printf '::warning::some runs are invalid: the report says why\n'
  ((code == 0 || code == 5)) || exit "$code"
}
