"""Published claims against what was measured: each ratio by the rule of all comparisons (M17), one family a
claim, with the copy of the reference (M31)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from report.analysis.campaign_analysis import Analysis
from report.analysis.comparison_text import ratio_text, runs_text
from report.analysis.figures import (
    Figure,
    consumer_cpu,
    percentile,
    service_cpu,
    store_cpu,
    supported_percentile,
    throughput,
)
from report.analysis.memory_per_key import SOURCES
from report.analysis.printed_rows import PrintedRow, printed_rows
from report.analysis.resolution import Resolution, resolution_of
from report.analysis.steadiness import attributable, unsteady_controls, unsteady_text
from report.analysis.summary import Summary, sample_between
from report.results.claims import Claim, ClaimedComparison
from report.results.model import Campaign, Measured, Printed
from report.statistics.claim_rule import (
    STEADIER,
    UNMEASURED,
    UNTOLD,
    Evidence,
    Judgement,
    Measurement,
    Part,
    Verdict,
    combined,
    held_against,
    judge,
)
from report.statistics.decision import Comparison, Level, compare_samples
from report.statistics.ratio import ALPHA, RatioInterval
from report.statistics.samples import Sample


def _store_memory(figures: Measured) -> float | None:
    found = [role.resident_bytes for role in figures.roles.values() if role.kind == "store"]
    known = [each for each in found if each is not None]
    return sum(known) if known and len(known) == len(found) else None


def _bytes_per_key(figures: Measured) -> float | None:
    memory = figures.added_memory
    if memory is None or not memory.keys or memory.failed or memory.lost_keys:
        return None
    return next((memory.bytes[source] / memory.keys for source in SOURCES if source in memory.bytes), None)


@dataclass(frozen=True, slots=True)
class ClaimMetric:
    """What rows are compared by."""

    text: str
    """With its unit."""
    figure: Figure
    printed: Callable[[Printed], float | None]
    """Of rows whose figures a foreign program printed."""


METRICS: Mapping[str, ClaimMetric] = {
    "throughput": ClaimMetric("requests/s", throughput, lambda run: run.operations_per_second),
    "p50": ClaimMetric("median latency", percentile("p50"), lambda run: run.latency_ms.get("p50")),
    "p99": ClaimMetric("p99 latency", supported_percentile("p99"), lambda run: run.latency_ms.get("p99")),
    "cpu": ClaimMetric("CPU per request of what calls the limiter", consumer_cpu, lambda _: None),
    "store_cpu": ClaimMetric(
        "CPU per request of the store", store_cpu, lambda run: run.store_cpu_us_per_operation
    ),
    "service_cpu": ClaimMetric(
        "CPU per request of the service", service_cpu, lambda run: run.service_cpu_us_per_operation
    ),
    "store_memory": ClaimMetric("resident memory of the store", Figure(_store_memory), lambda _: None),
    "bytes_per_key": ClaimMetric("bytes per key", Figure(_bytes_per_key), lambda run: run.bytes_per_key),
}

Row = Summary | PrintedRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRows:
    """One comparison of a claim, measured or not."""

    claimed: ClaimedComparison
    judgement: Judgement | None
    """None where nothing was expected of it."""
    ratio: float | None = None
    interval: RatioInterval | None = None
    runs: int = 0
    """That decide, of the side that has fewer."""
    paired: bool = False
    copy: Comparison | None = None
    """Copy ÷ original, by the same metric; None without a copy."""
    note: str = ""
    """What keeps a comparison from being judged of which nothing was expected."""
    sound: bool = False
    """Nothing but too few runs keeps it from being judged."""
    measured: str = ""
    """The ratio, when and where it was measured."""
    earlier: tuple[str, ...] = ()
    """The same of other campaigns with the same software, the newest first."""

    @property
    def verdict(self) -> Verdict | None:
        return self.judgement.verdict if self.judgement else None


@dataclass(frozen=True, slots=True)
class Step:
    """A cause with the factor that it has, and its part of the whole."""

    cause: str
    compared: ComparedRows
    share: float | None
    """Of the logarithm; None where causes work against each other, or the whole was not shown to differ."""


@dataclass(frozen=True, slots=True)
class DecomposedRatio:
    """What a ratio is made of."""

    whole: ComparedRows
    steps: tuple[Step, ...]
    product: float | None
    """Of the steps; None where one has no ratio."""

    @property
    def is_opposed(self) -> bool:
        """One cause was shown to raise the ratio, and one to lower it."""
        return _raises_and_lowers(step.compared for step in self.steps)

    @property
    def adds_up(self) -> bool | None:
        """The product lies in the interval of the whole; None where one of them is not known."""
        interval = self.whole.interval
        if self.product is None or interval is None:
            return None
        return interval.low <= self.product <= interval.high


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    claim: Claim
    verdict: Verdict
    reason: str
    takes: str
    """What would tell it, where it cannot be told here; empty where that is not known."""
    comparisons: tuple[ComparedRows, ...]
    decomposition: DecomposedRatio | None
    where: Mapping[str, str]
    """When and on what the newest of its campaigns ran, by the id of each."""

    @property
    def command(self) -> str:
        """Measures it again, with as many runs as it takes; empty where it was told, or nothing ran."""
        measured = [each for each in self.comparisons if each.runs]
        untold = [each for each in _untold(measured) if each.takes]
        if self.verdict != UNTOLD or not untold:
            return ""
        most = _most_runs(untold)
        return f"ratelimit-bench claims run {self.claim.id} --again" + (f" --runs {most}" if most else "")


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two rows of one campaign that a claim compares."""

    claimed: ClaimedComparison
    analysis: Analysis
    new: Row
    base: Row
    sample: Sample


