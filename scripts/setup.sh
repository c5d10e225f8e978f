#!/usr/bin/env bash
# Prepares a checkout: Node packages, Python packages, the build. Skips what is up to date.
#   setup.sh         for campaigns and reports
#   setup.sh --dev   also for checks and tests
#   setup.sh --node  only Node packages and the build: enough for --help
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() { printf '%s\n' "$1" >&2; exit 3; }
progress() { printf 'setup: %s\n' "$1" >&2; }

command -v node >/dev/null || fail 'Node.js is missing: install version 20.19 or newer'
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  fail "Node.js $(node --version) is too old: install version 20.19 or newer"
recent() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
# The environment keeps the Python that created it, even if another one is first on PATH now.
python=.venv/bin/python
if [[ ${1:-} != --node ]] && ! { recent "$python" && "$python" -m pip --version >/dev/null 2>&1; }; then
  python=python3
  command -v python3 >/dev/null || fail 'Python is missing: install version 3.11 or newer'
  recent python3 || fail "$(python3 --version) is too old: install version 3.11 or newer"
fi

# A step is done if its stamp holds the checksum of everything that the step depends on.
is_done() { [[ -e $1 && $(<"$1") == "$2" ]]; }

packages=$(cat package-lock.json <(node --version) | cksum)
if ! is_done node_modules/.setup-stamp "$packages"; then
  progress 'installing Node packages'
  npm ci --ignore-scripts --loglevel=error >&2 || fail 'npm ci failed: see above'
  printf '%s' "$packages" >node_modules/.setup-stamp
fi

requirements=(requirements.txt)
[[ ${1:-} == --dev ]] && requirements+=(requirements-dev.txt)
[[ ${1:-} == --node ]] && requirements=()
for file in ${requirements[@]+"${requirements[@]}"}; do
  wanted=$(cat "$file" <("$python" --version) | cksum)
  [[ $python != python3 ]] && is_done ".venv/.${file%.txt}-stamp" "$wanted" && continue
  progress "installing Python packages from $file"
  if [[ $python == python3 ]]; then
    python3 -m venv --clear .venv >&2 ||
      fail 'Python could not create a virtual environment: on Debian and Ubuntu install python3-venv'
    python=.venv/bin/python
  fi
  "$python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$file" >&2 ||
    fail "pip failed on $file: see above"
  printf '%s' "$wanted" >".venv/.${file%.txt}-stamp"
done

scripts/build.sh
