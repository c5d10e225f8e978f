"""Matches the configurations of two sides, checks that they are comparable, and compares them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from report.analysis.cells import load_key
from report.analysis.figures import Figure, consumer_cpu, percentile, throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.analysis.texts import load_text
from report.base.errors import USAGE, ReportError, one_line
from report.base.format import Show, joined, microseconds, milliseconds, plural, rate
from report.compare import comparability
from report.compare.selection import Selection
from report.statistics.decision import Comparison, compare_samples
from report.statistics.ratio import ALPHA
from report.statistics.samples import Sample, upto
from report.statistics.sequential import corrected_for_looks

ReferenceKey = tuple[object, ...]
"""Identifies a reference across campaigns: its configuration, its versions and its scripts."""

#: The parts whose versions tell two references apart.
_VERSIONS = ("client", "limiter", "store")


def _reference_key(row: Summary) -> ReferenceKey:
    runs = [run for run in row.runs if run.measured]
    versions = (frozenset(run.versions.get(part) for run in runs) for part in _VERSIONS)
    return (row.identity.key, *versions, row.scripts)


def references_of(row: Summary, summaries: Sequence[Summary]) -> dict[ReferenceKey, Summary]:
    """The references that were measured in the rounds of a row under its load, without the row
    itself. The reference of its ranking comes first."""
    identity = row.identity
    references_of_load = [
        reference
        for reference in summaries
        if reference.reference and load_key(reference.identity) == load_key(identity)
    ]
    references = [
        reference
        for reference in references_of_load
        if reference.id != row.id and sample_between(row, reference, throughput).pairs
    ]
    references.sort(
        key=lambda reference: (
            (reference.identity.store, reference.identity.topology)
            != (identity.store, identity.topology)
        )
    )
    return {_reference_key(reference): reference for reference in references}


def ratios_to(
    base: Summary, row: Summary, figure: Figure, rounds: int | None = None
) -> tuple[float, ...]:
    """The ratio to the base in each round, without rounds in which the base failed its load: these
    show nothing about the row."""
    pairs = sample_between(row, base, figure, rounds).pairs
    return tuple(value / base_value for value, base_value in pairs if 0 < base_value < math.inf)


class Metric(Struct, frozen=True):
    id: str
    text: str
    """What it is, with its unit."""
    read: Figure
    show: Show


METRICS: dict[str, Metric] = {
    "throughput": Metric("throughput", "throughput in requests/s", throughput, rate),
    "p50": Metric("p50", "latency p50 in ms", percentile("p50"), milliseconds),
    "p99": Metric("p99", "latency p99 in ms", percentile("p99"), milliseconds),
    "cpu": Metric("cpu", "CPU time of the server in µs per request", consumer_cpu, microseconds),
}


#: In recordings of saturated servers throughput and CPU per request have a correlation of -0.97.
_ONE_MEASUREMENT = (
    "in a closed loop CPU per request follows from the throughput, so it is no evidence beside it: compare "
    "--metric throughput, or measure CPU at one common rate (--rate)"
)


def not_concluded(summary: Summary, metric: Metric) -> str:
    return _ONE_MEASUREMENT if metric.id == "cpu" and not summary.identity.open_loop else ""


def meaning_of(summary: Summary, metric: Metric) -> Iterator[str]:
    open_loop = summary.identity.open_loop
    if summary.identity.layer == "limiter":
        yield "at the limiter layer a request is a decision, and CPU time is that of the client"
    if metric.id == "throughput" and open_loop:
        yield "in an open loop throughput is what was offered: compare latencies there"
    if metric.id in ("p50", "p99") and not open_loop:
        yield "latencies at full load follow from the throughput (M4), and move with the size of the group"
    if metric.id == "cpu" and not open_loop:
        yield "CPU time is that at full load: at another rate it is another (M35)"


def notes_on(summary: Summary, metric: Metric) -> Iterator[str]:
    counted = [run.measured for run in summary.runs if run.eligible and run.measured]
    runs = plural(len(counted), "run")
    if summary.spoiled_runs:
        rank_clause = "they rank" if summary.spoiled_runs > 1 else "it ranks"
        yield f"{summary.spoiled_text}: {rank_clause} below all others (M24)"
    if bounded := sum(metric.read.percentile in run.bounds_ms for run in counted):
        yield f"{metric.id} is known only within bounds in {bounded} of {runs}: the upper one counts (M23)"
    if absent := sum(metric.read.at_most(run) is None for run in counted):
        yield f"{absent} of {len(counted)} runs have no such figure on record"
    if unsupported := sum(not metric.read.is_comparable(run) for run in counted):
        unsupported_text = f"{metric.id} is unsupported in {unsupported} of {runs}"
        yield f"{unsupported_text}, by too few samples or late sends: not compared"


class Stopped(Struct, frozen=True):
    """The round after which `--runs auto` ended the runs of two sides, because of what they showed
    (rule M29)."""

    rounds: int | None
    """Runs of later rounds are left out. None stands for a comparison of all runs."""
    share: float
    """The share of the level of 5 % that may be spent at this look, or at these two looks."""

    @property
    def note(self) -> str:
        compared_runs = (
            f"the runs of the first {self.rounds} rounds are" if self.rounds else "all runs are"
        )
        return (
            "--runs auto chose the number of runs by their figures: "
            f"{compared_runs} compared, at a level of {100 * ALPHA * self.share:.2g} % "
            f"instead of {100 * ALPHA:g} %"
        )


@dataclass(eq=False)
class Compared:
    """Two rows under one load, and their comparison."""

    base_side: Selection
    new_side: Selection
    base: Summary
    new: Summary
    metric: Metric
    comparison: Comparison = field(init=False)
    differs: tuple[str, ...] = ()
    """Sentences about what differs besides the names of the targets: scripts, and what `--allow`
    permits."""

    @property
    def rows(self) -> comparability.Rows:
        return (self.base, self.new)

    @cached_property
    def names(self) -> comparability.Names:
        labels = (self.base.identity.label, self.new.identity.label)
        campaigns = (self.base_side.campaign.name, self.new_side.campaign.name)
        if not self.across:
            return labels
        if labels[0] == labels[1]:
            return campaigns
        return f"{campaigns[0]}#{labels[0]}", f"{campaigns[1]}#{labels[1]}"

    @property
    def across(self) -> bool:
        """Whether the rows belong to two campaigns."""
        return self.base_side.folder != self.new_side.folder

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts that are compared together: `client`, `script`, `store`, …; empty for one
        configuration twice."""
        return comparability.compared_parts(*self.rows)

    @cached_property
    def stop(self) -> Stopped | None:
        """Where the compared runs end; None where both sides have a fixed number of runs.

        Two sides with the same looks are compared at the earlier look of the two at which they
        ended. That is one of these looks whatever the runs show, and together the looks spend 5 %.
        Sides with different looks are compared with all their runs, at the product of their shares,
        which sums to 5 % over all pairs of looks."""
        schedules = [(row, row.look_schedule) for row in self.rows if row.look_schedule]
        if not schedules:
            return None
        if len({schedule.looks for _, schedule in schedules}) == 1 and len(schedules) == 2:
            rounds = min(row.last_round for row in self.rows)
            return Stopped(
                rounds, min(schedule.share_at(rounds) for _, schedule in schedules) / ALPHA
            )
        shares = (schedule.share_at(row.last_round) / ALPHA for row, schedule in schedules)
        return Stopped(None, math.prod(shares))

    @cached_property
    def references(self) -> comparability.Rows | None:
        """The common reference of two campaigns, to which the figures of both are related."""
        if not self.across:
            return None
        base_references = references_of(self.base, self.base_side.every)
        new_references = references_of(self.new, self.new_side.every)
        return next(
            (
                (row, new_references[key])
                for key, row in base_references.items()
                if key in new_references
            ),
            None,
        )

    @property
    def reference(self) -> str | None:
        return self.references[0].identity.label if self.references else None

    @property
    def concludes(self) -> bool:
        """Whether the comparison can count for the verdict. A figure that follows from another one
        cannot."""
        return not not_concluded(self.base, self.metric)

    @cached_property
    def nothing_cancels(self) -> str:
        """Why the influence of the host does not cancel, so that nothing is decided; empty where it
        does."""
        if self.references:
            return ""
        if self.across:
            missing_reference = (
                "no common reference of the same version, store and settings "
                "(run --reference auto adds one to a single target)"
            )
            return f"the host does not cancel: the campaigns have {missing_reference}"
        manifest = self.base_side.campaign.manifest
        is_interleaved = manifest is not None and manifest["plan"]["order"] in (
            "turns",
            "interleaved",
        )
        return "" if is_interleaved else "the host does not cancel: runs were not interleaved"

    @property
    def reason(self) -> str:
        """Why nothing is concluded."""
        return not_concluded(self.base, self.metric) or self.nothing_cancels

    def values(self, row: Summary) -> tuple[float, ...]:
        if self.stop is None or self.stop.rounds is None:
            return row.sample(self.metric.read, in_time=True)
        return tuple(
            value for _, value in sorted(upto(row.side(self.metric.read), self.stop.rounds).items())
        )

    @cached_property
    def sample(self) -> Sample:
        figure = self.metric.read
        stop = self.stop
        rounds, share = (stop.rounds, stop.share) if stop else (None, 1.0)
        if self.references:
            # Each value is the figure of the row ÷ that of the reference in one round. The rounds
            # of two campaigns form no pairs.
            sides = zip(self.references, self.rows, strict=True)
            base_ratios, new_ratios = (
                ratios_to(*rows_of_side, figure, rounds) for rows_of_side in sides
            )
            return Sample(new=new_ratios, base=base_ratios, share=share, to_reference=True)
        if not self.nothing_cancels:
            return sample_between(self.new, self.base, figure, rounds, share)
        return Sample(new=self.values(self.new), base=self.values(self.base), share=share)

    def concluded(self, comparison: Comparison, floor: float) -> Comparison:
        """The comparison, with an estimate that knows of looks; without a conclusion where there is
        none."""
        if self.reason:
            if comparison.status == "not comparable":
                return comparison
            # Only the ratio and its interval remain, because no number of runs makes them a second
            # conclusion.
            no_conclusion = dict.fromkeys(("p", "p_holm", "runs_needed", "detectable"))
            return replace(
                comparison, status="not decided", reason=self.reason, blocked=True, **no_conclusion
            )
        stop = self.stop
        if not stop or self.metric.read is not throughput:
            return comparison
        if self.references is None:
            levels = self.base.look_schedule.levels if self.base.look_schedule else ()
            looks = [look for look in levels if stop.rounds is None or look[0] <= stop.rounds]
            return corrected_for_looks(comparison, self.sample, looks, floor)
        sides = zip(self.rows, self.references, (self.base_side, self.new_side), strict=True)
        base_shift, new_shift = (
            _level_shift(*side)
            if side[0].look_schedule and stop.rounds in (None, side[0].last_round)
            else 0.0
            for side in sides
        )
        if comparison.ratio is None or comparison.interval is None or new_shift == base_shift:
            return comparison
        ratio = min(
            max(comparison.ratio * math.exp(base_shift - new_shift), comparison.interval.low),
            comparison.interval.high,
        )
        return replace(comparison, ratio=ratio, stopped_at=comparison.ratio)