def judged_claim(claim: Claim, analyses: Mapping[str, Sequence[Analysis]]) -> JudgedClaim:
    """A claim against what was measured: by the newest campaigns, unless earlier ones disagree.

    Args:
        analyses: of the campaigns that were measured, by id, the newest first.
    """
    newest = {id_: found[0] for id_, found in analyses.items()}
    by_id = _by_id(claim, newest)
    earlier = _earlier(claim, analyses)
    comparisons = tuple(
        _with_earlier(by_id[claimed.id], earlier.get(claimed.id, []))
        if claimed.id in by_id
        else _alone(claimed, newest.get(claimed.campaign), claim)
        for claimed in claim.comparisons
    )
    parts = [
        Part(
            each.judgement.verdict, each.judgement.reason, each.claimed.as_published, each.claimed.conditions
        )
        for each in comparisons
        if each.judgement
    ]
    verdict, reason = combined(parts, claim.cannot_be_told[0] if claim.cannot_be_told else "")
    return JudgedClaim(
        claim,
        verdict,
        reason,
        _takes(claim, comparisons) if verdict == UNTOLD else "",
        comparisons,
        _decomposed(claim, comparisons),
        {id_: _where(analysis.campaign) for id_, analysis in newest.items()},
    )


def _by_id(claim: Claim, analyses: Mapping[str, Analysis]) -> dict[str, ComparedRows]:
    """The comparisons whose rows are in these campaigns."""
    pairs = [
        pair
        for claimed in claim.comparisons
        if (analysis := analyses.get(claimed.campaign)) and (pair := _pair(claimed, analysis))
    ]
    return {compared.claimed.id: compared for compared in _compared(pairs)}


def _earlier(claim: Claim, analyses: Mapping[str, Sequence[Analysis]]) -> dict[str, list[ComparedRows]]:
    """The comparisons by campaigns that newer ones replaced, the newest first: those of the same versions."""
    found: dict[str, list[ComparedRows]] = {}
    for id_ in {claimed.campaign for claimed in claim.comparisons} & analyses.keys():
        newest, *others = analyses[id_]
        for analysis in others:
            for compared in _by_id(claim, {id_: analysis}).values():
                hashes = (*compared.claimed.new, *compared.claimed.base)
                if _software(newest, hashes) == _software(analysis, hashes):
                    found.setdefault(compared.claimed.id, []).append(compared)
    return found


def _software(analysis: Analysis, hashes: Sequence[str]) -> set[tuple[str, str, str]]:
    """Versions of what rows compare, by the hash of each."""
    return {
        (str(run.identity.configuration_hash), part, run.versions[part])
        for run in (*analysis.campaign.runs, *analysis.campaign.operations)
        if run.identity.configuration_hash in hashes
        for part in ("client", "limiter", "store")
        if part in run.versions
    }


def _with_earlier(found: ComparedRows, earlier: Sequence[ComparedRows]) -> ComparedRows:
    newest = _measurement(found)
    others = [each for each in map(_measurement, earlier) if each]
    return replace(
        found,
        judgement=held_against(newest, others) if newest else found.judgement,
        earlier=tuple(each.measured for each in earlier),
    )


def _measurement(found: ComparedRows) -> Measurement | None:
    if not found.sound or found.judgement is None or found.interval is None:
        return None
    return Measurement(found.judgement, found.interval, found.measured)


def _takes(claim: Claim, comparisons: Sequence[ComparedRows]) -> str:
    untold = _untold(comparisons)
    most = _most_runs(untold)
    found = [
        *([claim.cannot_be_told[1]] if claim.cannot_be_told else []),
        # Of several numbers of runs the largest is enough.
        *(each.takes for each in untold if each.runs_needed in (None, most)),
    ]
    return "; ".join(dict.fromkeys(filter(None, found)))


