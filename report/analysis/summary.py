"""One configuration over its runs: its figures, the selected run, warnings, what became of every
run; how rows are compared."""

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
    more = " or longer" if ramp.to_the_middle else ""
    return (
        f"The first {ramp.seconds:.2g} s{more} of the window are {percent(100 * abs(ramp.change))} {pace} "
        f"than the rest: the warm-up is too short (--warmup auto, or {math.ceil(ramp.seconds)} s more)."
    )


def warnings_of(runs: Sequence[model.Run]) -> Iterator[str]:
    counted = [run for run in runs if run.eligible and run.measured is not None]
    ordered = sorted(counted, key=lambda run: (run.record.started_at, run.run))
    values = [run.measured.requests_per_second for run in ordered if run.measured]
    distribution = spread(values)
    unit = layer_text(counted[0].identity.layer).rate_unit if counted else ""
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
    closed = [run.measured for run in ordered if run.measured and not run.identity.open_loop]
    if ramp := warm_up_ramp([figures.answers_each_slice for figures in closed]):
        yield _ramp_text(ramp)


#: Quartiles of fewer runs mean nothing.
MIN_RUNS_FOR_QUARTILES = 5

_WORST_LAST = ("valid", "suspect", "invalid")
_TOPOLOGIES = ("standalone", "cluster")
_WORKLOADS = ("light", "heavy")


class Row(Struct, frozen=True, kw_only=True):
    """A configuration with its runs, of our own load generator or of a foreign program."""

    identity: model.Identity
    runs: tuple[model.Run, ...]
    """By number."""
    missing: tuple[int, ...]
    """Planned run numbers without a file."""
    places: frozenset[Place] = frozenset()
    """Round and group of each planned run; empty in consecutive order."""
    by_turns: bool = False
    """Its runs were made at the same time as those that they are compared with."""

    def values(self, read: Callable[[Any], float | None]) -> tuple[float, ...]:
        """A figure of the runs that count and have it."""
        raise NotImplementedError

    @property
    def planned_rounds(self) -> int:
        return len({number for number, _ in self.places})

    @property
    def foreign_cpu_percent(self) -> float | None:
        """Median over the runs that count of what other programs used, in % of one CPU; None: not
        known."""

        def read(figures: Any) -> float | None:
            # Of a load program the figures are the record itself.
            load = getattr(figures, "record", figures).host_load
            return load.foreign_cpu_percent if load else None

        values = self.values(read)
        return median(values) if values else None


