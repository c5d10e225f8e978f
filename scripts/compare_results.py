#!/usr/bin/env python3
"""Compares targets, campaigns and saved baselines: python3 scripts/compare_results.py --help"""

import sys
from pathlib import Path

from generate_report import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve(), "report.comparing.cli"))