def _untold(comparisons: Sequence[ComparedRows]) -> list[Judgement]:
    """Of the comparisons under the conditions of the publication, which decide a claim."""
    judged = [each.judgement for each in comparisons if each.judgement and each.claimed.as_published]
    return [each for each in judged if each.verdict == UNTOLD]


def _most_runs(judgements: Sequence[Judgement]) -> int | None:
    """How many runs per side would decide each of them, as far as that is known."""
    return max((each.runs_needed for each in judgements if each.runs_needed is not None), default=None)


def _row(analysis: Analysis, hashes: Sequence[str]) -> Row | None:
    printed = printed_rows(analysis.campaign, lambda identity: identity.configuration_hash in hashes)
    rows: list[Row] = [row for row in analysis.summaries if row.identity.configuration_hash in hashes]
    return next(iter([*rows, *printed]), None)


def _pair(claimed: ClaimedComparison, analysis: Analysis) -> _Pair | None:
    """None where a row is missing, or the base is a published figure."""
    new, base = _row(analysis, claimed.new), _row(analysis, claimed.base)
    metric = METRICS[claimed.metric]
    if isinstance(new, Summary) and isinstance(base, Summary):
        return _Pair(claimed, analysis, new, base, sample_between(new, base, metric.figure))
    if isinstance(new, PrintedRow) and isinstance(base, PrintedRow):
        return _Pair(claimed, analysis, new, base, new.sample(base, metric.printed))
    return None


def _compared(pairs: Sequence[_Pair]) -> list[ComparedRows]:
    """The comparisons of a claim: one family, in which each bound of each of them is a test of its own."""
    tests = [
        (index, bound)
        for index, pair in enumerate(pairs)
        if pair.claimed.expected
        for bound in pair.claimed.expected.bounds
    ]
    if not pairs:
        return []
    # So that ratio and tests are paired, or are not, alike.
    level = Level(planned=max(len(tests), len(pairs)))
    found = compare_samples([pair.sample for pair in pairs], level=level)
    scaled = [_scaled(pairs[index].sample, bound) for index, bound in tests]
    against = compare_samples(scaled, floor=0.0, level=level) if scaled else ()
    by_pair: dict[int, dict[float, Comparison]] = {}
    for (index, bound), comparison in zip(tests, against, strict=True):
        by_pair.setdefault(index, {})[bound] = comparison
    return [
        _judged(pair, comparison, by_pair.get(index, {}))
        for index, (pair, comparison) in enumerate(zip(pairs, found, strict=True))
    ]


def _scaled(sample: Sample, bound: float) -> Sample:
    """The sample whose ratio is that of `sample` to a bound."""
    return replace(
        sample,
        base=tuple(bound * value for value in sample.base),
        pairs=tuple((new, bound * base) for new, base in sample.pairs),
    )


def _judged(pair: _Pair, found: Comparison, against: Mapping[float, Comparison]) -> ComparedRows:
    resolution = _resolution(pair)
    unsteady = unsteady_text(unsteady_controls(pair.analysis.summaries))
    believed = attributable(found, pair.base, pair.new, unsteady)
    undecided = [each for each in against.values() if not each.shown]
    obstacle = _not_concluded(pair)
    if believed.blocked or found.status in ("indicative", "not comparable"):
        obstacle = believed.reason
    evidence = Evidence(
        ratio=found.ratio,
        above=frozenset(bound for bound, each in against.items() if each.status == "better"),
        below=frozenset(bound for bound, each in against.items() if each.status == "worse"),
        resolution=resolution.share if resolution else None,
        copy_told_apart=resolution is not None and resolution.told_apart,
        obstacle=obstacle,
        takes=_takes_of(believed, undecided),
        runs_needed=None if believed.blocked or not undecided else _hardest(undecided).runs_needed,
    )
    expected = pair.claimed.expected
    return ComparedRows(
        claimed=pair.claimed,
        judgement=judge(expected, evidence) if expected else None,
        ratio=found.ratio,
        interval=found.interval,
        runs=found.per_side,
        paired=found.pairs is not None,
        copy=resolution.comparison if resolution else None,
        note="" if expected else evidence.obstacle,
        sound=not (evidence.obstacle or evidence.copy_told_apart),
        measured=f"{ratio_text(found.ratio, found.interval)} {_where(pair.analysis.campaign)}",
    )


def _where(campaign: Campaign) -> str:
    """`on 2026-04-16 (AMD EPYC, docker)`."""
    manifest = campaign.manifest
    if manifest is None:
        return f"in {campaign.name}"
    return (
        f"on {manifest['started_at'][:10]} ({manifest['machine']['cpu_model']}, {manifest['runtime']['id']})"
    )


