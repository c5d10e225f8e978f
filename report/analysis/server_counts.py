"""Several servers on one store: how throughput grows, what each added server brings and costs, how
evenly the servers share the load, how long they take to start together, and what was the limit."""

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec import Struct, structs

from report.analysis.cells import subject
from report.analysis.figures import PARTS, Figure, server_cpu, throughput
from report.analysis.summary import Summary, attributable, sample_between
from report.analysis.texts import load_text, varying_fields
from report.base.contract import CONSTANTS
from report.results.model import Identity, Measured
from report.statistics.decision import Comparison, compare_samples
from report.statistics.ratio import ratio_of_pairs
from report.statistics.run_samples import jain_index
from report.statistics.samples import Sample

_SLICES_PER_SECOND = 1000 // CONSTANTS["slice_ms"]


def _least_to_most(figures: Measured) -> float | None:
    answers = figures.answers_by_server
    return min(answers) / max(answers) if sum(answers) > 0 else None


def ready_s(figures: Measured) -> list[float]:
    """Seconds from the start of each server until it was ready; empty where it is not known."""
    return list((figures.record.servers_ready_s or {}).values())


#: By the names of the exports: the figures of a number of servers, with their decimals there.
FIGURES: Mapping[str, tuple[Figure, int]] = {
    "requests_per_second": (throughput, 3),
    "server_cpu_us_per_request": (server_cpu, 3),
    "store_cpu_us_per_consume": (PARTS["store"], 3),
    # Jain's index of the answers of the servers: 1 where all gave the same number.
    "fairness_index": (Figure(lambda figures: jain_index(figures.answers_by_server), True), 6),
    # Answers of the server that gave the fewest, of those of the one that gave the most.
    "fewest_to_most_answers": (Figure(_least_to_most, True), 6),
    # Seconds from the start of all servers until the last was ready.
    "all_ready_s": (Figure(lambda figures: max(ready_s(figures), default=None)), 3),
}


class AddedServer(Struct, frozen=True):
    """What one more server brings, as a share of what each of the servers before it gave: 1 is
    linear. The interval is that of the ratio of both throughputs; None without one."""

    estimate: float
    low: float | None
    high: float | None


class FirstSecond(Struct, frozen=True):
    """The first second beside the rest, and the p99 of both in the selected run; None where not
    known."""

    ratio: float
    """Of both rates, within each run."""
    low: float | None
    high: float | None
    p99_ms: float | None
    rest_p99_ms: float | None
    """The median of the other seconds."""


class ServerStep(Struct, frozen=True):
    """One number of servers."""

    summary: Summary
    ratios: Mapping[str, Comparison]
    """To the fewest servers, which have none: throughput of a server, where 1 is linear growth, CPU
    of all servers per request, and CPU of the store per consume."""
    added: AddedServer | None
    """Against the number of servers before this one."""
    first_second: FirstSecond | None
    """None where windows are shorter than two seconds, or fewer than two runs count."""

    @property
    def servers(self) -> int:
        return self.summary.identity.servers


class ServerScaling(Struct, frozen=True):
    name: str
    identity: Identity
    """The identity of the row with the fewest servers."""
    steps: tuple[ServerStep, ...]
    """At least two, the fewest servers first."""


def _per_server(new: Summary, base: Summary, figure: Figure) -> Sample:
    sample = sample_between(new, base, figure)
    ours = new.identity.servers
    theirs = base.identity.servers
    return structs.replace(
        sample,
        new=tuple(value / ours for value in sample.new),
        base=tuple(value / theirs for value in sample.base),
        pairs=tuple((value / ours, other / theirs) for value, other in sample.pairs),
    )


def _added(comparison: Comparison, new: Summary, before: Summary) -> AddedServer | None:
    """From the ratio of throughputs, which every end of the interval follows in the same way."""
    if comparison.ratio is None:
        return None
    ours = new.identity.servers
    theirs = before.identity.servers
    interval = comparison.interval

    def brought(ratio: float) -> float:
        return (ratio - 1) * theirs / (ours - theirs)

    ends = (brought(interval.low), brought(interval.high)) if interval else (None, None)
    return AddedServer(brought(comparison.ratio), *ends)


def _first_second(summary: Summary) -> FirstSecond | None:
    pairs = []
    for run in summary.runs:
        slices = list(run.measured.answers_each_slice) if run.measured and run.eligible else []
        first = slices[:_SLICES_PER_SECOND]
        rest = slices[_SLICES_PER_SECOND:]
        if len(rest) >= _SLICES_PER_SECOND and sum(first) > 0 and sum(rest) > 0:
            pairs.append((sum(first) / len(first), sum(rest) / len(rest)))
    if len(pairs) < 2:
        return None
    seconds = summary.selected_figures.seconds if summary.selected_figures else ()
    later = [second.p99_ms for second in seconds[1:] if second.p99_ms is not None]
    ratio = ratio_of_pairs(pairs)
    return FirstSecond(
        ratio.estimate,
        ratio.interval.low if ratio.interval else None,
        ratio.interval.high if ratio.interval else None,
        seconds[0].p99_ms if seconds else None,
        median(later) if later else None,
    )


def _compared(
    pairs: Sequence[tuple[Summary, Summary]], figure: Figure, per_server: bool = False
) -> dict[str, Comparison]:
    sample = _per_server if per_server else sample_between
    samples = [sample(new, base, figure) for new, base in pairs]
    family = compare_samples(samples, higher_is_better=figure.higher_is_better)
    return {
        new.id: attributable(comparison, base, new)
        for (new, base), comparison in zip(pairs, family, strict=True)
    }


def several_servers(summaries: Sequence[Summary]) -> tuple[ServerScaling, ...]:
    """The targets of closed loops that were measured with several numbers of servers, in their
    order. Copies of references are left out: they say nothing about servers."""
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
    before = {new.id: base for rows in targets for new, base in zip(rows[1:], rows, strict=False)}
    ratios = {
        "throughput_per_server": _compared(to_fewest, throughput, per_server=True),
        "server_cpu": _compared(to_fewest, server_cpu),
        "store_cpu": _compared(to_fewest, PARTS["store"]),
    }
    rows_by_id = {row.id: row for rows in targets for row in rows}
    grown = _compared([(rows_by_id[new], base) for new, base in before.items()], throughput)

    def step(row: Summary) -> ServerStep:
        of_row = {
            name: ratios_by_row[row.id]
            for name, ratios_by_row in ratios.items()
            if row.id in ratios_by_row
        }
        added = _added(grown[row.id], row, before[row.id]) if row.id in before else None
        return ServerStep(row, of_row, added, _first_second(row))

    parts = [part for part in varying_fields(summaries) if part.name != "Servers"]
    several_runtimes = len({rows[0].runtime for rows in targets}) > 1

    def name(row: Summary) -> str:
        texts = (
            row.identity.label,
            load_text(row.identity, parts),
            row.runtime if several_runtimes else "",
        )
        return ", ".join(filter(None, texts))

    return tuple(
        ServerScaling(name(rows[0]), rows[0].identity, tuple(map(step, rows))) for rows in targets
    )
