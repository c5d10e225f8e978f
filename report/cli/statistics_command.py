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

from report.base.errors import USAGE
from report.statistics.comparison import DEFAULT_MARGIN
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
    """Which differences a machine can show, by pairs of two equal targets, one pair a round.

    Returns their ratio, the deviation of its logarithm, the smallest difference that `rounds` find,
    and the rounds that each of `ratios` takes (None where these are more than 1000).

    Raises ValueError for fewer than two pairs, or a figure that is not positive."""
    deviation = log_deviation_of_pairs(pairs)
    if deviation is None:
        raise ValueError("needs at least two pairs of positive figures")
    ratio = ratio_of_pairs(pairs)
    detectable = detectable_difference(rounds, None, deviation, DEFAULT_MARGIN, method=TOGETHER)
    rounds_needed = [
        runs_needed(sought, deviation, DEFAULT_MARGIN, method=TOGETHER) for sought in ratios
    ]
    return {
        "ratio": ratio.estimate,
        "interval": asdict(ratio.interval) if ratio.interval else None,
        "deviation": deviation,
        "detectable": detectable,
        "rounds_needed": rounds_needed,
    }


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question.

    Raises ValueError for an unknown question, or for figures that give no answer."""
    match request.get("question"):
        case "median_interval":
            return asdict(median_interval(request["values"]))
        case "paired_ratio":
            return asdict(paired_ratio(request["a"], request["b"]))
        case "power":
            return power(request["pairs"], request["ratios"], request["rounds"])
        case "max_rate":
            trials = [(trial["rate_per_second"], trial["kept"]) for trial in request["trials"]]
            return asdict(estimate_max_rate(trials))
        case question:
            raise ValueError(f"there is no question {question!r}")


def main(_: Sequence[str]) -> int:
    request = json.load(sys.stdin)
    try:
        answer = _answer(request)
    except ValueError as error:
        print(f"statistics: {error}", file=sys.stderr)
        return USAGE
    # JSON has no infinity, so a missing bound is null.
    json.dump(json.loads(json.dumps(answer), parse_constant=lambda _: None), sys.stdout)
    return 0
