"""Compares numbers of servers on one store.

It tells how throughput grows, what each added server brings and costs, how evenly the servers share
the load, how long they take to start together, and what the limit was."""

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct, structs

from report.analysis.figures import PARTS, Figure, server_cpu, throughput
from report.analysis.row_pairs import sample_between
from report.analysis.subjects import subject
from report.analysis.summary import Summary, attributable
from report.analysis.texts import load_text, varying_fields
from report.base.contract import CONSTANTS
from report.results.identity import Identity
from report.results.model import Measured
from report.statistics.comparison import DEFAULT_MARGIN, Comparison
from report.statistics.decision import compare_samples
from report.statistics.ratio import ratio_of_pairs
from report.statistics.run_samples import jain_index
from report.statistics.samples import Sample

_SLICES_PER_SECOND = 1000 // CONSTANTS["slice_ms"]


def _least_to_most(figures: Measured) -> float | None:
    answers = figures.answers_by_server
    return min(answers) / max(answers) if sum(answers) > 0 else None


def ready_s(figures: Measured) -> list[float]:
    """The seconds from the start of each server until it was ready. Empty if they are not known."""
    return list((figures.record.servers_ready_s or {}).values())


#: The figures of a number of servers by their names in exports, with their decimals there.
SCALING_FIGURES: Mapping[str, tuple[Figure, int]] = {
    "requests_per_second": (throughput, 3),
    "server_cpu_us_per_request": (server_cpu, 3),
    "store_cpu_us_per_consume": (PARTS["store"], 3),
    # Jain's index of the answers of the servers is 1 if all gave the same number.
    "fairness_index": (Figure(lambda figures: jain_index(figures.answers_by_server), True), 6),
    # The fewest answers of a server, as a share of the most answers of a server.
    "fewest_to_most_answers": (Figure(_least_to_most, True), 6),
    # The seconds from the start of all servers until the last one was ready.
    "all_ready_s": (Figure(lambda figures: max(ready_s(figures), default=None)), 3),
}


class AddedServer(Struct, frozen=True):
    """The throughput that one more server brings, as a share of the throughput per server before it
    was added. Linear growth is 1. The ends of the interval follow from those of the ratio of both
    throughputs, and are None without them."""

    estimate: float
    low: float | None
    high: float | None


class FirstSecond(Struct, frozen=True):
    """The first second compared with the other seconds. The p99 of both are those of the selected
    run, or None if they are not known."""

    ratio: float
    """The rate of the first second ÷ that of the others, over the ratios within each run."""
    low: float | None
    high: float | None
    p99_ms: float | None
    rest_p99_ms: float | None
    """The median of the other seconds."""


class ServerStep(Struct, frozen=True):
    """A target with one number of servers."""

    summary: Summary
    ratios: Mapping[str, Comparison]
    """The comparisons with the row of the fewest servers, which has none itself. They are by the
    throughput per server, where 1 is linear growth, by the CPU of all servers per request, and by
    the CPU of the store per consume."""
    added: AddedServer | None
    """The gain over the next smaller number of servers."""
    first_second: FirstSecond | None
    """None if windows are shorter than two seconds, or fewer than two runs count."""

    @property
    def servers(self) -> int:
        return self.summary.identity.servers


class ServerScaling(Struct, frozen=True):
    name: str
    identity: Identity
    """The identity of the row with the fewest servers."""
    steps: tuple[ServerStep, ...]
    """At least two steps, with the fewest servers first."""


def _per_server(new: Summary, base: Summary, figure: Figure) -> Sample:
    sample = sample_between(new, base, figure)
    new_servers = new.identity.servers
    base_servers = base.identity.servers
    return structs.replace(
        sample,
        new=tuple(value / new_servers for value in sample.new),
        base=tuple(value / base_servers for value in sample.base),
        pairs=tuple(
            (new_value / new_servers, base_value / base_servers)
            for new_value, base_value in sample.pairs
        ),
    )


