#!/usr/bin/env bash
# Runs the Python checks and tests, with the tools in .venv or in the folder PYTHON_TOOLS.
#   check-python.sh           everything
#   check-python.sh lint      format, lint, types, imports between folders
#   check-python.sh unit      short tests of the report
#   check-python.sh terminal  tests of the command line in a terminal
#   check-python.sh terminal-long  long tests of the command line in a terminal
#   check-python.sh long      long tests of the report
set -euo pipefail
unset CDPATH
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
tools="${PYTHON_TOOLS:-.venv/bin}"
if [[ ! -x "$tools/ruff" ]]; then
  echo "check-python: $tools/ruff is missing: run ./scripts/setup.sh --dev" >&2
  exit 3
fi

lint() {
  "$tools/ruff" format --check
  "$tools/ruff" check
  "$tools/python" scripts/lint/packed_python.py report scripts bench test
  "$tools/python" scripts/lint/placeholder_names.py report scripts bench
  "$tools/mypy"
  "$tools/lint-imports" --no-logo --cache-dir .mypy_cache/imports
}

case ${1:-} in
  lint) lint ;;
  unit) "$tools/pytest" -n auto --dist loadgroup -m 'not long' test/report ;;
  terminal) "$tools/pytest" -n 2 -m 'not long' test/terminal ;;
  terminal-long) "$tools/pytest" -n 2 -m long test/terminal ;;
  long) "$tools/pytest" -n auto --dist loadgroup -m long test/report ;;
  '')
    lint
    "$tools/pytest" -n auto --dist loadgroup
    ;;
  *) echo "check-python: unknown part $1; valid: lint, unit, terminal, terminal-long, long" >&2; exit 2 ;;
esac
