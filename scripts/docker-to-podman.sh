#!/usr/bin/env bash
# Installs a `docker` command that runs Podman, for tools that only know `docker`.
set -euo pipefail
mark='ratelimit-bench docker shim'

usage() {
  cat <<'TEXT'
docker-to-podman.sh: installs a `docker` command that runs Podman

  --install [DIR]     write DIR/docker (default: ~/.local/bin); never replaces another docker
  --uninstall [DIR]   remove it if this script wrote it
  --dry-run           show what would be done
  --help
TEXT
}
refuse() { printf 'docker-to-podman.sh: %s; see --help\n' "${1//$'\n'/ }" >&2; exit 2; }

action= folder=$HOME/.local/bin dry=
while (($#)); do
  case $1 in
    --install | --uninstall)
      action=${1#--}
      if [[ ${2:-} && $2 != -* ]]; then folder=$2; shift; fi ;;
    --dry-run) dry=1 ;;
    --help | -h) usage; exit 0 ;;
    *) refuse "unknown $1" ;;
  esac
  shift
done
[[ -n $action ]] || refuse 'give --install or --uninstall'
target=$folder/docker

if [[ $action == uninstall ]]; then
  if [[ ! -e $target ]]; then printf '%s does not exist\n' "$target"; exit 0; fi
  grep -q "$mark" "$target" || refuse "this script did not write $target"
  printf 'removing %s\n' "$target"
  [[ -n $dry ]] || rm "$target"
  exit 0
fi
command -v podman >/dev/null || { printf 'Podman is missing: scripts/setup-podman.sh shows how to install it\n' >&2; exit 3; }
if [[ -e $target || -L $target ]] && ! grep -qs "$mark" "$target"; then refuse "$target exists, and this script did not write it"; fi
printf 'writing %s\n' "$target"
[[ -z $dry ]] || exit 0
mkdir -p "$folder"
cat >"$target" <<SHIM
#!/bin/sh
# $mark
exec podman "\$@"
SHIM
chmod 755 "$target"
case :$PATH: in *":$folder:"*) ;; *) printf 'add %s to your PATH\n' "$folder" ;; esac
