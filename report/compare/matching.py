"""Matches the configurations of two sides, checks that they are comparable, and compares them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from report.analysis.cells import load_key
from report.analysis.figures import throughput
from report.analysis.load_text import load_text
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary, sample_between
from report.base.errors import USAGE, ReportError, one_line
from report.base.format import plural
from report.compare.comparability import (
    Difference,
    campaign_differences,
    compared_parts,
    names_of,
    other_machine_note,
    round_trip_notes,
    row_differences,
    script_note,
    together_text,
    version_notes,
)
from report.compare.metrics import Metric, meaning_of, not_concluded, notes_on, values_of
from report.compare.noise_floor import Floor, floor_of, host_noise
from report.compare.selection import Selection
from report.compare.stopping import Stopped, level_shift, rankings_of, shifted, stopped
from report.statistics.decision import Comparison, compare_samples
from report.statistics.samples import Sample, sample_of, upto
from report.statistics.sequential import corrected_for_looks


@dataclass(frozen=True, slots=True)
class Compared:
    """One configuration on both sides."""

    base: Summary
    new: Summary
    base_values: tuple[float, ...]
    new_values: tuple[float, ...]
    comparison: Comparison
    differs: tuple[str, ...]
    """What differs besides the targets' names, each a sentence: scripts, and what was allowed to differ."""
    parts: tuple[str, ...]
    """What is compared together: `client`, `script`, `store`, …; empty for one configuration twice."""
    concludes: bool = True
    """Whether it can count for the verdict: false for a figure that follows from another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All of one call of `compare`."""

    base: Selection
    new: Selection
    metric: Metric
    floor: Floor
    drift_excluded: bool
    rows: tuple[Compared, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """`regression`, `inconclusive` (nothing was shown or excluded in some row) or `no regression`.

        Only rows that can conclude something count.
        """
        statuses = {row.comparison.status for row in self.rows if row.concludes}
        if "worse" in statuses:
            return "regression"
        return "no regression" if statuses and statuses <= {"better", "no difference"} else "inconclusive"


def _cell(summary: Summary, with_label: bool) -> tuple[object, ...]:
    identity = summary.identity
    return (*load_key(identity), *([identity.label, identity.caps] if with_label else []))


def _load_texts(summaries: Sequence[Summary]) -> str:
    return ", ".join(dict.fromkeys(load_text(row.identity) for row in summaries))


def match(base: Selection, new: Selection) -> tuple[list[tuple[Summary, Summary]], list[str]]:
    """Pairs under one load: of the targets that are meant, or of each target with itself; what has no pair.

    Raises ReportError when nothing matches, or both sides are the same rows.
    """
    by_label = base.label is None and new.label is None
    # A copy is a control within its campaign: another campaign has its own, and the reference once more.
    bases, news = (
        {_cell(row, by_label): row for row in side.summaries if not (by_label and row.identity.copy)}
        for side in (base, new)
    )
    pairs = [(row, news[key]) for key, row in bases.items() if key in news]
    if not pairs:
        raise ReportError(
            f"{one_line(base.text)} and {one_line(new.text)} have no load in common: "
            f"{_load_texts(base.summaries)}; {_load_texts(new.summaries)}",
            USAGE,
        )
    if base.folder == new.folder and all(one is other for one, other in pairs):
        raise ReportError("both sides are the same runs: give two targets or two campaigns", USAGE)
    alone = [
        f"only in {side.text}: {row.identity.label}, {load_text(row.identity)}"
        for side, rows, others in ((base, bases, news), (new, news, bases))
        for key, row in rows.items()
        if key not in others
    ]
    return pairs, alone


def _refuse(found: Sequence[Difference], allowed: frozenset[str]) -> None:
    """Raises ReportError with one line for what is not comparable."""
    refused = list(dict.fromkeys(each for each in found if not allowed.issuperset(each.kinds)))
    if refused:
        kinds = ",".join(sorted(allowed.union(*(each.kinds for each in refused))))
        texts = "; ".join(each.text for each in refused)
        raise ReportError(f"not comparable: {texts}. To compare them all the same: --allow {kinds}", USAGE)


def _differences(
    pair: tuple[Summary, Summary], unlike: Sequence[Difference], names: tuple[str, str]
) -> tuple[str, ...]:
    """One sentence each. For two targets the last one names what is compared."""
    texts = [each.text for each in unlike]
    if not any("script" in each.kinds for each in unlike):
        texts += filter(None, [script_note(*pair, names)])
    if texts and pair[0].identity.label != pair[1].identity.label:
        texts[-1] += f": the comparison is of {together_text(compared_parts(*pair))}"
    return tuple(texts)


def _without_verdict(found: Comparison) -> Comparison:
    """The comparison of runs that are too unsteady. If there are too few runs, that reason stays."""
    if found.status in ("too few runs", "not comparable"):
        return replace(found, runs_needed=None, detectable=None)
    reason = "these runs are too unsteady to compare"
    return replace(found, status="inconclusive", reason=reason, runs_needed=None, detectable=None)


def _followed_from(found: Comparison, reason: str) -> Comparison:
    """The ratio and its interval alone: whatever the number of runs, they are no second conclusion."""
    if found.status == "not comparable":
        return found
    return replace(
        found,
        status="inconclusive",
        reason=reason,
        p=None,
        p_holm=None,
        runs_needed=None,
        detectable=None,
        blocked=True,
    )


def compare_sides(
    base: Selection, new: Selection, metric: Metric, floor: float, allowed: frozenset[str]
) -> Outcome:
    """Compares what two sides have in common.

    All that concludes something is one family of Holm's correction: there is one exit code. Within one
    interleaved campaign rows are paired as in its report. Across campaigns drift of the machine is not
    excluded, so that the floor is at least the host's noise.

    Args:
        floor: as a share.
        allowed: kinds of unlikeness that the user accepts.
    Raises:
        ReportError: exit code 2, nothing to compare, or unlike things.
    """
    pairs, alone = match(base, new)
    of_sides = campaign_differences(base, new)
    names = {id(one): names_of(base, new, (one, other)) for one, other in pairs}
    of_rows: dict[int, list[Difference]] = {}
    for both in dict.fromkeys(names.values()):
        alike = [pair for pair in pairs if names[id(pair[0])] == both]
        of_rows.update(zip((id(one) for one, _ in alike), row_differences(alike, both), strict=True))
    _refuse([*of_sides, *(each for found in of_rows.values() for each in found)], allowed)
    drift_excluded = base.folder == new.folder and _interleaved(base)
    values = [(values_of(other, metric), values_of(one, metric)) for one, other in pairs]
    noise = None if drift_excluded else host_noise(new.campaign, pairs, metric.id)
    decided_floor = floor_of(floor, drift_excluded, noise, values)
    stops = [stopped(one, other) for one, other in pairs]
    samples = [_sample(pair, metric, stop, drift_excluded) for pair, stop in zip(pairs, stops, strict=True)]
    concluding = [index for index, (one, _) in enumerate(pairs) if not not_concluded(one, metric)]
    found: dict[int, Comparison] = {}
    for members in (concluding, [index for index in range(len(pairs)) if index not in concluding]):
        compared = compare_samples(
            [samples[index] for index in members], decided_floor.share, metric.higher_is_better
        )
        found.update(zip(members, compared, strict=True))
    rankings = {side.folder: rankings_of(side.every) for side in (base, new) if _is_ranked(side)}
    judge = _Judge(base, new, metric, decided_floor, rankings)
    found = {
        index: judge.judged(pairs[index], samples[index], stops[index], each) for index, each in found.items()
    }
    rows = tuple(
        Compared(
            one,
            other,
            samples[index].base,
            samples[index].new,
            found[index],
            _differences((one, other), of_rows[id(one)], names[id(one)]),
            compared_parts(one, other),
            not not_concluded(one, metric),
        )
        for index, (one, other) in enumerate(pairs)
    )
    notes = [
        *(each.text for each in of_sides),
        *filter(None, [other_machine_note(base, new)]),
        *round_trip_notes(base, new),
        *_drift_notes(base, new, drift_excluded),
        *(stop.note for stop in stops if stop),
        *_pair_notes(found.values()),
        *(note for one, other in pairs for note in version_notes(one, other, names[id(one)])),
        *(note for one, _ in pairs for note in meaning_of(one, metric)),
        *(
            f"{_name(side, row, base.folder != new.folder)}: {text}"
            for pair in pairs
            for side, row in zip((base, new), pair, strict=True)
            for text in (*notes_on(row, metric), *row.warnings)
        ),
        *alone,
    ]
    return Outcome(
        base=base,
        new=new,
        metric=metric,
        floor=decided_floor,
        drift_excluded=drift_excluded,
        rows=rows,
        notes=tuple(dict.fromkeys(notes)),
    )


def _is_ranked(side: Selection) -> bool:
    """Its rankings tell where single rows were stopped."""
    return any(row.look_schedule for row in side.every)


def _sample(
    pair: tuple[Summary, Summary], metric: Metric, stop: Stopped | None, drift_excluded: bool
) -> Sample:
    """New and base; paired only if nothing but their targets lies between them."""
    one, other = pair
    rounds, share = (stop.rounds, stop.share) if stop else (None, 1.0)
    if drift_excluded:
        return sample_between(other, one, metric.read, rounds, share)
    if rounds is None:
        return Sample(new=values_of(other, metric), base=values_of(one, metric), share=share)
    new, base = (upto(row.side(metric.read), rounds) for row in (other, one))
    return sample_of(new, base, share=share)


@dataclass(frozen=True, slots=True)
class _Judge:
    """What else is known of the sides that a comparison must not contradict."""

    base: Selection
    new: Selection
    metric: Metric
    floor: Floor
    rankings: Mapping[Path, Sequence[Ranking]]
    """Of the campaigns whose rankings tell where single rows were stopped."""

    def judged(
        self, pair: tuple[Summary, Summary], sample: Sample, stop: Stopped | None, found: Comparison
    ) -> Comparison:
        """The comparison, corrected for its looks, and without a conclusion that these runs do not allow."""
        reason = not_concluded(pair[0], self.metric)
        if self.floor.unsteady:
            found = _without_verdict(found)
        if reason:
            found = _followed_from(found, reason)
        if reason or self.floor.unsteady:
            return found
        if stop and self.metric.read is throughput:
            found = self._corrected(pair, sample, stop, found)
        return found

    def _corrected(
        self, pair: tuple[Summary, Summary], sample: Sample, stop: Stopped, found: Comparison
    ) -> Comparison:
        one, other = pair
        if self.base.folder == self.new.folder:
            schedule = one.look_schedule
            past = schedule.levels if schedule else ()
            looks = [look for look in past if stop.rounds is None or look[0] <= stop.rounds]
            return corrected_for_looks(found, sample, looks, self.floor.share)
        shifts = [
            level_shift(row, self.rankings.get(side.folder, ()))
            if row.look_schedule and stop.rounds in (None, row.last_round)
            else 0.0
            for side, row in ((self.new, other), (self.base, one))
        ]
        return shifted(found, shifts[0] - shifts[1])


def _name(side: Selection, row: Summary, with_campaign: bool) -> str:
    return f"{side.campaign.name}#{row.identity.label}" if with_campaign else row.identity.label


def _interleaved(side: Selection) -> bool:
    manifest = side.campaign.manifest
    return manifest is not None and manifest["plan"]["order"] == "interleaved"


def _pair_notes(found: Iterable[Comparison]) -> list[str]:
    paired = [each for each in found if each.pairs is not None]
    if not paired:
        return []
    dropped = sum(each.dropped for each in paired)
    alone = f"; {plural(dropped, 'run')} without a partner that counts" if dropped else ""
    return [f"runs of one round are compared with each other{alone}"]


def _drift_notes(base: Selection, new: Selection, drift_excluded: bool) -> list[str]:
    if drift_excluded:
        return []
    if base.folder != new.folder and base.campaign.name == new.campaign.name:
        return [f"both sides are campaign {new.campaign.name}: measure anew, then compare with the baseline"]
    if base.folder != new.folder:
        return ["drift of the machine is not excluded: the sides are of two campaigns"]
    return ["drift of the machine is not excluded: runs were not interleaved"]
