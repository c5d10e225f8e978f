"""Runs that a reader should look at: invalid, failed, missing, suspect, or far from their siblings."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import rate
from report.results.model import Reason, Run
from report.sections.outliers import outliers
from report.sections.runs import SPOILED, run_link
from report.sections.tables import TableCell, sort_key

_RANK = ("missing", "failed", "aborted", "invalid", *SPOILED.values(), "outlier", "suspect")


@dataclass(frozen=True, slots=True)
class Problem:
    """One run, `kind` what is the matter with it."""

    summary_id: str
    configuration: str
    load: str
    run: str
    kind: str
    throughput: TableCell
    reasons: tuple[str, ...]
    link: str
    file: str


@dataclass(frozen=True, slots=True)
class Problems:
    """`suspect`: the rules that made runs suspect, each with the row ids of these runs."""

    rows: tuple[Problem, ...]
    suspect: tuple[tuple[str, tuple[str, ...]], ...]
    suspect_rows: tuple[str, ...]
    """The id of its row for each suspect run."""


def problems(summaries: Sequence[Summary]) -> Problems:
    """Everything but suspect runs one by one, the worst first; suspect runs by rule."""
    fields = varying_fields(summaries)
    rows: list[Problem] = []
    rules: dict[str, list[str]] = {}
    suspect_rows: list[str] = []
    for summary in summaries:
        load = load_text(summary.identity, fields)
        for run in summary.runs:
            if run.measured and run.verdict == "suspect":
                suspect_rows.append(summary.id)
                for rule in {reason.rule for reason in run.reasons}:
                    rules.setdefault(rule, []).append(summary.id)
            if run.eligible:
                continue
            outcome = [run.outcome_text] if run.spoiled and run.outcome_text else []
            reasons = [*([run.failure] if run.failure else []), *outcome, *_reasons(run.reasons)]
            rows.append(
                Problem(
                    summary.id,
                    summary.identity.label,
                    load,
                    f"{run.run}",
                    _kind(run),
                    _throughput(run.requests_per_second),
                    tuple(reasons) or ("no reason was recorded",),
                    run_link(run.file),
                    run.file,
                )
            )
        rows.extend(
            Problem(
                summary.id,
                summary.identity.label,
                load,
                f"{number}",
                "missing",
                _throughput(None),
                ("planned, but no result file was found",),
                "",
                "",
            )
            for number in summary.missing
        )
    rows.extend(
        Problem(
            found.summary.id,
            found.summary.identity.label,
            load_text(found.summary.identity, fields),
            f"{found.run.run}",
            "outlier",
            _throughput(found.run.requests_per_second),
            (found.text,),
            run_link(found.run.file),
            found.run.file,
        )
        for found in outliers(summaries)
    )
    rows.sort(key=lambda row: _RANK.index(row.kind) if row.kind in _RANK else 0)
    suspect = tuple((rule, tuple(ids)) for rule, ids in sorted(rules.items()))
    return Problems(tuple(rows), suspect, tuple(suspect_rows))


def _kind(run: Run) -> str:
    if run.measured is None:
        return run.status
    return SPOILED.get(run.outcome or "", "invalid") if run.spoiled else "invalid"


def _reasons(reasons: Sequence[Reason]) -> list[str]:
    return [f"{reason.rule}: {reason.text}" for reason in reasons]


def _throughput(value: float | None) -> TableCell:
    return TableCell(rate(value), kind="number", sort=sort_key(value))
