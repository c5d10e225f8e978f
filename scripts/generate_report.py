#!/usr/bin/env python3
"""Builds the report of a campaign: python3 scripts/generate_report.py results/latest"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    report = str(Path(__file__).resolve().parent.parent / "report")
    # Isolated: variables of another Python, such as PYTHONPATH, would replace modules.
    os.execv(sys.executable, [sys.executable, "-I", report, "generate", *sys.argv[1:]])  # noqa: S606
