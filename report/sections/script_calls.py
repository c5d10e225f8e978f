"""The proof of which scripts ran: what the stores' own command statistics counted, by configuration."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary
from report.base.format import ABSENT
from report.sections.script_text import calls_text


@dataclass(frozen=True, slots=True)
class ScriptRow:
    """One configuration over all its measured runs that have counters, the invalid ones too."""

    summary_id: str
    configuration: str
    load: str
    """The part of its load that differs from other rows; empty if all have the same."""
    runs: str
    """How many runs the calls are from."""
    calls: str
    """`evalsha 123,456; eval 1`."""
    script: str
    """Command and full name of each script that the servers named."""


def calls_of(summary: Summary) -> tuple[dict[str, int], int]:
    """Script calls by command over all measured runs, and how many runs they are from."""
    counted = [run.measured.script_calls for run in summary.runs if run.measured]
    known = [calls for calls in counted if calls is not None]
    total: Counter[str] = Counter()
    for calls in known:
        total.update(calls)
    return dict(total), len(known)


def script_rows(summaries: Sequence[Summary]) -> tuple[ScriptRow, ...]:
    """A row for each configuration that named a script, or whose store counted one; others have no script."""
    fields = varying_fields(summaries)
    rows = []
    for summary in summaries:
        calls, runs = calls_of(summary)
        measured = [run.measured for run in summary.runs if run.measured]
        named = dict.fromkeys(each.limiter_script for each in measured if each.limiter_script)
        if not calls and not named:
            continue
        rows.append(
            ScriptRow(
                summary.id,
                summary.identity.label,
                load_text(summary.identity, fields),
                f"{runs} of {len(measured)}",
                calls_text(calls) if runs else "not known: no counters, or they went back",
                ", ".join(f"{script.kind.upper()} {script.name}" for script in named) or ABSENT,
            )
        )
    return tuple(rows)
