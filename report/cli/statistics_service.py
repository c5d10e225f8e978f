"""Answers one question about numbers: JSON in on standard input, JSON out on standard output.

Programs in other languages ask here instead of computing statistics of their own:
`{"question": "median_interval", "values": [...]}`, `{"question": "paired_ratio", "a": [...], "b": [...]}`;
`{"question": "compare", "pairs": [{"new": [...], "base": [...]}, …]}`, with
`floor` and `higher_is_better` where they are not 0.02 and true: the pairs are one family, answered by a list;
`{"question": "power", "values": [...], "ratios": [...]}`: the deviation of figures that were taken one after
the other, and how many rounds of two such runs each true ratio takes; `{"question": "max_rate", "trials":
[{"rate_per_second": …, "kept": true}, …]}`.
"""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from report.statistics.decision import DEFAULT_FLOOR, Comparison, compare_family
from report.statistics.max_rate import estimate_max_rate
from report.statistics.median import median_interval, paired_ratio
from report.statistics.power import PAIRED, log_deviation, log_deviation_of_pairs, runs_needed
from report.statistics.samples import MIN_ROUNDS_TO_PAIR


def compared(request: dict[str, Any]) -> tuple[Comparison, ...]:
    pairs = [(pair["new"], pair["base"]) for pair in request["pairs"]]
    return compare_family(pairs, request.get("floor", DEFAULT_FLOOR), request.get("higher_is_better", True))


def power(values: Sequence[float], ratios: Sequence[float]) -> dict[str, Any]:
    """The deviation of the logarithms, and the rounds that each ratio takes; None: more than 1000.

    Neighbours stand for the two runs of a round, which are compared as pairs where it takes ten rounds or
    more.

    Raises:
        ValueError: fewer than four figures, or one that is not positive.
    """
    deviation = log_deviation(values)
    of_pairs = log_deviation_of_pairs(list(zip(values[::2], values[1::2], strict=False)))
    if deviation is None or of_pairs is None:
        raise ValueError("needs at least four positive figures")

    def rounds_for(ratio: float) -> int | None:
        unpaired = runs_needed(ratio, deviation, DEFAULT_FLOOR)
        if unpaired is not None and unpaired < MIN_ROUNDS_TO_PAIR:
            return unpaired
        return runs_needed(ratio, of_pairs, DEFAULT_FLOOR, method=PAIRED)

    return {"deviation": deviation, "rounds_needed": [rounds_for(ratio) for ratio in ratios]}


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
            case "compare":
                answer = [asdict(each) for each in compared(request)]
            case "power":
                answer = power(request["values"], request["ratios"])
            case "max_rate":
                trials = [(each["rate_per_second"], each["kept"]) for each in request["trials"]]
                answer = asdict(estimate_max_rate(trials))
            case other:
                raise ValueError(f"there is no question {other!r}")
    except ValueError as error:
        print(f"statistics: {error}", file=sys.stderr)
        return 2
    json.dump(_without_infinity(answer), sys.stdout)
    return 0
