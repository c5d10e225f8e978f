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
from report.base.format import joined, plural
from report.compare.common_reference import common_reference, sample_through
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
    turns_differences,
    version_notes,
)
from report.compare.metrics import Metric, meaning_of, not_concluded, notes_on, values_of
from report.compare.selection import Selection
from report.compare.stopping import Stopped, level_shift, rankings_of, shifted, stopped
from report.statistics.decision import Comparison, compare_samples
from report.statistics.samples import Sample, upto
from report.statistics.sequential import corrected_for_looks


@dataclass(frozen=True, slots=True)
class Compared:
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
    reference: str | None = None
    """The common reference of two campaigns, to which the figures of both are related."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    base: Selection
    new: Selection
    metric: Metric
    floor: float
    """A share."""
    rows: tuple[Compared, ...]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """`regression`, `not decided` (nothing was shown or excluded in some row) or `no regression`.

        Only rows that can conclude something count."""
        statuses = {row.comparison.status for row in self.rows if row.concludes}
        if "worse" in statuses:
            return "regression"
        return "no regression" if statuses and statuses <= {"better", "no difference"} else "not decided"


def _cell(summary: Summary, with_label: bool) -> tuple[object, ...]:
    identity = summary.identity
    return (*load_key(identity), *([identity.label, identity.caps] if with_label else []))


def _load_texts(summaries: Sequence[Summary]) -> str:
    return ", ".join(dict.fromkeys(load_text(row.identity) for row in summaries))


def match(base: Selection, new: Selection) -> tuple[list[tuple[Summary, Summary]], list[str]]:
    """Pairs under one load: of the targets that are meant, or of each target with itself; what has no pair.

    Raises ReportError when nothing matches, or both sides are the same rows."""
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
    if by_label:
        pairs = _without_references(pairs, base, new)
    if base.folder == new.folder and all(one is other for one, other in pairs):
        raise ReportError("both sides are the same runs: give two targets or two campaigns", USAGE)
    alone = [
        f"only in {side.text}: {row.identity.label}, {load_text(row.identity)}"
        for side, rows, others in ((base, bases, news), (new, news, bases))
        for key, row in rows.items()
        if key not in others
    ]
    return pairs, alone


def _without_references(
    pairs: list[tuple[Summary, Summary]], base: Selection, new: Selection
) -> list[tuple[Summary, Summary]]:
    """The pairs without those that others are compared through: their own ratio would always be 1."""
    others = [pair for pair in pairs if not pair[0].reference]
    through = {
        id(found[0])
        for pair in others
        if (found := common_reference(pair, base.every, new.every)) is not None
    }
    return [pair for pair in pairs if id(pair[0]) not in through]


def _refuse(found: Sequence[Difference], allowed: frozenset[str]) -> None:
    refused = list(dict.fromkeys(each for each in found if not allowed.issuperset(each.kinds)))
    if refused:
        kinds = ",".join(sorted(allowed.union(*(each.kinds for each in refused))))
        texts = "; ".join(each.text for each in refused)
        raise ReportError(f"not comparable: {texts}. To compare them all the same: --allow {kinds}", USAGE)


def _differences(
    pair: tuple[Summary, Summary], unlike: Sequence[Difference], names: tuple[str, str]
) -> tuple[str, ...]:
    texts = [each.text for each in unlike]
    if not any("script" in each.kinds for each in unlike):
        texts += filter(None, [script_note(*pair, names)])
    if texts and pair[0].identity.label != pair[1].identity.label:
        texts[-1] += f": the comparison is of {together_text(compared_parts(*pair))}"
    return tuple(texts)


def _followed_from(found: Comparison, reason: str) -> Comparison:
    """The ratio and its interval alone: whatever the number of runs, they are no second conclusion."""
    if found.status == "not comparable":
        return found
    return replace(
        found,
        status="not decided",
        reason=reason,
        p=None,
        p_holm=None,
        runs_needed=None,
        detectable=None,
        blocked=True,
    )


def _interleaved(side: Selection) -> bool:
    manifest = side.campaign.manifest
    return manifest is not None and manifest["plan"]["order"] in ("turns", "interleaved")


@dataclass(frozen=True, slots=True)
class _Between:
    """How the host cancels between the two rows of each pair."""

    base: Selection
    new: Selection

    @property
    def campaigns(self) -> bool:
        return self.base.folder != self.new.folder

    def references(self, pair: tuple[Summary, Summary]) -> tuple[Summary, Summary] | None:
        return common_reference(pair, self.base.every, self.new.every) if self.campaigns else None

    def nothing_cancels(self, pair: tuple[Summary, Summary]) -> str:
        """Why such a pair is never decided; empty where it can be."""
        if not self.campaigns:
            return "" if _interleaved(self.base) else "the host does not cancel: runs were not interleaved"
        if self.references(pair):
            return ""
        return (
            "the host does not cancel: the campaigns have no common reference of the same version, store and "
            "settings"
        )

    def sample(self, pair: tuple[Summary, Summary], metric: Metric, stop: Stopped | None) -> Sample:
        one, other = pair
        rounds, share = (stop.rounds, stop.share) if stop else (None, 1.0)
        if references := self.references(pair):
            return sample_through(pair, references, metric.read, rounds, share)
        if not self.nothing_cancels(pair):
            return sample_between(other, one, metric.read, rounds, share)
        return Sample(new=_upto(other, metric, stop), base=_upto(one, metric, stop), share=share)


def _upto(row: Summary, metric: Metric, stop: Stopped | None) -> tuple[float, ...]:
    if stop is None or stop.rounds is None:
        return values_of(row, metric)
    return tuple(value for _, value in sorted(upto(row.side(metric.read), stop.rounds).items()))


def compare_sides(
    base: Selection, new: Selection, metric: Metric, floor: float, allowed: frozenset[str]
) -> Outcome:
    """Compares what two sides have in common.

    All that concludes something is one family of Holm's correction: there is one exit code. Within one
    campaign rows are compared as in its report, across campaigns through their common reference (rule M22).
    Where the host does not cancel, nothing is decided."""
    pairs, alone = match(base, new)
    between = _Between(base, new)
    of_sides = campaign_differences(base, new)
    names = {id(one): names_of(base, new, (one, other)) for one, other in pairs}
    of_rows: dict[int, list[Difference]] = {}
    for both in dict.fromkeys(names.values()):
        alike = [pair for pair in pairs if names[id(pair[0])] == both]
        of_rows.update(zip((id(one) for one, _ in alike), row_differences(alike, both), strict=True))
    if between.campaigns:
        of_sides += turns_differences(pairs)
    _refuse([*of_sides, *(each for found in of_rows.values() for each in found)], allowed)
    stops = [stopped(one, other) for one, other in pairs]
    samples = [between.sample(pair, metric, stop) for pair, stop in zip(pairs, stops, strict=True)]
    reasons = [not_concluded(pair[0], metric) or between.nothing_cancels(pair) for pair in pairs]
    found: dict[int, Comparison] = {}
    # What cannot conclude makes the family of the others no larger.
    for concluding in (True, False):
        members = [index for index, reason in enumerate(reasons) if concluding is not bool(reason)]
        compared = compare_samples([samples[index] for index in members], floor, metric.higher_is_better)
        found.update(zip(members, compared, strict=True))
    rankings = {side.folder: rankings_of(side.every) for side in (base, new) if any(stops)}
    judge = _Judge(between, metric, floor, rankings)
    found = {
        index: _followed_from(each, reasons[index])
        if reasons[index]
        else judge.corrected(pairs[index], samples[index], stops[index], each)
        for index, each in found.items()
    }
    references = [between.references(pair) for pair in pairs]
    rows = tuple(
        Compared(
            base=one,
            new=other,
            base_values=_upto(one, metric, stop),
            new_values=_upto(other, metric, stop),
            comparison=found[index],
            differs=_differences((one, other), of_rows[id(one)], names[id(one)]),
            parts=compared_parts(one, other),
            concludes=not not_concluded(one, metric),
            reference=through[0].identity.label if through else None,
        )
        for index, ((one, other), stop, through) in enumerate(zip(pairs, stops, references, strict=True))
    )
    notes = [
        *(each.text for each in of_sides),
        *filter(None, [other_machine_note(base, new)]),
        *round_trip_notes(base, new),
        *_reference_notes(base, new, rows),
        *(stop.note for stop in stops if stop),
        *_pair_notes(found.values()),
        *(note for one, other in pairs for note in version_notes(one, other, names[id(one)])),
        *(note for one, _ in pairs for note in meaning_of(one, metric)),
        *(
            f"{_name(side, row, between.campaigns)}: {text}"
            for pair in (*pairs, *filter(None, references))
            for side, row in zip((base, new), pair, strict=True)
            for text in (*notes_on(row, metric), *row.warnings)
        ),
        *alone,
    ]
    return Outcome(
        base=base, new=new, metric=metric, floor=floor, rows=rows, notes=tuple(dict.fromkeys(notes))
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    between: _Between
    metric: Metric
    floor: float
    rankings: Mapping[Path, Sequence[Ranking]]
    """Of the campaigns that chose their number of runs."""

    def corrected(
        self, pair: tuple[Summary, Summary], sample: Sample, stop: Stopped | None, found: Comparison
    ) -> Comparison:
        if not stop or self.metric.read is not throughput:
            return found
        references = self.between.references(pair)
        if references is None:
            schedule = pair[0].look_schedule
            past = schedule.levels if schedule else ()
            looks = [look for look in past if stop.rounds is None or look[0] <= stop.rounds]
            return corrected_for_looks(found, sample, looks, self.floor)
        base, new = (
            level_shift(row, reference, self.rankings.get(side.folder, ()))
            if row.look_schedule and stop.rounds in (None, row.last_round)
            else 0.0
            for side, row, reference in zip(
                (self.between.base, self.between.new), pair, references, strict=True
            )
        )
        return shifted(found, new - base)


def _name(side: Selection, row: Summary, with_campaign: bool) -> str:
    return f"{side.campaign.name}#{row.identity.label}" if with_campaign else row.identity.label


def _pair_notes(found: Iterable[Comparison]) -> list[str]:
    paired = [each for each in found if each.pairs is not None]
    if not paired:
        return []
    dropped = sum(each.dropped for each in paired)
    alone = f"; {plural(dropped, 'run')} without a partner that counts" if dropped else ""
    return [f"runs of one round are compared with each other{alone}"]


def _reference_notes(base: Selection, new: Selection, rows: Sequence[Compared]) -> list[str]:
    if base.folder == new.folder:
        return []
    if base.campaign.name == new.campaign.name:
        return [f"both sides are campaign {new.campaign.name}: measure anew, then compare with the baseline"]
    labels = joined(list(dict.fromkeys(row.reference for row in rows if row.reference)))
    return [f"ratios are of each round’s ratio to {labels}, then and now"] if labels else []
