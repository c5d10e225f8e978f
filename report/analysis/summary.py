"""One configuration over its runs: the median run, the spread, warnings, what became of every run;
how rows are compared."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import median, quantiles
from typing import Any

from msgspec import Struct, structs

from report.analysis.figures import Figure, throughput
from report.analysis.texts import LayerText, layer_text
from report.base.format import percent, plural, rate
from report.results import model
from report.results.records import LimiterScript
from report.statistics.decision import Comparison
from report.statistics.instability import MAX_CV_PERCENT, Ramp, trend, two_levels, warm_up_ramp
from report.statistics.runs import Spread, select_median_run, spread
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
    found = spread(values)
    unit = layer_text(counted[0].identity.layer).rate_unit if counted else ""
    if found and found.count >= 3 and found.cv_percent is not None and found.cv_percent > MAX_CV_PERCENT:
        yield (
            f"Runs lie far apart: CV {percent(found.cv_percent)}, "
            f"from {rate(found.min)} to {rate(found.max)} {unit}."
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

#: In place of infinity, between which and a figure nothing could be interpolated.
_BEYOND_ALL = 1e300

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
        """Median over the runs that count of what other programs used, in % of one CPU; None: not known."""

        def read(figures: Any) -> float | None:
            # Of a load program the figures are the record itself.
            load = getattr(figures, "record", figures).host_load
            return load.foreign_cpu_percent if load else None

        values = self.values(read)
        return median(values) if values else None


class Summary(Row, frozen=True, kw_only=True):
    id: str
    """Short and safe: what HTML and scripts call this row."""
    median: model.Run | None
    """The one that stands for all, see `select_median_run`."""
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
    reference: bool = False
    """The others of its ranking are compared with it, and measured beside it."""
    framework: str | None = None
    """`Identity.framework`; None for all where the campaign was asked to compare frameworks."""

    @property
    def figures(self) -> model.Measured | None:
        """Figures of the median run; None where there is no run that counts, or the target failed its load in
        the median run."""
        return self.median.measured if self.median and not self.median.spoiled else None

    @property
    def median_first(self) -> tuple[model.Run, ...]:
        return (*([self.median] if self.median else []), *self.runs)

    @property
    def throughputs(self) -> tuple[float, ...]:
        return self.sample(throughput)

    def sample(self, figure: Figure, in_time: bool = False) -> tuple[float, ...]:
        """What comparisons are of: the figure of each run that counts and has it, by run number, and the
        worst rank for each run in which the target failed its load (rule M24); or all of that in order of
        time. Nothing where the target served its load in some run, and none of these has the figure."""
        runs = sorted(self.runs, key=lambda run: (run.record.started_at, run.run)) if in_time else self.runs
        return tuple(value for _, value in _compared(runs, figure, figure.compared))

    def side(self, figure: Figure) -> dict[Place, float]:
        found = _compared(self.runs, figure, figure.compared)
        return {run.place or (run.run, 1): value for run, value in found}

    @property
    def last_round(self) -> int:
        made = max((run.run for run in self.runs), default=0)
        return max((number for number, _ in self.places), default=made)

    def values(self, read: Callable[[model.Measured], float | None]) -> tuple[float, ...]:
        found = [read(run.measured) for run in self.runs if run.eligible and run.measured]
        return tuple(value for value in found if value is not None)

    def range_of(self, figure: Figure) -> tuple[float, float] | None:
        """Lowest and highest of a figure over the runs that served their load; None below two of them, and
        where one of them knows no more than its bounds."""
        values = self.values(figure)
        whole = len(values) == len(self.values(figure.at_most))
        return (min(values), max(values)) if whole and len(values) > 1 else None

    def is_untypical(self, figure: Figure) -> bool:
        """The median run's figure lies outside the middle half of the runs (rule M28): below the first or
        above the third quartile. False below five runs."""
        values = tuple(value for _, value in _compared(self.runs, figure, figure.at_most))
        value = figure(self.figures) if self.figures else None
        if value is None or len(values) < MIN_RUNS_FOR_QUARTILES:
            return False
        low, _, high = quantiles([min(each, _BEYOND_ALL) for each in values], n=4, method="inclusive")
        return not low <= value <= high

    @property
    def scripts(self) -> tuple[LimiterScript, ...]:
        counted = [run for run in self.runs if run.eligible or run.spoiled] or self.runs
        found = [run.measured.limiter_script for run in counted if run.measured]
        return tuple(dict.fromkeys(script for script in found if script))

    @property
    def runtime(self) -> str:
        return " and ".join(sorted({run.record.runtime.id for run in self.runs if run.record.runtime}))

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
    def valid_runs(self) -> int:
        """Measured, and the measurement can be believed: valid or suspect."""
        return sum(run.measured is not None and run.verdict != "invalid" for run in self.runs)

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
        if self.median:
            return self.spoiled_text if self.median.spoiled else ""
        if not self.runs:
            return "no run recorded"
        # What makes a run suspect alone is no reason that it has no figures.
        causes = [
            run.failure or "; ".join(reason.text for reason in run.reasons if reason.severity == "invalid")
            for run in self.runs
        ]
        return f"no valid run: {'; '.join(dict.fromkeys(filter(None, causes))) or 'no reason was recorded'}"


def _compared(
    runs: Sequence[model.Run], figure: Figure, read: Callable[[model.Measured], float | None]
) -> list[tuple[model.Run, float]]:
    found = [
        (run, figure.worst if run.spoiled else read(run.measured))
        for run in runs
        if run.measured and (run.eligible or run.spoiled)
    ]
    served = [value for run, value in found if not run.spoiled]
    if served and all(value is None for value in served):
        return []
    return [(run, value) for run, value in found if value is not None]


def sample_between(
    new: Summary, base: Summary, figure: Figure, rounds: int | None = None, share: float = 1.0
) -> Sample:
    """The sample of two rows of one campaign, with what pairs them: by turns the group, if they share some.
    Else the round."""
    planned = min(new.planned_rounds, base.planned_rounds)
    last = max(new.last_round, base.last_round) if rounds is None else rounds
    places, others = ({place for place in row.places if place[0] <= last} for row in (new, base))
    together = new.by_turns and base.by_turns and not places.isdisjoint(others)
    by_group = together or places <= others or others <= places
    side, other = (upto(row.side(figure), last) for row in (new, base))
    return sample_of(side, other, min(planned, last), by_group, share, together)


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
    """Those that were planned or run, each with its plan, its runs by number, and the numbers without a file;
    planned ones first."""
    plans = {each.identity.key: each for each in planned}
    found: dict[str, tuple[model.Identity, list[model.Run]]] = {
        key: (each.identity, []) for key, each in plans.items()
    }
    for run in sorted(runs, key=lambda run: run.run):
        found.setdefault(run.identity.key, (run.identity, []))[1].append(run)

    def missing(key: str) -> tuple[int, ...]:
        there = {run.run for run in found[key][1]}
        return tuple(sorted(set(plans[key].runs) - there)) if key in plans else ()

    return [(identity, plans.get(key), tuple(own), missing(key)) for key, (identity, own) in found.items()]


def summarize(campaign: model.Campaign) -> tuple[Summary, ...]:
    """Every configuration that was planned or measured, in `row_order`."""
    aside: dict[str, list[model.Run]] = {}
    for run in sorted((run for run in campaign.beside if run.set_aside), key=lambda run: run.run):
        aside.setdefault(run.identity.key, []).append(run)
    schedule, looked = _schedule(campaign)
    across_frameworks = (campaign.manifest or {}).get("plan", {}).get("compare_frameworks", False)
    planned = (each for each in campaign.planned if each.identity.ranked)
    rows = sorted(configurations(planned, campaign.runs), key=lambda row: row_order(row[0]))
    return tuple(
        Summary(
            id=f"row{number}",
            identity=identity,
            runs=ordered,
            missing=missing,
            median=select_median_run(ordered),
            spread=spread([run.requests_per_second or 0 for run in ordered if run.eligible]),
            warnings=tuple(warnings_of(ordered)),
            look_schedule=schedule,
            last_look=looked,
            set_aside=tuple(aside.get(identity.key, ())),
            places=frozenset(plan.places.values()) if plan else frozenset(),
            reference=plan is not None and plan.reference,
            framework=None if across_frameworks else identity.framework,
            by_turns=plan is not None and plan.by_turns,
        )
        for number, (identity, plan, ordered, missing) in enumerate(rows, start=1)
    )


#: Rows are not compared where other programs used so many more % of one CPU beside the one than beside the
#: other (rule M25).
MAX_FOREIGN_CPU_POINTS = 5.0


def attributable(comparison: Comparison, base: Row, new: Row) -> Comparison:
    """The comparison, without a conclusion where other programs may explain the difference; by turns they met
    both sides. Where their CPU is not known it explains nothing."""
    ours, theirs = base.foreign_cpu_percent, new.foreign_cpu_percent
    met_both = base.by_turns and new.by_turns
    if met_both or ours is None or theirs is None or abs(ours - theirs) <= MAX_FOREIGN_CPU_POINTS:
        return comparison
    return comparison.undecided_by(
        f"other programs used {percent(ours, 0)} of one CPU beside {base.identity.short_label} and "
        f"{percent(theirs, 0)} beside {new.identity.short_label}"
    )


def layer_text_of(rows: Sequence[Summary]) -> LayerText:
    """The same for rows of one layer that share a table or chart; latencies in µs where a median one at the
    limiter layer is below 1 ms."""
    found = layer_text(rows[0].identity.layer)
    medians = [row.figures.percentiles_ms.get("p50") for row in rows if row.figures]
    below = any(median is not None and median < 1 for median in medians)
    return structs.replace(found, in_microseconds=not found.has_servers and below)
