#!/usr/bin/env python3
"""Tells what comparisons on this host are worth: python3 scripts/measure_noise.py --help"""

import sys
from pathlib import Path

from generate_report import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve(), "report.comparing.noise_cli"))
