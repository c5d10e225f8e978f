"""`report environment`: prints the folder of the Python environment, which it makes if need be.

It works with any Python 3 and without any package."""

import sys

from report.environment.installation import EXIT_UNFIT, USAGE, EnvironmentUnfit
from report.environment.virtual_environment import ensure_environment, find_environment


def main(arguments: "list[str]") -> int:
    """Prints the folder. With `--find` it makes no environment, and prints nothing where there is
    none."""
    if arguments not in ([], ["--find"]):
        print("usage: report environment [--find]", file=sys.stderr)
        return USAGE

    try:
        folder = find_environment() if arguments else ensure_environment()
    except EnvironmentUnfit as error:
        print(error, file=sys.stderr)
        return EXIT_UNFIT

    if folder:
        print(folder)
    return 0
