#!/usr/bin/env python3
"""Builds the report of a campaign: python3 scripts/generate_report.py results/latest"""

import os
import sys

if __name__ == "__main__":
    # Isolated, without an import before it: variables of another Python would replace modules.
    project = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    os.execv(sys.executable, [sys.executable, "-I", f"{project}/report", "generate", *sys.argv[1:]])  # noqa: S606
