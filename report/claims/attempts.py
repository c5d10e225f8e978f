"""The attempts of campaigns at a claim.

A campaign is an attempt at a comparison if it holds both rows that the claim compares."""

from collections.abc import Sequence

from report.analysis import machines
from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Row
from report.analysis.texts import caps_text
from report.base.format import plural
from report.claims.compared_rows import Document, find_row
from report.claims.judgement import judge_published_figure, judge_rows

Attempt = tuple[str, Document, Sequence[str]]
"""The place of the campaign, the comparison (one of `expects`), and its cells from the ratio to the
versions."""


def attempts_in(claim: Document, place: str, analysis: Analysis) -> list[Attempt]:
    """The comparisons of a claim that the campaign at this place measured."""
    measured = []
    for expectation in claim["expects"]:
        rows = _rows_of(expectation, analysis)
        if rows:
            measured.append((expectation, rows))

    attempts: list[Attempt] = []
    for expectation, rows in measured:
        verdict_cells = _judged(expectation, analysis, rows, len(measured))
        cells = [*verdict_cells, *_condition_cells(analysis, rows)]
        attempts.append((place, expectation, cells))
    return attempts


def _rows_of(expectation: Document, analysis: Analysis) -> list[Row]:
    """The row and its base, or the row alone where the base is a published figure.

    It is empty where the campaign has not measured one of them."""
    rows = []
    for side in (expectation["of"], expectation["against"]):
        if "published" in side:
            continue
        row = find_row(analysis, side)
        if row is None:
            return []
        rows.append(row)
    return rows


def _judged(
    expectation: Document, analysis: Analysis, rows: Sequence[Row], family: int
) -> tuple[str, str]:
    if len(rows) == 1:
        return judge_published_figure(expectation, analysis, rows[0])
    row, base = rows
    return judge_rows(expectation, analysis, row, base, family)


def _condition_cells(analysis: Analysis, rows: Sequence[Row]) -> list[str]:
    manifest: Document = analysis.campaign.manifest or {}
    machine = manifest["machine"]
    runtime = manifest["runtime"]
    plan = manifest["plan"]
    caps_by_hash = {
        entry["hash"]: entry["configuration"].get("caps", {}) for entry in plan["configurations"]
    }
    caps = caps_by_hash[rows[0].identity.configuration_hash]
    return [
        manifest["started_at"][:10],
        _load_text(rows),
        plan["order"],
        caps_text(caps) if runtime["caps_applied"] else "none",
        ", ".join([*machines.key_texts(machine).values(), runtime["id"]]),
        "; ".join(dict.fromkeys(map(_versions_text, rows))),
    ]


def _load_text(rows: Sequence[Row]) -> str:
    """Layer, load and duration of the first row, and the number of suspect runs of all rows."""
    identity = rows[0].identity
    if identity.rate_per_second:
        load = f"{identity.rate_per_second:g}/s"
    else:
        load = plural(identity.connections, "connection")
    parts = [
        identity.layer,
        identity.workload,
        identity.traffic,
        load,
        identity.extent_text,
        plural(len(rows[0].runs), "run"),
    ]

    runs = [run for row in rows for run in row.runs]
    suspect = sum(run.verdict == "suspect" for run in runs)
    if suspect:
        parts.append(f"{suspect} of {len(runs)} suspect")
    return ", ".join(parts)


def _versions_text(row: Row) -> str:
    version_of = {part: version for run in row.runs for part, version in run.versions.items()}
    identity = row.identity
    names = {
        "client": identity.client,
        "limiter": identity.limiter,
        "store": identity.store,
        "node": "Node",
    }
    return ", ".join(
        f"{name} {version_of[part]}" for part, name in names.items() if part in version_of
    )
