#!/usr/bin/env bash
# Checks the Python side: format, lint, types, tests. The tools are those of .venv, or of the folder PYTHON_TOOLS.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
tools="${PYTHON_TOOLS:-.venv/bin}"
if [[ ! -x "$tools/ruff" ]]; then
  echo "check-python: $tools/ruff is missing: run ./scripts/setup.sh" >&2
  exit 3
fi
"$tools/ruff" format --check
"$tools/ruff" check
"$tools/mypy"
"$tools/pytest" -n 3
