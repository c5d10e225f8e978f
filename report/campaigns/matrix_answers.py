"""The answers of campaigns and audits to the questions of the matrix."""

from collections.abc import Iterator

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import PARTS, consumer_cpu, node_cpu, p99
from report.analysis.summary import Summary
from report.campaigns.matrix_conditions import ANY, condition_text, condition_text_without_load
from report.campaigns.matrix_targets import Key, ShownRow, key_of, key_of_audited, shown_rows
from report.campaigns.questions import (
    CHECKS,
    COST_AT_RATE,
    FAULT_FIGURES,
    QUESTIONS,
    RESTART,
    STATED_RATE,
)
from report.results.generated.records import Audit, Finding, Target
from report.results.identity import Identity, fault_title
from report.results.load import BROKEN, HOLDS, NOT_PROMISED
from report.sections.audit import bounds, findings_of, verdict

Ends = tuple[float | None, float | None]


class Source(Struct, frozen=True):
    """The campaign or audit that an answer comes from."""

    started_at: str
    machine: str
    link: str


class Answer(Struct, frozen=True, kw_only=True):
    """What a campaign or an audit found about a question."""

    condition: str
    """The text of its condition."""
    key: Key
    target_text: str
    """The text by which commands name the target."""
    question: str
    text: str
    interval: str
    source: Source
    versions: str = ""
    good: bool | None = None
    """Whether a promise is kept. None where the answer is a figure, or nobody promises it."""
    ends: tuple[float, float] | None = None
    """The ends of the interval, or of the range over the runs, in the unit of the question."""
    value: float | None = None
    """The figure in the unit of the question. None where the answer is a promise."""

    def is_apart_from(self, other: "Answer") -> bool:
        """Whether the intervals of both answers do not overlap."""
        if self.ends is None or other.ends is None:
            return False
        return self.ends[1] < other.ends[0] or other.ends[1] < self.ends[0]


def answers_of_campaign(analysis: Analysis, source: Source) -> Iterator[Answer]:
    """The medians over the runs of a campaign, each with its interval or its range over the
    runs."""
    for row in shown_rows(analysis):
        yield from _answers_of_row(row, source)
    yield from _costs_at_rate(analysis, source)
    yield from _highest_rates(analysis, source)
    yield from _memory_slopes(analysis, source)
    yield from _restarts(analysis, source)


def answers_of_audit(audit: Audit, link: str) -> Iterator[Answer]:
    """What an audit saw of promises about exactness."""
    source = Source(audit.started_at, audit.runtime, link)
    for audited in audit.targets:
        for check, finding in findings_of(audited).items():
            if check in CHECKS and finding.status in (HOLDS, BROKEN, NOT_PROMISED):
                yield _answer_of_finding(finding, audited.target, check, source)


def _text_of_audited(target: Target) -> str:
    """The text by which commands name the target of an audit."""
    return target.text.replace(":standalone", "")


def _answers_of_row(row: ShownRow, source: Source) -> Iterator[Answer]:
    summary = row.summary
    comparison = row.versus_base
    identity = summary.identity
    condition = condition_text(identity)
    versions = _versions_text(summary)
    if comparison and comparison.ratio and (interval := comparison.interval):
        ends = (interval.low, interval.high)
        yield from _figure(condition, identity, "ratio", comparison.ratio, ends, source, versions)

    # Without a limiter nothing is decided, so the matrix has the cost of a request instead.
    node = consumer_cpu if identity.ceiling else node_cpu
    costs = {"node": node, "service": PARTS["service"], "store": PARTS["store"]}
    figures = {"p99": p99} if identity.open_loop else costs
    for question, figure in figures.items():
        median = summary.figure_of(figure)
        yield from _figure(
            condition, identity, question, median.value, median.range, source, versions
        )


