"""The first sentence about a campaign whose requests came from a log of the user (`--trace`)."""

from collections.abc import Sequence

from report.analysis.figures import limited_share
from report.analysis.summary import Summary
from report.base.format import percent

#: The traffic of `--trace`.
_TRACE = "trace"


def limited_text(summaries: Sequence[Summary]) -> str:
    """The share of answers that were limited, or its range over the rows; empty without a trace."""
    rows = (row for row in summaries if row.identity.traffic == _TRACE)
    shares = sorted(
        limited_fraction
        for row in rows
        if (limited_fraction := row.figure_of(limited_share).value) is not None
    )
    if not shares:
        return ""
    lowest, highest = (percent(100 * fraction) for fraction in (shares[0], shares[-1]))
    return (
        f"{lowest if lowest == highest else f'{lowest} to {highest}'} of the requests were limited"
    )
