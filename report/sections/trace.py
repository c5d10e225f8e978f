"""What a campaign says first whose requests came from the user's own log."""

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
        found for row in rows if (found := row.figure_of(limited_share).value) is not None
    )
    if not shares:
        return ""
    least, most = (percent(100 * each) for each in (shares[0], shares[-1]))
    return f"{least if least == most else f'{least} to {most}'} of the requests were limited"
