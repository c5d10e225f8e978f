"""Converts validated documents to the model, and checks what a schema cannot express."""

import json
from array import array
from collections.abc import Mapping, Sequence
from operator import add
from typing import Any

from msgspec import convert, structs

from report.base.contract import CONSTANTS
from report.base.errors import FieldError
from report.results import model
from report.results.generated import records
from report.results.older_rankings import older_rankings
from report.results.record import plain
from report.results.turn_parts import turn_parts
from report.results.validate import Document, Result
from report.statistics import histograms
from report.statistics.histograms import PERCENTILES, Histogram
from report.statistics.samples import Place

#: Figures that requests without an answer can move.
_MOVABLE = ("average", *PERCENTILES, "max")

_ANSWERED = ("allowed", "limited")
_UNANSWERED = ("failed", "censored")

#: The number of bins of time since a turn began.
_TURN_BINS = len(CONSTANTS["turn_bin_edges_ms"])

#: The number of slices of a run that are kept, which is five minutes.
_MAX_SLICES = 3000


#: The members of a target that its identity has unchanged.
_TARGET_MEMBERS = (
    "label",
    "client",
    "store",
    "topology",
    "limiter",
    "client_version",
    "store_version",
    "limiter_version",
    "node",
    "decided_by",
    "algorithm",
    "module",
    "service",
    "framework",
    "program",
    "copy_of",
)


def identity_of(
    configuration: records.Configuration, configuration_hash: str, load_text: str
) -> model.Identity:
    """The identity of a configuration of a plan or result."""
    target = configuration.target
    workload = configuration.workload
    limits = configuration.limits
    return model.Identity(
        **{name: getattr(target, name) for name in _TARGET_MEMBERS},
        **_load(configuration.load, configuration.extent),
        load_text=load_text,
        key=configuration_hash,
        configuration_hash=configuration_hash,
        layer=configuration.layer,
        counts={dimension.key: dimension.count(configuration) for dimension in model.DIMENSIONS},
        options=tuple(target.options),
        external_store=bool(configuration.external_store),
        workload=workload.id,
        complexity=workload.complexity,
        request=f"GET {workload.endpoint.path}" if workload.endpoint else None,
        payload_bytes=workload.payload_bytes,
        traffic=configuration.traffic,
        limits=(limits.points, limits.window_s, limits.block_s, limits.cost or 1),
        caps=json.dumps(plain(configuration.caps), sort_keys=True),
        faults=tuple(configuration.faults or ()),
        same_script=bool(target.same_script),
        decides_locally=bool(target.decides_locally),
    )


def _load(load: records.ClosedLoad | records.OpenLoad, extent: records.Extent) -> dict[str, Any]:
    load_members = ("connections", "rate_per_second", "arrivals")
    return {
        **{name: getattr(load, name, None) for name in load_members},
        "duration_s": extent.duration_s,
        "requests": extent.requests,
    }


def _manual_identity(request: records.Request, load_text: str) -> model.Identity:
    """The identity of a run made by hand, which is the request to the generator."""
    members = ("layer", "label", "urls", "workload", "traffic", "load", "extent")
    return model.Identity(
        **_load(request.load, request.extent),
        load_text=load_text,
        key=json.dumps([plain(getattr(request, name)) for name in members], sort_keys=True),
        layer=request.layer,
        counts={
            **{dimension.key: 0 for dimension in model.DIMENSIONS},
            "servers": len(request.urls),
        },
        label=request.label,
        client=request.label,
        workload=request.workload,
        traffic=request.traffic,
    )


def _identity(result: Result) -> model.Identity:
    configuration = result.configuration
    configuration_hash = result.configuration_hash
    if configuration is not None and configuration_hash is not None:
        return identity_of(configuration, configuration_hash, result.load_text)
    if configuration is not None or configuration_hash is not None:
        absent = "configuration" if configuration is None else "configuration_hash"
        raise FieldError(
            f"$.{absent}", "is missing, though the other half of the identity is there"
        )
    if not isinstance(result, records.MeasuredResult):
        raise FieldError("$.configuration", "is missing")
    return _manual_identity(result.request, result.load_text)


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


