"""Judges one comparison of a claim by what a campaign measured.

A statement is confirmed where all preconditions hold, its criterion is older than the campaign, and
the interval of the ratio lies within the range that confirms. It is refuted where the interval lies
beyond the wider range that refutes."""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from report.analysis import figures
from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import Figure
from report.analysis.printed_rows import PrintedRow
from report.analysis.rankings import resolutions
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Row, Summary, attributable
from report.analysis.texts import ratio_text
from report.claims.compared_rows import Document
from report.claims.metrics import METRICS
from report.claims.preconditions import (
    MAX_SUSPECT_SHARE,
    ONE_SIDE,
    UNPAIRED,
    Claimed,
    Evidence,
    unmet,
)
from report.claims.settled import NOT_CHECKED, settled_state
from report.results.identity import Identity
from report.results.model import Run
from report.statistics.comparison import DEFAULT_MARGIN, Level
from report.statistics.decision import compare_samples
from report.statistics.ratio import ALPHA, RatioInterval
from report.statistics.samples import Sample, sample_of

CONFIRMED = "confirmed"
REFUTED = "refuted"
BETTER = "better than published"
EXPLAINED = "explained"
NOT_COMPARABLE = "not comparable"
CANNOT_BE_TOLD = "cannot be told here"
CHANGED_LATER = "criterion changed later"

#: The verdicts that say something about the statement.
TOLD = (CONFIRMED, REFUTED, BETTER, EXPLAINED)

#: The word for an attempt at a question that tells something.
ANSWERED = "as measured"


class Measured(Struct, frozen=True, kw_only=True):
    """What an attempt measured."""

    ratio: float | None
    interval: RatioInterval | None
    evidence: Evidence
    source: str = ""
    """Where a figure of memory was read; empty for other figures."""

    @property
    def text(self) -> str:
        return "" if self.ratio is None else ratio_text(self.ratio, self.interval)


class Verdict(Struct, frozen=True):
    """The word for an attempt, and why: the ranges, the unmet preconditions or the explanation."""

    word: str
    reason: str = ""
    """Several reasons have semicolons between them."""

    @property
    def first_reason(self) -> str:
        return self.reason.partition(";")[0]

    @property
    def text(self) -> str:
        return f"{self.word}: {self.reason}" if self.reason else self.word


def measure_rows(
    expectation: Document, analysis: Analysis, row: Row, base: Row, family: int
) -> Measured | None:
    """The ratio of two rows with its evidence. None if a foreign program measured one side alone.

    `family` is the number of comparisons of the claim in this campaign, which the interval covers
    together."""
    metric = expectation["metric"]
    figure, printed_figure = METRICS[metric]
    source = _MEMORY_SOURCES.get(metric, "")
    if isinstance(row, Summary) and isinstance(base, Summary):
        if metric == "bytes_per_key":
            figure, source = _key_size(row, base) or (figure, source)
        sample = sample_between(row, base, figure)
    elif isinstance(row, PrintedRow) and isinstance(base, PrintedRow):
        sample = row.sample(base, printed_figure)
    else:
        return None

    level = Level(interval=ALPHA / family)
    (comparison,) = compare_samples([sample], DEFAULT_MARGIN, figure.higher_is_better, level)
    rows = (row, base)
    evidence = structs.replace(
        _evidence_of_runs(rows, metric, figure),
        settled=settled_state(analysis, rows, metric),
        met=_met(sample),
        copy_differs=_is_copy_told_apart(analysis, rows, figure),
        disturbed=attributable(comparison, base, row).blocked,
        has_interval=comparison.interval is not None,
    )
    return Measured(
        ratio=comparison.ratio, interval=comparison.interval, evidence=evidence, source=source
    )


#: Where the memory of a metric is read, for metrics with one source.
_MEMORY_SOURCES = {
    "store_memory": "resident memory of the store",
    "bytes_per_key": figures.SOURCES["store"].text,
}


def _key_size(row: Summary, base: Summary) -> tuple[Figure, str] | None:
    """The bytes per key by the first source that both rows have, and what that source is."""
    for name, source in figures.SOURCES.items():
        figure = figures.bytes_per_key(name)
        if row.sample(figure) and base.sample(figure):
            return figure, source.text
    return None


def measure_against_published(analysis: Analysis, row: Row, published: float) -> Measured:
    """Bytes per key by a published figure: from the slope over the numbers of keys, or of a store
    that a load program filled with one number of keys."""
    metric = "bytes_per_key"
    if isinstance(row, PrintedRow):
        ratio, interval = _printed_size(row, published)
        source = _MEMORY_SOURCES[metric]
    else:
        ratio, interval, source = _size_by_slope(analysis, row, published)

    figure, _ = METRICS[metric]
    evidence = structs.replace(
        _evidence_of_runs((row,), metric, figure),
        settled=settled_state(analysis, (row,), metric),
        met=ONE_SIDE,
        has_interval=interval is not None,
    )
    return Measured(ratio=ratio, interval=interval, evidence=evidence, source=source)


def _printed_size(row: PrintedRow, published: float) -> tuple[float | None, RatioInterval | None]:
    """The ratio by the statistics of all comparisons, where the published figure has no spread."""
    _, figure = METRICS["bytes_per_key"]
    sizes = row.side(figure)
    if not sizes:
        return None, None
    sample = sample_of(sizes, dict.fromkeys(sizes, published), row.planned_rounds)
    (comparison,) = compare_samples([sample], DEFAULT_MARGIN, False, Level(interval=ALPHA))
    return comparison.ratio, comparison.interval


