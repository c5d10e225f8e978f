"""Compares two rows over the parts of windows in which one of them changed its level (rule M26)."""

from collections.abc import Iterable, Mapping

from msgspec import Struct, structs

from report.analysis.figures import throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.base.format import plural
from report.results import model
from report.statistics.decision import Comparison, Level, compare_samples
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
        """The comparison, which keeps its conclusion only if both parts have it."""
        if comparison.decided and any(part.status != comparison.status for part in self.parts):
            return comparison.undecided_by(self.text)
        return comparison


def level_change(comparison: Comparison, base: Summary, new: Summary) -> LevelChange | None:
    """The comparison of the throughput of two rows by turns over the parts of their windows. None
    if no window of them has a change of level."""
    new_runs = _runs_by_place(new)
    base_runs = _runs_by_place(base)
    cycles = {
        place: cycles_before
        for place in new_runs.keys() & base_runs.keys()
        if (cycles_before := _cycles_before(new_runs[place], base_runs[place]))
    }
    if not cycles:
        return None

    before, after = (
        {
            place: _rates((new_runs[place], base_runs[place]), cycles[place], is_after)
            for place in cycles
        }
        for is_after in (False, True)
    )
    ratios = [
        new_rate / base_rate for part in (before, after) for new_rate, base_rate in part.values()
    ]
    sample = sample_between(new, base, throughput)
    whole = _whole_windows(new, base)
    return LevelChange(
        rounds=len(cycles),
        ratios=(min(ratios), max(ratios)),
        parts=(
            _compared(sample, whole | before, comparison),
            _compared(sample, whole | after, comparison),
        ),
    )


Rates = Mapping[Place, tuple[float, float]]
"""The rates of new and base in the same round."""


def _whole_windows(new: Summary, base: Summary) -> dict[Place, tuple[float, float]]:
    new_side, base_side = new.side(throughput), base.side(throughput)
    common = new_side.keys() & base_side.keys()
    return {place: (new_side[place], base_side[place]) for place in sorted(common)}


def _runs_by_place(row: Summary) -> Mapping[Place, model.Run]:
    """The runs by turns that served their load."""
    if not row.by_turns or row.identity.open_loop:
        return {}
    return {run.place: run for run in row.runs if run.place and run.eligible and run.measured}


def _cycles_before(*runs: model.Run) -> int:
    """The cycles before the change of the first run that has one. 0 without a change."""
    for run in runs:
        turns = model.turns_of(run)
        if turns and turns.level_change:
            return turns.level_change.cycles_before
    return 0


def _rates(runs: Iterable[model.Run], cycles: int, is_after: bool) -> tuple[float, float]:
    """The answers per second of two runs in one part of their cycles."""
    new, base = (_rate(run, cycles, is_after) for run in runs)
    return new, base


def _rate(run: model.Run, cycles: int, is_after: bool) -> float:
    turns = model.turns_of(run)
    if turns is None or run.measured is None:
        raise ValueError("a run by turns has turns and figures")
    answers = run.measured.answers_each_slice
    split = cycles * round(turns.slice_ms / _MS_PER_SLICE)
    part = answers[split:] if is_after else answers[:split]
    return _SLICES_PER_SECOND * sum(part) / len(part)


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
    return compare_samples([part], floor=comparison.floor, level=level)[0]
