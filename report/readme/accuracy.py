"""The page docs/accuracy.md: what intervals do not contain, as far as archives show it (rule
M34)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from msgspec import Struct

from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.error_budget import Budget, Component
from report.analysis.figures import Figure, consumer_cpu, store_cpu, throughput
from report.analysis.rankings import resolutions
from report.analysis.row_pairs import sample_between
from report.analysis.summary import Summary
from report.base.format import ABSENT
from report.base.markdown import table
from report.results.archives import found_campaigns
from report.results.load import load_campaign
from report.results.model import MANIFEST
from report.statistics.neighbouring_rounds import (
    BEYOND,
    FALSE_ALARMS,
    SIMULATED,
    neighbour_correlation,
)
from report.statistics.power import log_deviation_of_pairs
from report.statistics.systematic_error import COMPONENTS, COPIES

#: The page in docs/.
PAGE = "accuracy.md"

#: The compared figures of closed loops by turns, with their names.
FIGURES: Mapping[str, Figure] = {
    "throughput": throughput,
    "CPU of what calls the limiter": consumer_cpu,
    "store CPU": store_cpu,
}

_HEAD = """# What intervals do not contain

<!-- written by `npm run accuracy` from the archives in results/ -->

An interval contains what differs from round to round. It does not contain what shifts all rounds
alike (rule M34). Intervals of targets by turns are widened at both ends by the systematic error:
the root of the summed squares of the upper 90 % bounds below. A component that was not measured
widens nothing, and forbids _no difference_. Pairs of one program, which are versions of a client
or a target and its copy, meet all components alike; copies bound what is left.

Every number is in `report/statistics/error_budget.json`. `npm run accuracy -- --measure LIST`
takes components from the archives, and `npm run accuracy -- --bench FILE` from the outputs of
`npm run bench:turns -- long --json FILE` and `-- order --json FILE`."""

_BETWEEN = """What the archives show is how often two equal targets came out apart. Each copy is its reference
once more, in the same rounds by turns."""

_BUDGET_COLUMNS = ("Layer", "Figure", "Component", "At most", "Measured by")

_COLUMNS = (
    "Layer",
    "Figure",
    "Copies",
    "Interval excludes 1",
    "Interval beyond the margin",
    "Farthest estimate",
    "Deviation of a pair, median",
    "Pairs of rows",
    "Correlation of neighbouring rounds",
)


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"


_FOOT = f"""The deviation is that of the logarithm of a pair’s ratio, over copies. The correlation is that of
the log ratios of one round with those of the next, over all rows that are compared with a
reference. It is corrected for the number of rounds (+1/n), with its standard error over rows. Above
0 intervals of signed ranks are too narrow; `npm run bench:conclusions` simulates hosts that
remember. `npm run bench:conclusions -- turns 20` simulates rounds by turns with a bias inside the
systematic error, 200 families each: widened intervals cover {_share(SIMULATED.covered_without)}
of the true ratios without correlation, and {_share(SIMULATED.covered)} where neighbouring rounds
have {SIMULATED.correlation:g}. A conclusion is false in {_share(SIMULATED.false_without)} of the
families without correlation, and in {_share(SIMULATED.false)} with it.

