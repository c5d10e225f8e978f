#!/usr/bin/env python3
"""Tells which configurations of a campaign need more runs: python3 scripts/decide_rounds.py --help"""

import sys
from pathlib import Path

from generate_report import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve(), "report.adaptive_cli"))
