"""Checks of what a document says twice, which a schema cannot express."""

from collections.abc import Sequence

from msgspec import structs

from report.base.contract import CONSTANTS
from report.base.errors import FieldError
from report.results.generated import records
from report.results.identity import Identity
from report.results.sums import stated_bounds
from report.results.validate import Result
from report.statistics.histograms import PERCENTILES

#: Figures that requests without an answer can move.
_MOVABLE = ("average", *PERCENTILES, "max")

_ANSWERED = ("allowed", "limited")
_UNANSWERED = ("failed", "censored")

#: The number of bins of time since a turn began.
_TURN_BINS = len(CONSTANTS["turn_bin_edges_ms"])


def _count(result: records.MeasuredResult, outcomes: Sequence[str]) -> int:
    """The number of requests of all generators with these outcomes."""
    parts = (generator.histograms for generator in result.generators)
    return sum(getattr(part, outcome).count for part in parts for outcome in outcomes)


def check_latency(result: records.MeasuredResult) -> None:
    """Raises FieldError if a figure and its bounds are both given or both absent, and if a figure
    is known that requests without an answer could move."""
    answered = _count(result, _ANSWERED)
    unanswered = _count(result, _UNANSWERED)
    latency = result.latency
    if answered and not latency:
        raise FieldError("$.latency", "is missing, though requests were answered")
    if latency and not answered:
        raise FieldError("$.latency", "is given, though nothing was answered")
    if not latency:
        return

    bounds = stated_bounds(latency)
    for name in _MOVABLE:
        is_known = getattr(latency, name) is not None
        if is_known and name in bounds:
            raise FieldError(f"$.latency.bounds.{name}", "is given, though the figure is known")
        if not is_known and name not in bounds:
            raise FieldError(f"$.latency.bounds.{name}", "is missing")

    for name in ("average", "max", "stddev"):
        is_known = getattr(latency, name) is not None
        if is_known == (unanswered > 0):
            figure = "known" if is_known else "null"
            text = f"is {figure}, though {unanswered} requests failed or got no answer"
            raise FieldError(f"$.latency.{name}", text)


def check_turn_bins(turns: records.Turns | None) -> None:
    """Raises FieldError if a list does not have one member for each bin of time since a turn
    began."""
    for part in ("since_began", "long") if turns else ():
        timed = getattr(turns, part)
        for place in ("lead_in", "slice") if timed else ():
            for name, values in structs.asdict(getattr(timed, place)).items():
                if len(values) != _TURN_BINS:
                    text = f"has {len(values)} bins instead of {_TURN_BINS}"
                    raise FieldError(f"$.turns.{part}.{place}.{name}", text)


def check_store(result: Result, identity: Identity) -> None:
    store = None if isinstance(result, records.FailedOrAbortedResult) else result.store
    external = store.external if store else None
    if identity.configuration_hash is None or external in (None, identity.external_store):
        return

    negation = "" if identity.external_store else "not "
    raise FieldError(
        "$.store.external",
        f"is {str(external).lower()}, "
        f"but by its configuration the store is {negation}one that already ran",
    )


def _check_timeline(result: records.MeasuredResult, timeline: records.Timeline) -> None:
    """Raises FieldError if a column of the timeline has another length than the window, or counts
    other answers."""
    slices = len(result.slices.allowed)
    for name, column in structs.asdict(timeline).items():
        if isinstance(column, list) and len(column) != slices:
            raise FieldError(
                f"$.timeline.{name}", f"has {len(column)} slices, but the window has {slices}"
            )
    for name in _ANSWERED:
        if getattr(timeline, name) != getattr(result.slices, name):
            raise FieldError(f"$.timeline.{name}", f"differs from $.slices.{name}")


def check_faults(result: records.MeasuredResult) -> None:
    """Raises FieldError if figures belong to no fault, or to one that was not injected."""
    faults = result.faults
    if not faults:
        return

    fault_figures = result.fault_figures.faults if result.fault_figures else ()
    for index, figures in enumerate(fault_figures):
        if figures.fault >= len(faults) or faults[figures.fault].injected is None:
            text = f"is {figures.fault}: no such injected fault"
            raise FieldError(f"$.fault_figures.faults[{index}].fault", text)
        if (figures.recovery == "recovered") != (figures.recovery_s is not None):
            raise FieldError(
                f"$.fault_figures.faults[{index}].recovery_s", f"contradicts `{figures.recovery}`"
            )
    if result.timeline:
        _check_timeline(result, result.timeline)


#: The share by which printed figures may contradict each other, because they are rounded.
_PRINTED_TOLERANCE: float = CONSTANTS["printed_rounding"]


def check_operations(result: records.PrintedResult) -> None:
    """Raises FieldError if throughput and duration contradict the number of operations (rule
    M1)."""
    operations = result.operations
    duration_s = result.duration
    computed_total = operations.per_second * duration_s
    if abs(computed_total - operations.total) > max(1, _PRINTED_TOLERANCE * operations.total):
        text = f"is {operations.per_second:g}: in {duration_s:g} s that is not {operations.total}"
        raise FieldError("$.operations.per_second", text)