A report warns where the mean over the rows of a ranking is beyond {BEYOND:g}, and at most
{_share(FALSE_ALARMS)} of all orders of its rounds reach it. So at most {_share(FALSE_ALARMS)} of the
rankings without any correlation get a warning for a figure, however few their rounds are. [How many
it finds](methodology.md#neighbouring-rounds) depends on their number."""


class LayerFigure(Struct):
    """What the archives show of one figure at one layer. Logs are natural."""

    excluding: list[bool]
    """Of each copy: whether its interval excludes 1."""
    beyond: list[bool]
    """Of each copy: whether its interval lies beyond the margin."""
    estimates: list[float]
    """The estimate of each copy ÷ its reference."""
    deviations: list[float]
    """The deviation of the log ratios of each copy."""
    correlations: list[float]
    """The correlation of neighbouring rounds of each compared row."""


#: What the archives show, by layer and name of the figure.
_ByFigure = dict[tuple[str, str], LayerFigure]


def _add_copies(analysis: Analysis, name: str, by_figure: _ByFigure) -> None:
    for resolution in resolutions(analysis.summaries, FIGURES[name]).values():
        comparison = resolution.comparison
        copy = resolution.copy
        if comparison.interval is None or not comparison.ratio or not copy.by_turns:
            continue
        if copy.identity.open_loop:
            continue

        figures = _figures_of(by_figure, copy, name)
        interval = comparison.interval
        figures.excluding.append(interval.low > 1 or interval.high < 1)
        figures.beyond.append(comparison.shown)
        figures.estimates.append(comparison.ratio)
        sample = sample_between(copy, resolution.reference, FIGURES[name])
        deviation = log_deviation_of_pairs(sample.pairs)
        if deviation is not None:
            figures.deviations.append(deviation)


def _figures_of(by_figure: _ByFigure, row: Summary, name: str) -> LayerFigure:
    key = (row.identity.layer, name)
    return by_figure.setdefault(key, LayerFigure([], [], [], [], []))


def _add_correlations(analysis: Analysis, name: str, by_figure: _ByFigure) -> None:
    figure = FIGURES[name]
    for cell in analysis.cells:
        for ranking in cell.rankings:
            reference = ranking.reference
            if reference is None or ranking.open_loop:
                continue
            for row in ranking.compared_rows:
                if row is reference or not (row.sample(figure) and reference.sample(figure)):
                    continue
                sample = sample_between(row, reference, figure)
                correlation = neighbour_correlation(sample.pairs) if sample.together else None
                if correlation is not None:
                    _figures_of(by_figure, row, name).correlations.append(correlation)


def read_layer_figures(results: Path) -> _ByFigure:
    """What all archives below a folder of results show, by layer and figure. Folders and archives
    that cannot be read, and those without turns, show nothing."""
    by_figure: _ByFigure = {}
    with found_campaigns(results, MANIFEST) as places:
        for _, folder, problem in places:
            if problem:
                continue
            analysis = analyse(load_campaign(folder, series=False))
            for name in FIGURES:
                _add_copies(analysis, name, by_figure)
                _add_correlations(analysis, name, by_figure)
    return by_figure


def _percent(ratios: Iterable[float]) -> str:
    return f"{100 * (max((max(ratio, 1 / ratio) for ratio in ratios), default=1) - 1):.1f} %"


def _mean_text(correlations: Sequence[float]) -> str:
    """The mean with its standard error, as text."""
    if len(correlations) < 2:
        return ABSENT
    error = float(np.std(correlations, ddof=1)) / len(correlations) ** 0.5
    return f"{float(np.mean(correlations)):.2f} ± {error:.2f}"


def _order(key: tuple[str, str]) -> tuple[bool, str, int]:
    """Sorts the layer of servers first, and figures as `FIGURES` does."""
    layer, name = key
    return layer != "server", layer, list(FIGURES).index(name)


def _rows(by_figure: _ByFigure) -> Iterator[list[str]]:
    for layer, name in sorted(by_figure, key=_order):
        figures = by_figure[layer, name]
        deviation = f"{100 * median(figures.deviations):.1f} %" if figures.deviations else ABSENT
        yield [
            layer,
            name,
            f"{len(figures.estimates)}",
            f"{sum(figures.excluding)}",
            f"{sum(figures.beyond)}",
            _percent(figures.estimates) if figures.estimates else ABSENT,
            deviation,
            f"{len(figures.correlations)}",
            _mean_text(figures.correlations),
        ]


def _budget_rows(budget: Budget) -> Iterator[list[str]]:
    """Each component of each layer and figure, with its bound and where that comes from."""
    measured: dict[tuple[str, str, str], Component] = {
        (entry.layer, entry.figure, entry.component): entry for entry in budget.components
    }
    for layer in ("server", "limiter"):
        for name, figure in FIGURES.items():
            for component in (*COMPONENTS, COPIES):
                entry = measured.get((layer, figure.in_budget, component))
                yield [
                    layer,
                    name,
                    component,
                    f"{100 * entry.at_most:.1f} %" if entry else "not measured",
                    f"`{entry.command}`: {entry.source}" if entry else "",
                ]


def accuracy_markdown(by_figure: _ByFigure, budget: Budget) -> str:
    """The page."""
    budget_lines = table(_BUDGET_COLUMNS, list(_budget_rows(budget)), 3)
    archive_lines = table(_COLUMNS, list(_rows(by_figure)), 2)
    return "\n".join([_HEAD, "", *budget_lines, "", _BETWEEN, "", *archive_lines, "", _FOOT, ""])
