#!/usr/bin/env python3
"""Builds the report of a campaign: python3 scripts/generate_report.py results/latest

Runs under any Python 3: it goes on in the project's own environment, where the packages it needs are.
"""

import importlib.util
import os
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve()
ROOT = SCRIPT.parent.parent
NEEDED = ("hdrh", "jinja2", "jsonschema", "jsonschema_rs", "plotly")
GUARD = "RATELIMIT_BENCH_REPORT_PYTHON"
ENVIRONMENT = 3


def go_on_in_environment() -> None:
    """Replaces this process by the same one in .venv, unless it is there already or there is none."""
    environment = ROOT / ".venv"
    python = environment / "bin" / "python"
    if Path(sys.prefix).resolve() == environment.resolve() or not python.exists() or os.environ.get(GUARD):
        return
    os.environ[GUARD] = str(python)
    os.execv(python, [str(python), str(SCRIPT), *sys.argv[1:]])  # noqa: S606


def main() -> int:
    """Runs the report, or says in one line what it lacks."""
    try:
        go_on_in_environment()
    except OSError as error:
        print(
            f"generate_report: {ROOT / '.venv'} does not work ({error.strerror}): run ./scripts/setup.sh",
            file=sys.stderr,
        )
        return ENVIRONMENT
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing or sys.version_info < (3, 11):
        lack = (
            f"Python packages are missing ({', '.join(missing)})"
            if missing
            else "Python 3.11 or newer is needed"
        )
        print(f"generate_report: {lack}: run ./scripts/setup.sh", file=sys.stderr)
        return ENVIRONMENT
    from report.cli import main as report

    return report()


if __name__ == "__main__":
    sys.exit(main())
