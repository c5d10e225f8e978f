"""Summarizes a configuration over its runs, with its figures, selected run and warnings, and says
how rows are compared."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from statistics import median
from typing import Any

from msgspec import Struct, structs

from report.analysis.figures import Figure, FigureSummary, over_runs, p50, throughput
from report.analysis.limits import Limit, limit_over
from report.analysis.texts import LayerText, layer_text
from report.base.format import counted_runs_text, percent, plural, rate
from report.results import model
from report.results.generated.records import Boundary, LimiterScript
from report.statistics.decision import Comparison
from report.statistics.histograms import Bounds, merged_percentiles
from report.statistics.instability import MAX_CV_PERCENT, Ramp, trend, two_levels, warm_up_ramp
from report.statistics.run_samples import Spread, select_run, spread
from report.statistics.samples import Place, Sample, sample_of, upto
from report.statistics.sequential import LookSchedule


def _ramp_text(ramp: Ramp) -> str:
    pace = "slower" if ramp.change < 0 else "faster"
    or_longer = " or longer" if ramp.to_the_middle else ""
    change = percent(100 * abs(ramp.change))
    return (
        f"The first {ramp.seconds:.2g} s{or_longer} of the window are {change} {pace} "
        f"than the rest: the warm-up is too short (--warmup auto, or {math.ceil(ramp.seconds)} s more)."
    )


def warnings_of(runs: Sequence[model.Run]) -> Iterator[str]:
    """A sentence for each property of the runs that a median and an interval would hide."""
    counted = [run for run in runs if run.eligible and run.measured is not None]
    ordered = sorted(counted, key=lambda run: (run.record.started_at, run.run))
    values = [run.measured.requests_per_second for run in ordered if run.measured]
    unit = layer_text(counted[0].identity.layer).rate_unit if counted else ""

    distribution = spread(values)
    if (
        distribution
        and distribution.count >= 3
        and distribution.cv_percent is not None
        and distribution.cv_percent > MAX_CV_PERCENT
    ):
        yield (
            f"Runs lie far apart: CV {percent(distribution.cv_percent)}, "
            f"from {rate(distribution.min)} to {rate(distribution.max)} {unit}."
        )

    if drift := trend(values):
        share = f"{100 * drift.change:+.1f} %"
        yield f"Runs drift: {share} from the first to the last in time (p = {drift.p:.2g})."

    if levels := two_levels(values):
        yield (
            f"Runs have two levels: {levels.low_runs} near {rate(levels.low)} and {levels.high_runs} near "
            f"{rate(levels.high)} {unit}. A median is of one of them."
        )

    closed_loops = [run.measured for run in ordered if run.measured and not run.identity.open_loop]
    if ramp := warm_up_ramp([figures.answers_each_slice for figures in closed_loops]):
        yield _ramp_text(ramp)


#: The smallest number of runs whose quartiles mean something.
MIN_RUNS_FOR_QUARTILES = 5

_WORST_LAST = ("valid", "suspect", "invalid")
_TOPOLOGIES = ("standalone", "cluster")
_WORKLOADS = ("light", "heavy")


class Row(Struct, frozen=True, kw_only=True):
    """A configuration with its runs, whose load came from our generator or a load program."""

    identity: model.Identity
    runs: tuple[model.Run, ...]
    """The runs, sorted by number."""
    missing: tuple[int, ...]
    """The numbers of planned runs without a file."""
    places: frozenset[Place] = frozenset()
    """The round and group of each planned run. Empty in consecutive order."""
    by_turns: bool = False
    """Whether its runs took place at the same time as those with which they are compared."""

    def values(self, read: Callable[[Any], float | None]) -> tuple[float, ...]:
        """The values of a figure in the runs that count and have it."""
        raise NotImplementedError

    @property
    def planned_rounds(self) -> int:
        return len({number for number, _ in self.places})

    @property
    def foreign_cpu_percent(self) -> float | None:
        """The median foreign CPU of the runs that count, in % of one CPU. None if it is not
        known."""

        def read(figures: Any) -> float | None:
            # The figures of a load program are the record itself.
            load = getattr(figures, "record", figures).host_load
            return load.foreign_cpu_percent if load else None

        values = self.values(read)
        return median(values) if values else None


class Summary(Row, frozen=True, kw_only=True):
    """A configuration whose load came from our generator, with its figures over the runs."""

    id: str
    """A short id of the row, which is safe in HTML and scripts."""
    selected: model.Run | None
    """The selected run, see `select_run`. None if no run counts."""
    merged: Mapping[str, Bounds] = {}
    """The percentiles from the merged histogram of the runs, which stand for those of single runs
    with too few samples (rule M18)."""
    medians: dict[Figure, FigureSummary] = {}
    """The figures that `figure_of` has computed already."""
    comparable: dict[Figure, Sequence[tuple[model.Run, float]]] = {}
    """The values that `compared` has read already."""
    spread: Spread | None
    """The spread of the requests per second over the runs that served their load."""
    warnings: tuple[str, ...]
    """The sentences of `warnings_of`."""
    look_schedule: LookSchedule | None = None
    """The looks of a campaign that found out how many runs it needs (`--runs auto`)."""
    last_look: int = 0
    """The round of the last look that took place in such a campaign."""
    set_aside: tuple[model.Run, ...] = ()
    """Runs that were measured again. Tables list them, and no figure uses them."""
    ranking: model.PlannedRanking
    """The planned ranking to which it belongs."""
    targets_by_place: Mapping[Place, int] = {}
    """The number of targets that were up at once in each of its groups. Empty if it had the machine
    for itself."""

    @property
    def reference(self) -> bool:
        """Whether the other rows of its ranking are compared with it."""
        return self.ranking.reference == self.identity.key

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """The sizes of its groups, with the smallest first. The size is 1 if it had the machine for
        itself."""
        return tuple(sorted(set(self.targets_by_place.values()))) or (1,)

    def in_groups_of(self, size: int) -> "Summary":
        """The same row over its runs in groups of one size, on which the latency at full load
        depends."""
        if self.group_sizes == (size,):
            return self

        runs = tuple(
            run for run in self.runs if run.place and self.targets_by_place.get(run.place) == size
        )
        return structs.replace(
            self,
            runs=runs,
            missing=(),
            selected=select_run(runs),
            merged=_merged(runs),
            medians={},
            comparable={},
            spread=spread([run.requests_per_second or 0 for run in runs if run.eligible]),
            targets_by_place={
                place: count for place, count in self.targets_by_place.items() if count == size
            },
        )

    @property
    def group_size_text(self) -> str:
        """A text such as `5` or `4 or 5`."""
        return " or ".join(map(str, self.group_sizes))

    @property
    def group_text(self) -> str:
        """The text `in groups of 5 targets` or `each target alone`."""
        if self.group_sizes == (1,):
            return "each target alone"
        return f"in groups of {self.group_size_text} targets"

    def figure_of(self, figure: Figure) -> FigureSummary:
        """The figure of the row (rule M28). All that is printed or judged by a threshold must come
        from here."""
        if figure not in self.medians:
            served = [run.measured for run in self.runs if run.eligible and run.measured]
            self.medians[figure] = over_runs(figure, served, self.spoiled_runs, self.merged)
        return self.medians[figure]

    @property
    def selected_figures(self) -> model.Measured | None:
        """The figures of the selected run, for what only a single run has. None if the row has no
        figures. Figures of the row come from `figure_of`."""
        return self.selected.measured if self.selected and self.has_figures else None

    @property
    def has_figures(self) -> bool:
        """Whether some run counts, and the target served its load in the typical ones."""
        return self.selected is not None and not self.selected.spoiled

    @property
    def selected_first(self) -> tuple[model.Run, ...]:
        """The selected run, followed by all runs."""
        return (*([self.selected] if self.selected else []), *self.runs)

    @property
    def limit(self) -> Limit | None:
        """The limit of the runs that count, with the text of the selected run. None if none of them
        says what limited it."""
        runs = [run for run in self.selected_first if run.eligible and run.measured]
        limits = {run.run: run.measured.record.limited_by for run in runs if run.measured}
        return limit_over(list(limits.values()))

    @property
    def throughputs(self) -> tuple[float, ...]:
        return self.sample(throughput)

    def sample(self, figure: Figure, in_time: bool = False) -> tuple[float, ...]:
        """The values that enter comparisons, by run number or in order of time.

        They are the figure of each run that counts and has it, and the worst rank for each run in
        which the target failed its load (rule M24). Empty if the target served its load in some
        runs, and none of them has the figure."""
        values_by_run = self.compared(figure)
        if in_time:
            values_by_run = sorted(
                values_by_run, key=lambda entry: (entry[0].record.started_at, entry[0].run)
            )
        return tuple(value for _, value in values_by_run)

    def side(self, figure: Figure) -> dict[Place, float]:
        """The values of `sample` by round and group. In consecutive order each run is a round."""
        return {run.place or (run.run, 1): value for run, value in self.compared(figure)}

    def compared(self, figure: Figure) -> Sequence[tuple[model.Run, float]]:
        """The runs that enter comparisons by a figure, each with its value there."""
        if figure not in self.comparable:
            self.comparable[figure] = _compared(self.runs, figure, figure.compared)
        return self.comparable[figure]

    @property
    def last_round(self) -> int:
        last_run = max((run.run for run in self.runs), default=0)
        return max((number for number, _ in self.places), default=last_run)

    def values(self, read: Callable[[model.Measured], float | None]) -> tuple[float, ...]:
        values = [read(run.measured) for run in self.runs if run.eligible and run.measured]
        return tuple(value for value in values if value is not None)

    @property
    def scripts(self) -> tuple[LimiterScript, ...]:
        """The scripts of the runs that count, or of all runs if none counts."""
        runs = [run for run in self.runs if run.eligible or run.spoiled] or self.runs
        scripts = [run.measured.limiter_script for run in runs if run.measured]
        return tuple(dict.fromkeys(script for script in scripts if script))

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """What its measured runs saw of promises. A rate that was not kept (rule M5) is no reason
        to doubt the counts, but any other invalid measurement is."""
        return tuple(
            run.measured.record.boundary
            for run in self.runs
            if run.measured
            and run.measured.record.boundary
            and all(reason.rule == "M5" for reason in run.reasons if reason.severity == "invalid")
        )

    @property
    def runtime(self) -> str:
        return " and ".join(
            sorted({run.record.runtime.id for run in self.runs if run.record.runtime})
        )

    @property
    def served_runs(self) -> int:
        return sum(run.eligible for run in self.runs)

    @property
    def spoiled_runs(self) -> int:
        """The number of runs in which the target failed its load. They have the worst rank and no
        figures."""
        return sum(run.spoiled for run in self.runs)

    @property
    def counted_runs(self) -> int:
        return self.served_runs + self.spoiled_runs

    @property
    def spoiled_text(self) -> str:
        runs = plural(self.counted_runs, "run")
        return f"failed its load in {self.spoiled_runs} of {runs}" if self.spoiled_runs else ""

    @property
    def spoiled_share(self) -> float:
        return self.spoiled_runs / self.counted_runs if self.counted_runs else 0.0

    @property
    def counted_text(self) -> str:
        """How many of the planned runs count, such as `6 of 6, 2 of them suspect`."""
        planned = len(self.runs) + len(self.missing)
        return counted_runs_text(self.counted_runs, planned, self.suspect_runs)

    @property
    def valid_runs(self) -> int:
        return sum(run.measured is not None and run.verdict == "valid" for run in self.runs)

    @property
    def suspect_runs(self) -> int:
        return sum(run.measured is not None and run.verdict == "suspect" for run in self.runs)

    @property
    def invalid_runs(self) -> int:
        return sum(run.measured is not None and run.verdict == "invalid" for run in self.runs)

    @property
    def failed_runs(self) -> int:
        return sum(run.measured is None for run in self.runs)

    @property
    def verdict(self) -> str | None:
        return max((run.verdict for run in self.runs), key=_WORST_LAST.index, default=None)

    @property
    def no_figures_reason(self) -> str:
        """The reason for which there are no figures, in a few words. Empty if there are some."""
        if self.selected:
            return "" if self.has_figures else self.spoiled_text
        if not self.runs:
            return "no run recorded"

        # A reason that only makes a run suspect does not keep it from having figures.
        causes = [
            run.failure
            or "; ".join(reason.text for reason in run.reasons if reason.severity == "invalid")
            for run in self.runs
        ]
        causes_text = "; ".join(dict.fromkeys(filter(None, causes)))
        return f"no run counts: {causes_text or 'no reason was recorded'}"


def _compared(
    runs: Sequence[model.Run], figure: Figure, read: Callable[[model.Measured], float | None]
) -> list[tuple[model.Run, float]]:
    values_by_run = [
        (run, figure.worst if run.spoiled else read(run.measured))
        for run in runs
        if run.measured and (run.eligible or run.spoiled)
    ]
    served_values = [value for run, value in values_by_run if not run.spoiled]
    if served_values and all(value is None for value in served_values):
        return []
    return [(run, value) for run, value in values_by_run if value is not None]


def sample_between(
    new: Summary, base: Summary, figure: Figure, rounds: int | None = None, share: float = 1.0
) -> Sample:
    """The sample of two rows of one campaign. Runs by turns are paired by group if the rows share
    groups, and other runs by round."""
    planned = min(new.planned_rounds, base.planned_rounds)
    last_round = max(new.last_round, base.last_round) if rounds is None else rounds
    together, by_group = _partners(new, base, last_round)
    new_side, base_side = (upto(row.side(figure), last_round) for row in (new, base))
    return sample_of(new_side, base_side, min(planned, last_round), by_group, share, together)


def _partners(new: Summary, base: Summary, last_round: int) -> tuple[bool, bool]:
    """Whether the runs of a pair were made at the same time, and whether partners ran in one
    group."""
    new_places, base_places = (
        {place for place in row.places if place[0] <= last_round} for row in (new, base)
    )
    together = new.by_turns and base.by_turns and not new_places.isdisjoint(base_places)
    return together, together or new_places <= base_places or base_places <= new_places


def runs_between(new: Summary, base: Summary, paired: bool) -> Iterator[tuple[model.Run, ...]]:
    """The runs of each ratio that enters the comparison of two rows. They are those of both sides
    of each pair, and without pairs each run of one side with each of the other."""
    sides = [[run for run in row.runs if run.eligible or run.spoiled] for row in (new, base)]
    if not paired:
        yield from product(*sides)
        return

    _, by_group = _partners(new, base, max(new.last_round, base.last_round))
    places: list[dict[Place, list[model.Run]]] = [{}, {}]
    for side, runs_by_place in zip(sides, places, strict=True):
        for run in side:
            number, group = run.place or (run.run, 1)
            runs_by_place.setdefault((number, group if by_group else 1), []).append(run)

    new_runs, base_runs = places
    for place in sorted(new_runs.keys() & base_runs.keys()):
        yield (*new_runs[place], *base_runs[place])


def _known_first(text: str, known: tuple[str, ...]) -> tuple[int, str]:
    return (known.index(text) if text in known else len(known), text)


def decider_order(decided_by: str | None) -> tuple[int, str]:
    """A sort key in the order of the contract, with an unknown decider last."""
    return _known_first(decided_by or "~", model.DECIDERS)


def algorithm_order(algorithm: str | None) -> tuple[int, str]:
    return _known_first(algorithm or "~", model.ALGORITHMS)


def row_order(identity: model.Identity) -> tuple[object, ...]:
    """A sort key that puts clients before controls, then follows layer, topology, workload,
    traffic, load, dimensions, decider, algorithm and store."""
    return (
        identity.control,
        model.LAYERS.index(identity.layer),
        *_known_first(identity.topology or "~", _TOPOLOGIES),
        *_known_first(identity.workload, _WORKLOADS),
        identity.complexity or 0,
        identity.traffic,
        identity.open_loop,
        identity.rate_per_second or 0,
        identity.arrivals or "",
        identity.connections,
        identity.duration_s or 0,
        identity.requests or 0,
        identity.limits or (),
        *identity.counts.values(),
        *decider_order(identity.decided_by),
        *algorithm_order(identity.algorithm),
        identity.store or "~",
        identity.label,
        identity.key,
    )


def _schedule(campaign: model.Campaign) -> tuple[LookSchedule | None, int]:
    """The looks of a campaign and the round of the last one that took place. None for a fixed
    number of runs."""
    manifest = campaign.manifest
    plan = manifest["plan"].get("adaptive") if manifest else None
    if manifest is None or plan is None:
        return None, 0

    adaptive_state = manifest.get("adaptive", {})
    end = adaptive_state.get("ended", {})
    ended_round = end.get("round") if end.get("why") == "budget" else None
    return LookSchedule(looks=tuple(plan["looks"]), ended=ended_round), adaptive_state.get(
        "looked", 0
    )


def configurations(
    planned: Iterable[model.Planned], runs: Iterable[model.Run]
) -> list[tuple[model.Identity, model.Planned | None, tuple[model.Run, ...], tuple[int, ...]]]:
    """The configurations that were planned or ran, with planned ones first.

    Each has its identity, its plan, its runs by number, and the numbers of runs without a file."""
    plans = {plan.identity.key: plan for plan in planned}
    by_key: dict[str, tuple[model.Identity, list[model.Run]]] = {
        key: (plan.identity, []) for key, plan in plans.items()
    }
    for run in sorted(runs, key=lambda run: run.run):
        by_key.setdefault(run.identity.key, (run.identity, []))[1].append(run)

    def missing(key: str) -> tuple[int, ...]:
        if key not in plans:
            return ()
        existing = {run.run for run in by_key[key][1]}
        return tuple(sorted(set(plans[key].runs) - existing))

    return [
        (identity, plans.get(key), tuple(runs_of_configuration), missing(key))
        for key, (identity, runs_of_configuration) in by_key.items()
    ]


def _merged(runs: Sequence[model.Run]) -> Mapping[str, Bounds]:
    """See `Summary.merged`. Empty if the target failed its load in some run, because a histogram of
    the other runs says nothing about it."""
    served = [run.measured for run in runs if run.eligible and run.measured]
    unsupported = {name for figures in served for name in figures.unsupported}
    histograms = [figures.mergeable for figures in served if figures.mergeable]
    has_all_histograms = len(histograms) >= max(2, len(served))
    if not unsupported or not has_all_histograms or any(run.spoiled for run in runs):
        return {}
    return merged_percentiles(histograms, unsupported)


def summarize(campaign: model.Campaign) -> tuple[Summary, ...]:
    """A summary of each configuration that was planned or measured, in `row_order`."""
    set_aside: dict[str, list[model.Run]] = {}
    for run in sorted((run for run in campaign.beside if run.set_aside), key=lambda run: run.run):
        set_aside.setdefault(run.identity.key, []).append(run)

    schedule, last_look = _schedule(campaign)
    rankings = {key: ranking for ranking in campaign.rankings for key in ranking.members}
    planned = (plan for plan in campaign.planned if plan.identity.ranked)
    rows = sorted(configurations(planned, campaign.runs), key=lambda row: row_order(row[0]))
    plans_by_turns = [plan for _, plan, _, _ in rows if plan and plan.by_turns]
    target_counts = Counter(place for plan in plans_by_turns for place in set(plan.places.values()))

    return tuple(
        Summary(
            id=f"row{number}",
            identity=identity,
            runs=ordered,
            missing=missing,
            selected=select_run(ordered),
            merged=_merged(ordered),
            spread=spread([run.requests_per_second or 0 for run in ordered if run.eligible]),
            warnings=tuple(warnings_of(ordered)),
            look_schedule=schedule,
            last_look=last_look,
            set_aside=tuple(set_aside.get(identity.key, ())),
            places=frozenset(plan.places.values()) if plan else frozenset(),
            ranking=rankings[identity.key],
            by_turns=plan is not None and plan.by_turns,
            targets_by_place={place: target_counts[place] for place in plan.places.values()}
            if plan and plan.by_turns
            else {},
        )
        for number, (identity, plan, ordered, missing) in enumerate(rows, start=1)
    )


#: Rows are not compared if the foreign CPU of their runs differs by more than this, in % of one CPU
#: (rule M25).
MAX_FOREIGN_CPU_POINTS = 5.0


def attributable(comparison: Comparison, base: Row, new: Row) -> Comparison:
    """The comparison, which loses its conclusion if other programs may explain the difference.

    They do not explain it by turns, because then they met both sides, nor if their CPU is not
    known."""
    base_percent = base.foreign_cpu_percent
    new_percent = new.foreign_cpu_percent
    met_both_sides = base.by_turns and new.by_turns
    if met_both_sides or base_percent is None or new_percent is None:
        return comparison
    if abs(base_percent - new_percent) <= MAX_FOREIGN_CPU_POINTS:
        return comparison

    return comparison.undecided_by(
        f"other programs used {percent(base_percent, 0)} of one CPU beside {base.identity.short_label} and "
        f"{percent(new_percent, 0)} beside {new.identity.short_label}"
    )


def layer_text_of(rows: Sequence[Summary]) -> LayerText:
    """The text of the layer of rows that share a table or chart. Latencies are in µs if a median
    p50 at the limiter layer is below 1 ms."""
    text = layer_text(rows[0].identity.layer)
    medians_ms = [] if text.has_servers else [row.figure_of(p50).value for row in rows]
    is_below_1_ms = any(median_ms is not None and median_ms < 1 for median_ms in medians_ms)
    return structs.replace(text, in_microseconds=is_below_1_ms)
