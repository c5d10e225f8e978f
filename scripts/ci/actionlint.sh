#!/usr/bin/env bash
# Checks the workflows with actionlint, from PATH or Go's folder. Exits with 3 if actionlint is not installed.
#   actionlint.sh --install   only installs it with Go
#   actionlint.sh --find      only prints its path
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=v1.7.12
tool=$(command -v actionlint || true)
[[ $tool ]] || tool=$(go env GOPATH 2>/dev/null || true)/bin/actionlint
if [[ ${1:-} == --install && ! -x $tool ]]; then
  command -v go >/dev/null || { printf 'actionlint cannot be installed: Go is missing\n' >&2; exit 3; }
  go install "github.com/rhysd/actionlint/cmd/actionlint@$version" || { printf 'actionlint cannot be installed: see above\n' >&2; exit 3; }
  tool=$(go env GOPATH)/bin/actionlint
fi
[[ ${1:-} != --install ]] || exit 0
[[ -x $tool ]] || { printf 'actionlint is missing: run scripts/ci/actionlint.sh --install\n' >&2; exit 3; }
if [[ ${1:-} == --find ]]; then printf '%s\n' "$tool"; exit 0; fi
exec "$tool" -no-color
