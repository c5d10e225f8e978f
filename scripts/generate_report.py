#!/usr/bin/env python3
"""Builds the report of a campaign: python3 scripts/generate_report.py results/latest

Runs under any Python 3: it goes on in the project's own environment, where the packages it needs are.
"""

import importlib
import importlib.util
import os
import sys
from pathlib import Path

from python_environment import LEAST, Unfit, ensure_environment, existing_environment, is_checkout

SCRIPT = Path(__file__).resolve()
NEEDED = ("hdrh", "jinja2", "jsonschema", "jsonschema_rs", "plotly")
GUARD = "RATELIMIT_BENCH_REPORT_PYTHON"
ENVIRONMENT = 3


def go_on_in_environment(script: Path = SCRIPT) -> None:
    """Replaces this process by the same one in the environment, unless it needs none.

    Raises:
        Unfit: there is no environment and none can be made, or its Python does not start.
    """
    if os.environ.get(GUARD):
        return
    environment = existing_environment()
    if environment is None:
        if not missing_packages():
            return
        environment = ensure_environment()
    if Path(sys.prefix).resolve() == environment.resolve():
        return
    python = environment / "bin" / "python"
    os.environ[GUARD] = str(python)
    try:
        os.execv(python, [str(python), str(script), *sys.argv[1:]])  # noqa: S606
    except OSError as error:
        mend = "run ./scripts/setup.sh" if is_checkout() else "remove it, and it is made again"
        raise Unfit(f"{environment} does not work ({error.strerror}): {mend}") from error


def missing_packages() -> "list[str]":
    return [name for name in NEEDED if importlib.util.find_spec(name) is None]


def main(script: Path = SCRIPT, program: str = "report.cli") -> int:
    """Runs the report, or another program of its package, or says in one line what it lacks."""
    try:
        go_on_in_environment(script)
        if sys.version_info < LEAST:
            raise Unfit("Python 3.11 or newer is needed")
        if missing_packages():
            raise Unfit(f"{sys.prefix} lacks {', '.join(missing_packages())}: run ./scripts/setup.sh")
    except Unfit as error:
        print(f"{script.stem}: {error}", file=sys.stderr)
        return ENVIRONMENT
    code: int = importlib.import_module(program).main()
    return code


if __name__ == "__main__":
    sys.exit(main())
