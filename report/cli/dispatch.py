"""Chooses the command of `python3 report COMMAND …` and runs it in the project's own environment.

It works with any Python 3 and without any package, because a command is imported only when the
environment exists.
"""

import importlib
import sys

from report.cli import environment_command
from report.environment.installation import EXIT_UNFIT, MIN_PYTHON, USAGE, EnvironmentUnfit
from report.environment.virtual_environment import continue_in_environment, missing_packages

#: Each command has a module `COMMAND_command` in this folder. Its `main` takes the arguments of the
#: command and returns the exit code.
COMMANDS = (
    "generate",
    "report",
    "compare",
    "memory",
    "audit",
    "claims",
    "registered",
    "pages",
    "decide-rounds",
    "statistics",
    "readme",
    "documents",
    "original-matrix",
    "accuracy",
    "transfer",
)


def start(arguments: "list[str]") -> int:
    """Runs the command that the first argument names, and returns its exit code."""
    command, *command_arguments = arguments or [""]
    if command == "environment":
        return environment_command.main(command_arguments)

    if command not in COMMANDS:
        print(f"usage: report {{{','.join([*COMMANDS, 'environment'])}}} …", file=sys.stderr)
        return USAGE

    try:
        continue_in_environment(arguments)
        _require_packages()
    except EnvironmentUnfit as error:
        name = "generate_report" if command == "generate" else command
        print(f"{name}: {error}", file=sys.stderr)
        return EXIT_UNFIT

    module = importlib.import_module(f"report.cli.{command.replace('-', '_')}_command")
    exit_code: int = module.main(command_arguments)
    return exit_code


def _require_packages() -> None:
    if sys.version_info < MIN_PYTHON:
        raise EnvironmentUnfit("Python 3.11 or newer is needed")

    missing = ", ".join(missing_packages())
    if missing:
        raise EnvironmentUnfit(f"{sys.prefix} lacks {missing}: run ./scripts/setup.sh")
