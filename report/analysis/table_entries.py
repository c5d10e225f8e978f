"""What a line of a table is made from."""

from collections.abc import Sequence

from msgspec import Struct

from report.analysis.figures import (
    Figure,
)
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.results.generated.records import Boundary
from report.results.model import Measured, Run
from report.statistics.comparison import Comparison
from report.statistics.histograms import Bounds


class SummaryEntry(Struct, frozen=True, kw_only=True):
    """A configuration. Values that only a single run has are those of its selected run."""

    summary: Summary
    ranking: Ranking | None
    """The ranking that the row, or the reference whose copy it is, belongs to."""

    @property
    def run(self) -> Run | None:
        return self.summary.selected

    @property
    def measured(self) -> Measured | None:
        return self.summary.selected_figures

    @property
    def versioned_runs(self) -> Sequence[Run]:
        return self.summary.selected_first

    @property
    def boundaries(self) -> Sequence[Boundary]:
        return self.summary.boundaries

    @property
    def ratio(self) -> Comparison | None:
        return self.ranking.ratio_of(self.summary) if self.ranking else None

    def value(self, figure: Figure) -> float | None:
        return self.summary.figure_of(figure).value

    def bounds(self, figure: Figure) -> Bounds | None:
        return self.summary.figure_of(figure).bounds


class RunEntry(Struct, frozen=True, kw_only=True):
    """A run of a configuration. `run` is None if its file is missing."""

    summary: Summary
    number: int
    run: Run | None

    @property
    def measured(self) -> Measured | None:
        return self.run.measured if self.run else None

    @property
    def versioned_runs(self) -> Sequence[Run]:
        """The runs to ask for a version or the runtime, of which the first that knows it is
        right."""
        return (self.run,) if self.run else ()

    @property
    def boundaries(self) -> Sequence[Boundary]:
        boundary = self.measured.record.boundary if self.measured else None
        return (boundary,) if boundary else ()

    def value(self, figure: Figure) -> float | None:
        measured = self.measured
        return figure(measured) if measured else None

    def bounds(self, figure: Figure) -> Bounds | None:
        """The bounds of a figure whose value is not known."""
        return figure.read_bounds(self.measured) if self.measured else None