def _count(result: records.MeasuredResult, outcomes: Sequence[str]) -> int:
    """The number of requests of all generators with these outcomes."""
    parts = (generator.histograms for generator in result.generators)
    return sum(getattr(part, outcome).count for part in parts for outcome in outcomes)


def _check_latency(result: records.MeasuredResult) -> None:
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

    bounds = model.stated_bounds(latency)
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


def _nodes(result: records.MeasuredResult) -> list[records.StoreNode]:
    return result.store.nodes if result.store else []


def _growth(pairs: Sequence[tuple[Any, Any]]) -> int | None:
    """The sum of the differences of pairs of start and end. None without pairs, and if a value is
    not known."""
    if not pairs or any(None in pair for pair in pairs):
        return None
    return sum(int(end) - int(start) for start, end in pairs)


def _delta(nodes: Sequence[records.StoreNode | records.Consumer], name: str) -> int | None:
    return _growth([(getattr(node.at_start, name), getattr(node.at_end, name)) for node in nodes])


def _resident_delta(result: records.MeasuredResult, kind: str) -> int | None:
    """The growth of the resident memory of a kind of roles in lead-in and window."""
    roles = [role for role in result.resources.values() if role.kind == kind]
    return _growth(
        [(role.resident_bytes_at_window_open, role.resident_bytes_at_end) for role in roles]
    )


#: The store that counts the memory of items without their hash table.
_STORE_THAT_COUNTS_ITEMS = "memcached"


def _added_memory(result: records.MeasuredResult) -> model.AddedMemory | None:
    consumers = result.consumers
    counted = [
        (start, end)
        for consumer in consumers
        if (start := consumer.at_start.consumes) and (end := consumer.at_end.consumes)
    ]
    if not counted or len(counted) < len(consumers):
        return None

    def consumed(outcome: str) -> int:
        return sum(getattr(end, outcome) - getattr(start, outcome) for start, end in counted)

    nodes = _nodes(result)
    # Resident memory is read when the window opens, after the keys of a warm-up were written.
    was_warmed_up = result.warmup.requests > 0
    # Garbage is only collected if the generator itself keeps the counters.
    in_process = result.request.layer == "limiter" and not nodes
    store = result.configuration.target.store if result.configuration else None
    counter = "store_items" if store == _STORE_THAT_COUNTS_ITEMS else "store"
    bytes_by_source = {
        counter: _delta(nodes, "used_memory_bytes"),
        "store_resident": None if was_warmed_up else _resident_delta(result, "store"),
        "service_resident": None if was_warmed_up else _resident_delta(result, "service"),
        "heap": _delta(consumers, "heap_used_bytes") if in_process else None,
    }
    lost = [
        count
        for name in ("expired_keys", "evicted_keys")
        if (count := _delta(nodes, name)) is not None
    ]
    return model.AddedMemory(
        keys=sum(consumed(outcome) for outcome in ("allowed", "limited", "failed")),
        failed=consumed("failed"),
        items=_delta(nodes, "keys"),
        lost_keys=sum(lost) if lost else None,
        bytes={source: count for source, count in bytes_by_source.items() if count is not None},
    )


def _answers_by_server(result: records.MeasuredResult) -> tuple[int, ...]:
    """See `Measured.answers_by_server`. No server answers at the limiter layer."""
    if result.request.layer == "limiter":
        return ()
    return tuple(
        max(0, consumer.at_end.requests - consumer.at_window_open.requests)
        for consumer in result.consumers
    )


def _script_calls(result: records.MeasuredResult) -> dict[str, int] | None:
    """The successful calls of scripts between start and end, summed over the nodes, by command.

    None without nodes, if a node does not count them, and if a counter went back because it was
    reset or the node was restarted."""
    nodes = _nodes(result)
    calls_by_command: dict[str, int] = {}
    for node in nodes:
        start = node.at_start.script_calls
        end = node.at_end.script_calls
        if start is None or end is None:
            return None
        for command in {*start, *end}:
            calls = _successful_calls(end.get(command)) - _successful_calls(start.get(command))
            if calls < 0:
                return None
            calls_by_command[command] = calls_by_command.get(command, 0) + calls

    if not nodes:
        return None
    return {command: calls for command, calls in sorted(calls_by_command.items()) if calls}