def _costs_at_rate(analysis: Analysis, source: Source) -> Iterator[Answer]:
    """The cost of a request at the stated rate, of load curves and of open loops that were warm."""
    for curve in analysis.load_curves:
        for target in (target for target in curve.targets if not target.identity.copy):
            for part in curve.parts[:1]:
                estimate = target.at(part, STATED_RATE).cpu_us_per_request
                if estimate:
                    condition = condition_text_without_load(target.identity)
                    ends = (estimate.low, estimate.high)
                    versions = _versions_text(target.rows[0])
                    yield from _figure(
                        condition,
                        target.identity,
                        COST_AT_RATE,
                        estimate.value,
                        ends,
                        source,
                        versions,
                    )

    for row in continuous_rows_at_rate(analysis):
        if is_warm(row):
            median = row.figure_of(consumer_cpu)
            yield from _figure(
                condition_text(row.identity),
                row.identity,
                COST_AT_RATE,
                median.value,
                median.range,
                source,
                _versions_text(row),
            )


def continuous_rows_at_rate(analysis: Analysis) -> Iterator[Summary]:
    """The rows of open loops at the stated rate that belong to no load curve."""
    for row in shown_rows(analysis):
        summary = row.summary
        if summary.identity.rate_per_second == STATED_RATE and not summary.in_curve:
            yield summary


def is_warm(summary: Summary) -> bool:
    """Whether the warm-up of each run that counts ended because the target was steady."""
    counted = [run.measured for run in summary.runs if run.eligible and run.measured]
    return bool(counted) and all(figures.record.warmup.steady for figures in counted)


def _highest_rates(analysis: Analysis, source: Source) -> Iterator[Answer]:
    for search in analysis.max_rates:
        estimate = search.estimate
        if estimate and estimate.estimate:
            condition = condition_text_without_load(search.identity)
            ends = (estimate.low, estimate.high)
            yield from _figure(
                condition, search.identity, "highest", estimate.estimate, ends, source
            )


def _memory_slopes(analysis: Analysis, source: Source) -> Iterator[Answer]:
    for memory in analysis.memory:
        if memory.slopes:
            line = memory.slopes[0].line
            ends = (line.low, line.high)
            yield from _figure(ANY, memory.identity, "memory", line.slope, ends, source)


def _restarts(analysis: Analysis, source: Source) -> Iterator[Answer]:
    for case in (case for group in analysis.faults for case in group.cases):
        if fault_title(case.fault) != RESTART:
            continue
        for question, figure in FAULT_FIGURES.items():
            if spread := case.spread(figure):
                ends = (spread.low, spread.high)
                yield from _figure(ANY, case.identity, question, spread.middle, ends, source)


def _figure(
    condition: str,
    identity: Identity,
    question: str,
    value: float | None,
    ends: Ends | None,
    source: Source,
    versions: str = "",
) -> Iterator[Answer]:
    """The answer with a figure and its interval. There is none if the figure is None."""
    if value is None:
        return

    show = QUESTIONS[question].show
    low, high = ends or (None, None)
    known_ends = None if low is None or high is None else (low, high)
    interval = ""
    if known_ends:
        low_text, high_text = map(show, known_ends)
        interval = f"{low_text}–{high_text}" if low_text != high_text else ""

    yield Answer(
        condition=condition,
        key=key_of(identity),
        target_text=identity.label,
        question=question,
        text=show(value),
        interval=interval,
        source=source,
        versions=versions,
        ends=known_ends,
        value=value,
    )


def _answer_of_finding(finding: Finding, target: Target, check: str, source: Source) -> Answer:
    text, _, details = verdict(finding).partition("; ")
    return Answer(
        condition=ANY,
        key=key_of_audited(target),
        target_text=_text_of_audited(target),
        question=check,
        text=text,
        interval=", ".join(filter(None, [details, bounds(finding)])),
        source=source,
        good=None if finding.status == NOT_PROMISED else finding.status == HOLDS,
    )


def _versions_text(summary: Summary) -> str:
    versions = next((run.versions for run in summary.selected_first if run.versions), {})
    parts = [part for part in ("client", "limiter", "store") if versions.get(part)]
    return ", ".join(f"{part} {versions[part]}" for part in parts)
