"""All runs, those to look at (invalid, missing, outliers), and what failed requests were."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median, quantiles
from urllib.parse import quote

from msgspec import structs

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import Figure, figure_text, p50, p99, percentile, throughput
from report.analysis.summary import MIN_RUNS_FOR_QUARTILES, Summary
from report.analysis.texts import (
    LoadField,
    interval_of,
    layer_text,
    load_text,
    rate_units,
    varying_fields,
)
from report.base.format import (
    ABSENT,
    Show,
    count,
    decimals,
    milliseconds,
    percent,
    plural,
    rate,
    share,
)
from report.results.generated.records import Reason
from report.results.model import FOREIGN_CPU_RULE, Campaign, Measured, Run, script_text, turns_of
from report.sections import section
from report.sections.verdict_text import run_marks
from report.statistics.decision import compare_runs
from report.statistics.samples import Place

CAPTION = (
    "Every run that was planned or recorded, also invalid and missing ones, and those of rounds that were "
    "measured again. The selected run of each configuration is marked median: in a closed loop that of "
    "median throughput, in an open one that of median p99; its seconds are drawn over time. The verdict "
    "judges the measurement, the outcome what the target did with the load. Latencies of a closed loop are "
    "those at full load: they move with the number of targets in the group."
)
NO_FILE = "planned, but no result file was found"
_COLUMNS = (
    ("p50", "ms"),
    ("p99", "ms"),
    ("Limited", "of answers"),
    ("Errors", "requests"),
    ("Warm-up", "s"),
)

#: What is said of a run in which the target did not serve its load, by its outcome.
SPOILED = {"failed": "failed its load", "overloaded": "overloaded"}


def link_cell(file: str) -> section.TableCell:
    """To a raw result; empty without a file."""
    return (
        section.TableCell("JSON", link=quote(f"../{file}"), hint=f"Raw result {file}")
        if file
        else section.TableCell("")
    )


def run_reasons(run: Run) -> tuple[str, ...]:
    """Its failure, outcome and reasons; of what its whole round met the rule alone, see
    `round_reasons`."""
    told = filter(None, (run.failure, run.outcome_text))
    met = [
        f"{reason.rule}: see round {run.place[0]}" for reason in reasons_of_round(run) if run.place
    ]
    own = [
        f"{reason.rule}: {reason.text}"
        for reason in run.reasons
        if reason not in reasons_of_round(run)
    ]
    return (*told, *met, *own)


def reasons_of_round(run: Run) -> list[Reason]:
    """Those that all runs of its round have, by turns: what other programs did."""
    if not turns_of(run) or not run.place:
        return []
    return [reason for reason in run.reasons if reason.rule == FOREIGN_CPU_RULE]


def round_reasons(runs: Iterable[Run]) -> tuple[str, ...]:
    """Once a round and group what all of its runs met: `Round 3: M25: other programs used …`."""
    runs = list(runs)
    several = {run.place[1] for run in runs if run.place} - {1}
    found: dict[tuple[int, int, str], str] = {}
    for run in runs:
        number, group = run.place or (run.run, 1)
        where = f"Round {number}, group {group}" if several else f"Round {number}"
        for reason in reasons_of_round(run):
            found.setdefault((number, group, reason.rule), f"{where}: {reason.rule}: {reason.text}")
    return tuple(text for _, text in sorted(found.items()))


def run_verdict(run: Run) -> section.TableCell:
    status = run.verdict if run.measured else run.record.status
    return section.TableCell(status, kind=f"verdict {status if run.measured else 'invalid'}")


def run_cells(run: Run, notes: Iterable[str] = ()) -> tuple[section.TableCell, ...]:
    """Its verdict, its reasons with `notes`, and its file."""
    return (
        run_verdict(run),
        section.reasons_cell((*run_reasons(run), *notes)),
        link_cell(run.file),
    )


def _row(
    summary: Summary, number: int, run: Run | None, fields: Sequence[LoadField], group_size: str
) -> section.TableRow:
    """`run` is None for one that left no file."""
    identity, figures, told = summary.identity, run.measured if run else None, [NO_FILE]
    if run:
        aside = (
            [f"in no figure: {run.set_aside}; begun {run.record.started_at}"]
            if run.set_aside
            else []
        )
        told = [*aside, *run_reasons(run), *run.record.notes]
    script = script_text(figures.limiter_script) if figures and figures.limiter_script else ABSENT
    cells = (
        *section.named(identity.label, script, load_text(identity, fields)),
        section.TableCell(
            f"{number}, set aside" if run and run.set_aside else f"{number}",
            tag="median" if run and summary.selected is run else "",
        ),
        _number(
            run.requests_per_second if run else None, rate, layer_text(identity.layer).rate_unit
        ),
        section.number("" if identity.open_loop else group_size, None),
        _latency(figures, p50),
        _latency(figures, percentile("p99")),
        _number(figures.limited_share if figures else None, share, "of 1"),
        _number(figures.record.totalErrors if figures else None, count, "requests"),
        _warm_up(figures),
        run_verdict(run) if run else section.TableCell("missing", kind="verdict invalid"),
        _outcome(run),
        section.reasons_cell(told),
        link_cell(run.file if run else ""),
    )
    return section.TableRow(summary.id, cells, colour=summary.id)


def _latency(figures: Measured | None, figure: Figure) -> section.TableCell:
    if figures is None:
        return _number(None, milliseconds, "ms")
    value = figure(figures)
    return section.TableCell(
        figure_text(figures, figure, milliseconds),
        marks=run_marks(figures, figure),
        kind="number",
        sort=section.sort_key(value),
        hint=section.exact(value, "ms") or ABSENT,
    )


def _warm_up(figures: Measured | None) -> section.TableCell:
    if figures is None:
        return section.TableCell(ABSENT, kind="number", sort="")
    warm_up = figures.record.warmup
    steady = {True: ", steady at its end", False: ", not steady at its end", None: ""}[
        warm_up.steady
    ]
    text = f"{decimals(warm_up.took_s, 1)}{' not steady' if warm_up.steady is False else ''}"
    hint = f"{count(warm_up.requests)} requests{steady}"
    return section.TableCell(text, kind="number", sort=section.sort_key(warm_up.took_s), hint=hint)


def _outcome(run: Run | None) -> section.TableCell:
    if run is None or run.outcome is None:
        return section.TableCell(ABSENT)
    kind = "verdict invalid" if run.spoiled else "verdict"
    return section.TableCell(SPOILED.get(run.outcome, run.outcome), kind=kind)


def _number(value: float | None, show: Show, unit: str) -> section.TableCell:
    return section.number(show(value), value, hint=section.exact(value, unit))


def _group_size(summary: Summary, run: Run | None) -> str:
    """How many targets were up at once in the run; in those of the row where that is not known."""
    known = summary.targets_by_place.get(run.place) if run and run.place else None
    return str(known) if known else summary.group_size_text


def all_runs(analysis: Analysis) -> section.Section | None:
    summaries = analysis.ordered
    if not summaries:
        return None
    fields = varying_fields(summaries)
    rows: list[section.TableRow] = []
    for summary in summaries:
        there = [(run.run, run) for run in (*summary.set_aside, *summary.runs)]
        found = sorted(
            [*there, *((missing, None) for missing in summary.missing)], key=lambda each: each[0]
        )
        rows.extend(
            _row(summary, number, run, fields, _group_size(summary, run)) for number, run in found
        )
    columns = (
        *section.words("Configuration", "Script", "Load", "Run"),
        *section.numbers([("Throughput", rate_units(summaries))]),
        *section.numbers([("Group", "targets"), *_COLUMNS], "number"),
        *section.words("Verdict", "Outcome", "Reasons and notes"),
        section.RAW,
    )
    if analysis.only_memory:
        columns = (*columns[:4], *columns[8:])
        rows = [structs.replace(row, cells=(*row.cells[:4], *row.cells[8:])) for row in rows]
    verdicts = [run.record.verdict for run in analysis.campaign.runs]
    unusable = {(each.rule, each.text) for verdict in verdicts for each in verdict.not_applicable}
    unchecked = {
        (each.rule, each.text) for verdict in verdicts for each in verdict.not_checked or ()
    }
    notes = [
        *_rules_notes(analysis.campaign),
        *(f"Rule {rule} could not be applied: {text}." for rule, text in sorted(unusable)),
        *(f"Rule {rule} is not checked: {text}." for rule, text in sorted(unchecked)),
        *(f"{text}." for text in round_reasons(analysis.campaign.runs)),
    ]
    return section.Section(
        "runs",
        "All runs",
        counted=tuple(row.ids for row in rows),
        counted_as="runs",
        tables=(section.table_of("run-rows", columns, rows, caption=CAPTION, fold_rows=15),),
        notes=tuple(notes),
    )


def _rules_notes(campaign: Campaign) -> list[str]:
    """By which rules the verdicts are, where they are not those of the run's own time or say no
    version."""
    judged = [
        run.record.verdict.rules_version for run in campaign.runs if run.measured or run.printed
    ]
    if campaign.judged_again and judged:
        versions = sorted({version for version in judged if version is not None})
        return [f"The verdicts are judged again by rules {', '.join(map(str, versions))}."]
    if None in judged:
        return [
            "The verdicts are by the rules of their time; `ratelimit-bench judge` judges them again."
        ]
    return []


OUTLIER = "outlier"
PROBLEMS = (
    "Invalid, failed and missing runs count in no figure, outliers in every figure. A run in which the "
    "target failed its load or was overloaded has no figures either, but ranks below all that served "
    "theirs. An outlier lies beyond Tukey’s fences (1.5 interquartile ranges) and more than 5 % from the "
    "median; finding one takes at least five runs of its configuration."
)
NO_PROBLEMS = (
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


def outliers(summaries: Sequence[Summary]) -> Iterator[tuple[Summary, Run, str]]:
    """Of runs that count and lie beyond the fences of their configuration and 5 % from its
    median."""
    for summary in summaries:
        values = summary.values(throughput)
        middle = summary.figure_of(throughput).value
        if middle is None or len(values) < MIN_RUNS_FOR_QUARTILES:
            continue
        low, high = fences(values)
        for run in summary.runs:
            value = run.requests_per_second if run.eligible else None
            if (
                value is None
                or low <= value <= high
                or abs(value - middle) <= MIN_DISTANCE * middle
            ):
                continue
            unit = layer_text(summary.identity.layer).rate_unit
            side = "below" if value < low else "above"
            text = (
                f"{rate(value)} {unit}, {percent(100 * abs(value / middle - 1))} {side} the median; "
                f"the fences of its {len(values)} runs are {rate(max(0, low))} and {rate(high)}"
            )
            yield summary, run, text


def problems(analysis: Analysis) -> section.Section | None:
    summaries = analysis.ordered
    if not summaries:
        return None
    fields = varying_fields(summaries)
    found: list[tuple[str, section.TableRow]] = []
    rules: Counter[str] = Counter()
    rounds: dict[str, set[Place]] = {}
    disturbed: list[str] = []

    def add(
        summary: Summary, number_of: int, kind: str, reasons: Sequence[str], run: Run | None
    ) -> None:
        value = run.requests_per_second if run else None
        cells = (
            *section.named(summary.identity.label, load_text(summary.identity, fields)),
            section.TableCell(f"{number_of}", kind="number"),
            section.TableCell(kind, kind=f"verdict {'suspect' if kind == OUTLIER else 'invalid'}"),
            *([] if analysis.only_memory else [section.number(rate(value), value)]),
            section.reasons_cell(reasons),
            link_cell(run.file if run else ""),
        )
        found.append((kind, section.TableRow(summary.id, cells, colour=summary.id)))

    for summary in summaries:
        for run in summary.runs:
            if run.measured and run.verdict == "suspect":
                disturbed.append(summary.id)
                of_round = reasons_of_round(run)
                rules.update({reason.rule for reason in run.reasons if reason not in of_round})
                for reason in of_round:
                    rounds.setdefault(reason.rule, set()).add(run.place or (run.run, 1))
            if not run.eligible:
                reasons = run_reasons(run) or ("no reason was recorded",)
                add(summary, run.run, _problem(run), reasons, run)
        for missing in summary.missing:
            add(summary, missing, "missing", (NO_FILE,), None)
    for summary, run, text in outliers(summaries):
        add(summary, run.run, OUTLIER, (text,), run)
    found.sort(key=lambda entry: _RANK.index(entry[0]) if entry[0] in _RANK else 0)
    rows = [row for _, row in found]
    columns = (
        *section.words("Configuration", "Load"),
        section.Column("Run"),
        *section.words("What"),
        *([] if analysis.only_memory else section.numbers([("Throughput", rate_units(summaries))])),
        *section.words("Reasons"),
        section.RAW,
    )
    counts = [(rule, f"{times}") for rule, times in rules.items()]
    counts += [(rule, plural(len(places), "round")) for rule, places in rounds.items()]
    by_rule = ", ".join(f"{rule} ({times})" for rule, times in sorted(counts))
    counted = (
        f"{plural(len(disturbed), 'suspect run')}: they count, and all runs gives their reasons."
    )
    suspect = section.Line(f"{counted} By rule: {by_rule}.", " ".join(dict.fromkeys(disturbed)))
    return section.Section(
        "problems",
        "Invalid runs, failed loads and outliers",
        "" if rows else "none",
        counted=tuple(row.ids for row in rows),
        counted_as="runs",
        text=() if rows else (NO_PROBLEMS,),
        lists=(("Suspect runs", (suspect,)),) if disturbed else (),
        tables=(section.table_of("problem-rows", columns, rows, caption=PROBLEMS, fold_rows=15),)
        if rows
        else (),
        open=any(kind != OUTLIER for kind, _ in found),
    )


def _problem(run: Run) -> str:
    if run.measured is None:
        return run.record.status
    return SPOILED.get(run.outcome or "", "invalid") if run.spoiled else "invalid"


ERRORS_TEXT = (
    "Errors count in no throughput, and as requests without an answer in latency. If more than 0.1 % of its "
    "requests fail, the target failed its load: the run ranks below all that served theirs, and its figures "
    "are not shown."
)
ERRORS_CAPTION = (
    "All measured runs, also those that are invalid or in which the target failed its load. The medians of "
    "the runs with errors stand beside those of the runs without: throughput counts answered requests only, "
    "so a run that fails requests quickly can look fast."
)
_OF_KINDS = (("Requests", ""), ("Share", "of all sent"), ("Runs", "with some"))

Count = Callable[[Measured], int | None]

#: A name, its meaning, and how many there were.
Kind = tuple[str, str, Count]


def _answers(wanted: Callable[[str], bool]) -> Count:
    return lambda figures: sum(
        number for code, number in figures.failed_by_code.items() if wanted(code)
    )


#: Kinds of failed requests; a request is one of these, or it was answered.
KINDS: tuple[Kind, ...] = (
    (
        "connection",
        "the connection was refused, reset or closed",
        lambda figures: figures.record.errors,
    ),
    ("time-out", "no answer within the time-out", lambda figures: figures.record.timeouts),
    (
        "5xx",
        "the server answered with a status of 500 to 599",
        _answers(lambda code: code.startswith("5")),
    ),
    (
        "other status",
        "an answer that is neither admitted, limited nor 5xx",
        _answers(lambda code: code.isdigit() and not code.startswith("5")),
    ),
)

#: At the limiter layer, where no server answers.
NO_DECISION: Kind = (
    "no decision",
    "the limiter layer’s call of the limiter failed",
    _answers(lambda code: not code.isdigit()),
)

#: Counted by the server and not by the generator: the same trouble seen from the other side.
STORE: Kind = (
    "store",
    "the limiter got no decision from the store, by the count of what calls it; these requests are among the "
    "above",
    lambda figures: figures.store_failures,
)


def _columns(kinds: Sequence[Kind], rates: str) -> tuple[tuple[str, str], ...]:
    return (
        *((name, "requests") for name, _, _ in kinds),
        ("Runs", "with errors"),
        ("Failed its load", "of the runs that count"),
        ("Throughput", f"with errors, {rates}"),
        ("Throughput", f"without, {rates}"),
        ("Ratio", "with ÷ without"),
        ("p99", "with errors, ms"),
        ("p99", "without, ms"),
        ("Ratio", "with ÷ without"),
    )


def _measured(summaries: Iterable[Summary]) -> list[Measured]:
    return [run.measured for summary in summaries for run in summary.runs if run.measured]


def _troubled(figures: Measured) -> bool:
    return figures.record.totalErrors > 0 or bool(STORE[2](figures))


def _total(found: Sequence[Measured], read: Count) -> int | None:
    counts = [number for figures in found if (number := read(figures)) is not None]
    return sum(counts) if counts else None


def _kind(found: Sequence[Measured], name: str, meaning: str, read: Count) -> section.TableRow:
    total, sent = _total(found, read), sum(figures.record.counts.sent for figures in found)
    runs = sum(bool(read(figures)) for figures in found) if total is not None else None
    share = 100 * total / sent if total is not None and sent else None
    share_text = ABSENT if share is None else f"{share:.4g} %"
    figures = (
        section.number(count(total), total),
        section.number(share_text, share),
        section.number(count(runs), runs),
    )
    return section.TableRow(
        "", (section.TableCell(name), *figures, section.TableCell(meaning, kind="text"))
    )


def _p99_cell(value: float | None) -> section.TableCell:
    if value is not None and math.isinf(value):
        return section.TableCell("not known", kind="number", sort="")
    return section.number(milliseconds(value), value)


def _cells(summary: Summary, kinds: Sequence[Kind]) -> tuple[section.TableCell, ...]:
    found = _measured([summary])
    sides = [[f for f in found if _troubled(f) is troubled] for troubled in (True, False)]
    throughputs = [[f.requests_per_second for f in side] for side in sides]
    # Of a percentile that is not identified, its upper bound.
    p99s = [[value for f in side if (value := p99.at_most(f)) is not None] for side in sides]
    spoiled = summary.spoiled_runs

    def ratio(sides: Sequence[Sequence[float]]) -> section.TableCell:
        comparison = compare_runs(sides[0], sides[1])
        return section.number(interval_of(comparison) or ABSENT, comparison.ratio)

    def middles(sides: Sequence[Sequence[float]]) -> list[float | None]:
        return [median(side) if side else None for side in sides]

    return (
        *(
            section.number(count(total), total)
            for total in (_total(found, read) for _, _, read in kinds)
        ),
        section.number(f"{len(sides[0])} of {len(found)}", len(sides[0])),
        section.number(f"{spoiled} of {summary.counted_runs}", spoiled),
        *(section.number(rate(middle), middle) for middle in middles(throughputs)),
        ratio(throughputs),
        *map(_p99_cell, middles(p99s)),
        ratio(p99s),
    )


def failures(analysis: Analysis) -> section.Section | None:
    summaries = analysis.ordered
    if not summaries:
        return None
    found = _measured(summaries)
    answered = sum(figures.record.requests.total for figures in found)
    troubled = [figures for figures in found if _troubled(figures)]
    over = f"{plural(len(found), 'measured run')} with {plural(answered, 'answered request')}"
    sentence = (
        f"{plural(sum(figures.record.totalErrors for figures in troubled), 'failed request')} in "
        f"{len(troubled):,} of {over}."
        if troubled
        else f"No request failed in {over}."
    )
    fields = varying_fields(summaries)
    limiter = any(summary.identity.layer == "limiter" for summary in summaries)
    kinds = (*KINDS, *([NO_DECISION] if limiter else []), STORE)
    rows = []
    for summary in summaries:
        if summary.spoiled_runs or any(map(_troubled, _measured([summary]))):
            names = section.named(summary.identity.label, load_text(summary.identity, fields))
            rows.append(
                section.TableRow(summary.id, (*names, *_cells(summary, kinds)), colour=summary.id)
            )
    columns = (
        *section.words("Configuration", "Load"),
        *section.numbers(_columns(kinds, rate_units(summaries))),
    )
    title = "Configurations with errors"
    of_rows = section.table_of("error-rows", columns, rows, title, caption=ERRORS_CAPTION)
    kind_columns = (
        *section.words("Kind"),
        *section.numbers(_OF_KINDS),
        *section.words("What it is"),
    )
    kind_rows = [_kind(found, *kind) for kind in kinds]
    of_kinds = section.table_of(
        "error-kinds", kind_columns, kind_rows, "Kinds of errors in all runs"
    )
    return section.Section(
        "errors",
        "Errors",
        sentence if rows else "none",
        text=(f"{sentence} {ERRORS_TEXT}",),
        tables=(of_kinds, *([of_rows] if rows else [])),
        open=bool(rows),
    )
