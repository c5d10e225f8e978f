#!/usr/bin/env bash
# Prepares a checkout: Node packages, Python packages, the build. Skips what is up to date.
#   setup.sh               for campaigns and reports
#   setup.sh --kubernetes  also for campaigns on Kubernetes
#   setup.sh --dev         also for checks and tests
set -euo pipefail
# The lines above are its help, too.
for word in "$@"; do
  case $word in
    --kubernetes | --dev) ;;
    --help | -h) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) printf 'setup.sh: unknown %s; see --help\n' "${word//$'\n'/ }" >&2; exit 2 ;;
  esac
done
(($# < 2)) || { printf 'setup.sh: give one of --kubernetes and --dev: --dev has all\n' >&2; exit 2; }
# Settings of other programs and of another Python must not reach what runs here. npm still trusts the same certificates.
certificates=$(grep -oE -- '--use-[a-z]+-ca' <<<"${NODE_OPTIONS:-}" | tr '\n' ' ' || true)
unset CDPATH NODE_OPTIONS ${!PYTHON@}
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

fail() { printf '%s\n' "$1" >&2; exit 3; }
progress() { printf 'setup: %s\n' "$1" >&2; }

command -v node >/dev/null || fail 'Node.js is missing: install version 20.19 or newer'
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  fail "Node.js $(node --version) is too old: install version 20.19 or newer"
recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
# The environment keeps the Python that created it, even if another one is first on PATH now.
python=.venv/bin/python
if ! { recent "$python" && "$python" -m pip --version >/dev/null 2>&1; }; then
  python=python3
  command -v python3 >/dev/null || fail 'Python is missing: install version 3.11 or newer'
  recent python3 || fail "$(python3 --version) is too old: install version 3.11 or newer"
fi

# A step is done if its stamp holds the checksum of everything that the step depends on.
is_done() { [[ -e $1 && $(<"$1") == "$2" ]]; }

# Of devDependencies, a build needs the compiler alone.
case ${1:-} in
  --dev) kept=() enough=dev ;;
  --kubernetes) kept=(typescript @kubernetes/client-node) enough='kubernetes dev' ;;
  *) kept=(typescript) enough='campaigns kubernetes dev' ;;
esac
# Whatever the user's settings say, everything is installed here.
here=(--no-global --location=project --no-dry-run --bin-links --package-lock --no-package-lock-only)
packages=$(cat package-lock.json <(node --version) | cksum)
stamp=$(cat node_modules/.setup-stamp 2>/dev/null) || stamp=
if [[ ${stamp#*: } != "$packages" || " $enough " != *" ${stamp%%: *} "* ]]; then
  progress 'installing Node packages'
  new=$(mktemp -d ./.setup-XXXXXX)
  trap 'rm -rf "$new"' EXIT
  # npm keeps its cache at home: an account without one gets a cache for this time.
  [[ -w ${HOME:-/nonexistent} || -w ${npm_config_cache:-/nonexistent} ]] || export npm_config_cache="$PWD/$new/cache"
  # npm can omit all of devDependencies or none, so it gets a manifest and a lock file that name fewer.
  node -e '
    const { readFileSync, writeFileSync } = require("fs");
    const [folder, ...kept] = process.argv.slice(1);
    for (const name of ["package.json", "package-lock.json"]) {
      const manifest = JSON.parse(readFileSync(name));
      const { devDependencies } = manifest.packages?.[""] ?? manifest;
      if (kept.length) for (const id in devDependencies) if (!kept.includes(id)) delete devDependencies[id];
      writeFileSync(`${folder}/${name}`, JSON.stringify(manifest));
    }' "$new" ${kept[@]+"${kept[@]}"}
  (cd "$new" && NODE_OPTIONS=$certificates npm ci --ignore-scripts --no-audit --no-fund --loglevel=error "${here[@]}" \
    --include={dev,optional,peer} >&2) || fail 'npm could not install the packages: see above'
  # Some settings make npm leave packages out without a word.
  (cd "$new" && node -e 'const [isDev, ...kept] = process.argv.slice(1), fs = require("fs");
    const { packages } = JSON.parse(fs.readFileSync("package-lock.json"));
    const missing = Object.entries(packages ?? {}).filter(([path, { optional, dev, devOptional, peer }]) =>
      path && !optional && (isDev || !(dev || devOptional || peer))).map(([path]) => path);
    const left = [...missing, ...kept.map((name) => `node_modules/${name}`)].filter((path) => !fs.existsSync(`${path}/package.json`));
    if (left.length) { console.error(`missing: ${left.join(" ")}`); process.exit(1); }' \
    "$([[ $enough == dev ]] && echo dev)" ${kept[@]+"${kept[@]}"}) || fail 'npm left packages out: see npm config list'
  printf '%s: %s' "${enough%% *}" "$packages" >"$new/node_modules/.setup-stamp"
  rm -rf node_modules
  mv "$new/node_modules" .
fi

# Of pip's variables those of the network and the cache count. Others install elsewhere, or less.
for name in ${!PIP_@}; do
  [[ $name =~ INDEX|LINKS|HOST|CERT|PROXY|CACHE|CONFIG|TIMEOUT|RETRIES|KEYRING ]] || unset "$name"
done
requirements=(requirements.txt)
[[ ${1:-} == --dev ]] && requirements+=(requirements-dev.txt)
for file in "${requirements[@]}"; do
  wanted=$(cat "$file" <("$python" --version) | cksum)
  [[ $python != python3 ]] && is_done ".venv/.${file%.txt}-stamp" "$wanted" && continue
  progress "installing Python packages from $file"
  if [[ $python == python3 ]]; then
    python3 -m venv --clear .venv >&2 ||
      fail 'Python could not create a virtual environment: on Debian and Ubuntu install python3-venv'
    python=.venv/bin/python
  fi
  pip=("$python" -I -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r "$file")
  "${pip[@]}" --no-user --target= --prefix="$PWD/.venv" >&2 || fail "pip failed on $file: see above"
  PIP_CONFIG_FILE=/dev/null "${pip[@]}" --no-index >&2 ||
    fail 'pip installed elsewhere, or nothing: see .venv/bin/pip config list'
  printf '%s' "$wanted" >".venv/.${file%.txt}-stamp"
done

scripts/build.sh