class Summary(Row, frozen=True, kw_only=True):
    id: str
    """Short and safe: what HTML and scripts call this row."""
    selected: model.Run | None
    """The run of what only a single run has, see `select_run`; None where no run counts."""
    merged: Mapping[str, Bounds] = {}
    """The percentiles that come from the merged histogram of the runs, because single runs have too
    few samples (rule M18)."""
    medians: dict[Figure, FigureSummary] = {}
    """What `figure_of` computed of these runs before."""
    comparable: dict[Figure, Sequence[tuple[model.Run, float]]] = {}
    """What `compared` found in these runs before."""
    spread: Spread | None
    """Requests per second over the runs that served their load."""
    warnings: tuple[str, ...]
    """What its runs show that a median and an interval would hide, each a sentence."""
    look_schedule: LookSchedule | None = None
    """When runs were looked at, in a campaign that found out how many it needs (`--runs auto`)."""
    last_look: int = 0
    """The last round that was looked at, in such a campaign."""
    set_aside: tuple[model.Run, ...] = ()
    """Runs that were measured again: they are listed, and in no figure."""
    ranking: model.PlannedRanking
    """The rows that it is ranked with, as the plan says."""
    targets_by_place: Mapping[Place, int] = {}
    """How many targets were up at once in each of its groups; empty where it had the machine
    alone."""

    @property
    def reference(self) -> bool:
        """The others of its ranking are compared with it, and measured beside it."""
        return self.ranking.reference == self.identity.key

    @property
    def group_sizes(self) -> tuple[int, ...]:
        """The smallest first; 1 where it had the machine alone."""
        return tuple(sorted(set(self.targets_by_place.values()))) or (1,)

    def in_groups_of(self, size: int) -> "Summary":
        """The same row over its runs in groups of one size: its latency at full load moves with
        that."""
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
            targets_by_place={place: n for place, n in self.targets_by_place.items() if n == size},
        )

    @property
    def group_size_text(self) -> str:
        """`5`, or `4 or 5`: the latency at full load moves with it."""
        return " or ".join(map(str, self.group_sizes))

    @property
    def group_text(self) -> str:
        """`in groups of 5 targets`; `each target alone`."""
        alone = self.group_sizes == (1,)
        return "each target alone" if alone else f"in groups of {self.group_size_text} targets"

    def figure_of(self, figure: Figure) -> FigureSummary:
        """The only way to a figure of the row that is printed, or judged by a threshold (rule
        M28)."""
        if figure not in self.medians:
            served = [run.measured for run in self.runs if run.eligible and run.measured]
            self.medians[figure] = over_runs(figure, served, self.spoiled_runs, self.merged)
        return self.medians[figure]

    @property
    def selected_figures(self) -> model.Measured | None:
        """What only a single run has; None where the row has no figures. A figure of the row is
        never read here, but with `figure_of`."""
        return self.selected.measured if self.selected and self.has_figures else None

    @property
    def has_figures(self) -> bool:
        """Some run counts, and the target served its load in the typical ones."""
        return self.selected is not None and not self.selected.spoiled

    @property
    def selected_first(self) -> tuple[model.Run, ...]:
        return (*([self.selected] if self.selected else []), *self.runs)

    @property
    def limit(self) -> Limit | None:
        """What limited the runs that count, the selected run first; None where none of them says
        it."""
        runs = [run for run in self.selected_first if run.eligible and run.measured]
        limits = {run.run: run.measured.record.limited_by for run in runs if run.measured}
        return limit_over(list(limits.values()))

    @property
    def throughputs(self) -> tuple[float, ...]:
        return self.sample(throughput)

    def sample(self, figure: Figure, in_time: bool = False) -> tuple[float, ...]:
        """What comparisons are of: the figure of each run that counts and has it, by run number,
        and the worst rank for each run in which the target failed its load (rule M24); or all of
        that in order of time. Nothing where the target served its load in some run, and none of
        these has the figure."""
        values_by_run = self.compared(figure)
        if in_time:
            values_by_run = sorted(
                values_by_run, key=lambda entry: (entry[0].record.started_at, entry[0].run)
            )
        return tuple(value for _, value in values_by_run)

    def side(self, figure: Figure) -> dict[Place, float]:
        return {run.place or (run.run, 1): value for run, value in self.compared(figure)}

    def compared(self, figure: Figure) -> Sequence[tuple[model.Run, float]]:
        """The runs that enter comparisons by a figure, each with what stands for it."""
        if figure not in self.comparable:
            self.comparable[figure] = _compared(self.runs, figure, figure.compared)
        return self.comparable[figure]

    @property
    def last_round(self) -> int:
        made = max((run.run for run in self.runs), default=0)
        return max((number for number, _ in self.places), default=made)

    def values(self, read: Callable[[model.Measured], float | None]) -> tuple[float, ...]:
        values = [read(run.measured) for run in self.runs if run.eligible and run.measured]
        return tuple(value for value in values if value is not None)

    @property
    def scripts(self) -> tuple[LimiterScript, ...]:
        counted = [run for run in self.runs if run.eligible or run.spoiled] or self.runs
        scripts = [run.measured.limiter_script for run in counted if run.measured]
        return tuple(dict.fromkeys(script for script in scripts if script))

    @property
    def boundaries(self) -> tuple[Boundary, ...]:
        """What its measured runs saw of promises. A rate that was not kept (M5) says nothing
        against what was counted; any other broken measurement does."""
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
        """The target failed its load in them: they have the worst rank, and no figures."""
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
        """How many of the planned runs count: `6 of 6, 2 of them suspect`."""
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
        """Why there are no figures, in a few words; empty if there are some."""
        if self.selected:
            return "" if self.has_figures else self.spoiled_text
        if not self.runs:
            return "no run recorded"
        # What makes a run suspect alone is no reason that it has no figures.
        causes = [
            run.failure
            or "; ".join(reason.text for reason in run.reasons if reason.severity == "invalid")
            for run in self.runs
        ]
        return f"no run counts: {'; '.join(dict.fromkeys(filter(None, causes))) or 'no reason was recorded'}"


