"""Converts validated results to the model."""

from array import array
from typing import Any

from msgspec import structs

from report.base.errors import FieldError
from report.results import model
from report.results.consistency import (
    check_faults,
    check_latency,
    check_operations,
    check_store,
    check_turn_bins,
)
from report.results.counters import (
    added_memory,
    answers_by_server,
    answers_each_slice,
    deciding_software,
    decisions,
    nodes_of,
    script_calls,
    store_failures,
)
from report.results.generated import records
from report.results.identities import result_identity
from report.results.record import plain
from report.results.sums import stated_bounds, total_of
from report.results.turn_parts import turn_parts
from report.results.validate import Result
from report.statistics import histograms
from report.statistics.histograms import PERCENTILES, Histogram

_ANSWERED = ("allowed", "limited")
_UNANSWERED = ("failed", "censored")


def _merged_histograms(
    result: records.MeasuredResult,
) -> tuple[Histogram | None, Histogram | None]:
    """The merged histograms of all generators. The first has the latencies of the answers, and the
    second the latencies and ages of the requests that failed or got no answer."""
    answered: list[Histogram] = []
    unanswered: list[Histogram] = []
    for index, generator in enumerate(result.generators):
        for outcome in (*_ANSWERED, *_UNANSWERED):
            encoded = getattr(generator.histograms, outcome)
            try:
                histogram = histograms.decode_histogram(encoded.data, encoded.count)
            except ValueError as error:
                field = f"$.generators[{index}].histograms.{outcome}.data"
                raise FieldError(field, str(error)) from error
            (answered if outcome in _ANSWERED else unanswered).append(histogram)
    return histograms.merge_histograms(answered), histograms.merge_histograms(unanswered)


#: Empty values for members of a record that no page shows, or that are only read to compute
#: figures.
_DROPPED = dict.fromkeys(
    ("configuration", "configuration_hash", "plugins", "links", "machine_load", "store")
)
_DROPPED_OF_MEASURED: dict[str, Any] = {
    **dict.fromkeys(("request", "service", "admissions")),
    **dict.fromkeys(("generators", "samples", "consumers", "unsupported", "latency_curve_ms"), ()),
    "slices": records.Slices(width_ms=100, allowed=[], limited=[], failed=[], latency_sum_us=[]),
}
_DROPPED_OF_RESOURCE: dict[str, Any] = {
    "source": "",
    "samples": (),
    "caps": None,
    "throttling": None,
    "network": None,
    "idle_us": None,
    "resident_bytes_max": None,
    "resident_bytes_at_window_open": None,
    "resident_bytes_at_end": None,
}
_DROPPED_OF_TIMELINE: dict[str, Any] = dict.fromkeys(
    ("p50_us", "p99_second_us", "p99_before_us"), ()
)


def slim(result: Result) -> Result:
    """A result without its large members, because ten thousand of them are kept at once."""
    if isinstance(result, records.FailedOrAbortedResult):
        return structs.replace(result, configuration=None, plugins=None)

    resources = {
        role: structs.replace(resource, **_DROPPED_OF_RESOURCE)
        for role, resource in sorted(result.resources.items())
    }
    if isinstance(result, records.PrintedResult):
        program = structs.replace(result.program, arguments=[], output="")
        return structs.replace(result, **_DROPPED, resources=resources, program=program)

    timeline = None
    if result.timeline and result.faults:
        timeline = structs.replace(result.timeline, **_DROPPED_OF_TIMELINE)
    return structs.replace(
        result, **_DROPPED, **_DROPPED_OF_MEASURED, resources=resources, timeline=timeline
    )


def _percentiles(latency: records.Latency | None) -> dict[str, float]:
    """The percentiles that are identified, by name."""
    percentiles = {name: getattr(latency, name, None) for name in PERCENTILES}
    return {name: value for name, value in percentiles.items() if value is not None}


def _measured(result: records.MeasuredResult, record: records.MeasuredResult) -> model.Measured:
    answered, unanswered = _merged_histograms(result)
    latency = result.latency
    consumer = result.consumers[0] if result.consumers else None
    check_latency(result)
    check_turn_bins(result.turns)
    return model.Measured(
        record=record,
        layer=result.request.layer,
        requests_per_second=result.requests.average,
        percentiles_ms=_percentiles(latency),
        bounds_ms=stated_bounds(latency),
        curve_ms=array("d", result.latency_curve_ms),
        unsupported=tuple(sorted(result.unsupported)) if latency else (),
        store_memory_bytes=total_of([node.at_end.used_memory_bytes for node in nodes_of(result)]),
        added_memory=added_memory(result),
        store_failures=store_failures(result),
        decisions=decisions(result),
        answers_each_slice=answers_each_slice(result),
        parts=turn_parts(result),
        answers_by_server=answers_by_server(result),
        client_settings=consumer.client_settings if consumer else {},
        deciding_software=deciding_software(result),
        limiter_script=consumer.limiter_script if consumer else None,
        script_calls=script_calls(result),
        mergeable=histograms.mergeable(answered, unanswered),
    )


def run_of(result: Result, file: str) -> model.Run:
    """The run of a result, without its seconds, which are the bulk of it. Messages and links name
    the file.

    Raises FieldError for an incomplete identity, a damaged histogram, or latencies that contradict
    it."""
    failure = result.failure if isinstance(result, records.FailedOrAbortedResult) else None
    identity = result_identity(result)
    check_store(result, identity)
    record = slim(result)
    measured = None
    if isinstance(result, records.MeasuredResult) and isinstance(record, records.MeasuredResult):
        measured = _measured(result, record)
        check_faults(result)
    if isinstance(result, records.PrintedResult):
        check_operations(result)
    return model.Run(
        identity=identity,
        file=file,
        run=result.run,
        record=record,
        failure=f"{failure.role}: {failure.text}" if failure else None,
        verdict="invalid" if failure else result.verdict.status,
        versions=plain(getattr(result, "versions", {})),
        placement=getattr(result, "placement", None) or {},
        outcome=getattr(result, "outcome", None),
        measured=measured,
        printed=record if isinstance(record, records.PrintedResult) else None,
    )
