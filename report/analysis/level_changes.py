"""Compares two rows over the parts of windows in which one of them changed its level (rule M26)."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from report.analysis.figures import throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.base.format import plural
from report.results import model
from report.statistics.decision import Comparison, Level, compare_samples
from report.statistics.samples import Place, Sample

_MS_PER_SLICE = 100


class LevelChange(Struct, frozen=True):
    """What two rows are compared with if windows are divided where a level changed."""

    rounds: int
    """The number of compared rounds in which one of the rows changed its level."""
    parts: tuple[Comparison, Comparison]
    """The comparisons by the parts before the changes, and by those after them. Rounds without a
    change are whole in both."""

    @property
    def ratios_text(self) -> str:
        """A text such as `0.86× to 0.95×`, with the smaller ratio first."""
        ratios = sorted(part.ratio for part in self.parts if part.ratio is not None)
        return " to ".join(f"{ratio:.2f}×" for ratio in ratios) or "no ratio"

    @property
    def text(self) -> str:
        return (
            f"the level changed inside {plural(self.rounds, 'window')}, "
            f"with {self.ratios_text} over the parts"
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

    sample = sample_between(new, base, throughput)
    sides = new.side(throughput), base.side(throughput)
    common = sorted(sides[0].keys() & sides[1].keys())
    parts = []
    for is_after in (False, True):
        pairs = []
        for place in common:
            if place in cycles:
                runs = (new_runs[place], base_runs[place])
                pairs.append(_rates(runs, cycles[place], is_after))
            else:
                pairs.append((sides[0][place], sides[1][place]))
        parts.append(_compared(sample, pairs, comparison))
    return LevelChange(len(cycles), (parts[0], parts[1]))


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
    """The answers per slice of 100 ms of two runs in one part of their cycles."""
    new, base = (_rate(run, cycles, is_after) for run in runs)
    return new, base


def _rate(run: model.Run, cycles: int, is_after: bool) -> float:
    turns = model.turns_of(run)
    if turns is None or run.measured is None:
        raise ValueError("a run by turns has turns and figures")
    answers = run.measured.answers_each_slice
    split = cycles * round(turns.slice_ms / _MS_PER_SLICE)
    part = answers[split:] if is_after else answers[:split]
    return sum(part) / max(1, len(part))


def _compared(
    sample: Sample, pairs: Iterable[tuple[float, float]], comparison: Comparison
) -> Comparison:
    both = tuple(pairs)
    part = Sample(
        new=tuple(new for new, _ in both),
        base=tuple(base for _, base in both),
        pairs=both,
        rounds=sample.rounds,
        share=sample.share,
        together=sample.together,
    )
    level = Level(family=comparison.comparisons, equal_family=comparison.comparisons)
    return compare_samples([part], floor=comparison.floor, level=level)[0]
