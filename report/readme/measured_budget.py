"""Measures components of the budget of what intervals do not contain (rule M34), from archives and
outputs of benches."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, get_args

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.error_budget import BudgetedFigure, Component, Pairs
from report.analysis.figures import Figure, consumer_cpu, store_cpu, throughput
from report.analysis.rankings import resolutions
from report.analysis.row_pairs import sample_between
from report.analysis.settled import CHECKS, HALVES
from report.base.errors import USAGE, ReportError, one_line
from report.results.archives import found_campaigns
from report.results.load import load_campaign
from report.results.model import MANIFEST
from report.statistics.rank_test import chi_square_quantile, student_quantile
from report.statistics.ratio import log_ratios_of_pairs
from report.statistics.systematic_error import COMPONENTS, COPIES

_FIGURES: Mapping[str, Figure] = {
    figure.in_budget: figure for figure in (throughput, consumer_cpu, store_cpu)
}

#: The names that `bench/long_turns.py` has for figures.
_BENCH_FIGURES: Mapping[str, BudgetedFigure] = {
    "throughput": "throughput",
    "CPU": "cpu",
    "store CPU": "store_cpu",
}

#: Fewer rows, of different targets or campaigns, bound nothing.
_FEWEST_ROWS = 3
_FEWEST_ROUNDS = 3

#: One-sided: nine of ten pairs lie within so many deviations on either side, and nine of ten bounds
#: above the truth.
_NINE_OF_TEN_PAIRS = 1.645
_BOUND = 0.9


class Shift(Struct, frozen=True):
    """How far the ratio of one row was shifted, as a logarithm, with the variance of that mean."""

    log: float
    variance: float


def upper_bound(shifts: Sequence[Shift]) -> float | None:
    """The share within which nine of ten pairs are shifted, as the upper 90 % bound of that.

    Shifts and their noise are taken as normal, so that the sum of squares is distributed as chi²
    times the variance of both together, which bounds that variance from above (G. Casella and R.
    L. Berger, Statistical Inference, 2nd ed., 2002, section 9.2.1). The noise is subtracted. It is
    at least the bound of the mean shift by Student's t, because rows whose shifts happen to be
    small show no smaller one. None below three rows."""
    if len(shifts) < _FEWEST_ROWS:
        return None
    rows = len(shifts)
    logs = [shift.log for shift in shifts]
    of_both = sum(log**2 for log in logs) / chi_square_quantile(rows, 1 - _BOUND)
    between_pairs = of_both - fmean(shift.variance for shift in shifts)
    quantile = student_quantile(rows - 1, _BOUND) / math.sqrt(rows)
    of_mean = abs(fmean(logs)) + quantile * stdev(logs)
    return math.expm1(max(of_mean, _NINE_OF_TEN_PAIRS * math.sqrt(max(0.0, between_pairs))))


def shift_of(pairs: Sequence[tuple[float, float]]) -> Shift | None:
    """The mean log ratio of pairs. None below three rounds, and if a figure is 0 or infinite."""
    if len(pairs) < _FEWEST_ROUNDS:
        return None
    logs = log_ratios_of_pairs(pairs).tolist()
    if not all(math.isfinite(log) for log in logs):
        return None
    return Shift(fmean(logs), stdev(logs) ** 2 / len(logs))


#: What was measured of a component: the name, layer, figure and pairs, with the shifts of rows.
_Key = tuple[str, str, str, Pairs]
_Measured = dict[_Key, list[Shift]]


def _add(measured: _Measured, key: _Key, shift: Shift | None) -> None:
    if shift is not None:
        measured.setdefault(key, []).append(shift)


def _add_campaign(analysis: Analysis, measured: _Measured) -> None:
    for name, figure in _FIGURES.items():
        for resolution in resolutions(analysis.summaries, figure).values():
            copy = resolution.copy
            reference = resolution.reference
            if copy.by_turns and not copy.identity.open_loop:
                shift = shift_of(sample_between(copy, reference, figure).pairs)
                of_copies: _Key = (COPIES, copy.identity.layer, name, "one program")
                _add(measured, of_copies, shift)

    halves = [check for check in CHECKS if check.name == HALVES]
    by_key = {row.identity.key: row for row in analysis.summaries}
    for row in analysis.summaries:
        partner = by_key.get(row.ranking.reference or "")
        is_compared = partner is not row and row.by_turns
        if not is_compared or row.identity.copy or row.identity.open_loop or partner is None:
            continue
        for check in halves:
            shift = shift_of(sample_between(row, partner, check.change).pairs)
            of_drift: _Key = ("drift", row.identity.layer, check.figure.in_budget, "targets")
            _add(measured, of_drift, shift)


#: The components that archives bound.
OF_ARCHIVES = (COPIES, "drift")


def from_archives(results: Path, components: Sequence[str]) -> list[Component]:
    """What the archives below a folder bound of these of `OF_ARCHIVES`: pairs of one program by
    copies, and drift by the ratios in both halves of windows."""
    measured: _Measured = {}
    names = []
    with found_campaigns(results, MANIFEST) as places:
        for name, folder, problem in places:
            if problem:
                continue
            names.append(str(name))
            _add_campaign(analyse(load_campaign(folder, series=False)), measured)
    asked = {key: shifts for key, shifts in measured.items() if key[0] in components}
    command = f"npm run accuracy -- --measure {','.join(components)}"
    return list(_components(asked, command, f"{len(names)} campaigns"))


def from_bench(path: Path, lead_in_and_slice: str) -> list[Component]:
    """What the output of a bench bounds: that of `bench:turns -- long --json FILE`, of which turns
    of one length count, or that of `bench:turns -- order --json FILE`.

    Raises ReportError for a file that is neither."""
    try:
        document = json.loads(path.read_text("utf-8"))
        measured = dict(_by_component(document, lead_in_and_slice))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(
            f"{one_line(path)} is no output of npm run bench:turns -- … --json FILE: {error}", USAGE
        ) from error
    command = f"npm run bench:turns -- {'long' if 'agreements' in document else 'order'} --json"
    return list(_components(measured, command, path.name))


def _by_component(document: Mapping[str, Any], lead_in_and_slice: str) -> Iterator[Any]:
    measured: _Measured = {}
    components = {lead_in_and_slice: "start of a turn", "continuous": "group size"}
    for entry in document.get("agreements", ()):
        component = components.get(entry["candidate"])
        figure = _BENCH_FIGURES[entry["figure"]]
        if component and entry["low"] is not None:
            of_turns: _Key = (component, entry["layer"], figure, "targets")
            _add(measured, of_turns, _of_interval(entry["low"], entry["high"]))
    for entry in document.get("components", ()):
        key: _Key = (entry["component"], entry["layer"], entry["figure"], "targets")
        if entry["component"] not in COMPONENTS or entry["figure"] not in get_args(BudgetedFigure):
            raise ValueError(f"no component {entry['component']} of {entry['figure']}")
        _add(measured, key, _of_interval(entry["low"], entry["high"]))
    if not measured:
        raise ValueError("it holds no figure of these turns")
    yield from measured.items()


def _of_interval(low: float, high: float) -> Shift:
    """The shift that an interval of 90 % is about."""
    middle = (math.log(low) + math.log(high)) / 2
    deviation = (math.log(high) - math.log(low)) / (2 * _NINE_OF_TEN_PAIRS)
    return Shift(middle, deviation**2)


def _components(
    measured: Mapping[tuple[str, str, str, Pairs], Sequence[Shift]], command: str, source: str
) -> Iterable[Component]:
    for (component, layer, figure, pairs), shifts in measured.items():
        bound = upper_bound(shifts)
        if bound is None:
            continue
        yield Component(
            component=component,
            layer=layer,  # type: ignore[arg-type]
            figure=figure,  # type: ignore[arg-type]
            pairs=pairs,
            at_most=round(bound, 4),
            command=command,
            source=f"{len(shifts)} rows of {source}",
        )
