"""The columns of comparisons.csv, one line for each pair of rows."""

from collections.abc import Mapping
from operator import attrgetter

from msgspec import Struct

from report.analysis import column
from report.analysis.column import Column, Read
from report.analysis.ranked_pairs import Pair
from report.analysis.summary_columns import interval_end


class ComparisonEntry(Struct, frozen=True):
    """Two rows of a ranking that were compared."""

    ranking_id: str
    family: str
    """`ranking` is a comparison with the reference by the figure of the ranking, and `order` one of
    two other rows. `cpu` is one by the CPU per request, and `copy` that of the reference with its
    copy (rule M31). `curve` is one by the CPU of store or service in a load curve."""
    figure: str
    """The column of the figure that is compared."""
    pair: Pair


def _compared(member: str) -> Read:
    return attrgetter(f"pair.comparison.{member}")


COMPARISON_COLUMNS: Mapping[str, Column] = {
    "ranking": column.text(attrgetter("ranking_id")),
    "family": column.text(attrgetter("family")),
    "figure": column.text(attrgetter("figure")),
    "base_row": column.text(attrgetter("pair.base.id")),
    "base": column.text(attrgetter("pair.base.identity.label")),
    "new_row": column.text(attrgetter("pair.new.id")),
    "new": column.text(attrgetter("pair.new.identity.label")),
    "load": column.text(lambda entry: entry.pair.new.identity.load_text),
    "ratio": column.number(_compared("ratio"), 4),
    "interval_low": column.number(lambda entry: interval_end(entry.pair.comparison, "low"), 4),
    "interval_high": column.number(lambda entry: interval_end(entry.pair.comparison, "high"), 4),
    "conclusion": column.text(_compared("conclusion")),
    "statement": column.text(_compared("statement")),
    "reason": column.text(_compared("reason")),
    "p": column.number(_compared("p"), None),
    "p_holm": column.number(_compared("p_holm"), None),
    "comparisons_in_family": column.whole(_compared("comparisons")),
    "pairs": column.whole(_compared("pairs")),
    "base_runs": column.whole(_compared("base_runs")),
    "new_runs": column.whole(_compared("new_runs")),
    "runs_needed": column.whole(_compared("runs_needed")),
    "detectable": column.number(_compared("detectable"), 4),
    "systematic_error": column.number(_compared("systematic.share"), 4),
    "not_measured": column.text(
        lambda entry: ", ".join(entry.pair.comparison.systematic.unmeasured)
    ),
}
