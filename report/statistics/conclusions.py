"""The words of conclusions, which page, CSV, JSON, Markdown and console share.

A comparison is decided in a direction, better or worse, which exit codes and sentences follow.
Readers see a word. A rate is faster or slower, while a latency or a cost is better or worse."""

import math
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from report.statistics.ratio import RatioInterval

Status = Literal[
    "better",
    "worse",
    "slightly better",
    "slightly worse",
    "better, size open",
    "worse, size open",
    "no difference",
    "not decided",
    "not comparable",
]

#: More digits than these show nothing that a reader could use.
_MOST_DIGITS = 3


def conclusion_of(status: Status, *, higher_is_better: bool) -> str:
    """The word for a status. Rates are the only compared figures that are better when higher."""
    if not higher_is_better:
        return status
    return status.replace("better", "faster").replace("worse", "slower")


#: Every word that a conclusion can have.
CONCLUSIONS: tuple[str, ...] = tuple(
    dict.fromkeys(
        conclusion_of(status, higher_is_better=is_rate)
        for is_rate in (True, False)
        for status in get_args(Status)
    )
)


def bounds_text(
    status: Status, interval: RatioInterval, *, margin: float, higher_is_better: bool
) -> str:
    """What an interval bounds: `at least 2 %`, `at most 4 % slower, at most 5 % faster`.

    A difference with an open size, or beyond the margin, is at least as large as the nearer end of
    the interval. A slight one is at most as large as the farther end. Anything else is bounded on
    both sides. The text is empty if no end is known. `margin` is a share."""
    has_direction = "better" in status or "worse" in status
    is_above = interval.low > 1
    less, more = ("slower", "faster") if higher_is_better else ("lower", "higher")
    below = 100 * (1 - interval.low)
    above = 100 * (interval.high - 1)

    if status.startswith("slightly"):
        return f"at most {_percent_text(above if is_above else below, [0, 200 * margin])}"
    if has_direction:
        nearest = 100 * ((interval.low - 1) if is_above else (1 - interval.high))
        limits = [0.0] if status.endswith("size open") else [0, 100 * margin]
        return f"at least {_percent_text(nearest, limits)}"

    limits = [0, 100 * margin]
    texts = []
    if 0 < below < 100:
        texts.append(f"at most {_percent_text(below, limits)} {less}")
    if 0 < above < math.inf:
        texts.append(f"at most {_percent_text(above, limits)} {more}")
    return ", ".join(texts)


def _percent_text(percent: float, limits: Sequence[float]) -> str:
    """The percent without decimals, or with as many as show which of the limits it exceeds."""
    exceeded = [percent > limit for limit in limits]
    rounded = _rounded(percent)
    text = next(
        (text for text in rounded if [float(text) > limit for limit in limits] == exceeded),
        f"{percent:.{_MOST_DIGITS}f}",
    )
    return f"{text} %"


def _rounded(value: float) -> Iterator[str]:
    return (f"{value:.{digits}f}" for digits in range(_MOST_DIGITS + 1))
