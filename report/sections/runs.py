"""All runs, also invalid and missing ones."""

from collections.abc import Sequence

from msgspec import structs

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import Figure, figure_text, p50, percentile
from report.analysis.summary import Summary
from report.analysis.texts import LoadField, layer_text, load_text, rate_units, varying_fields
from report.base.format import ABSENT, Show, count, decimals, milliseconds, rate, share
from report.results.limiter_scripts import script_text
from report.results.model import Campaign, Measured, Run
from report.sections import section
from report.sections.figure_cells import run_marks
from report.sections.run_cells import (
    NO_FILE,
    SPOILED,
    link_cell,
    round_reasons,
    run_reasons,
    run_verdict,
)

CAPTION = (
    "Every run that was planned or recorded, also invalid and missing ones, and those of rounds that were "
    "measured again. The selected run of each configuration is marked median: in a closed loop that of "
    "median throughput, in an open one that of median p99; its seconds are drawn over time. The verdict "
    "judges the measurement, the outcome what the target did with the load. Latencies of a closed loop are "
    "those at full load: they move with the number of targets in the group."
)
_COLUMNS = (
    ("p50", "ms"),
    ("p99", "ms"),
    ("Limited", "of answers"),
    ("Errors", "requests"),
    ("Warm-up", "s"),
)
#: The columns that are left out for a campaign that only measured memory per key.
_SPEED_COLUMNS = slice(4, 8)


def _row(
    summary: Summary, number: int, run: Run | None, fields: Sequence[LoadField]
) -> section.TableRow:
    """A row of the table; `run` is None for one that left no file."""
    identity = summary.identity
    measured = run.measured if run else None
    script = ABSENT
    if measured and measured.limiter_script:
        script = script_text(measured.limiter_script)
    cells = (
        *section.named(identity.label, script, load_text(identity, fields)),
        _run_cell(summary, number, run),
        _number(
            run.requests_per_second if run else None, rate, layer_text(identity.layer).rate_unit
        ),
        section.number("" if identity.open_loop else _group_size(summary, run), None),
        _latency(measured, p50),
        _latency(measured, percentile("p99")),
        _number(measured.limited_share if measured else None, share, "of 1"),
        _number(measured.record.totalErrors if measured else None, count, "requests"),
        _warm_up(measured),
        run_verdict(run) if run else section.TableCell("missing", kind="verdict invalid"),
        _outcome(run),
        section.reasons_cell(_notes(run)),
        link_cell(run.file if run else ""),
    )
    return section.TableRow(summary.id, cells, colour=summary.id)


def _run_cell(summary: Summary, number: int, run: Run | None) -> section.TableCell:
    if run is None:
        return section.TableCell(f"{number}")
    text = f"{number}, set aside" if run.set_aside else f"{number}"
    return section.TableCell(text, tag="median" if summary.selected is run else "")


def _notes(run: Run | None) -> list[str]:
    """The notes of a run: why it is in no figure, its reasons and what it recorded."""
    if run is None:
        return [NO_FILE]
    notes = [*run_reasons(run), *run.record.notes]
    if run.set_aside:
        notes.insert(0, f"in no figure: {run.set_aside}; begun {run.record.started_at}")
    return notes


def _latency(measured: Measured | None, figure: Figure) -> section.TableCell:
    if measured is None:
        return _number(None, milliseconds, "ms")
    value = figure(measured)
    return section.TableCell(
        figure_text(measured, figure, milliseconds),
        marks=run_marks(measured, figure),
        kind="number",
        sort=section.sort_key(value),
        hint=section.exact(value, "ms") or ABSENT,
    )


def _warm_up(measured: Measured | None) -> section.TableCell:
    if measured is None:
        return section.TableCell(ABSENT, kind="number", sort="")
    warm_up = measured.record.warmup
    text = decimals(warm_up.took_s, 1)
    hint = f"{count(warm_up.requests)} requests"
    if warm_up.steady is False:
        text += " not steady"
        hint += ", not steady at its end"
    elif warm_up.steady:
        hint += ", steady at its end"
    return section.TableCell(text, kind="number", sort=section.sort_key(warm_up.took_s), hint=hint)


def _outcome(run: Run | None) -> section.TableCell:
    if run is None or run.outcome is None:
        return section.TableCell(ABSENT)
    kind = "verdict invalid" if run.spoiled else "verdict"
    return section.TableCell(SPOILED.get(run.outcome, run.outcome), kind=kind)


def _number(value: float | None, show: Show, unit: str) -> section.TableCell:
    return section.number(show(value), value, hint=section.exact(value, unit))


def _group_size(summary: Summary, run: Run | None) -> str:
    """How many targets were up at once in the run, or in all runs of the row where that of the run
    is not known."""
    target_count = summary.targets_by_place.get(run.place) if run and run.place else None
    return str(target_count) if target_count else summary.group_size_text


def _rows(summary: Summary, fields: Sequence[LoadField]) -> list[section.TableRow]:
    """The runs of a row in the order of their numbers, with those that left no file."""
    runs: list[tuple[int, Run | None]] = [
        (run.run, run) for run in (*summary.set_aside, *summary.runs)
    ]
    runs += [(number, None) for number in summary.missing]
    runs.sort(key=lambda numbered: numbered[0])
    return [_row(summary, number, run, fields) for number, run in runs]


def _table(analysis: Analysis) -> section.Table:
    summaries = analysis.ordered
    fields = varying_fields(summaries)
    rows = [row for summary in summaries for row in _rows(summary, fields)]
    columns = [
        *section.words("Configuration", "Script", "Load", "Run"),
        *section.numbers([("Throughput", rate_units(summaries))]),
        *section.numbers([("Group", "targets"), *_COLUMNS], "number"),
        *section.words("Verdict", "Outcome", "Reasons and notes"),
        section.RAW,
    ]
    if analysis.only_memory:
        del columns[_SPEED_COLUMNS]
        rows = [_without_speed(row) for row in rows]
    return section.table_of("run-rows", columns, rows, caption=CAPTION, fold_rows=15)


def _without_speed(row: section.TableRow) -> section.TableRow:
    cells = list(row.cells)
    del cells[_SPEED_COLUMNS]
    return structs.replace(row, cells=tuple(cells))


def all_runs(analysis: Analysis) -> section.Section | None:
    """The section; None for a campaign without rows."""
    if not analysis.ordered:
        return None
    table = _table(analysis)
    return section.Section(
        "runs",
        "All runs",
        counted=tuple(row.ids for row in table.rows),
        counted_as="runs",
        tables=(table,),
        notes=tuple(_rules_notes(analysis.campaign)),
    )


def _rules_notes(campaign: Campaign) -> list[str]:
    """Notes about the rules behind the verdicts, about rules that were left out, and about whole
    rounds."""
    verdicts = [run.record.verdict for run in campaign.runs]
    not_applicable = {
        (reason.rule, reason.text) for verdict in verdicts for reason in verdict.not_applicable
    }
    not_checked = {
        (reason.rule, reason.text) for verdict in verdicts for reason in verdict.not_checked or ()
    }
    return [
        *_version_notes(campaign),
        *(f"Rule {rule} could not be applied: {text}." for rule, text in sorted(not_applicable)),
        *(f"Rule {rule} is not checked: {text}." for rule, text in sorted(not_checked)),
        *(f"{text}." for text in round_reasons(campaign.runs)),
    ]


def _version_notes(campaign: Campaign) -> list[str]:
    """Says which version of the rules the verdicts follow, where runs were judged again or a
    verdict names no version."""
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
