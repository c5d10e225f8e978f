"""The load curve of a campaign: what each target costs at each measured rate, and between two of
them.

A cost holds at the load where it was measured (rule M35). Between two measured rates it is
interpolated in cores, and beyond them it is refused. Full load is no rate, so nothing is
interpolated towards it."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median

from msgspec import Struct

from report.analysis.cells import RuntimeResults
from report.analysis.figures import Figure, cores, node_kind, sum_of_kind
from report.analysis.load_families import compared_together
from report.analysis.ranked_pairs import Pair
from report.analysis.rankings import Ranking, resolutions
from report.analysis.subjects import target_key
from report.analysis.summary import Summary, layer_text_of
from report.analysis.texts import LOAD_FIELDS, LayerText, layer_text, load_text, varying_fields
from report.base.format import rate
from report.results.identity import Identity
from report.results.model import Campaign
from report.statistics.comparison import Comparison
from report.statistics.run_samples import MIN_FIGURES, median_interval
from report.statistics.samples import Side

#: The names of ratios that are not by the CPU of a kind of role.
P99 = "p99"
THROUGHPUT = "throughput"

_US_PER_S = 1e6


class Part(Struct, frozen=True):
    """A kind of role whose cost the curve shows."""

    kind: str
    name: str
    """The word for it in texts, which is `client` for the generator that calls the limiter."""

    @property
    def cores(self) -> Figure:
        return cores(self.kind)

    @property
    def cpu(self) -> Figure:
        """CPU in µs per request."""
        return sum_of_kind("cpu_us_per_request", self.kind)


class Estimate(Struct, frozen=True):
    """A figure over the rounds, with an interval of at least 95 % of its median."""

    value: float
    low: float | None = None
    """None, like `high`, below six rounds, and where the end is a run in which the target failed
    its load."""
    high: float | None = None

    def times(self, factor: float) -> "Estimate":
        """The estimate in another unit."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Estimate(self.value * factor, low, high)


class AtRate(Struct, frozen=True, kw_only=True):
    """The cores of a part of a target at a rate."""

    rate_per_second: float
    estimate: Estimate | None = None
    """None where it is not known."""
    cpu_us_per_request: Estimate | None = None
    """The CPU time of a request. At a measured rate it is that of the row, and between two rates it
    follows from the cores."""
    between: tuple[float, float] | None = None
    """The measured rates between which it was interpolated. None for a measured rate."""
    reason: str = ""
    """Why it is not known."""
    spoiled: bool = False
    """Whether it is not known because the target typically failed its load there."""


class CurvePoint(Struct, frozen=True, kw_only=True):
    """A target at a measured rate."""

    rate_per_second: float
    summary: Summary
    ratios: Mapping[str, Comparison]
    """The comparisons with the reference at this rate, by the CPU per request of each kind of role
    and by p99."""

    def cores(self, part: Part) -> Estimate | None:
        return estimate_of(self.summary, part.cores)


class TargetCurve(Struct, frozen=True, kw_only=True):
    """A target at all of its rates, and at full load."""

    identity: Identity
    """The identity of its row at the lowest rate."""
    points: tuple[CurvePoint, ...]
    """By rate, with the lowest first. Some may have no figures."""
    full_loads: tuple[Summary, ...]
    """Its rows at full load, which are no points of interpolation."""
    full_load_ratios: Mapping[str, Comparison]
    """The comparisons with the reference at full load, by the CPU of what calls the limiter and by
    throughput."""

    @property
    def rows(self) -> tuple[Summary, ...]:
        """Its rows by rate, and those at full load last."""
        return (*(point.summary for point in self.points), *self.full_loads)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(row.id for row in self.rows)

    @property
    def is_reference(self) -> bool:
        return any(point.summary.reference for point in self.points)

    @property
    def measured(self) -> tuple[CurvePoint, ...]:
        """The points with figures."""
        return tuple(point for point in self.points if point.summary.has_figures)

    @property
    def range_text(self) -> str:
        """The measured rates as a text such as `from 100/s to 5,000/s`."""
        rates = [f"{rate(point.rate_per_second)}/s" for point in self.measured]
        if not rates:
            return "at no rate"
        return f"at {rates[0]}" if len(rates) == 1 else f"from {rates[0]} to {rates[-1]}"

    def at(self, part: Part, rate_per_second: float) -> AtRate:
        """The cores of a part at a rate, which are interpolated between two measured rates."""
        asked = [point for point in self.points if point.rate_per_second == rate_per_second]
        if asked:
            return _at_point(asked[0], part)

        lower = [point for point in self.measured if point.rate_per_second < rate_per_second]
        higher = [point for point in self.measured if point.rate_per_second > rate_per_second]
        if not lower or not higher:
            reason = f"it was measured {self.range_text}, and nothing is extrapolated"
            return AtRate(rate_per_second=rate_per_second, reason=reason)
        return _between(lower[-1], higher[0], part, rate_per_second)


