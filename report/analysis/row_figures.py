"""The figures of a row over its runs, and the values by which it is compared."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from report.analysis.figure_summary import FigureSummary, over_runs
from report.analysis.figures import Figure
from report.results import model
from report.statistics.histograms import Bounds, merged_percentiles
from report.statistics.samples import Place


class RowFigures:
    """The figures of some runs of one configuration. Each is computed when it is first asked for,
    and kept. Other runs have other figures, so they need an object of their own."""

    def __init__(self, runs: Sequence[model.Run]) -> None:
        self._runs = tuple(runs)
        self._summary_by_figure: dict[Figure, FigureSummary] = {}
        self._values_by_figure: dict[Figure, Sequence[tuple[model.Run, float]]] = {}

    @cached_property
    def _served(self) -> Sequence[model.Measured]:
        return [run.measured for run in self._runs if run.eligible and run.measured]

    @cached_property
    def _spoiled_runs(self) -> int:
        return sum(run.spoiled for run in self._runs)

    @cached_property
    def _merged_percentiles(self) -> Mapping[str, Bounds]:
        return _merged_percentiles(self._runs)

    def figure_of(self, figure: Figure) -> FigureSummary:
        """The figure over the runs (rule M28)."""
        if figure not in self._summary_by_figure:
            self._summary_by_figure[figure] = over_runs(
                figure, self._served, self._spoiled_runs, self._merged_percentiles
            )
        return self._summary_by_figure[figure]

    def values_to_compare(self, figure: Figure) -> Sequence[tuple[model.Run, float]]:
        """The runs that enter comparisons by a figure, each with its value there."""
        if figure not in self._values_by_figure:
            self._values_by_figure[figure] = _values_to_compare(
                self._runs, figure, figure.value_to_compare
            )
        return self._values_by_figure[figure]

    def sample(self, figure: Figure, in_time: bool = False) -> tuple[float, ...]:
        """The values that enter comparisons, by run number or in order of time.

        They are the figure of each run that counts and has it, and the worst rank for each run in
        which the target failed its load (rule M24). Empty if the target served its load in some
        runs, and none of them has the figure."""
        values_by_run = self.values_to_compare(figure)
        if in_time:
            values_by_run = sorted(
                values_by_run, key=lambda entry: (entry[0].record.started_at, entry[0].run)
            )
        return tuple(value for _, value in values_by_run)

    def side(self, figure: Figure) -> dict[Place, float]:
        """The values of `sample` by round and group. In consecutive order each run is a round."""
        return {run.place or (run.run, 1): value for run, value in self.values_to_compare(figure)}


def _values_to_compare(
    runs: Sequence[model.Run], figure: Figure, read: Callable[[model.Measured], float | None]
) -> list[tuple[model.Run, float]]:
    values_by_run = [
        (run, figure.worst if run.spoiled else read(run.measured))
        for run in runs
        if run.measured and (run.eligible or run.spoiled)
    ]
    served_values = [value for run, value in values_by_run if not run.spoiled]
    if served_values and all(value is None for value in served_values):
        return []
    return [(run, value) for run, value in values_by_run if value is not None]


def _merged_percentiles(runs: Sequence[model.Run]) -> Mapping[str, Bounds]:
    """The percentiles from the merged histogram of the runs, which stand for those of single runs
    with too few samples (rule M18). Empty if the target failed its load in some run, because a
    histogram of the other runs says nothing about it."""
    served = [run.measured for run in runs if run.eligible and run.measured]
    unsupported = {name for figures in served for name in figures.unsupported}
    histograms = [figures.mergeable for figures in served if figures.mergeable]
    has_all_histograms = len(histograms) >= max(2, len(served))
    if not unsupported or not has_all_histograms or any(run.spoiled for run in runs):
        return {}
    return merged_percentiles(histograms, unsupported)
