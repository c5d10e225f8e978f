# shellcheck shell=bash disable=SC2034
# Shared by the scripts of the workflows. User input reaches them only in environment variables, so it never becomes
# part of a command's text.
LC_ALL=C
refuse() { printf '::error::%s\n' "${1//$'\n'/ }" >&2; exit 2; }
# Refuses a variable unless it is one line that matches the whole pattern.
must_be() { # NAME PATTERN MEANING
  local value=${!1-}
  [[ $value != *$'\n'* && $value =~ ^($2)$ ]] || refuse "$1 must be $3"
}
# Sets an output of the step.
set_output() { printf '%s=%s\n' "$1" "$2" >>"${GITHUB_OUTPUT:-/dev/stdout}"; }

# A gate compares two sides of one target, or of one app.
one_side_each() {
  if [[ ${APP-} ]]; then
    [[ ! ${TARGET-} ]] || refuse 'TARGET and APP: give one of them'
    must_be APP '.{1,400}' 'the command of a server, on one line'
  else
    must_be TARGET '[a-z0-9][a-z0-9.-]{0,34}([@:+~][A-Za-z0-9.@:+~-]{1,120})?' 'one target, such as ioredis@valkey'
  fi
}

targets='[a-z0-9][a-zA-Z0-9@:+~., -]{0,399}'
# Checks the settings of a campaign, with defaults, and stores them in the array `settings`.
campaign_settings() {
  : "${CONCURRENCY:=50}" "${DURATION_MODE:=fixed30}" "${RUNS:=10}" "${WORKLOAD:=light}" "${TRAFFIC:=realistic}" "${RUNTIME:=local}"
  must_be CONCURRENCY '[0-9]{1,5}([ ,]+[0-9]{1,5}){0,9}' 'numbers of connections'
  must_be DURATION_MODE 'dynamic|fixed30|fixed120|custom:[0-9]{1,5}' 'dynamic, fixed30, fixed120 or custom:N'
  must_be RUNS 'auto|[0-9]{1,3}' 'a number of runs, or auto'
  must_be WORKLOAD 'light|heavy|both' 'light, heavy or both'
  must_be TRAFFIC '[a-z0-9]{1,20}([ ,]+[a-z0-9]{1,20}){0,9}' 'traffic profiles'
  must_be RUNTIME 'auto|docker|podman|local' 'auto, docker, podman or local'
  settings=(--concurrency "$CONCURRENCY" --duration-mode "$DURATION_MODE" --runs "$RUNS" --workload "$WORKLOAD"
    --traffic "$TRAFFIC" --runtime "$RUNTIME" --warmup "${WARMUP:-5}" --cooldown "${COOLDOWN:-2}" --order turns)
}
# Sets `campaign_code`. 5 (invalid runs) is a warning, because the report has the reasons. 4 (failed runs, or a target that
# only failed its load) leaves results, too: the caller ends with it. Other codes but 0 end the script.
run_campaign() {
  campaign_code=0
  "$@" || campaign_code=$?
  case $campaign_code in
    0) ;;
    4) printf '::warning::runs failed: see the report for the reasons\n' ;;
    5) printf '::warning::some runs are invalid: see the report for the reasons\n' ;;
    *) exit "$campaign_code" ;;
  esac
}
