#!/usr/bin/env python3
"""Answers one question about numbers: JSON in on standard input, JSON out on standard output.

All statistics live in `report/stats.py`; programs in other languages ask here instead of computing their own:
`{"question": "median_interval", "values": [...]}`, `{"question": "paired_ratio", "a": [...], "b": [...]}` and
`paired_difference`, likewise.
"""

import json
import sys
from dataclasses import asdict

from report.stats import median_interval, paired_difference, paired_ratio


def main() -> int:
    asked = json.load(sys.stdin)
    try:
        match asked.get("question"):
            case "median_interval":
                answer = median_interval(asked["values"])
            case "paired_ratio":
                answer = paired_ratio(asked["a"], asked["b"])
            case "paired_difference":
                answer = paired_difference(asked["a"], asked["b"])
            case other:
                raise ValueError(f"there is no question {other!r}")
    except ValueError as error:
        print(f"statistics_service: {error}", file=sys.stderr)
        return 2
    json.dump(asdict(answer), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
