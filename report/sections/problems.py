"""The runs to look at: invalid, failed and missing ones, and outliers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import quantiles

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import throughput
from report.analysis.summary import MIN_RUNS_FOR_QUARTILES, Summary
from report.analysis.texts import layer_text, load_text, rate_units, varying_fields
from report.base.format import percent, plural, rate
from report.results.model import Run
from report.sections import section
from report.sections.run_cells import NO_FILE, SPOILED, link_cell, reasons_of_round, run_reasons
from report.statistics.samples import Place

OUTLIER = "outlier"
CAPTION = (
    "Invalid, failed and missing runs count in no figure, outliers in every figure. A run in which the "
    "target failed its load or was overloaded has no figures either, but ranks below all that served "
    "theirs. An outlier lies beyond Tukey’s fences (1.5 interquartile ranges) and more than 5 % from the "
    "median; finding one takes at least five runs of its configuration."
)
NO_PROBLEMS = (
    "No run is missing, failed or invalid, the target served its load in all of them, and none is an "
    "outlier. Finding an outlier takes at least five runs of a configuration."
)

#: The kinds of problems, the worst first.
_RANK = ("missing", "failed", "aborted", "invalid", *SPOILED.values(), OUTLIER, "suspect")

#: A run that is nearer to the median than this share is no outlier, however alike the others are.
MIN_DISTANCE = 0.05


def fences(values: Sequence[float]) -> tuple[float, float]:
    """Tukey’s fences: 1.5 interquartile ranges beyond the quartiles (Exploratory Data Analysis,
    1977)."""
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low - 1.5 * (high - low), high + 1.5 * (high - low)


def outliers(summaries: Sequence[Summary]) -> Iterator[tuple[Summary, Run, str]]:
    """The runs that count and lie beyond the fences of their configuration and more than 5 % from
    its median, each with a text that says so."""
    for summary in summaries:
        rates = summary.values(throughput)
        median = summary.figure_of(throughput).value
        if median is None or len(rates) < MIN_RUNS_FOR_QUARTILES:
            continue

        low, high = fences(rates)
        unit = layer_text(summary.identity.layer).rate_unit
        for run in summary.runs:
            value = run.requests_per_second if run.eligible else None
            if value is None or low <= value <= high:
                continue
            if abs(value - median) <= MIN_DISTANCE * median:
                continue
            side = "below" if value < low else "above"
            text = (
                f"{rate(value)} {unit}, {percent(100 * abs(value / median - 1))} {side} the median; "
                f"the fences of its {len(rates)} runs are {rate(max(0, low))} and {rate(high)}"
            )
            yield summary, run, text


class _Problem(Struct, frozen=True):
    summary: Summary
    number: int
    """The number of the run."""
    kind: str
    reasons: Sequence[str]
    run: Run | None
    """None for a run that left no file."""


def _problems(summaries: Sequence[Summary]) -> list[_Problem]:
    """All problems, the worst first."""
    problems = []
    for summary in summaries:
        for run in summary.runs:
            if not run.eligible:
                reasons = run_reasons(run) or ("no reason was recorded",)
                problems.append(_Problem(summary, run.run, _kind(run), reasons, run))
        for number in summary.missing:
            problems.append(_Problem(summary, number, "missing", (NO_FILE,), None))
    for summary, run, text in outliers(summaries):
        problems.append(_Problem(summary, run.run, OUTLIER, (text,), run))
    return sorted(problems, key=_rank)


def _kind(run: Run) -> str:
    if run.measured is None:
        return run.record.status
    return SPOILED.get(run.outcome or "", "invalid") if run.spoiled else "invalid"


def _rank(problem: _Problem) -> int:
    return _RANK.index(problem.kind) if problem.kind in _RANK else 0


def _table(analysis: Analysis, problems: Sequence[_Problem]) -> section.Table:
    summaries = analysis.ordered
    fields = varying_fields(summaries)
    rows = []
    for problem in problems:
        summary = problem.summary
        style = "suspect" if problem.kind == OUTLIER else "invalid"
        cells = [
            *section.named(summary.identity.label, load_text(summary.identity, fields)),
            section.TableCell(f"{problem.number}", kind="number"),
            section.TableCell(problem.kind, kind=f"verdict {style}"),
        ]
        if not analysis.only_memory:
            value = problem.run.requests_per_second if problem.run else None
            cells.append(section.number(rate(value), value))
        cells.append(section.reasons_cell(problem.reasons))
        cells.append(link_cell(problem.run.file if problem.run else ""))
        rows.append(section.TableRow(summary.id, tuple(cells), colour=summary.id))

    columns = [
        *section.words("Configuration", "Load"),
        section.Column("Run"),
        *section.words("What"),
    ]
    if not analysis.only_memory:
        columns += section.numbers([("Throughput", rate_units(summaries))])
    columns += [*section.words("Reasons"), section.RAW]
    return section.table_of("problem-rows", columns, rows, caption=CAPTION, fold_rows=15)


def _suspect_line(summaries: Sequence[Summary]) -> section.Line | None:
    """Says how many runs are suspect and by which rules; None without a suspect run."""
    rules: Counter[str] = Counter()
    rounds: dict[str, set[Place]] = {}
    summary_ids = []
    for summary in summaries:
        for run in summary.runs:
            if not run.measured or run.verdict != "suspect":
                continue
            summary_ids.append(summary.id)
            shared = reasons_of_round(run)
            rules.update({reason.rule for reason in run.reasons if reason not in shared})
            for reason in shared:
                rounds.setdefault(reason.rule, set()).add(run.place or (run.run, 1))
    if not summary_ids:
        return None

    counts = [(rule, f"{times}") for rule, times in rules.items()]
    counts += [(rule, plural(len(places), "round")) for rule, places in rounds.items()]
    by_rule = ", ".join(f"{rule} ({times})" for rule, times in sorted(counts))
    runs = plural(len(summary_ids), "suspect run")
    text = f"{runs}: they count, and all runs gives their reasons. By rule: {by_rule}."
    return section.Line(text, " ".join(dict.fromkeys(summary_ids)))


def problems(analysis: Analysis) -> section.Section | None:
    """The section; None for a campaign without rows."""
    summaries = analysis.ordered
    if not summaries:
        return None
    listed = _problems(summaries)
    suspect_line = _suspect_line(summaries)
    return section.Section(
        "problems",
        "Invalid runs, failed loads and outliers",
        "" if listed else "none",
        counted=tuple(problem.summary.id for problem in listed),
        counted_as="runs",
        text=() if listed else (NO_PROBLEMS,),
        lists=(("Suspect runs", (suspect_line,)),) if suspect_line else (),
        tables=(_table(analysis, listed),) if listed else (),
        open=any(problem.kind != OUTLIER for problem in listed),
    )
