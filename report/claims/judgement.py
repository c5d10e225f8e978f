"""Judges one comparison of a claim by what a campaign measured.

A claim is confirmed where the interval of the ratio lies within its range, and refuted where it
lies beyond a wider range that was set before the data."""

from collections.abc import Sequence

from report.analysis import figures
from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import Figure
from report.analysis.printed_rows import PrintedRow
from report.analysis.rankings import resolutions
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Row, Summary, attributable
from report.analysis.texts import ratio_text, runs_text
from report.base.format import plural
from report.claims.compared_rows import Document
from report.claims.metrics import METRICS
from report.results.model import Run
from report.statistics.decision import DEFAULT_MARGIN, Comparison, Level, compare_samples
from report.statistics.ratio import ALPHA, RatioInterval

CONFIRMED = "confirmed"
REFUTED = "refuted"
UNDECIDED = "not decided"
NOTHING_REFUTES = "no range that refutes was set before the data"


def judge_rows(
    expectation: Document, analysis: Analysis, row: Row, base: Row, family: int
) -> tuple[str, str]:
    """The ratio of two rows and the verdict, as texts.

    `family` is the number of comparisons of the claim in this campaign, which the interval covers
    together."""
    figure, printed_figure = METRICS[expectation["metric"]]
    if isinstance(row, Summary) and isinstance(base, Summary):
        if expectation["metric"] == "bytes_per_key":
            figure = _key_size(row, base) or figure
        sample = sample_between(row, base, figure)
    elif isinstance(row, PrintedRow) and isinstance(base, PrintedRow):
        sample = row.sample(base, printed_figure)
    else:
        return "", f"{UNDECIDED}: a foreign program measured one side alone"

    level = Level(interval=ALPHA / family)
    (comparison,) = compare_samples([sample], DEFAULT_MARGIN, figure.higher_is_better, level)
    text = ratio_text(comparison.ratio, comparison.interval)
    reason = _reason_of_none(expectation, analysis, row, base, comparison)
    if reason or comparison.interval is None:
        return text, f"{UNDECIDED}: {reason}"
    return text, _verdict(expectation, comparison, comparison.interval)


def _key_size(row: Summary, base: Summary) -> Figure | None:
    """The bytes per key by the first source that both rows have."""
    for source in figures.SOURCES:
        figure = figures.bytes_per_key(source)
        if row.sample(figure) and base.sample(figure):
            return figure
    return None


def _reason_of_none(
    expectation: Document, analysis: Analysis, row: Row, base: Row, comparison: Comparison
) -> str:
    """The reason why there is no verdict; empty where there is one."""
    figure, _ = METRICS[expectation["metric"]]
    if expectation["metric"] == "cpu" and not row.identity.open_loop:
        return "in a closed loop CPU per request follows from the throughput"

    reason = _unjudged(figure, [*row.runs, *base.runs])
    if reason:
        return reason
    if _is_copy_told_apart(analysis, (row, base), figure):
        return "the copy of the reference differs from its original"

    attribution = attributable(comparison, base, row)
    if attribution.blocked or comparison.interval is None:
        return attribution.reason or "there is no ratio"
    return ""


def _unjudged(figure: Figure, runs: Sequence[Run]) -> str:
    """The reason why the runs support no verdict on a percentile; empty where they do."""
    measured = [run.measured for run in runs if run.measured and figure.percentile]
    unsupported = sum(figure.percentile in document.unsupported for document in measured)
    if unsupported:
        share = f"{unsupported} of {plural(len(runs), 'run')}"
        return f"too few samples for {figure.percentile} in {share}"

    schedules = [document.record.schedule for document in measured if document.record.schedule]
    late = sum(figure.percentile in schedule.late_percentiles for schedule in schedules)
    if late:
        return f"{figure.percentile} is late in {late} of {plural(len(runs), 'run')}"
    return ""


def _is_copy_told_apart(analysis: Analysis, rows: Sequence[Row], figure: Figure) -> bool:
    """Whether a copy was told apart in a ranking with one of the rows, or in any ranking where none
    of these has a copy."""
    rankings = [
        ranking for cell in analysis.cells for ranking in cell.rankings if ranking.resolution
    ]
    keys = {row.identity.key for row in rows}
    rankings_of_rows = [
        ranking
        for ranking in rankings
        if keys & {summary.identity.key for summary in ranking.summaries}
    ]

    resolution_of = resolutions(analysis.summaries, figure)
    references = [
        ranking.reference.id for ranking in rankings_of_rows or rankings if ranking.reference
    ]
    return any(
        resolution_of[reference].told_apart
        for reference in references
        if reference in resolution_of
    )


def judge_published_figure(expectation: Document, analysis: Analysis, row: Row) -> tuple[str, str]:
    """Judges bytes per key against a published figure, by the slope and its interval.

    Returns the ratio and the verdict, as texts."""
    summary_id = row.id if isinstance(row, Summary) else None
    memory = next(
        (key_memory for key_memory in analysis.memory if summary_id in key_memory.summary_ids), None
    )
    line = memory.slopes[0].line if memory and memory.slopes else None
    if line is None or line.low is None or line.high is None:
        return "", f"{UNDECIDED}: it takes three runs with two numbers of fresh keys"

    published = expectation["against"]["published"]
    interval = RatioInterval(line.low / published, line.high / published, 1 - ALPHA)
    return ratio_text(line.slope / published, interval), _verdict_by_range(expectation, interval)


def _verdict(expectation: Document, comparison: Comparison, interval: RatioInterval) -> str:
    if "is" not in expectation:
        return _verdict_by_range(expectation, interval)
    if not comparison.decided:
        return f"{UNDECIDED}: {runs_text(comparison)}"
    if comparison.conclusion == expectation["is"]:
        return CONFIRMED
    return f"{UNDECIDED}: {comparison.conclusion}, but {NOTHING_REFUTES}"


def _verdict_by_range(expectation: Document, interval: RatioInterval) -> str:
    low, high = expectation["range"]
    if interval.low > low and interval.high < high:
        return CONFIRMED

    if expectation["refutes"] is None:
        if interval.high < low or interval.low > high:
            return f"{UNDECIDED}: the interval lies beyond the range, but {NOTHING_REFUTES}"
        return f"{UNDECIDED}: the interval is neither within the range nor beyond it"

    lowest, highest = expectation["refutes"]
    if interval.high < lowest or interval.low > highest:
        return REFUTED
    return f"{UNDECIDED}: the interval is neither within the range nor beyond the one that refutes"