class LoadCurve(Struct, frozen=True, kw_only=True):
    """The targets that are comparable at each rate, with the controls beside them."""

    title: str
    """The parts of the load that all rates share. Empty if the campaign has one curve."""
    text: LayerText
    rates: tuple[float, ...]
    parts: tuple[Part, ...]
    """The kinds of roles that some target has, with what calls the limiter first."""
    targets: tuple[TargetCurve, ...]
    """Each target before its copy, and controls last."""

    @property
    def reference(self) -> TargetCurve | None:
        return next((target for target in self.targets if target.is_reference), None)


def estimate_of(summary: Summary, figure: Figure) -> Estimate | None:
    """The figure of a row (rule M28), with its interval over the runs. None without a value."""
    value = summary.figure_of(figure).value
    if value is None:
        return None
    return Estimate(value, *_interval(summary.sample(figure)))


def _interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """The ends of the interval of a median, between two order statistics (W. J. Conover, Practical
    Nonparametric Statistics, 3rd ed., 1999, section 3.2). Both are None if one is not known."""
    if len(values) < MIN_FIGURES:
        return None, None
    interval = median_interval(values)
    if math.isinf(interval.low) or math.isinf(interval.high):
        return None, None
    return interval.low, interval.high


def _at_point(point: CurvePoint, part: Part) -> AtRate:
    estimate = point.cores(part)
    reason = ""
    if estimate is None:
        reason = point.summary.no_figures_reason or f"its {part.name} has no figure"
    return AtRate(
        rate_per_second=point.rate_per_second,
        estimate=estimate,
        cpu_us_per_request=estimate_of(point.summary, part.cpu),
        reason=reason,
        spoiled=point.summary.figure_of(part.cores).spoiled,
    )


def _between(lower: CurvePoint, higher: CurvePoint, part: Part, rate_per_second: float) -> AtRate:
    """The cores on the line between two points, which is drawn within each round.

    The estimate is the median over the rounds, with its interval. A round in which the target
    failed its load at one of both rates has the worst rank."""
    ends = (lower.rate_per_second, higher.rate_per_second)
    weight = (rate_per_second - ends[0]) / (ends[1] - ends[0])
    sides: list[Side] = [point.summary.side(part.cores) for point in (lower, higher)]
    values = [
        (1 - weight) * sides[0][place] + weight * sides[1][place]
        for place in sorted(sides[0].keys() & sides[1].keys())
    ]
    middle = median(values) if values else None
    if middle is None:
        names = " and ".join(f"{rate(end)}/s" for end in ends)
        reason = f"no round has the {part.name} at both {names}"
        return AtRate(rate_per_second=rate_per_second, reason=reason)
    if math.isinf(middle):
        reason = lower.summary.spoiled_text or higher.summary.spoiled_text
        return AtRate(rate_per_second=rate_per_second, reason=reason, spoiled=True)
    estimate = Estimate(middle, *_interval(values))
    return AtRate(
        rate_per_second=rate_per_second,
        estimate=estimate,
        cpu_us_per_request=estimate.times(_US_PER_S / rate_per_second),
        between=ends,
    )


