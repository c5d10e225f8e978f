"""Where a request's microseconds go, as a table: one row for each diagnosing run."""

from collections.abc import Mapping

from report.analysis.campaign_analysis import Analysis
from report.analysis.diagnosis import RequestCost, request_costs
from report.analysis.load_text import LOAD_FIELDS, load_text
from report.base.format import count, decimals, microseconds, milliseconds, plural
from report.results.model import MEASURED_KINDS, Diagnosis, Pauses
from report.sections.runs import run_link, run_reasons, run_verdict
from report.sections.section import (
    RAW,
    Column,
    Section,
    TableCell,
    TableRow,
    exact,
    link_cell,
    named,
    numbers,
    reasons_cell,
    sort_key,
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
    if value is None:
        return TableCell(NOT_KNOWN, kind="number", sort="")
    return TableCell(text, kind="number", sort=sort_key(value), hint=exact(value, unit))


def _us(value: float | None) -> TableCell:
    return _number(value, microseconds(value), "µs")


def _small(value: float | None, unit: str) -> TableCell:
    return _number(value, decimals(value, 2), unit)


def _late(delay_us: Mapping[str, float]) -> TableCell:
    """p50, p99 and the longest."""
    if not delay_us:
        return _number(None, "", "")
    text = " / ".join(milliseconds(delay_us[name] / 1000) for name in ("p50", "p99", "max"))
    return TableCell(text, kind="number", sort=sort_key(delay_us["p99"]))


def _pauses_text(pauses: Mapping[str, Pauses]) -> str:
    """`minor 320, longest 1.20 ms; major 2, longest 4.10 ms`."""
    ordered = sorted(pauses, key=lambda kind: (_KINDS.index(kind) if kind in _KINDS else len(_KINDS), kind))
    return "; ".join(
        f"{kind} {count(pauses[kind].count)}, longest {milliseconds(pauses[kind].longest_us / 1000)} ms"
        for kind in ordered
    )


def _pauses(found: Diagnosis) -> TableCell:
    if not found.requests:
        return TableCell(NOT_KNOWN)
    return TableCell(_pauses_text(found.pauses) or "none")


def _split(figures: Mapping[str, float], names: tuple[str, str], unit: str) -> TableCell:
    """Two figures, sorted by their sum."""
    if not figures:
        return _number(None, "", "")
    first, second = (figures[name] for name in names)
    return TableCell(
        f"{decimals(first, 2)} + {decimals(second, 2)}",
        kind="number",
        sort=sort_key(first + second),
        hint=exact(first + second, unit),
    )


def _network(cost: RequestCost) -> TableCell:
    received, sent = cost.received_bytes, cost.sent_bytes
    if received is None or sent is None:
        return _number(None, "", "")
    return TableCell(f"{count(received)} + {count(sent)}", kind="number", sort=sort_key(received + sent))


def _cells(cost: RequestCost, kinds: tuple[str, ...]) -> tuple[TableCell, ...]:
    found = cost.diagnosis
    return (
        *(_us(cost.cpu_us.get(kind)) for kind in kinds),
        _small(cost.collection_us, "µs"),
        _pauses(found),
        _late(found.loop_delay_us),
        _number(cost.allocated_bytes, count(cost.allocated_bytes), "bytes"),
        _split(cost.context_switches, ("voluntary", "involuntary"), "switches"),
        _split(cost.system_calls, ("reads", "writes"), "calls"),
        _small(cost.script_us, "µs"),
        _us(found.script_p99_us),
        _network(cost),
    )


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
    """None for a campaign without diagnosing runs."""
    costs = request_costs(analysis.campaign)
    if not costs:
        return None
    ids = {summary.identity.key: summary.id for summary in analysis.summaries}
    kinds = tuple(kind for kind in MEASURED_KINDS if any(kind in cost.cpu_us for cost in costs))
    varying = [part for part in LOAD_FIELDS if len({part.read(cost.run.identity) for cost in costs}) > 1]
    columns = (
        *words("Configuration", "Load"),
        *numbers([(f"{kind.capitalize()} CPU", "µs per request") for kind in kinds], "number"),
        *(Column(name, unit, "" if name == "Its pauses" else "number") for name, unit in _COLUMNS),
        *words("Verdict", "Reasons"),
        RAW,
    )
    rows = []
    for cost in costs:
        run = cost.run
        row_id = ids.get(run.identity.key, "")
        cells = (
            *named(run.identity.label, load_text(run.identity, varying)),
            *_cells(cost, kinds),
            run_verdict(run),
            reasons_cell(run_reasons(run)),
            link_cell(run_link(run.file), run.file),
        )
        rows.append(TableRow(row_id, cells, colour=row_id))
    return Section(
        "diagnosis",
        "Where a request’s microseconds go",
        plural(len(rows), "diagnosing run"),
        tables=(table_of("diagnosis-rows", columns, rows, caption=CAPTION),),
        open=not analysis.summaries,
    )
