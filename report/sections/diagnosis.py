"""Where a request's microseconds go, as a table: one row for each diagnosing run."""

from collections.abc import Mapping, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import row_order
from report.base.format import count, decimals, microseconds, milliseconds, plural
from report.results.model import MEASURED_KINDS, Diagnosis, Run
from report.results.roles import cpu_us_per_request
from report.sections.runs import run_cells
from report.sections.section import (
    RAW,
    Column,
    Section,
    TableCell,
    TableRow,
    exact,
    named,
    number,
    numbers,
    table_of,
    words,
)

#: In place of a figure that nothing told.
NOT_KNOWN = "not known"

CAPTION = (
    "One run of each configuration with instruments on. They cost CPU time, so these runs enter no ranking "
    "and no other table. Server figures are per request, in lead-in and window; script and network are per "
    "decision of the store, from before any load to after the last answer."
)

#: Kinds of collections in the order of the cell; others follow.
_KINDS = ("minor", "major", "incremental")


def _number(value: float | None, text: str, unit: str) -> TableCell:
    return number(text, value, hint=exact(value, unit)) if value is not None else number(NOT_KNOWN, None)


def _us(value: float | None) -> TableCell:
    return _number(value, microseconds(value), "µs")


def _per(total: float | None, divisor: int, unit: str, digits: int = 2) -> TableCell:
    value = total / divisor if total is not None and divisor else None
    return _number(value, decimals(value, digits), unit)


def _late(delay_us: Mapping[str, float]) -> TableCell:
    text = " / ".join(milliseconds(delay_us[name] / 1000) for name in ("p50", "p99", "max") if delay_us)
    return number(text or NOT_KNOWN, delay_us.get("p99"))


def _pauses(found: Diagnosis) -> TableCell:
    """`minor 320, longest 1.20 ms; major 2, longest 4.10 ms`."""
    pauses = found.pauses
    ordered = sorted(pauses, key=lambda kind: (_KINDS.index(kind) if kind in _KINDS else len(_KINDS), kind))
    text = "; ".join(
        f"{kind} {count(pauses[kind].count)}, longest {milliseconds(pauses[kind].longest_us / 1000)} ms"
        for kind in ordered
    )
    return TableCell((text or "none") if found.requests else NOT_KNOWN)


def _two(totals: Sequence[float | None], divisor: int, digits: int, unit: str) -> TableCell:
    known = [total / divisor for total in totals if total is not None and divisor]
    if len(known) < 2:
        return number(NOT_KNOWN, None)
    return _number(sum(known), " + ".join(decimals(each, digits) for each in known), unit)


def _cells(run: Run, found: Diagnosis, kinds: Sequence[str]) -> tuple[TableCell, ...]:
    cpu_us, requests = _cpu_us(run), found.requests
    switches = [found.context_switches.get(name) for name in ("voluntary", "involuntary")]
    calls = [found.system_calls.get(name) for name in ("reads", "writes")]
    return (
        *(_us(cpu_us.get(kind)) for kind in kinds),
        _per(sum(each.total_us for each in found.pauses.values()), requests, "µs"),
        _pauses(found),
        _late(found.loop_delay_us),
        _per(found.allocated_bytes, requests, "bytes", digits=0),
        _two(switches, requests, 2, "switches"),
        _two(calls, requests, 2, "calls"),
        _per(found.script_us, found.decisions, "µs"),
        _us(found.script_p99_us),
        _two([found.store_received_bytes, found.store_sent_bytes], found.decisions, 0, "bytes"),
    )


def _cpu_us(run: Run) -> Mapping[str, float]:
    return cpu_us_per_request(run.measured.roles) if run.measured else {}


_COLUMNS = (
    ("Garbage collection", "µs per request"),
    ("Its pauses", ""),
    ("Event loop late", "ms: p50 / p99 / longest"),
    ("Allocated", "bytes per request"),
    ("Context switches", "per request: waited + lost its CPU"),
    ("Reads + writes", "per request"),
    ("Script", "µs per decision"),
    ("Script, p99", "µs"),
    ("Network", "bytes per decision: to + from the store"),
)


def diagnosis(analysis: Analysis) -> Section | None:
    ordered = sorted(analysis.campaign.diagnoses, key=lambda run: (row_order(run.identity), run.run))
    runs = [(run, run.diagnosis) for run in ordered if run.diagnosis]
    if not runs:
        return None
    ids = {summary.identity.key: summary.id for summary in analysis.summaries}
    kinds = [kind for kind in MEASURED_KINDS if any(kind in _cpu_us(run) for run, _ in runs)]
    varying = varying_fields([run for run, _ in runs])
    columns = (
        *words("Configuration", "Load"),
        *numbers([(f"{kind.capitalize()} CPU", "µs per request") for kind in kinds], "number"),
        *(Column(name, unit, "" if name == "Its pauses" else "number") for name, unit in _COLUMNS),
        *words("Verdict", "Reasons"),
        RAW,
    )
    rows = []
    for run, found in runs:
        row_id = ids.get(run.identity.key, "")
        cells = (
            *named(run.identity.label, load_text(run.identity, varying)),
            *_cells(run, found, kinds),
            *run_cells(run),
        )
        rows.append(TableRow(row_id, cells, colour=row_id))
    return Section(
        "diagnosis",
        "Where a request’s microseconds go",
        plural(len(rows), "diagnosing run"),
        tables=(table_of("diagnosis-rows", columns, rows, caption=CAPTION),),
        open=not analysis.summaries,
    )