def load_curves(
    campaign: Campaign, summaries: Sequence[Summary], runtimes: Iterable[RuntimeResults]
) -> tuple[LoadCurve, ...]:
    """The curves of a campaign. Empty unless its plan has the loads of one, at a rate at least."""
    if campaign.load_curve is None:
        return ()

    rankings = [
        ranking for runtime in runtimes for cell in runtime.cells for ranking in cell.rankings
    ]
    ratios = _ratios(rankings, summaries)
    groups = _groups(summaries)
    curves = [_curve(rows, ratios, title if len(groups) > 1 else "") for title, rows in groups]
    return tuple(curve for curve in curves if curve.rates)


def targets_over_rates(rows: Iterable[Summary]) -> list[TargetCurve]:
    """The targets of these rows without their comparisons, also of rows that are in no load
    curve."""
    by_target: dict[tuple[str, str], list[Summary]] = {}
    for runtime, row in _with_runtimes(list(rows)):
        by_target.setdefault((runtime, target_key(row.identity)), []).append(row)
    return [_target(members, {}) for members in by_target.values()]


def _with_runtimes(rows: Sequence[Summary]) -> list[tuple[str, Summary]]:
    """Each row with its runtime. A row without a run belongs to the first one."""
    first = next((row.runtime for row in rows if row.runtime), "")
    return [(row.runtime or first, row) for row in rows]


#: The parts of a load that all rates of a curve share.
_SHARED_FIELDS = [field for field in LOAD_FIELDS if field.name not in ("Load", "Length")]


def _groups(summaries: Sequence[Summary]) -> list[tuple[str, list[Summary]]]:
    """The rows of each curve with its title, which names how curves differ. Controls without a
    store stand in each curve with their load."""
    placed = _with_runtimes(summaries)
    has_several_runtimes = len({runtime for runtime, _ in placed}) > 1
    groups: dict[tuple[str, str, str | None], list[Summary]] = {}
    controls: dict[tuple[str, str], list[Summary]] = {}
    for runtime, row in placed:
        load = _shared_load(row.identity)
        if row.identity.ceiling:
            controls.setdefault((runtime, load), []).append(row)
        else:
            groups.setdefault((runtime, load, row.identity.topology), []).append(row)
    if not groups:
        groups = {(*place, None): [] for place in controls}

    varying = [field for field in varying_fields(summaries) if field in _SHARED_FIELDS]
    titled = []
    for (runtime, load, topology), rows in groups.items():
        members = [*rows, *controls.get((runtime, load), [])]
        parts = (
            runtime if has_several_runtimes else "",
            (topology or "").capitalize(),
            load_text(members[0].identity, varying),
        )
        titled.append((" · ".join(filter(None, parts)), members))
    return titled


def _shared_load(identity: Identity) -> str:
    fields = [field for field in _SHARED_FIELDS if field.read(identity) != field.default]
    return load_text(identity, fields)


Ratios = dict[str, dict[str, Comparison]]
"""The comparisons with the reference by the id of a row, then by kind of role, `P99` or
`THROUGHPUT`."""