def _compared(
    runs: Sequence[model.Run], figure: Figure, read: Callable[[model.Measured], float | None]
) -> list[tuple[model.Run, float]]:
    values_by_run = [
        (run, figure.worst if run.spoiled else read(run.measured))
        for run in runs
        if run.measured and (run.eligible or run.spoiled)
    ]
    served = [value for run, value in values_by_run if not run.spoiled]
    if served and all(value is None for value in served):
        return []
    return [(run, value) for run, value in values_by_run if value is not None]


def sample_between(
    new: Summary, base: Summary, figure: Figure, rounds: int | None = None, share: float = 1.0
) -> Sample:
    """The sample of two rows of one campaign, with what pairs them: by turns the group, if they
    share some. Else the round."""
    planned = min(new.planned_rounds, base.planned_rounds)
    last = max(new.last_round, base.last_round) if rounds is None else rounds
    together, by_group = _partners(new, base, last)
    side, other = (upto(row.side(figure), last) for row in (new, base))
    return sample_of(side, other, min(planned, last), by_group, share, together)


def _partners(new: Summary, base: Summary, last_round: int) -> tuple[bool, bool]:
    """Whether the runs of a pair were made at the same time, and whether partners ran in one
    group."""
    places, others = (
        {place for place in row.places if place[0] <= last_round} for row in (new, base)
    )
    together = new.by_turns and base.by_turns and not places.isdisjoint(others)
    return together, together or places <= others or others <= places


def runs_between(new: Summary, base: Summary, paired: bool) -> Iterator[tuple[model.Run, ...]]:
    """The runs behind each ratio that enters the comparison of two rows: of each pair those of both
    sides, and without pairs each run of one side with each of the other."""
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
    one, other = places
    for place in sorted(one.keys() & other.keys()):
        yield (*one[place], *other[place])


def _known_first(text: str, known: tuple[str, ...]) -> tuple[int, str]:
    return (known.index(text) if text in known else len(known), text)


def decider_order(decided_by: str | None) -> tuple[int, str]:
    """Sort key: as the contract lists them, an unknown one last."""
    return _known_first(decided_by or "~", model.DECIDERS)


def algorithm_order(algorithm: str | None) -> tuple[int, str]:
    return _known_first(algorithm or "~", model.ALGORITHMS)


def row_order(identity: model.Identity) -> tuple[object, ...]:
    """Sort key: clients before controls, then layer, topology, workload, traffic, load, dimensions,
    what decides, algorithm, store."""
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
    """The looks of a campaign and the last one that took place; None for a fixed number of runs."""
    manifest = campaign.manifest
    plan = manifest["plan"].get("adaptive") if manifest else None
    if manifest is None or plan is None:
        return None, 0
    adaptive_state = manifest.get("adaptive", {})
    end = adaptive_state.get("ended", {})
    ended = end.get("round") if end.get("why") == "budget" else None
    return LookSchedule(looks=tuple(plan["looks"]), ended=ended), adaptive_state.get("looked", 0)


