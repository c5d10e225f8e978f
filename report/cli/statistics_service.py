"""Answers one question about numbers: JSON in on standard input, JSON out on standard output.

Programs in other languages ask here instead of computing statistics of their own:
`{"question": "median_interval", "values": [...]}`, `{"question": "paired_ratio", "a": [...], "b": [...]}` and
`paired_difference`, likewise; `{"question": "compare", "pairs": [{"new": [...], "base": [...]}, …]}`, with
`floor` and `higher_is_better` where they are not 0.02 and true: the pairs are one family, answered by a list.
"""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from report.statistics.decision import DEFAULT_FLOOR, Comparison, compare_family
from report.statistics.median import median_interval, paired_difference, paired_ratio


def compared(request: dict[str, Any]) -> tuple[Comparison, ...]:
    pairs = [(pair["new"], pair["base"]) for pair in request["pairs"]]
    return compare_family(pairs, request.get("floor", DEFAULT_FLOOR), request.get("higher_is_better", True))


def _without_infinity(value: Any) -> Any:
    """JSON has none: a bound that is not there is null."""
    if isinstance(value, dict):
        return {name: _without_infinity(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_infinity(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main(arguments: Sequence[str]) -> int:
    """Answers the question on standard input; there are no arguments."""
    request = json.load(sys.stdin)
    answer: object
    try:
        match request.get("question"):
            case "median_interval":
                answer = asdict(median_interval(request["values"]))
            case "paired_ratio":
                answer = asdict(paired_ratio(request["a"], request["b"]))
            case "paired_difference":
                answer = asdict(paired_difference(request["a"], request["b"]))
            case "compare":
                answer = [asdict(each) for each in compared(request)]
            case other:
                raise ValueError(f"there is no question {other!r}")
    except ValueError as error:
        print(f"statistics: {error}", file=sys.stderr)
        return 2
    json.dump(_without_infinity(answer), sys.stdout)
    return 0