def _level_shift(row: Summary, reference: Summary, side: Selection) -> float:
    """By how much the logarithm of a row's ratio to its reference is too high, because of the
    moment at which the row was stopped. The report corrects its estimate by this much; 0 where
    there is no such correction."""
    for pair in (pair for ranking in side.rankings for pair in ranking.pairs):
        comparison = pair.comparison
        is_of_both = {pair.base.id, pair.new.id} == {row.id, reference.id}
        if is_of_both and comparison.ratio and comparison.stopped_at:
            shift = math.log(comparison.stopped_at / comparison.ratio)
            return shift if pair.new.id == row.id else -shift
    return 0.0


class Outcome(Struct, frozen=True, kw_only=True):
    base: Selection
    new: Selection
    metric: Metric
    floor: float
    """The difference that is too small to count, as a share of 1."""
    rows: tuple[Compared, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """`regression`, `no regression`, or `not decided` where some row neither shows nor excludes
        a difference.

        Only rows that can conclude something count."""
        statuses = {row.comparison.status for row in self.rows if row.concludes}
        if "worse" in statuses:
            return "regression"
        return (
            "no regression"
            if statuses and statuses <= {"better", "no difference"}
            else "not decided"
        )


def _match(base: Selection, new: Selection, metric: Metric) -> tuple[list[Compared], list[str]]:
    """Pairs rows under one load, either of the targets that the sides name or of each target with
    itself. Returns the pairs, and a note for each row without a pair.

    Raises ReportError when nothing matches, or both sides are the same rows."""
    by_label = base.label is None and new.label is None

    def by_load(side: Selection) -> dict[tuple[object, ...], Summary]:
        # A copy only checks its own campaign: each campaign has a copy and a reference.
        rows = [row for row in side.summaries if not (by_label and row.identity.copy)]
        extra_keys = [(row.identity.label, row.identity.caps) if by_label else () for row in rows]
        return {
            (*load_key(row.identity), *extra_key): row
            for row, extra_key in zip(rows, extra_keys, strict=True)
        }

    bases = by_load(base)
    news = by_load(new)
    pairs = [
        Compared(base, new, row, news[key], metric) for key, row in bases.items() if key in news
    ]
    if not pairs:
        base_loads, new_loads = (
            ", ".join(dict.fromkeys(load_text(row.identity) for row in side.summaries))
            for side in (base, new)
        )
        sides_text = f"{one_line(base.text)} and {one_line(new.text)}"
        raise ReportError(f"{sides_text} have no load in common: {base_loads}; {new_loads}", USAGE)
    if by_label:
        # A reference through which other rows are compared is left out, because its ratio would
        # always be 1.
        reference_ids = {
            id(pair.references[0]) for pair in pairs if not pair.base.reference and pair.references
        }
        pairs = [pair for pair in pairs if id(pair.base) not in reference_ids]
    if base.folder == new.folder and all(pair.base is pair.new for pair in pairs):
        raise ReportError("both sides are the same runs: give two targets or two campaigns", USAGE)
    unmatched = [
        f"only in {side.text}: {row.identity.label}, {load_text(row.identity)}"
        for side, rows, counterparts in ((base, bases, news), (new, news, bases))
        for key, row in rows.items()
        if key not in counterparts
    ]
    return pairs, unmatched


def _refuse(differences: Sequence[comparability.Difference], allowed: frozenset[str]) -> None:
    refused = list(
        dict.fromkeys(
            difference for difference in differences if not allowed.issuperset(difference.kinds)
        )
    )
    if refused:
        kinds = ",".join(sorted(allowed.union(*(difference.kinds for difference in refused))))
        texts = "; ".join(difference.text for difference in refused)
        raise ReportError(
            f"not comparable: {texts}. To compare them all the same: --allow {kinds}", USAGE
        )


def _differs(pair: Compared, differences: Sequence[comparability.Difference]) -> tuple[str, ...]:
    texts = [difference.text for difference in differences]
    if not any("script" in difference.kinds for difference in differences):
        texts += filter(None, [comparability.script_note(*pair.rows, pair.names)])
    if texts and pair.base.identity.label != pair.new.identity.label:
        texts[-1] += f": the comparison is of {comparability.together_text(pair.parts)}"
    return tuple(texts)


def compare_sides(
    base: Selection, new: Selection, metric: Metric, floor: float, allowed: frozenset[str]
) -> Outcome:
    """Compares what two sides have in common.

    All comparisons that can conclude something form one family of Holm's correction, because there
    is one exit code. Within one campaign, rows are compared as in its report. Across campaigns they
    are compared through their common reference (rule M22). Where the influence of the host does not
    cancel, nothing is decided."""
    pairs, unmatched = _match(base, new, metric)
    across = base.folder != new.folder
    rows = [pair.rows for pair in pairs]
    campaign_differences = (
        comparability.campaign_differences(base.campaign, new.campaign, rows) if across else []
    )
    row_differences = comparability.row_differences(rows, [pair.names for pair in pairs])
    _refuse(
        [
            *campaign_differences,
            *(difference for differences in row_differences for difference in differences),
        ],
        allowed,
    )
    # A comparison that cannot conclude must not make the family of the others larger.
    for concluding in (True, False):
        members = [pair for pair in pairs if concluding is not bool(pair.reason)]
        comparisons = compare_samples(
            [pair.sample for pair in members], floor, metric.read.higher_is_better
        )
        for pair, comparison in zip(members, comparisons, strict=True):
            pair.comparison = pair.concluded(comparison, floor)
    for pair, differences in zip(pairs, row_differences, strict=True):
        pair.differs = _differs(pair, differences)
    notes = dict.fromkeys(
        [
            *(difference.text for difference in campaign_differences),
            *_notes(base, new, pairs),
            *unmatched,
        ]
    )
    return Outcome(
        base=base, new=new, metric=metric, floor=floor, rows=tuple(pairs), notes=tuple(notes)
    )


def _notes(base: Selection, new: Selection, pairs: Sequence[Compared]) -> Iterator[str]:
    across = base.folder != new.folder
    if across:
        yield from comparability.campaign_notes(base.campaign, new.campaign)
        name = new.campaign.name
        labels = joined(list(dict.fromkeys(pair.reference for pair in pairs if pair.reference)))
        if base.campaign.name == name:
            yield f"both sides are campaign {name}: measure anew, then compare with the baseline"
        elif labels:
            yield f"ratios are of each round’s ratio to {labels}, then and now"
    yield from (pair.stop.note for pair in pairs if pair.stop)
    paired = [pair.comparison for pair in pairs if pair.comparison.pairs is not None]
    dropped = sum(comparison.dropped for comparison in paired)
    if paired:
        dropped_text = (
            f"; {plural(dropped, 'run')} without a partner that counts" if dropped else ""
        )
        yield f"runs of one round are compared with each other{dropped_text}"
    for pair in pairs:
        yield from comparability.version_notes(*pair.rows, pair.names)
    for pair in pairs:
        yield from meaning_of(pair.base, pair.metric)
    for rows in (
        *(pair.rows for pair in pairs),
        *(pair.references for pair in pairs if pair.references),
    ):
        for side, row in zip((base, new), rows, strict=True):
            name = f"{side.campaign.name}#{row.identity.label}" if across else row.identity.label
            yield from (
                f"{name}: {text}" for text in (*notes_on(row, pairs[0].metric), *row.warnings)
            )
