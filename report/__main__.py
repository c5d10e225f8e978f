"""Runs a command of the report: python3 report COMMAND …

Works with any Python 3: it continues in the project's own environment, which has the packages it
needs.
"""

import os
import sys

if not sys.flags.isolated:
    # Variables of another Python, such as PYTHONPATH, would replace modules.
    os.execv(sys.executable, [sys.executable, "-I", *sys.argv])  # noqa: S606

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
# Python puts this folder first when it runs it, and its inner folders are named like modules of
# Python's own.
sys.path[0] = str(PACKAGE.parent)

from report.cli.dispatch import start  # noqa: E402

if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
