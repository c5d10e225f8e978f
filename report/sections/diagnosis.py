"""The table of where a request's microseconds go, with a row for each diagnosing run."""

from collections.abc import Mapping, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.row_order import row_order
from report.analysis.texts import at_its_load, by_loop, load_text, varying_fields
from report.base.format import count, decimals, microseconds, milliseconds, plural
from report.results.catalog import MEASURED_KINDS
from report.results.generated.records import Diagnosis, Gc, LoopDelayUs, Server
from report.results.model import Run
from report.results.sums import cpu_us_per_request, total_of
from report.sections import section
from report.sections.run_cells import run_cells

#: Stands in place of a figure that is not on record.
NOT_KNOWN = "not known"

CAPTION = (
    "One run of each configuration with instruments on. They cost CPU time, so these runs enter no ranking "
    "and no other table. Server figures are per request, in lead-in and window; script and network are per "
    "decision of the store, from before any load to after the last answer."
)

#: The order of kinds of garbage collections in a cell. Other kinds follow.
_KINDS = ("minor", "major", "incremental")


def _number(value: float | None, text: str, unit: str) -> section.TableCell:
    return (
        section.number(text, value, hint=section.exact(value, unit))
        if value is not None
        else section.number(NOT_KNOWN, None)
    )


def _us(value: float | None) -> section.TableCell:
    return _number(value, microseconds(value), "µs")


def _per(total: float | None, divisor: int, unit: str, digits: int = 2) -> section.TableCell:
    value = total / divisor if total is not None and divisor else None
    return _number(value, decimals(value, digits), unit)


def _late(delays: Sequence[LoopDelayUs]) -> section.TableCell:
    """The delays of the event loop, in ms, of the server whose timers came latest."""
    if not delays:
        return section.number(NOT_KNOWN, None)

    latest = max(delays, key=lambda delay: delay.p99)
    text = " / ".join(
        milliseconds(delay_us / 1000) for delay_us in (latest.p50, latest.p99, latest.max)
    )
    return section.number(text, latest.p99)


def _pauses(servers: Sequence[Server]) -> section.TableCell:
    """The pauses of all servers by kind: `minor 320, longest 1.20 ms; major 2, longest 4.10 ms`."""
    by_kind: dict[str, list[Gc]] = {}
    for server in servers:
        for kind, record in server.gc.items():
            by_kind.setdefault(kind, []).append(record)

    ordered = sorted(
        by_kind, key=lambda kind: (_KINDS.index(kind) if kind in _KINDS else len(_KINDS), kind)
    )
    text = "; ".join(
        f"{kind} {count(sum(record.pauses for record in by_kind[kind]))}, "
        f"longest {milliseconds(max(record.longest_us for record in by_kind[kind]) / 1000)} ms"
        for kind in ordered
    )
    return section.TableCell(
        (text or "none") if any(server.requests for server in servers) else NOT_KNOWN
    )


def _two(totals: Sequence[float | None], divisor: int, digits: int, unit: str) -> section.TableCell:
    known_values = [total / divisor for total in totals if total is not None and divisor]
    if len(known_values) < 2:
        return section.number(NOT_KNOWN, None)
    return _number(
        sum(known_values), " + ".join(decimals(value, digits) for value in known_values), unit
    )


def _cells(run: Run, record: Diagnosis, kinds: Sequence[str]) -> tuple[section.TableCell, ...]:
    """The cells of a run, over all servers and all store nodes.

    Figures of servers are per request that they finished under the instruments. Figures of the
    store are per command with a decision that it ran."""
    cpu_us = _cpu_us(run)
    servers = list(record.servers.values())
    nodes = record.nodes
    commands = [command for node in nodes for command in node.commands.values()]
    requests = sum(server.requests for server in servers)
    decisions = sum(entry.calls for entry in commands)

    def of_servers(part: str, *names: str) -> list[int | None]:
        parts = [getattr(server, part) for server in servers]
        return [total_of([getattr(entry, name, None) for entry in parts]) for name in names]

    allocated = total_of([server.allocated_bytes for server in servers])
    p99s_us = [command.p99_us for command in commands if command.p99_us is not None]
    network = [
        total_of([getattr(node, name) for node in nodes])
        for name in ("received_bytes", "sent_bytes")
    ]
    return (
        *(_us(cpu_us.get(kind)) for kind in kinds),
        _per(
            sum(entry.total_us for server in servers for entry in server.gc.values()),
            requests,
            "µs",
        ),
        _pauses(servers),
        _late([server.loop_delay_us for server in servers if server.loop_delay_us]),
        _per(allocated, requests, "bytes", digits=0),
        _two(of_servers("context_switches", "voluntary", "involuntary"), requests, 2, "switches"),
        _two(of_servers("system_calls", "reads", "writes"), requests, 2, "calls"),
        _per(sum(command.us for command in commands), decisions, "µs"),
        _us(max(p99s_us, default=None)),
        _two(network, decisions, 0, "bytes"),
    )


def _cpu_us(run: Run) -> Mapping[str, float]:
    return cpu_us_per_request(run.measured.record.resources) if run.measured else {}


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


def diagnosis(analysis: Analysis) -> section.Section | None:
    runs = [(run, run.record.diagnosis) for run in analysis.campaign.beside if run.record.diagnosis]
    runs.sort(
        key=lambda run_and_record: (row_order(run_and_record[0].identity), run_and_record[0].run)
    )
    if not runs:
        return None
    ids = {summary.identity.key: summary.id for summary in analysis.summaries}
    tables = tuple(_table(runs, open_loop, ids) for open_loop, _ in by_loop(run for run, _ in runs))
    return section.Section(
        "diagnosis",
        "Where a request’s microseconds go",
        plural(len(runs), "diagnosing run"),
        tables=tables,
        open=not analysis.summaries,
    )


def _table(
    diagnosed_runs: Sequence[tuple[Run, Diagnosis]], open_loop: bool, ids: Mapping[str, str]
) -> section.Table:
    """The table of one kind of loop. A request costs something else at full load than at a rate."""
    runs = [(run, record) for run, record in diagnosed_runs if run.identity.open_loop is open_loop]
    kinds = [kind for kind in MEASURED_KINDS if any(kind in _cpu_us(run) for run, _ in runs)]
    varying = varying_fields([run for run, _ in diagnosed_runs])
    unit = at_its_load("µs per request", open_loop)
    columns = (
        *section.words("Configuration", "Load"),
        *section.numbers([(f"{kind.capitalize()} CPU", unit) for kind in kinds], "number"),
        *(
            section.Column(name, unit, "" if name == "Its pauses" else "number")
            for name, unit in _COLUMNS
        ),
        *section.words("Verdict", "Reasons"),
        section.RAW,
    )
    rows = []
    for run, record in runs:
        row_id = ids.get(run.identity.key, "")
        cells = (
            *section.named(run.identity.label, load_text(run.identity, varying)),
            *_cells(run, record, kinds),
            *run_cells(run),
        )
        rows.append(section.TableRow(row_id, cells, colour=row_id))
    table_id, title = (
        ("diagnosis-rows-at-rate", "At a rate") if open_loop else ("diagnosis-rows", "")
    )
    return section.table_of(table_id, columns, rows, title, caption=CAPTION)