def configurations(
    planned: Iterable[model.Planned], runs: Iterable[model.Run]
) -> list[tuple[model.Identity, model.Planned | None, tuple[model.Run, ...], tuple[int, ...]]]:
    """Those that were planned or run, each with its plan, its runs by number, and the numbers
    without a file; planned ones first."""
    plans = {
        planned_configuration.identity.key: planned_configuration
        for planned_configuration in planned
    }
    by_key: dict[str, tuple[model.Identity, list[model.Run]]] = {
        key: (planned_configuration.identity, []) for key, planned_configuration in plans.items()
    }
    for run in sorted(runs, key=lambda run: run.run):
        by_key.setdefault(run.identity.key, (run.identity, []))[1].append(run)

    def missing(key: str) -> tuple[int, ...]:
        there = {run.run for run in by_key[key][1]}
        return tuple(sorted(set(plans[key].runs) - there)) if key in plans else ()

    return [
        (identity, plans.get(key), tuple(runs_of_configuration), missing(key))
        for key, (identity, runs_of_configuration) in by_key.items()
    ]


def _merged(runs: Sequence[model.Run]) -> Mapping[str, Bounds]:
    """See `Summary.merged`. Nothing where the target failed its load in some run: a histogram of
    the others knows nothing of it."""
    served = [run.measured for run in runs if run.eligible and run.measured]
    few = {name for figures in served for name in figures.unsupported}
    kept = [figures.mergeable for figures in served if figures.mergeable]
    if not few or len(kept) < max(2, len(served)) or any(run.spoiled for run in runs):
        return {}
    return merged_percentiles(kept, few)


def summarize(campaign: model.Campaign) -> tuple[Summary, ...]:
    """Every configuration that was planned or measured, in `row_order`."""
    aside: dict[str, list[model.Run]] = {}
    for run in sorted((run for run in campaign.beside if run.set_aside), key=lambda run: run.run):
        aside.setdefault(run.identity.key, []).append(run)
    schedule, looked = _schedule(campaign)
    rankings = {key: ranking for ranking in campaign.rankings for key in ranking.members}
    planned = (
        planned_configuration
        for planned_configuration in campaign.planned
        if planned_configuration.identity.ranked
    )
    rows = sorted(configurations(planned, campaign.runs), key=lambda row: row_order(row[0]))
    plans = [plan for _, plan, _, _ in rows if plan and plan.by_turns]
    targets = Counter(place for plan in plans for place in set(plan.places.values()))
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
            last_look=looked,
            set_aside=tuple(aside.get(identity.key, ())),
            places=frozenset(plan.places.values()) if plan else frozenset(),
            ranking=rankings[identity.key],
            by_turns=plan is not None and plan.by_turns,
            targets_by_place={place: targets[place] for place in plan.places.values()}
            if plan and plan.by_turns
            else {},
        )
        for number, (identity, plan, ordered, missing) in enumerate(rows, start=1)
    )


#: Rows are not compared where other programs used so many more % of one CPU beside the one than
#: beside the other (rule M25).
MAX_FOREIGN_CPU_POINTS = 5.0


def attributable(comparison: Comparison, base: Row, new: Row) -> Comparison:
    """The comparison, without a conclusion where other programs may explain the difference; by
    turns they met both sides. Where their CPU is not known it explains nothing."""
    ours = base.foreign_cpu_percent
    theirs = new.foreign_cpu_percent
    met_both = base.by_turns and new.by_turns
    if met_both or ours is None or theirs is None or abs(ours - theirs) <= MAX_FOREIGN_CPU_POINTS:
        return comparison
    return comparison.undecided_by(
        f"other programs used {percent(ours, 0)} of one CPU beside {base.identity.short_label} and "
        f"{percent(theirs, 0)} beside {new.identity.short_label}"
    )


def layer_text_of(rows: Sequence[Summary]) -> LayerText:
    """The same for rows of one layer that share a table or chart; latencies in µs where a median
    one at the limiter layer is below 1 ms."""
    words = layer_text(rows[0].identity.layer)
    medians = [row.figure_of(p50).value for row in rows] if not words.has_servers else []
    below = any(value is not None and value < 1 for value in medians)
    return structs.replace(words, in_microseconds=below)