def _takes_of(believed: Comparison, undecided: Sequence[Comparison]) -> str:
    """What would decide a ratio; empty where that is not known, or nothing is open."""
    if believed.blocked:
        return STEADIER
    return runs_text(_hardest(undecided)) if undecided else ""


def _not_concluded(pair: _Pair) -> str:
    """Why a metric concludes nothing under this load; empty where it does."""
    if pair.claimed.metric == "cpu" and not pair.new.identity.open_loop:
        return "in a closed loop CPU per request follows from the throughput: compare it at one rate"
    return ""


def _hardest(undecided: Sequence[Comparison]) -> Comparison:
    """The one that takes most runs to decide."""
    return max(undecided, key=lambda each: math.inf if each.runs_needed is None else each.runs_needed)


def _resolution(pair: _Pair) -> Resolution | None:
    """What the copies show by this metric: those in a ranking with one of the two rows, without one all of
    the campaign. The worst of them counts."""
    rankings = [
        ranking for cell in pair.analysis.cells for ranking in cell.rankings if ranking.resolution is not None
    ]
    keys = {pair.new.identity.key, pair.base.identity.key}
    near = [each for each in rankings if any(row.identity.key in keys for row in each.summaries)]
    figure = METRICS[pair.claimed.metric].figure
    found = [
        resolution
        for ranking in near or rankings
        if ranking.resolution
        and (resolution := resolution_of(ranking.resolution.copy, ranking.resolution.reference, figure))
    ]
    return max(found, key=lambda each: (each.told_apart, each.share or 0.0), default=None)


def _alone(claimed: ClaimedComparison, analysis: Analysis | None, claim: Claim) -> ComparedRows:
    """A comparison without two rows: of a row with a published figure, or one that was not measured."""
    if analysis is not None and claimed.published is not None and claimed.new:
        return _against_published(claimed, analysis, claimed.published)
    if analysis is not None:
        judgement = Judgement(UNTOLD, claimed.missing or "a row has no run", "")
    elif claim.needs:
        program, source = claim.needs
        judgement = Judgement(UNTOLD, f"no {program} was given", f"--program {program}=PATH ({source})")
    else:
        judgement = Judgement(UNMEASURED, "", "")
    return ComparedRows(
        claimed=claimed, judgement=judgement if claimed.expected else None, note=judgement.reason
    )


def _against_published(claimed: ClaimedComparison, analysis: Analysis, published: float) -> ComparedRows:
    """Bytes per key, by the slope over numbers of keys and its t interval."""
    ids = {row.id for row in analysis.summaries if row.identity.configuration_hash in claimed.new}
    memory = next((each for each in analysis.memory if ids & set(each.summary_ids)), None)
    slope = memory.slopes[0] if memory and memory.slopes else None
    if slope is None or slope.line.low is None or slope.line.high is None:
        reason = (memory.reason if memory else "") or "it takes three runs with two numbers of fresh keys"
        judgement = Judgement(UNTOLD, reason, "")
        return ComparedRows(claimed=claimed, judgement=judgement if claimed.expected else None, note=reason)
    found = RatioInterval(slope.line.low / published, slope.line.high / published, 1 - ALPHA)
    expected = claimed.expected
    bounds = expected.bounds if expected else ()
    evidence = Evidence(
        ratio=slope.line.slope / published,
        above=frozenset(bound for bound in bounds if found.low > bound),
        below=frozenset(bound for bound in bounds if found.high < bound),
        takes="more numbers of keys, or more runs of each",
    )
    return ComparedRows(
        claimed=claimed,
        judgement=judge(expected, evidence) if expected else None,
        ratio=evidence.ratio,
        interval=found,
        runs=len(slope.points),
    )


def _decomposed(claim: Claim, comparisons: Sequence[ComparedRows]) -> DecomposedRatio | None:
    if claim.decomposition is None:
        return None
    by_id = {each.claimed.id: each for each in comparisons}
    whole = by_id[claim.decomposition.of]
    parts = [(cause, by_id[step]) for step, cause in claim.decomposition.steps]
    ratios = [each.ratio for _, each in parts]
    known = [each for each in ratios if each is not None]
    product = math.prod(known) if len(known) == len(ratios) else None
    differs = whole.interval is not None and not whole.interval.low <= 1 <= whole.interval.high
    shared = differs and not _raises_and_lowers(each for _, each in parts)
    total = math.log(product) if product and shared else 0.0
    return DecomposedRatio(
        whole,
        tuple(
            Step(cause, each, math.log(each.ratio) / total if each.ratio and total else None)
            for cause, each in parts
        ),
        product,
    )


def _raises_and_lowers(causes: Iterable[ComparedRows]) -> bool:
    intervals = [each.interval for each in causes if each.interval is not None]
    return any(each.low > 1 for each in intervals) and any(each.high < 1 for each in intervals)
