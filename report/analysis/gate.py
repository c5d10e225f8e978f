"""The gate of a change: its rows against those of the base, by throughput and CPU per request."""

from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from report.analysis.figures import Figure, consumer_cpu, throughput
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.statistics.comparison import ONE_LOOK, Comparison, Level
from report.statistics.gate import (
    GatedFigure,
    GatedSample,
    PromiseChangeKind,
    Verdict,
    gated_figures,
    verdict_of,
)
from report.statistics.sequential import level_at

RowPair = tuple[Summary, Summary]
"""A row of the base, and the row of the change under the same load."""

#: The figures of a gate, by their names. In an open loop throughput is what was offered.
_FIGURES: dict[str, Figure] = {"throughput": throughput, "CPU per request": consumer_cpu}


class GateRow(Struct, frozen=True):
    """One figure of two rows, with what the gate knows of it."""

    base: Summary
    new: Summary
    name: str
    figure: Figure
    gated: GatedFigure

    @property
    def comparison(self) -> Comparison:
        return self.gated.comparison


class Gate(Struct, frozen=True, kw_only=True):
    """What the runs of a change and its base show together."""

    tolerated: float
    """The loss below which a change passes, as a share of 1."""
    margin: float
    missing: tuple[str, ...] = ()
    """The names of figures that no run has, so that the gate does without them."""
    rows: tuple[GateRow, ...] = ()
    look: int | None = None
    """The round after which the gate was decided, or looked last. None for one look at all runs."""
    is_last: bool = True
    """Whether no look follows."""

    def verdict(self, promises: Sequence[PromiseChangeKind] = ()) -> Verdict:
        return verdict_of([row.gated for row in self.rows], promises)


def gate_of(pairs: Sequence[RowPair], tolerated: float, margin: float) -> Gate:
    """Judges all pairs as one gate: its figures are one family.

    A campaign with a fixed number of runs is looked at once. Others are looked at after the rounds
    of their plan, which share the 5 %, until the verdict is known. Equal results give the same."""
    figures = list(_figures(pairs))
    schedule = pairs[0][0].look_schedule
    levels = schedule.levels if schedule else ()
    last_round = max((row.last_look for pair in pairs for row in pair), default=0)
    past = [look for look in levels if look[0] <= last_round] or levels[:1]

    gate = Gate(tolerated=tolerated, margin=margin, missing=_missing(pairs, figures))
    if not past:
        return _looked(gate, figures, None, ONE_LOOK)

    for look, share in past:
        level = level_at(share, len(figures), len(figures), len(figures))
        gate = structs.replace(
            _looked(gate, figures, look, level), look=look, is_last=look == levels[-1][0]
        )
        if gate.verdict() != "not decided":
            break
    return gate


class _Compared(Struct, frozen=True):
    base: Summary
    new: Summary
    name: str
    figure: Figure


def _figures(pairs: Sequence[RowPair]) -> Iterator[_Compared]:
    for base, new in pairs:
        for name, figure in _FIGURES.items():
            has_figure = base.sample(figure) or new.sample(figure)
            if has_figure and not _is_offered(figure, new):
                yield _Compared(base, new, name, figure)


def _is_offered(figure: Figure, row: Summary) -> bool:
    """Whether the load fixes the figure, so that it says nothing about the target."""
    return figure is throughput and row.identity.open_loop


def _missing(pairs: Sequence[RowPair], figures: Sequence[_Compared]) -> tuple[str, ...]:
    """The names of the figures that should be there, and are in no run of either side."""
    known = {compared.name for compared in figures}
    return tuple(
        name
        for name, figure in _FIGURES.items()
        if name not in known and not any(_is_offered(figure, new) for _, new in pairs)
    )


def _looked(gate: Gate, figures: Sequence[_Compared], look: int | None, level: Level) -> Gate:
    """The gate after a look at the runs up to a round; without a round, at all runs."""
    samples = [
        GatedSample(
            sample_between(row.new, row.base, row.figure, look), row.figure.higher_is_better
        )
        for row in figures
    ]
    gated = gated_figures(samples, gate.margin, gate.tolerated, level)
    rows = tuple(
        GateRow(row.base, row.new, row.name, row.figure, of_row)
        for row, of_row in zip(figures, gated, strict=True)
    )
    return structs.replace(gate, rows=rows)