def _store_failures(result: records.MeasuredResult) -> int | None:
    """The consumes that failed in the window, as all processes counted them that call the
    limiter."""
    counted = [
        max(0, ended.failed - opened.failed)
        for consumer in result.consumers
        if (opened := consumer.at_window_open.consumes) and (ended := consumer.at_end.consumes)
    ]
    return sum(counted) if counted else None


def _deciding_software(result: records.MeasuredResult) -> dict[str, str]:
    """See `Measured.deciding_software`."""
    modules = (result.store.modules if result.store else None) or []
    versions = {}
    for module in modules:
        # The checksum of a module in an external store is not known.
        checksum = f"sha256 {module.sha256[:12]}" if module.sha256 else None
        versions[f"Module {module.id}"] = ", ".join(filter(None, (module.version, checksum)))
    if service := result.service:
        versions[f"Service {service.id}"] = service.at_end.version or "version not known"
    return versions


def _decisions(result: records.MeasuredResult) -> int | None:
    """See `Measured.decisions`. Raises FieldError if a count is not the difference of its two
    readings."""
    decisions = []
    for index, consumer in enumerate(result.consumers):
        consumes = consumer.consumes
        opened = consumer.at_window_open.consumes
        ended = consumer.at_end.consumes
        if not (consumes and opened and ended):
            return None

        for name in _ANSWERED:
            count = getattr(consumes, name)
            growth = getattr(ended, name) - getattr(opened, name)
            if count != growth:
                text = f"is {count}, but the readings differ by {growth}"
                raise FieldError(f"$.consumers[{index}].consumes.{name}", text)
        decisions.append(consumes.allowed + consumes.limited)
    return sum(decisions) if decisions else None


def _successful_calls(counted: records.ScriptCall | None) -> int:
    return counted.calls - counted.failed if counted else 0


def _answers_each_slice(result: records.MeasuredResult) -> "array[int]":
    """See `Measured.answers_each_slice`. A slice that the end of the window cut short does not
    count."""
    slices = result.slices
    count = min(_MAX_SLICES, int(result.duration * 1000 / slices.width_ms + 1e-6))
    return array("L", map(add, slices.allowed[:count], slices.limited[:count]))


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


def _check_turn_bins(turns: records.Turns | None) -> None:
    """Raises FieldError if a list does not have one member for each bin of time since a turn
    began."""
    for part in ("since_began", "long") if turns else ():
        timed = getattr(turns, part)
        for place in ("lead_in", "slice") if timed else ():
            for name, values in structs.asdict(getattr(timed, place)).items():
                if len(values) != _TURN_BINS:
                    text = f"has {len(values)} bins instead of {_TURN_BINS}"
                    raise FieldError(f"$.turns.{part}.{place}.{name}", text)


def _measured(result: records.MeasuredResult, record: records.MeasuredResult) -> model.Measured:
    answered, unanswered = _merged_histograms(result)
    latency = result.latency
    consumer = result.consumers[0] if result.consumers else None
    _check_latency(result)
    _check_turn_bins(result.turns)
    return model.Measured(
        record=record,
        layer=result.request.layer,
        requests_per_second=result.requests.average,
        percentiles_ms=_percentiles(latency),
        bounds_ms=model.stated_bounds(latency),
        curve_ms=array("d", result.latency_curve_ms),
        unsupported=tuple(sorted(result.unsupported)) if latency else (),
        store_memory_bytes=model.total_of(
            [node.at_end.used_memory_bytes for node in _nodes(result)]
        ),
        added_memory=_added_memory(result),
        store_failures=_store_failures(result),
        decisions=_decisions(result),
        answers_each_slice=_answers_each_slice(result),
        parts=turn_parts(result),
        answers_by_server=_answers_by_server(result),
        client_settings=consumer.client_settings if consumer else {},
        deciding_software=_deciding_software(result),
        limiter_script=consumer.limiter_script if consumer else None,
        script_calls=_script_calls(result),
        mergeable=histograms.mergeable(answered, unanswered),
    )


def _check_store(result: Result, identity: model.Identity) -> None:
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


