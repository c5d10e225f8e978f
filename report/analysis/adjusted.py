"""Ratios that are adjusted for the host's speed, beside the plain ones that decide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import geometric_mean

from report.analysis.cells import Cell
from report.analysis.figures import Figure, p99, throughput
from report.analysis.rankings import Pair, Ranking
from report.analysis.summary import Summary
from report.results.model import Campaign, Run
from report.statistics.adjusted import Adjusted, Refused, Round, adjusted_ratio

#: A round's number, and that of the block within it.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AdjustedPair:
    """Two rows of a ranking, one of them its reference."""

    cell: Cell
    pair: Pair
    found: Adjusted | Refused


def adjusted_pairs(campaign: Campaign, cells: Iterable[Cell]) -> tuple[AdjustedPair, ...]:
    """Each compared row of each ranking with the ranking's reference; nothing where no run has an index."""
    if not any(run.host_index for run in campaign.runs):
        return ()
    places = _places(campaign)
    return tuple(
        AdjustedPair(cell, pair, adjusted_ratio(_rounds(pair, _figure(ranking), places)))
        for cell in cells
        for ranking in cell.rankings
        for pair in ranking.ranked_by
        if _reference(campaign, ranking) in (pair.base, pair.new)
    )


def _figure(ranking: Ranking) -> Figure:
    return p99 if ranking.open_loop else throughput


def _reference(campaign: Campaign, ranking: Ranking) -> Summary:
    """The one that the plan names, else the first row."""
    named = campaign.manifest["plan"].get("references", []) if campaign.manifest else []
    rows = ranking.summaries
    return next((row for row in rows if row.identity.configuration_hash in named), rows[0])


def _places(campaign: Campaign) -> dict[tuple[str, int], Place]:
    """Each run's place, by configuration and number. Older plans have no blocks: a run is a round."""
    runs = campaign.manifest["plan"]["runs"] if campaign.manifest else []
    return {
        (run["configuration_hash"], run["run"]): (run.get("round", run["run"]), run.get("group", 1))
        for run in runs
    }


def _by_round(
    summary: Summary, figure: Figure, places: Mapping[tuple[str, int], Place]
) -> dict[int, dict[int, list[tuple[float, float]]]]:
    """Figures of the runs that count, with their indices, by round and block."""
    found: dict[int, dict[int, list[tuple[float, float]]]] = {}
    for run in summary.runs:
        number, block = places.get((run.identity.key, run.run), (run.run, 1))
        value = _value(run, figure)
        # Round 0 is the burn-in.
        if number > 0 and value is not None and run.host_index is not None:
            found.setdefault(number, {}).setdefault(block, []).append((value, run.host_index))
    return found


def _value(run: Run, figure: Figure) -> float | None:
    """The value that enters comparisons; None for a run that does not count, and without the figure."""
    if run.measured is None or not (run.eligible or run.spoiled):
        return None
    return figure.worst if run.spoiled else figure.compared(run.measured)


def _typical(entries: Iterable[tuple[float, float]]) -> tuple[float, float]:
    values, indices = zip(*entries, strict=True)
    whole = all(0 < value < float("inf") for value in values)
    return (geometric_mean(values) if whole else next(iter(values)), geometric_mean(indices))


def _rounds(pair: Pair, figure: Figure, places: Mapping[tuple[str, int], Place]) -> list[Round]:
    """The rounds in which both rows have a run. Where they share a block, its runs alone are taken: they
    ran next to each other."""
    new, base = (_by_round(row, figure, places) for row in (pair.new, pair.base))
    found = []
    for number in sorted(new.keys() & base.keys()):
        shared = new[number].keys() & base[number].keys()
        (value, index), (base_value, base_index) = (
            _typical(
                entry
                for block, entries in side[number].items()
                if not shared or block in shared
                for entry in entries
            )
            for side in (new, base)
        )
        found.append(Round(value, base_value, index, base_index))
    return found
