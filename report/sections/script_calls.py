"""The proof of which scripts ran: what the stores' own command statistics counted, by configuration."""

from collections import Counter
from collections.abc import Sequence

from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT
from report.sections.script_text import calls_text
from report.sections.section import Column, Table, TableCell, TableRow, named, table_of, words

CAPTION = (
    "Scripts that ran without an error, from the command statistics of all nodes. All measured runs count, "
    "with their warm-ups, invalid runs too."
)
OTHERS = " A store that already ran counts the calls of its other users too."


def calls_of(summary: Summary) -> tuple[dict[str, int], int]:
    counted = [run.measured.script_calls for run in summary.runs if run.measured]
    known = [calls for calls in counted if calls is not None]
    total: Counter[str] = Counter()
    for calls in known:
        total.update(calls)
    return dict(total), len(known)


def script_calls(summaries: Sequence[Summary], external: bool) -> Table | None:
    fields = varying_fields(summaries)
    rows = []
    for summary in summaries:
        calls, runs = calls_of(summary)
        measured = [run.measured for run in summary.runs if run.measured]
        scripts = dict.fromkeys(each.limiter_script for each in measured if each.limiter_script)
        if not calls and not scripts:
            continue
        cells = (
            *named(summary.identity.label, load_text(summary.identity, fields)),
            TableCell(f"{runs} of {len(measured)}", kind="number"),
            TableCell(calls_text(calls) if runs else "not known: no counters, or they went back"),
            TableCell(", ".join(f"{each.kind.upper()} {each.name_or_sha1}" for each in scripts) or ABSENT),
        )
        rows.append(TableRow(summary.id, cells))
    columns = (
        *words("Configuration", "Load"),
        Column("Runs"),
        *words("Calls by command", "Script, as the server named it"),
    )
    caption = CAPTION + (OTHERS if external else "")
    title = "Limiter scripts, by the stores’ own count"
    return table_of("table-scripts", columns, rows, title, caption=caption) if rows else None
