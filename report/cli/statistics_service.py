"""Answers one question about numbers: JSON in on standard input, JSON out on standard output.

Programs in other languages ask here instead of computing statistics of their own: `{"question":
"median_interval", "values": [...]}`, `{"question": "paired_ratio", "a": [...], "b": [...]}`;
`{"question": "power", "pairs": [[..., ...], …], "ratios": [...], "rounds": 7}`: what rounds of two
equal targets by turns can show; `{"question": "max_rate", "trials": [{"rate_per_second": …, "kept":
true}, …]}`."""

import json
import sys
from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict

from report.statistics.decision import DEFAULT_FLOOR
from report.statistics.max_rate_estimate import estimate_max_rate
from report.statistics.power import (
    TOGETHER,
    detectable_difference,
    log_deviation_of_pairs,
    runs_needed,
)
from report.statistics.ratio import ratio_of_pairs
from report.statistics.run_samples import median_interval, paired_ratio


def power(
    pairs: Sequence[tuple[float, float]], ratios: Sequence[float], rounds: int
) -> dict[str, Any]:
    """What pairs of two equal targets, one a round, say of a machine: their ratio, the deviation of
    its logarithm, the smallest difference that `rounds` find, and the rounds that each ratio takes;
    None: more than 1000.

    Raises ValueError for fewer than two pairs, or a figure that is not positive."""
    deviation = log_deviation_of_pairs(pairs)
    if deviation is None:
        raise ValueError("needs at least two pairs of positive figures")
    found = ratio_of_pairs(pairs)
    return {
        "ratio": found.estimate,
        "interval": asdict(found.interval) if found.interval else None,
        "deviation": deviation,
        "detectable": detectable_difference(
            rounds, None, deviation, DEFAULT_FLOOR, method=TOGETHER
        ),
        "rounds_needed": [
            runs_needed(each, deviation, DEFAULT_FLOOR, method=TOGETHER) for each in ratios
        ],
    }


def main(arguments: Sequence[str]) -> int:
    request = json.load(sys.stdin)
    answer: object
    try:
        match request.get("question"):
            case "median_interval":
                answer = asdict(median_interval(request["values"]))
            case "paired_ratio":
                answer = asdict(paired_ratio(request["a"], request["b"]))
            case "power":
                answer = power(request["pairs"], request["ratios"], request["rounds"])
            case "max_rate":
                trials = [(each["rate_per_second"], each["kept"]) for each in request["trials"]]
                answer = asdict(estimate_max_rate(trials))
            case other:
                raise ValueError(f"there is no question {other!r}")
    except ValueError as error:
        print(f"statistics: {error}", file=sys.stderr)
        return 2
    # JSON has no infinity: a bound that is not there is null.
    json.dump(json.loads(json.dumps(answer), parse_constant=lambda _: None), sys.stdout)
    return 0
