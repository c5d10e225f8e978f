"""The sections of a campaign's page in their order. A new section takes a file in this folder and
an entry in `SECTIONS`."""

from collections.abc import Callable, Sequence

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import Figure, consumer_cpu, percentile, store_memory, throughput
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, at_its_load, by_loop, layer_text
from report.base.format import Show, joined, mebibytes, microseconds, milliseconds, rate
from report.sections.adaptive import adaptive
from report.sections.all_figures import all_figures
from report.sections.best_performers import best_section
from report.sections.boundary import promises
from report.sections.client_vs_script import client_vs_script_section
from report.sections.cpu import decision_cpu_tables, limiter_cost, resources
from report.sections.diagnosis import diagnosis
from report.sections.environment import environment
from report.sections.failed_requests import failures
from report.sections.faults import fault_runs, faults
from report.sections.latency_at_full_load import GROUPS_TEXT, latency_tables
from report.sections.latency_at_rate import latency_at_rate
from report.sections.load_curve import load_curve
from report.sections.max_rate import max_rate
from report.sections.memory_per_key import memory_per_key_section
from report.sections.printed_programs import load_programs, store_operations
from report.sections.problems import problems
from report.sections.rules import rules_section
from report.sections.runs import all_runs
from report.sections.section import Section
from report.sections.settled import settled
from report.sections.several_servers import several_servers
from report.sections.thresholds import thresholds


def _span(rows: Sequence[Summary], figure: Figure, show: Show, unit: str, beginning: str) -> str:
    """`From 15,096 (valkey-glide) to 24,611 (iovalkey) requests/s, medians of runs.`

    It is empty for fewer than two rows with a value."""
    valued_rows = [
        (value, row) for row in rows if (value := row.figure_of(figure).value) is not None
    ]
    if len(valued_rows) < 2:
        return ""
    (low, lowest_row) = min(valued_rows, key=lambda valued_row: valued_row[0])
    (high, highest_row) = max(valued_rows, key=lambda valued_row: valued_row[0])
    names = [row.identity.short_label for row in (lowest_row, highest_row)]
    return f"{beginning} {show(low)} ({names[0]}) to {show(high)} ({names[1]}) {unit}, medians of runs."


def _clients(analysis: Analysis) -> list[Summary]:
    """The rows of clients at the layer of the first one. Figures of two layers are not alike."""
    rows = [row for row in analysis.ordered if not row.identity.control]
    return [row for row in rows if row.identity.layer == rows[0].identity.layer]


def throughput_topic(analysis: Analysis) -> Section:
    rows = [row for row in _clients(analysis) if not row.identity.open_loop]
    unit = layer_text(rows[0].identity.layer).rate_unit if rows else ""
    answer = _span(rows, throughput, rate, unit, "From")
    undrawn = [row.identity.short_label for row in analysis.ordered if not row.has_figures]
    notes = (f"Without figures, and so in no chart: {joined(undrawn)}.",) if undrawn else ()
    charts = ("throughput", "trend", "tradeoff", "ceiling")
    return Section("throughput", "Throughput", answer, charts=charts, notes=notes)


def latency_topic(analysis: Analysis) -> Section:
    rows = [row for row in _clients(analysis) if not row.identity.open_loop]
    # Rows from groups of different sizes share no sentence, because latency moves with the size.
    shared_sizes = set.intersection(*(set(row.group_sizes) for row in rows)) if rows else set()
    rows_of_size = [row.in_groups_of(max(shared_sizes)) for row in rows] if shared_sizes else []
    beginning = f"p99 {AT_FULL_LOAD}, {rows_of_size[0].group_text}: from" if rows_of_size else ""
    answer = _span(rows_of_size, percentile("p99"), milliseconds, "ms", beginning)
    tables = latency_tables(analysis)
    charts = ("latency", "latency-trend", "percentiles")
    text = (GROUPS_TEXT,) if tables else ()
    return Section("latency", "Latency", answer, text=text, tables=tables, charts=charts)


def cpu_topic(analysis: Analysis) -> Section:
    rows = _clients(analysis)
    answer = ""
    if rows:
        text = layer_text(rows[0].identity.layer)
        open_loop, rows = by_loop(rows)[0]
        beginning = at_its_load(text.cpu_title, open_loop=open_loop)
        answer = _span(rows, consumer_cpu, microseconds, text.cpu_unit, f"{beginning}: from")
    charts = ("cpu", "cpu-at-rate")
    return Section(
        "cpu", "CPU by role", answer, tables=decision_cpu_tables(analysis), charts=charts
    )


def memory_topic(analysis: Analysis) -> Section:
    answer = _span(_clients(analysis), store_memory, mebibytes, "MiB", "Store: from")
    return Section("memory", "Memory by role", answer, charts=("memory",))


def correctness_topic(analysis: Analysis) -> Section:
    answer = "the share of limited answers, predicted and seen"
    return promises(analysis.ordered) or Section(
        "correctness", "Correctness", answer, charts=("limited",)
    )


def over_time_topic(_: Analysis) -> Section:
    kinds = ("consumer", "store", "service")
    usage = [f"{kind}-{figure}-over-time" for kind in kinds for figure in ("cpu", "memory")]
    answer = "each second of the selected runs: throughput, CPU, memory"
    return Section("over-time", "Over time", answer, charts=("series", *usage))


SECTIONS: tuple[Callable[[Analysis], Section | None], ...] = (
    thresholds,
    load_curve,
    max_rate,
    best_section,
    client_vs_script_section,
    throughput_topic,
    latency_topic,
    latency_at_rate,
    cpu_topic,
    limiter_cost,
    memory_topic,
    memory_per_key_section,
    correctness_topic,
    faults,
    over_time_topic,
    several_servers,
    load_programs,
    store_operations,
    all_figures,
    resources,
    diagnosis,
    adaptive,
    failures,
    problems,
    all_runs,
    fault_runs,
    rules_section,
    environment,
    settled,
)


def sections_of(analysis: Analysis) -> list[Section]:
    return [section for build in SECTIONS if (section := build(analysis))]