def _added(comparison: Comparison, new: Summary, before: Summary) -> AddedServer | None:
    """Derives the share from the ratio of the throughputs, and its interval from the interval of
    that ratio."""
    if comparison.ratio is None:
        return None

    new_servers = new.identity.servers
    servers_before = before.identity.servers
    interval = comparison.interval

    def share_of(ratio: float) -> float:
        return (ratio - 1) * servers_before / (new_servers - servers_before)

    ends = (share_of(interval.low), share_of(interval.high)) if interval else (None, None)
    return AddedServer(share_of(comparison.ratio), *ends)


def _first_second(summary: Summary) -> FirstSecond | None:
    pairs = []
    for run in summary.runs:
        slices = list(run.measured.answers_each_slice) if run.measured and run.eligible else []
        first = slices[:_SLICES_PER_SECOND]
        later = slices[_SLICES_PER_SECOND:]
        if len(later) >= _SLICES_PER_SECOND and sum(first) > 0 and sum(later) > 0:
            pairs.append((sum(first) / len(first), sum(later) / len(later)))
    if len(pairs) < 2:
        return None

    seconds = summary.selected_figures.seconds if summary.selected_figures else ()
    later_p99s_ms = [second.p99_ms for second in seconds[1:] if second.p99_ms is not None]
    ratio = ratio_of_pairs(pairs)
    return FirstSecond(
        ratio.estimate,
        ratio.interval.low if ratio.interval else None,
        ratio.interval.high if ratio.interval else None,
        seconds[0].p99_ms if seconds else None,
        median(later_p99s_ms) if later_p99s_ms else None,
    )


def _compared(
    pairs: Sequence[tuple[Summary, Summary]], figure: Figure, per_server: bool = False
) -> dict[str, Comparison]:
    """The comparison of each pair, which is a new row and its base, by the id of the new row."""
    sample = _per_server if per_server else sample_between
    samples = [sample(new, base, figure) for new, base in pairs]
    family = compare_samples(
        samples, pairs[0][0].margin if pairs else DEFAULT_MARGIN, figure.higher_is_better
    )
    return {
        new.id: attributable(comparison, base, new)
        for (new, base), comparison in zip(pairs, family, strict=True)
    }


def several_servers(summaries: Sequence[Summary]) -> tuple[ServerScaling, ...]:
    """The targets of closed loops that were measured with several numbers of servers, in their
    order. Copies of references do not take part, because they say nothing about servers."""
    groups: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        identity = summary.identity
        if identity.servers and not identity.open_loop and not identity.copy:
            target = subject(identity, counts={**identity.counts, "servers": 0})
            groups.setdefault((summary.runtime, target), []).append(summary)

    targets = [
        sorted(group, key=lambda row: row.identity.servers)
        for group in groups.values()
        if len(group) > 1
    ]

    to_fewest = [(row, rows[0]) for rows in targets for row in rows[1:]]
    row_before = {
        new.id: base for rows in targets for new, base in zip(rows[1:], rows, strict=False)
    }
    ratios = {
        "throughput_per_server": _compared(to_fewest, throughput, per_server=True),
        "server_cpu": _compared(to_fewest, server_cpu),
        "store_cpu": _compared(to_fewest, PARTS["store"]),
    }
    rows_by_id = {row.id: row for rows in targets for row in rows}
    growth = _compared(
        [(rows_by_id[row_id], base) for row_id, base in row_before.items()], throughput
    )

    def step(row: Summary) -> ServerStep:
        row_ratios = {
            name: ratios_by_row[row.id]
            for name, ratios_by_row in ratios.items()
            if row.id in ratios_by_row
        }
        added = None
        if row.id in row_before:
            added = _added(growth[row.id], row, row_before[row.id])
        return ServerStep(row, row_ratios, added, _first_second(row))

    parts = [part for part in varying_fields(summaries) if part.name != "Servers"]
    has_several_runtimes = len({rows[0].runtime for rows in targets}) > 1

    def name(row: Summary) -> str:
        texts = (
            row.identity.label,
            load_text(row.identity, parts),
            row.runtime if has_several_runtimes else "",
        )
        return ", ".join(filter(None, texts))

    return tuple(
        ServerScaling(name(rows[0]), rows[0].identity, tuple(map(step, rows))) for rows in targets
    )
