"""Chooses the command and the Python environment that it runs in. Works with any Python 3 and no package."""

import importlib
import importlib.util
import os
import sys
from pathlib import Path

from report.cli import environment

#: Modules whose `main` takes the command's arguments and returns the exit code.
COMMANDS = {
    "generate": "report.cli.generate",
    "compare": "report.cli.compare",
    "memory": "report.cli.memory",
    "audit": "report.cli.audit",
    "claims": "report.cli.claims",
    "pages": "report.cli.pages",
    "decide-rounds": "report.cli.decide_rounds",
    "statistics": "report.cli.statistics_service",
    "readme": "report.cli.readme",
}
PACKAGES = ("hdrh", "jinja2", "msgspec", "plotly", "yaml")
#: Set in the process that continues in the environment, which must not look for it once more.
GUARD = "RATELIMIT_BENCH_REPORT_PYTHON"
REPORT = Path(__file__).resolve().parent.parent


def main(arguments: "list[str]") -> int:
    command, *rest = arguments or [""]
    if command == "environment":
        return environment.main(rest)
    if command not in COMMANDS:
        print(f"usage: report {{{','.join([*COMMANDS, 'environment'])}}} …", file=sys.stderr)
        return environment.USAGE
    try:
        continue_in_environment(arguments)
        if sys.version_info < environment.MIN_PYTHON:
            raise environment.EnvironmentUnfit("Python 3.11 or newer is needed")
        if missing_packages():
            raise environment.EnvironmentUnfit(
                f"{sys.prefix} lacks {', '.join(missing_packages())}: run ./scripts/setup.sh"
            )
    except environment.EnvironmentUnfit as error:
        name = "generate_report" if command == "generate" else command
        print(f"{name}: {error}", file=sys.stderr)
        return environment.EXIT_UNFIT
    code: int = importlib.import_module(COMMANDS[command]).main(rest)
    return code


def continue_in_environment(arguments: "list[str]") -> None:
    """Replaces this process by the same one in the environment, unless it needs none."""
    if os.environ.get(GUARD):
        return
    folder = environment.existing_environment()
    if folder is None:
        if not missing_packages():
            return
        folder = environment.ensure_environment()
    if Path(sys.prefix).resolve() == folder.resolve():
        return
    python = folder / "bin" / "python"
    os.environ[GUARD] = str(python)
    try:
        os.execv(python, [str(python), "-I", str(REPORT), *arguments])  # noqa: S606
    except OSError as error:
        fix = "run ./scripts/setup.sh" if environment.is_checkout() else "remove it, and it is made again"
        raise environment.EnvironmentUnfit(f"{folder} does not work ({error.strerror}): {fix}") from error


def missing_packages() -> "list[str]":
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]
