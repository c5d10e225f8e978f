#!/usr/bin/env bash
# Checks whether Podman can run a campaign, with or without root. --install installs what is missing.
set -euo pipefail

usage() {
  cat <<'TEXT'
setup-podman.sh: checks and prepares Podman

  --install   install what is missing with apt or dnf (as root)
  --try IMAGE start one capped container of a local image
  --dry-run   show what --install would do
  --help

Exit codes: 0 Podman can run a campaign, 2 bad usage, 3 it cannot
TEXT
}
refuse() { printf 'setup-podman.sh: %s; see --help\n' "${1//$'\n'/ }" >&2; exit 2; }

install= dry= image=
while (($#)); do
  case $1 in
    --install) install=1 ;;
    --try) [[ $# -ge 2 ]] || refuse '--try needs an image'; image=$2; shift ;;
    --dry-run) dry=1 ;;
    --help | -h) usage; exit 0 ;;
    *) refuse "unknown $1" ;;
  esac
  shift
done

failed=
report() { # status check text [fix]
  [[ $1 == fail ]] && failed=1
  printf '%-4s  %-9s %s%s\n' "$1" "$2" "$3" "${4:+ – $4}"
}
has() { command -v "$1" >/dev/null 2>&1; }

if has apt-get; then packages=(apt-get install -y --no-install-recommends podman netavark aardvark-dns crun iptables uidmap slirp4netns)
elif has dnf; then packages=(dnf install -y podman netavark aardvark-dns crun)
else packages=(); fi
if [[ -n $install ]]; then
  ((${#packages[@]})) || { printf 'this machine has neither apt nor dnf: install Podman by hand\n' >&2; exit 3; }
  printf 'running: %s\n' "${packages[*]}"
  if [[ -z $dry ]]; then
    [[ $(id -u) == 0 ]] || { printf 'run this as root: sudo %s --install\n' "$0" >&2; exit 3; }
    "${packages[@]}"
  fi
fi

if ! has podman; then
  report fail podman 'Podman is not installed' "${packages[*]:-install it by hand}"
  exit 3
fi
version=$(podman --version | sed 's/[^0-9]*//')
if ((${version%%.*} >= 4)); then report ok podman "$version"; else report fail podman "$version is too old" 'version 4 or newer'; fi

if ! info=$(podman info --format '{{.Host.Security.Rootless}} {{.Host.CgroupsVersion}} {{.Host.NetworkBackend}} {{.Host.OCIRuntime.Name}}' 2>&1); then
  report fail info "$(printf '%s' "$info" | tail -1)"
  exit 3
fi
read -r rootless cgroups network oci <<<"$info"
report ok runtime "$oci, $([[ $rootless == true ]] && echo without root || echo as root)"
if [[ $oci == crun && -d /sys/fs/cgroup/unified ]]; then
  report fail cgroups 'versions 1 and 2 are mixed, which crun refuses' 'set runtime = "runc" under [engine] in containers.conf'
elif [[ $cgroups == v2 ]]; then report ok cgroups "$cgroups"
elif [[ $rootless == true ]]; then report fail cgroups "$cgroups" 'caps without root need version 2'
else report ok cgroups "$cgroups"; fi
if [[ $rootless == true ]]; then
  user=$(id -un)
  if grep -q "^$user:" /etc/subuid 2>/dev/null && grep -q "^$user:" /etc/subgid 2>/dev/null; then report ok subuid "$user"
  else report fail subuid "no ids for $user" "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $user"; fi
  delegated=/sys/fs/cgroup/user.slice/user-$(id -u).slice/user@$(id -u).service/cgroup.controllers
  if [[ -r $delegated ]]; then
    for controller in cpu cpuset memory pids; do
      grep -qw "$controller" "$delegated" ||
        report warn delegation "$controller is not delegated" 'its caps have no effect: see Delegate= in systemd.resource-control'
    done
  fi
fi
if [[ $network == netavark ]]; then
  if [[ -x /usr/lib/podman/aardvark-dns || -x /usr/libexec/podman/aardvark-dns ]]; then report ok names "$network, aardvark-dns"
  else report fail names 'aardvark-dns is missing' 'install it, or containers will not find each other'; fi
else report warn names "$network" 'it needs the dnsname plugin; netavark is better'; fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
podman system service --time=20 "unix://$folder/podman.sock" >/dev/null 2>"$folder/log" &
service=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do [[ -S $folder/podman.sock ]] && break; sleep 0.3; done
if [[ -S $folder/podman.sock ]]; then report ok service 'the API starts'
else report fail service "$(tail -1 "$folder/log")"; fi
kill "$service" 2>/dev/null || true

if [[ -n $image ]]; then
  if out=$(podman run --rm --pull never --cpus 1 --memory 256m --read-only --cap-drop ALL --network none "$image" true 2>&1); then
    report ok container "$image with caps"
  else report fail container "$(printf '%s' "$out" | tail -1)"; fi
fi
[[ -z $failed ]] || exit 3
