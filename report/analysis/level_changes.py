"""Compares two rows over the parts of windows in which one of them changed its level (rule M26)."""

import math
from collections.abc import Mapping

from msgspec import Struct, structs

from report.analysis.figures import throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.base.format import plural
from report.results import model
from report.statistics.comparison import Comparison, Level
from report.statistics.decision import compare_samples, standing
from report.statistics.samples import Place, Sample

_MS_PER_SLICE = 100
_SLICES_PER_SECOND = 1000 / _MS_PER_SLICE


class LevelChange(Struct, frozen=True):
    """What two rows are compared with if windows are divided where a level changed."""

    rounds: int
    """The number of compared rounds in which one of the rows changed its level."""
    ratios: tuple[float, float]
    """The lowest and the highest ratio, new ÷ base, in the parts of these rounds."""
    parts: tuple[Comparison, Comparison]
    """The comparisons by the parts before the changes, and by those after them. Rounds without a
    change are whole in both."""

    @property
    def text(self) -> str:
        low, high = self.ratios
        return (
            f"the level changed inside {plural(self.rounds, 'window')}, "
            f"whose parts range from {low:.2f}× to {high:.2f}×"
        )

    def standing(self, comparison: Comparison) -> Comparison:
        """The comparison with what both parts conclude, too."""
        return standing(comparison, self.parts, self.text)


def level_change(comparison: Comparison, base: Summary, new: Summary) -> LevelChange | None:
    """The comparison of the throughput of two rows by turns over the parts of their windows. None
    if no window of them has a change of level."""
    new_runs = _runs_by_place(new)
    base_runs = _runs_by_place(base)
    splits = {
        place: split
        for place in sorted(new_runs.keys() & base_runs.keys())
        if (split := _slices_before(new_runs[place], base_runs[place]))
    }
    if not splits:
        return None

    before, after = (
        {
            place: (_rate(new_runs[place], part(split)), _rate(base_runs[place], part(split)))
            for place, split in splits.items()
        }
        for part in (slice, _from)
    )
    ratios = [
        new_rate / base_rate if base_rate else math.inf
        for part in (before, after)
        for new_rate, base_rate in part.values()
    ]
    sample = sample_between(new, base, throughput)
    whole = _whole_windows(new, base)
    return LevelChange(
        rounds=len(splits),
        ratios=(min(ratios), max(ratios)),
        parts=(
            _compared(sample, whole | before, comparison),
            _compared(sample, whole | after, comparison),
        ),
    )


Rates = Mapping[Place, tuple[float, float]]
"""The rates of new and base in the same round."""


def _whole_windows(new: Summary, base: Summary) -> dict[Place, tuple[float, float]]:
    new_side = new.side(throughput)
    base_side = base.side(throughput)
    common = new_side.keys() & base_side.keys()
    return {place: (new_side[place], base_side[place]) for place in sorted(common)}


def _runs_by_place(row: Summary) -> Mapping[Place, model.Run]:
    """The runs by turns that served their load."""
    if not row.by_turns or row.identity.open_loop:
        return {}
    return {run.place: run for run in row.runs if run.place and run.eligible and run.measured}


def _slices_before(*runs: model.Run) -> int:
    """The slices of 100 ms before the change of the first run that has one. 0 without a change, and
    for one beyond the slices that are kept."""
    for run in runs:
        turns = model.turns_of(run)
        if turns and turns.level_change and run.measured:
            split = turns.level_change.cycles_before * round(turns.slice_ms / _MS_PER_SLICE)
            return split if split < len(run.measured.answers_each_slice) else 0
    return 0


def _from(split: int) -> slice:
    return slice(split, None)


def _rate(run: model.Run, part: slice) -> float:
    """The answers per second in a part of the window."""
    answers = run.measured.answers_each_slice[part] if run.measured else ()
    return _SLICES_PER_SECOND * sum(answers) / max(1, len(answers))


def _compared(sample: Sample, rates: Rates, comparison: Comparison) -> Comparison:
    """The comparison by pairs with these rates, in a family as large as that of the whole
    windows."""
    pairs = tuple(rates.values())
    part = structs.replace(
        sample,
        new=tuple(new for new, _ in pairs),
        base=tuple(base for _, base in pairs),
        pairs=pairs,
    )
    family = comparison.comparisons
    level = Level(family=family, equal_family=family, planned=family)
    return compare_samples([part], margin=comparison.margin, level=level)[0]
