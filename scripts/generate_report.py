#!/usr/bin/env python3
"""Builds the report of a campaign: python3 scripts/generate_report.py results/latest"""

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from report.cli.start import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(["generate", *sys.argv[1:]]))