def _size_by_slope(
    analysis: Analysis, row: Row, published: float
) -> tuple[float | None, RatioInterval | None, str]:
    """The ratio with its interval, and what the slope is of. Without a line there is no ratio."""
    summary_id = row.id if isinstance(row, Summary) else None
    memory = next(
        (key_memory for key_memory in analysis.memory if summary_id in key_memory.summary_ids), None
    )
    slope = memory.slopes[0] if memory and memory.slopes else None
    if slope is None:
        return None, None, ""
    line = slope.line
    interval = None
    if line.low is not None and line.high is not None:
        interval = RatioInterval(line.low / published, line.high / published, 1 - ALPHA)
    return line.slope / published, interval, slope.text


def _evidence_of_runs(rows: Sequence[Row], metric: str, figure: Figure) -> Evidence:
    """The evidence that the runs of all rows hold. How the sides met, and whether the ratio is
    settled, is not known yet."""
    runs = [run for row in rows for run in row.runs]
    suspect = sum(run.verdict == "suspect" for run in runs)
    measured = [run.measured for run in runs if run.measured and figure.percentile]
    schedules = [document.record.schedule for document in measured if document.record.schedule]
    return Evidence(
        metric=metric,
        settled=NOT_CHECKED,
        suspect_share=suspect / len(runs) if runs else 1.0,
        limits=tuple(dict.fromkeys(limit for row in rows for limit in _limits(row))),
        met=UNPAIRED,
        versions=_versions(rows),
        transports=tuple(_transport(row.identity) for row in rows),
        has_rate=all(row.identity.open_loop for row in rows),
        late_runs=sum(figure.percentile in schedule.late_percentiles for schedule in schedules),
        unsupported_runs=sum(figure.percentile in document.unsupported for document in measured),
    )


def _limits(row: Row) -> list[str]:
    """The resources that limited as many runs of a row as make it suspect."""
    counted = [run for run in row.runs if run.eligible]
    limits = Counter(_limit(run) for run in counted)
    return [
        resource for resource, runs in limits.items() if runs >= MAX_SUSPECT_SHARE * len(counted)
    ]


def _limit(run: Run) -> str:
    record = run.measured.record if run.measured else run.printed
    limited_by = record.limited_by if record else None
    return limited_by.resource if limited_by else ""


def _versions(rows: Sequence[Row]) -> Mapping[str, str]:
    """The version of each program by its name. Two versions of one program are joined."""
    versions: dict[str, str] = {}
    for row in rows:
        identity = row.identity
        names = {
            "client": identity.client,
            "limiter": identity.limiter,
            "store": identity.store,
            "service": identity.service,
            "node": "node",
        }
        for run in row.runs:
            for part, version in run.versions.items():
                name = names.get(part)
                if name and version not in versions.get(name, "").split(" and "):
                    versions[name] = " and ".join(filter(None, (versions.get(name), version)))
    return versions


def _transport(identity: Identity) -> str:
    """How the requests of a client reach the limiter or store."""
    _, _, ending = identity.client.rpartition("-")
    return ending if ending in ("grpc", "http") else "resp"


def _met(sample: Sample) -> str:
    if sample.together:
        return "turns"
    return "rounds" if sample.rounds else UNPAIRED


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


def claimed_by(claim: Document, expectation: Document) -> Claimed:
    """What the statement of a comparison is about."""
    claimed = claim.get("claimed", {})
    criterion = expectation["criterion"]
    return Claimed(
        about=tuple(claimed.get("about", ())),
        states=claimed.get("states", ""),
        versions=claimed.get("versions", {}),
        transport=claimed.get("transport", ""),
        figure=expectation.get("published"),
        confirms=criterion.confirms if criterion else None,
        attainable=criterion.attainable if criterion else None,
    )


def judge(
    claim: Document, expectation: Document, measured: Measured, *, registered: bool
) -> Verdict:
    """The verdict on one attempt at a published statement. `registered` says whether the criterion
    is at least as old as the campaign."""
    for member in (expectation, claim):
        if NOT_COMPARABLE_MEMBER in member:
            return Verdict(NOT_COMPARABLE, member[NOT_COMPARABLE_MEMBER])
    reasons = unmet(measured.evidence, claimed_by(claim, expectation))
    if not registered:
        return Verdict(CHANGED_LATER, f"also {'; '.join(reasons)}" if reasons else "")
    if reasons or measured.interval is None:
        return Verdict(CANNOT_BE_TOLD, "; ".join(reasons))
    return _by_range(expectation, measured.interval)


#: The member of a claim or comparison that says why the two measure different things.
NOT_COMPARABLE_MEMBER = "not_comparable"


def _by_range(expectation: Document, interval: RatioInterval) -> Verdict:
    criterion = expectation["criterion"]
    low, high = criterion.confirms
    if interval.low > low and interval.high < high:
        return Verdict(CONFIRMED)
    if criterion.refutes is None:
        return Verdict(CANNOT_BE_TOLD, "no range refutes it")

    lowest, highest = criterion.refutes
    if lowest <= interval.high and interval.low <= highest:
        return Verdict(CANNOT_BE_TOLD, "interval between the two ranges")
    if "explained" in expectation:
        return Verdict(EXPLAINED, expectation["explained"]["by"])
    is_better = _is_better(expectation, above=interval.low > highest)
    return Verdict(BETTER if is_better else REFUTED)


def _is_better(expectation: Document, *, above: bool) -> bool:
    """Whether a ratio beyond the range speaks for the product whose maker published it.

    `favours` names the side that is the product, `of` unless the claim says otherwise; `neither`
    stands for two products, or none, of the maker."""
    side = expectation["favours"]
    if side == "neither":
        return False
    figure, _ = METRICS[expectation["metric"]]
    is_better_for_of = above == figure.higher_is_better
    return is_better_for_of if side == "of" else not is_better_for_of
