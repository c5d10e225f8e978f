"""Several servers on one store: how throughput grows, what each added server brings and costs, how evenly the
servers share the load, how long they take to start together, and what was the limit."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median

from report.analysis.decision_cpu import PARTS
from report.analysis.figures import Figure, server_cpu, throughput
from report.analysis.foreign_cpu import attributable
from report.analysis.load_text import load_text, varying_fields
from report.analysis.summary import Summary, sample_between
from report.results.model import Identity, Measured
from report.statistics.decision import Comparison, compare_samples
from report.statistics.fairness import jain_index
from report.statistics.ratio import Ratio, ratio_of_pairs
from report.statistics.samples import Sample

_SLICES_PER_SECOND = 10

#: CPU of the store in µs per consume.
store_cpu_per_consume = PARTS["store"]


def _fairness(figures: Measured) -> float | None:
    return jain_index(figures.answers_by_server)


def _least_to_most(figures: Measured) -> float | None:
    answers = figures.answers_by_server
    return min(answers) / max(answers) if sum(answers) > 0 else None


def _all_ready_s(figures: Measured) -> float | None:
    return max((figures.record.servers_ready_s or {}).values(), default=None)


#: Jain's index of the answers of the servers: 1 where all gave the same number.
fairness = Figure(_fairness, higher_is_better=True)

#: Answers of the server that gave the fewest, of those of the one that gave the most.
least_to_most = Figure(_least_to_most, higher_is_better=True)

#: Seconds from the start of all servers until the last was ready.
all_ready_s = Figure(_all_ready_s)


@dataclass(frozen=True, slots=True)
class AddedServer:
    """What one more server brings, as a share of what each of the servers before it gave: 1 is linear. The
    interval is that of the ratio of both throughputs; None without one."""

    estimate: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class FirstSecond:
    throughput: Ratio
    """The ratio of both rates, within each run."""
    p99_ms: float | None
    """The p99 of the median run; None where it kept no seconds, like `rest_p99_ms`."""
    rest_p99_ms: float | None
    """The median of its other seconds."""


@dataclass(frozen=True, slots=True)
class ServerStep:
    """One number of servers. Comparisons are None for the fewest servers, with which the others are
    compared."""

    summary: Summary
    of_linear: Comparison | None = None
    """Throughput of a server: a ratio of 1 is linear growth."""
    added: AddedServer | None = None
    """Against the number of servers before this one."""
    server_cpu: Comparison | None = None
    """CPU of all servers per request."""
    store_cpu: Comparison | None = None
    """CPU of the store per consume."""
    first_second: FirstSecond | None = None
    """None where windows are shorter than two seconds, or fewer than two runs count."""

    @property
    def servers(self) -> int:
        return self.summary.identity.servers


@dataclass(frozen=True, slots=True)
class ServerScaling:
    name: str
    identity: Identity
    """The identity of the row with the fewest servers."""
    steps: tuple[ServerStep, ...]
    """At least two, the fewest servers first."""

    @property
    def summary_ids(self) -> tuple[str, ...]:
        return tuple(step.summary.id for step in self.steps)


def target_key(summary: Summary) -> tuple[object, ...]:
    """What tells a target under one load in one runtime apart: all but the number of servers."""
    identity = summary.identity
    own = ("key", "configuration_hash", "counts")
    return (
        summary.runtime,
        *(count for key, count in identity.counts.items() if key != "servers"),
        *(getattr(identity, field.name) for field in fields(identity) if field.name not in own),
    )


def _per_server(new: Summary, base: Summary) -> Sample:
    sample = sample_between(new, base, throughput)
    ours, theirs = new.identity.servers, base.identity.servers
    return replace(
        sample,
        new=tuple(value / ours for value in sample.new),
        base=tuple(value / theirs for value in sample.base),
        pairs=tuple((value / ours, other / theirs) for value, other in sample.pairs),
    )


def _added(comparison: Comparison, new: Summary, before: Summary) -> AddedServer | None:
    """From the ratio of throughputs, which every end of the interval follows in the same way."""
    if comparison.ratio is None:
        return None
    ours, theirs = new.identity.servers, before.identity.servers

    def brought(ratio: float) -> float:
        return (ratio - 1) * theirs / (ours - theirs)

    interval = comparison.interval
    return AddedServer(
        brought(comparison.ratio),
        brought(interval.low) if interval else None,
        brought(interval.high) if interval else None,
    )


def _first_second(summary: Summary) -> FirstSecond | None:
    pairs = []
    for run in summary.runs:
        slices = list(run.measured.answers_each_slice) if run.measured and run.eligible else []
        first, rest = slices[:_SLICES_PER_SECOND], slices[_SLICES_PER_SECOND:]
        if len(rest) >= _SLICES_PER_SECOND and sum(first) > 0 and sum(rest) > 0:
            pairs.append((sum(first) / len(first), sum(rest) / len(rest)))
    if len(pairs) < 2:
        return None
    seconds = summary.figures.seconds if summary.figures else ()
    later = [second.p99_ms for second in seconds[1:] if second.p99_ms is not None]
    return FirstSecond(
        ratio_of_pairs(pairs),
        seconds[0].p99_ms if seconds else None,
        median(later) if later else None,
    )


Compare = Callable[[Summary, Summary], Sample]


def _compared(
    pairs: Sequence[tuple[Summary, Summary]], sample: Compare, higher_is_better: bool
) -> dict[str, Comparison]:
    family = compare_samples([sample(new, base) for new, base in pairs], higher_is_better=higher_is_better)
    return {
        new.id: attributable(comparison, base, new)
        for (new, base), comparison in zip(pairs, family, strict=True)
    }


def several_servers(summaries: Sequence[Summary]) -> tuple[ServerScaling, ...]:
    """The targets of closed loops that were measured with several numbers of servers, in their order. Copies
    of references are left out: they say nothing about servers."""
    groups: dict[tuple[object, ...], list[Summary]] = {}
    for summary in summaries:
        identity = summary.identity
        if identity.servers and not identity.open_loop and not identity.copy:
            groups.setdefault(target_key(summary), []).append(summary)
    targets = [
        sorted(rows, key=lambda row: row.identity.servers) for rows in groups.values() if len(rows) > 1
    ]
    if not targets:
        return ()
    to_fewest = [(row, rows[0]) for rows in targets for row in rows[1:]]
    to_before = [pair for rows in targets for pair in zip(rows[1:], rows, strict=False)]

    def of(figure: Figure) -> Compare:
        return lambda new, base: sample_between(new, base, figure)

    linear = _compared(to_fewest, _per_server, True)
    grown = _compared(to_before, of(throughput), True)
    server = _compared(to_fewest, of(server_cpu), False)
    store = _compared(to_fewest, of(store_cpu_per_consume), False)
    before = {new.id: base for new, base in to_before}

    def step(row: Summary) -> ServerStep:
        return ServerStep(
            summary=row,
            of_linear=linear.get(row.id),
            added=_added(grown[row.id], row, before[row.id]) if row.id in before else None,
            server_cpu=server.get(row.id),
            store_cpu=store.get(row.id),
            first_second=_first_second(row),
        )

    names = target_names([rows[0] for rows in targets], summaries)
    return tuple(
        ServerScaling(name, rows[0].identity, tuple(map(step, rows)))
        for name, rows in zip(names, targets, strict=True)
    )


def target_names(firsts: Sequence[Summary], summaries: Iterable[Summary]) -> list[str]:
    parts = [part for part in varying_fields(list(summaries)) if part.name != "Servers"]
    runtimes = {row.runtime for row in firsts}
    return [
        ", ".join(
            filter(
                None,
                (
                    row.identity.label,
                    load_text(row.identity, parts),
                    row.runtime if len(runtimes) > 1 else "",
                ),
            )
        )
        for row in firsts
    ]
