"""Runs that a reader should look at: invalid, failed, missing, suspect, or far from their siblings."""

from collections import Counter
from collections.abc import Sequence
from statistics import quantiles

from report.analysis.campaign_analysis import Analysis
from report.analysis.layer_text import layer_text, rate_units
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import MIN_RUNS_FOR_QUARTILES, Summary
from report.base.format import percent, plural, rate
from report.results.model import Run
from report.sections.runs import NO_FILE, SPOILED, run_link, run_reasons
from report.sections.section import (
    RAW,
    Column,
    Line,
    Section,
    TableCell,
    TableRow,
    link_cell,
    named,
    number,
    numbers,
    reasons_cell,
    table_of,
    words,
)

OUTLIER = "outlier"
CAPTION = (
    "Invalid, failed and missing runs count in no figure, outliers in every figure. A run in which the "
    "target failed its load or was overloaded has no figures either, but ranks below all that served "
    "theirs. An outlier lies beyond Tukey’s fences (1.5 interquartile ranges) and more than 5 % from the "
    "median run; finding one takes at least five runs of its configuration."
)
NONE = (
    "No run is missing, failed or invalid, the target served its load in all of them, and none is an "
    "outlier. Finding an outlier takes at least five runs of a configuration."
)

_RANK = ("missing", "failed", "aborted", "invalid", *SPOILED.values(), OUTLIER, "suspect")


#: Nearer to the fence's middle than this share it is no finding, however alike the others are.
MIN_DISTANCE = 0.05


def fences(values: Sequence[float]) -> tuple[float, float]:
    """Tukey's: 1.5 interquartile ranges beyond the quartiles (Exploratory Data Analysis, 1977)."""
    low, _, high = quantiles(values, n=4, method="inclusive")
    return low - 1.5 * (high - low), high + 1.5 * (high - low)


def outliers(summaries: Sequence[Summary]) -> list[tuple[Summary, Run, str]]:
    """Of runs that count and lie beyond the fences of their configuration and 5 % from its median run."""
    found = []
    for summary in summaries:
        figures = summary.figures
        runs = [(run, run.requests_per_second) for run in summary.runs if run.eligible]
        values = [value for _, value in runs if value is not None]
        if figures is None or len(values) < MIN_RUNS_FOR_QUARTILES:
            continue
        low, high = fences(values)
        middle = figures.requests_per_second
        for run, value in runs:
            if value is None or low <= value <= high or abs(value - middle) <= MIN_DISTANCE * middle:
                continue
            unit = layer_text(summary.identity.layer).rate_unit
            side = "below" if value < low else "above"
            text = (
                f"{rate(value)} {unit}, {percent(100 * abs(value / middle - 1))} {side} the median run; "
                f"the fences of its {len(values)} runs are {rate(max(0, low))} and {rate(high)}"
            )
            found.append((summary, run, text))
    return found


def problems(analysis: Analysis) -> Section | None:
    summaries = analysis.ordered
    if not summaries:
        return None
    fields = varying_fields(summaries)
    found: list[tuple[str, TableRow]] = []
    rules: Counter[str] = Counter()
    suspect = 0
    disturbed: dict[str, None] = {}

    def add(
        summary: Summary, run: int, kind: str, value: float | None, reasons: Sequence[str], file: str
    ) -> None:
        cells = (
            *named(summary.identity.label, load_text(summary.identity, fields)),
            TableCell(f"{run}", kind="number"),
            TableCell(kind, kind=f"verdict {'suspect' if kind == OUTLIER else 'invalid'}"),
            *([] if analysis.only_memory else [number(rate(value), value)]),
            reasons_cell(reasons),
            link_cell(run_link(file) if file else "", file),
        )
        found.append((kind, TableRow(summary.id, cells, colour=summary.id)))

    for summary in summaries:
        for run in summary.runs:
            if run.measured and run.verdict == "suspect":
                suspect += 1
                disturbed[summary.id] = None
                rules.update({reason.rule for reason in run.reasons})
            if not run.eligible:
                reasons = run_reasons(run) or ("no reason was recorded",)
                add(summary, run.run, _kind(run), run.requests_per_second, reasons, run.file)
        for missing in summary.missing:
            add(summary, missing, "missing", None, (NO_FILE,), "")
    for summary, run, text in outliers(summaries):
        add(summary, run.run, OUTLIER, run.requests_per_second, (text,), run.file)
    found.sort(key=lambda entry: _RANK.index(entry[0]) if entry[0] in _RANK else 0)
    rows = [row for _, row in found]
    columns = (
        *words("Configuration", "Load"),
        Column("Run"),
        *words("What"),
        *([] if analysis.only_memory else numbers([("Throughput", rate_units(summaries))])),
        *words("Reasons"),
        RAW,
    )
    by_rule = ", ".join(f"{rule} ({number_of})" for rule, number_of in sorted(rules.items()))
    told = (
        f"{plural(suspect, 'suspect run')}: they count, and all runs gives their reasons. By rule: {by_rule}."
    )
    return Section(
        "problems",
        "Invalid runs, failed loads and outliers",
        "" if rows else "none",
        counted=tuple(row.ids for row in rows),
        counted_as="runs",
        text=() if rows else (NONE,),
        lists=(("Suspect runs", (Line(told, " ".join(disturbed)),)),) if suspect else (),
        tables=(table_of("problem-rows", columns, rows, caption=CAPTION, fold_rows=15),) if rows else (),
        open=any(kind != OUTLIER for kind, _ in found),
    )


def _kind(run: Run) -> str:
    if run.measured is None:
        return run.record.status
    return SPOILED.get(run.outcome or "", "invalid") if run.spoiled else "invalid"