def run_of(result: Result, file: str) -> model.Run:
    """The run of a result, without its seconds, which are the bulk of it. Messages and links name
    the file.

    Raises FieldError for an incomplete identity, a damaged histogram, or latencies that contradict
    it."""
    failure = result.failure if isinstance(result, records.FailedOrAbortedResult) else None
    identity = _identity(result)
    _check_store(result, identity)
    record = slim(result)
    measured = None
    if isinstance(result, records.MeasuredResult) and isinstance(record, records.MeasuredResult):
        measured = _measured(result, record)
        _check_faults(result)
    if isinstance(result, records.PrintedResult):
        _check_operations(result)
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


def _check_faults(result: records.MeasuredResult) -> None:
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


def _check_operations(result: records.PrintedResult) -> None:
    """Raises FieldError if throughput and duration contradict the number of operations (rule
    M1)."""
    operations = result.operations
    duration_s = result.duration
    computed_total = operations.per_second * duration_s
    if abs(computed_total - operations.total) > max(1, _PRINTED_TOLERANCE * operations.total):
        text = f"is {operations.per_second:g}: in {duration_s:g} s that is not {operations.total}"
        raise FieldError("$.operations.per_second", text)


def _requested_runs(manifest: Document, references: frozenset[str]) -> list[Mapping[str, Any]]:
    """The planned runs, of which an adaptive campaign has requested only some.

    Runs that only stand beside the others of a group do not count if no other run of the group was
    requested."""
    rounds: dict[str, int] = manifest.get("adaptive", {}).get("rounds", {})
    by_turns = manifest["plan"]["order"] == "turns"

    def is_uncompared(entry: Mapping[str, Any]) -> bool:
        is_reference = entry["configuration_hash"] in references
        return "beside" in entry or ("group" in entry and not by_turns and is_reference)

    def number(entry: Mapping[str, Any]) -> int:
        return int(entry.get("round", entry["run"]))

    requested = [
        entry
        for entry in manifest["plan"]["runs"]
        if number(entry) <= rounds.get(entry["configuration_hash"], number(entry))
    ]
    compared_places = {
        (number(entry), entry.get("group")) for entry in requested if not is_uncompared(entry)
    }
    return [
        entry
        for entry in requested
        if not is_uncompared(entry) or (number(entry), entry.get("group")) in compared_places
    ]


def planned_of(manifest: Document) -> tuple[model.Planned, ...]:
    """The configurations of the plan of a validated manifest, in its order.

    If the campaign found out how many runs it needs, the plan holds the largest number, and runs
    that were not requested do not count as planned."""
    plan = manifest["plan"]
    references = frozenset(plan.get("references", ()))
    runs: dict[str, list[int]] = {}
    places: dict[str, dict[int, Place]] = {}
    diagnosed = {entry["configuration_hash"] for entry in plan["runs"] if entry.get("diagnose")}
    for entry in _requested_runs(manifest, references):
        if entry.get("diagnose"):
            continue
        key = entry["configuration_hash"]
        run = entry["run"]
        runs.setdefault(key, []).append(run)
        if "round" in entry:
            places.setdefault(key, {})[run] = (entry["round"], entry.get("group", 1))

    return tuple(
        model.Planned(
            identity=identity_of(
                convert(entry["configuration"], records.Configuration),
                entry["hash"],
                entry["load_text"],
            ),
            runs=tuple(sorted(runs.get(entry["hash"], []))),
            places=places.get(entry["hash"], {}),
            by_turns=plan["order"] == "turns",
        )
        for entry in plan["configurations"]
        # A configuration that is only diagnosed has no row.
        if entry["hash"] in runs or entry["hash"] not in diagnosed
    )


def rankings_of(
    manifest: Document | None, planned: Sequence[model.Planned], runs: Sequence[model.Run]
) -> tuple[model.PlannedRanking, ...]:
    """The rankings of a plan, followed by those that an older plan implies, and those of rows that
    no plan holds."""
    plan = manifest["plan"] if manifest else {}
    rankings = convert(plan.get("rankings", []), list[model.PlannedRanking])

    ranked_keys = {key for ranking in rankings for key in ranking.members}
    identities = [entry.identity for entry in planned] + [run.identity for run in runs]
    unranked = {
        identity.key: identity for identity in identities if identity.key not in ranked_keys
    }
    return (*rankings, *older_rankings(unranked.values(), plan, first_number=len(rankings) + 1))