def _ratios(rankings: Sequence[Ranking], summaries: Sequence[Summary]) -> Ratios:
    """All comparisons with references. Those of a figure at all rates are one family."""
    ratios: Ratios = {}

    def add(name: str, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            ratios.setdefault(pair.new.id, {})[name] = pair.comparison

    for ranking in rankings:
        with_base = [pair for pair in ranking.ranked_by if pair.base is ranking.reference]
        add(P99 if ranking.open_loop else THROUGHPUT, with_base)
        node = node_kind(ranking.summaries[0].identity.layer)
        add(node, [pair for pair in ranking.cpu_pairs if pair.base is ranking.reference])
        if resolution := ranking.resolution:
            name = P99 if ranking.open_loop else THROUGHPUT
            ratios.setdefault(resolution.copy.id, {})[name] = resolution.comparison

    at_rates = [ranking for ranking in rankings if ranking.open_loop and ranking.reference]
    for kind in ("service", "store"):
        for family in _families(at_rates):
            pairs = [list(_pairs_with_reference(ranking)) for ranking in family]
            for compared in compared_together(pairs, sum_of_kind("cpu_us_per_request", kind)):
                add(kind, compared)

    for kind in ("server", "generator", "service", "store"):
        for resolution in resolutions(summaries, sum_of_kind("cpu_us_per_request", kind)).values():
            if resolution.copy.identity.open_loop:
                ratios.setdefault(resolution.copy.id, {})[kind] = resolution.comparison
    return ratios


def _families(rankings: Iterable[Ranking]) -> Iterator[list[Ranking]]:
    """The rankings that differ only in their rate."""
    families: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in rankings:
        key = (ranking.base.runtime, target_key(ranking.base.identity))
        families.setdefault(key, []).append(ranking)
    yield from families.values()


def _pairs_with_reference(ranking: Ranking) -> Iterator[tuple[Summary, Summary]]:
    for row in ranking.compared_rows:
        if ranking.reference and row is not ranking.reference:
            yield ranking.reference, row


def _curve(rows: Sequence[Summary], ratios: Ratios, title: str) -> LoadCurve:
    by_target: dict[str, list[Summary]] = {}
    for row in rows:
        by_target.setdefault(target_key(row.identity), []).append(row)

    layer = rows[0].identity.layer
    parts = tuple(_parts(layer, rows))
    # The ratios of copies are also by the CPU of the generator, which is no part of a target.
    names = {*(part.kind for part in parts), P99, THROUGHPUT}
    named_ratios = {
        row_id: {name: ratio for name, ratio in ratios_of_row.items() if name in names}
        for row_id, ratios_of_row in ratios.items()
    }
    targets = [_target(members, named_ratios) for members in by_target.values()]
    known_rates = {point.rate_per_second for target in targets for point in target.points}
    return LoadCurve(
        title=title,
        text=layer_text_of(rows),
        rates=tuple(sorted(known_rates)),
        parts=parts,
        targets=tuple(sorted(targets, key=_place(targets))),
    )


def _parts(layer: str, rows: Sequence[Summary]) -> Iterator[Part]:
    """What calls the limiter, then store and service as far as some row has them."""
    text = layer_text(layer)
    for kind in (node_kind(layer), "store", "service"):
        part = Part(kind, text.consumer if kind == node_kind(layer) else kind)
        if any(row.figure_of(part.cores).value is not None for row in rows):
            yield part


def _target(rows: Sequence[Summary], ratios: Ratios) -> TargetCurve:
    points = sorted(
        (
            CurvePoint(
                rate_per_second=row.identity.rate_per_second,
                summary=row,
                ratios=ratios.get(row.id, {}),
            )
            for row in rows
            if row.identity.rate_per_second is not None
        ),
        key=lambda point: point.rate_per_second,
    )
    full_loads = tuple(row for row in rows if not row.identity.open_loop)
    full_load_ratios = (ratios.get(row.id, {}) for row in full_loads)
    return TargetCurve(
        identity=points[0].summary.identity if points else rows[0].identity,
        points=tuple(points),
        full_loads=full_loads,
        full_load_ratios=next(filter(None, full_load_ratios), {}),
    )


def _place(targets: Sequence[TargetCurve]) -> Callable[[TargetCurve], tuple[bool, int, bool]]:
    """The place of a target: the reference first, then the others as they come, each before its
    copy, and controls last."""
    labels = [target.identity.label for target in targets]

    def place(target: TargetCurve) -> tuple[bool, int, bool]:
        identity = target.identity
        of_label = identity.copy_of if identity.copy_of in labels else identity.label
        original = targets[labels.index(of_label)]
        order = -1 if original.is_reference else labels.index(of_label)
        return identity.ceiling, order, identity.copy

    return place
