"""Summarizes a configuration over its runs, with its figures, selected run and warnings."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import Struct, structs

from report.analysis.figure_summary import FigureSummary
from report.analysis.figures import Figure, p50, throughput
from report.analysis.limits import Limit, limit_over
from report.analysis.row_figures import RowFigures
from report.analysis.row_order import row_order
from report.analysis.row_warnings import warnings_of
from report.analysis.subjects import target_key
from report.analysis.texts import LayerText, layer_text
from report.base.format import counted_runs_text, percent, plural
from report.results import model
from report.results.generated.records import Boundary, LimiterScript
from report.results.identity import Identity
from report.statistics.comparison import DEFAULT_MARGIN, Comparison
from report.statistics.run_samples import Spread, select_run, spread
from report.statistics.samples import Place
from report.statistics.sequential import LookSchedule

#: The smallest number of runs whose quartiles mean something.
MIN_RUNS_FOR_QUARTILES = 5

_WORST_LAST = ("valid", "suspect", "invalid")


class Row(Struct, frozen=True, kw_only=True):
    """A configuration with its runs, whose load came from our generator or a load program."""

    identity: Identity
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
    figures: RowFigures
    """Its figures over the runs."""
    spread: Spread | None
    """The spread of the requests per second over the runs that served their load."""
    warnings: tuple[str, ...]
    """The sentences of `warnings_of`."""
    look_schedule: LookSchedule | None = None
    """The looks of a campaign that found out how many runs it needs (`--runs auto`)."""
    margin: float = DEFAULT_MARGIN
    """The margin of its campaign, see `Campaign.margin`."""
    last_look: int = 0
    """The round of the last look that took place in such a campaign."""
    set_aside: tuple[model.Run, ...] = ()
    """Runs that were measured again. Tables list them, and no figure uses them."""
    ranking: model.PlannedRanking
    """The planned ranking to which it belongs."""
    targets_by_place: Mapping[Place, int] = {}
    """The number of targets that were up at once in each of its groups. Empty if it had the machine
    for itself."""
    in_curve: bool = False
    """Whether it is a point of a load curve, or its target at full load beside one."""

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
            self.with_runs(runs),
            missing=(),
            targets_by_place={
                place: count for place, count in self.targets_by_place.items() if count == size
            },
        )

    def with_runs(self, runs: tuple[model.Run, ...]) -> "Summary":
        """The same row over other runs, with their figures, selected run and spread. The warnings
        stay."""
        return structs.replace(
            self,
            runs=runs,
            figures=RowFigures(runs),
            selected=select_run(runs),
            spread=_spread(runs),
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
        return self.figures.figure_of(figure)

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
        """The values that enter comparisons, see `RowFigures.sample`."""
        return self.figures.sample(figure, in_time)

    def side(self, figure: Figure) -> dict[Place, float]:
        """The values of `sample` by round and group, see `RowFigures.side`."""
        return self.figures.side(figure)

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
) -> list[tuple[Identity, model.Planned | None, tuple[model.Run, ...], tuple[int, ...]]]:
    """The configurations that were planned or ran, with planned ones first.

    Each has its identity, its plan, its runs by number, and the numbers of runs without a file."""
    plans = {plan.identity.key: plan for plan in planned}
    by_key: dict[str, tuple[Identity, list[model.Run]]] = {
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


def _spread(runs: Sequence[model.Run]) -> Spread | None:
    return spread([run.requests_per_second or 0 for run in runs if run.eligible])


def _target_counts(campaign: model.Campaign, plans: Sequence[model.Planned]) -> Mapping[Place, int]:
    """The number of targets in each group, as results state it, because fillers are no runs. A
    group without a result has as many as are planned. The rows of a target in a load curve share
    its place, because it is started once a round."""
    targets_in_places = {
        (place, target_key(plan.identity) if campaign.load_curve else plan.identity.key)
        for plan in plans
        if plan.by_turns
        for place in plan.places.values()
    }
    planned = Counter(place for place, _ in targets_in_places)
    stated = {
        run.place: turns.group
        for run in campaign.runs
        if run.place and (turns := model.turns_of(run))
    }
    return {**planned, **stated}


def summarize(campaign: model.Campaign) -> tuple[Summary, ...]:
    """A summary of each configuration that was planned or measured, in `row_order`."""
    set_aside: dict[str, list[model.Run]] = {}
    for run in sorted((run for run in campaign.beside if run.set_aside), key=lambda run: run.run):
        set_aside.setdefault(run.identity.key, []).append(run)

    schedule, last_look = _schedule(campaign)
    rankings = {key: ranking for ranking in campaign.rankings for key in ranking.members}
    planned = (plan for plan in campaign.planned if plan.identity.ranked)
    rows = sorted(configurations(planned, campaign.runs), key=lambda row: row_order(row[0]))
    target_counts = _target_counts(campaign, [plan for _, plan, _, _ in rows if plan])

    return tuple(
        Summary(
            id=f"row{number}",
            identity=identity,
            runs=ordered,
            missing=missing,
            selected=select_run(ordered),
            figures=RowFigures(ordered),
            spread=_spread(ordered),
            warnings=tuple(warnings_of(ordered)),
            look_schedule=schedule,
            margin=campaign.margin,
            last_look=last_look,
            set_aside=tuple(set_aside.get(identity.key, ())),
            places=frozenset(plan.places.values()) if plan else frozenset(),
            ranking=rankings[identity.key],
            by_turns=plan is not None and plan.by_turns,
            targets_by_place={place: target_counts[place] for place in plan.places.values()}
            if plan and plan.by_turns
            else {},
            in_curve=campaign.load_curve is not None,
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
