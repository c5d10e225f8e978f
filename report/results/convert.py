"""Converts validated documents to the model, and checks what a schema cannot express."""

import json
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import convert, structs

from report.base.contract import CONSTANTS
from report.base.errors import FieldError
from report.results import model
from report.results.generated import records
from report.results.older_rankings import older_rankings
from report.results.record import plain
from report.results.validate import Document, Result
from report.statistics import histograms
from report.statistics.histograms import PERCENTILES, Histogram
from report.statistics.samples import Place

#: Figures that requests without an answer can move.
_MOVABLE = ("average", *PERCENTILES, "max")

_ANSWERED = ("allowed", "limited")
_UNANSWERED = ("failed", "censored")

#: Slices of a run that are kept: five minutes.
_MAX_SLICES = 3000


#: What an identity takes from its target as it stands.
_TARGET = (
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
    """The identity of a configuration as plan and result hold it."""
    target = configuration.target
    workload = configuration.workload
    limits = configuration.limits
    return model.Identity(
        **{name: getattr(target, name) for name in _TARGET},
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
        payload_bytes=workload.payload_bytes,
        traffic=configuration.traffic,
        limits=(limits.points, limits.window_s, limits.block_s, limits.cost or 1),
        caps=json.dumps(plain(configuration.caps), sort_keys=True),
        faults=tuple(configuration.faults or ()),
        same_script=bool(target.same_script),
        decides_locally=bool(target.decides_locally),
    )


def _load(load: records.ClosedLoad | records.OpenLoad, extent: records.Extent) -> dict[str, Any]:
    of_load = {
        name: getattr(load, name, None) for name in ("connections", "rate_per_second", "arrivals")
    }
    return of_load | {"duration_s": extent.duration_s, "requests": extent.requests}


def _manual_identity(request: records.Request, load_text: str) -> model.Identity:
    """The identity of a run made by hand: what was asked of the generator."""
    asked = ("layer", "label", "urls", "workload", "traffic", "load", "extent")
    return model.Identity(
        **_load(request.load, request.extent),
        load_text=load_text,
        key=json.dumps([plain(getattr(request, name)) for name in asked], sort_keys=True),
        layer=request.layer,
        counts={dimension.key: 0 for dimension in model.DIMENSIONS}
        | {"servers": len(request.urls)},
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
    """All generators' latencies of the answers; and of the requests that failed or got no answer,
    their latencies and ages."""
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
    """The requests of all generators that ended so."""
    parts = (generator.histograms for generator in result.generators)
    return sum(getattr(part, outcome).count for part in parts for outcome in outcomes)


def _check_latency(result: records.MeasuredResult) -> None:
    """Raises FieldError where a figure and its bounds are both given or both absent, and where a
    figure is known that requests without an answer could move."""
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


def _grown(pairs: Sequence[tuple[Any, Any]]) -> int | None:
    """What the ends add to the starts, all together; None without any, and if one is not known."""
    if not pairs or any(None in pair for pair in pairs):
        return None
    return sum(int(end) - int(start) for start, end in pairs)


def _delta(nodes: Sequence[records.StoreNode | records.Consumer], name: str) -> int | None:
    return _grown([(getattr(node.at_start, name), getattr(node.at_end, name)) for node in nodes])


def _resident_delta(result: records.MeasuredResult, kind: str) -> int | None:
    """What lead-in and window add to the resident memory of a kind of roles."""
    roles = [role for role in result.resources.values() if role.kind == kind]
    return _grown(
        [(role.resident_bytes_at_window_open, role.resident_bytes_at_end) for role in roles]
    )


#: Its counter is of items without their hash table.
_COUNTS_ITEMS = "memcached"


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
    # Resident memory is read when the window opens: the keys of a warm-up are there already.
    warm = result.warmup.requests > 0
    # Garbage is only collected where the generator itself keeps the counters.
    in_process = result.request.layer == "limiter" and not nodes
    store = result.configuration.target.store if result.configuration else None
    counter = "store_items" if store == _COUNTS_ITEMS else "store"
    read = {
        counter: _delta(nodes, "used_memory_bytes"),
        "store_resident": None if warm else _resident_delta(result, "store"),
        "service_resident": None if warm else _resident_delta(result, "service"),
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
        bytes={source: count for source, count in read.items() if count is not None},
    )


def _answers_by_server(result: records.MeasuredResult) -> tuple[int, ...]:
    """See `Measured.answers_by_server`; at the limiter layer, nothing is answered by a server."""
    if result.request.layer == "limiter":
        return ()
    return tuple(
        max(0, consumer.at_end.requests - consumer.at_window_open.requests)
        for consumer in result.consumers
    )


def _script_calls(result: records.MeasuredResult) -> dict[str, int] | None:
    """Calls less those that failed, at the end less at the start, summed over the nodes, by
    command.

    None without nodes, where a node counts none, and where a counter went back: it was reset, or
    the node was restarted."""
    nodes = _nodes(result)
    ran: dict[str, int] = {}
    for node in nodes:
        start = node.at_start.script_calls
        end = node.at_end.script_calls
        if start is None or end is None:
            return None
        for command in {*start, *end}:
            calls = _successful_calls(end.get(command)) - _successful_calls(start.get(command))
            if calls < 0:
                return None
            ran[command] = ran.get(command, 0) + calls
    return {command: calls for command, calls in sorted(ran.items()) if calls} if nodes else None


def _store_failures(result: records.MeasuredResult) -> int | None:
    """Consumes that failed in the window, by the count of all that call the limiter."""
    counted = [
        max(0, ended.failed - opened.failed)
        for consumer in result.consumers
        if (opened := consumer.at_window_open.consumes) and (ended := consumer.at_end.consumes)
    ]
    return sum(counted) if counted else None


def _deciding_software(result: records.MeasuredResult) -> dict[str, str]:
    """See `Measured.deciding_software`."""
    modules = (result.store.modules if result.store else None) or []
    # Of a store that the user runs, the module's file is not known.
    parts = {
        module.id: (module.version, module.sha256 and f"sha256 {module.sha256[:12]}")
        for module in modules
    }
    versions = {f"Module {id_}": ", ".join(filter(None, both)) for id_, both in parts.items()}
    if service := result.service:
        versions[f"Service {service.id}"] = service.at_end.version or "version not known"
    return versions


def _decisions(result: records.MeasuredResult) -> int | None:
    """See `Measured.decisions`; raises FieldError if a count is not the difference of its two
    readings."""
    decisions = []
    for index, consumer in enumerate(result.consumers):
        stated = consumer.consumes
        opened = consumer.at_window_open.consumes
        ended = consumer.at_end.consumes
        if not (stated and opened and ended):
            return None
        for name in _ANSWERED:
            counted = getattr(stated, name)
            grown = getattr(ended, name) - getattr(opened, name)
            if counted != grown:
                text = f"is {counted}, but the readings differ by {grown}"
                raise FieldError(f"$.consumers[{index}].consumes.{name}", text)
        decisions.append(stated.allowed + stated.limited)
    return sum(decisions) if decisions else None


def _successful_calls(counted: records.ScriptCall | None) -> int:
    return counted.calls - counted.failed if counted else 0


def _answers_each_slice(result: records.MeasuredResult) -> "array[int]":
    """A slice that the end of the window cut short is not compared with whole ones."""
    slices = result.slices
    whole = min(_MAX_SLICES, int(result.duration * 1000 / slices.width_ms + 1e-6))
    both = zip(slices.allowed[:whole], slices.limited[:whole], strict=False)
    return array("L", (allowed + limited for allowed, limited in both))


#: What figures are computed from when a run is read, and what no page shows.
_DROPPED = dict.fromkeys(
    ("configuration", "configuration_hash", "plugins", "links", "machine_load", "store")
)
_READ: dict[str, Any] = {
    **dict.fromkeys(("request", "service", "admissions")),
    **dict.fromkeys(("generators", "samples", "consumers", "unsupported", "latency_curve_ms"), ()),
    "slices": records.Slices(width_ms=100, allowed=[], limited=[], failed=[], latency_sum_us=[]),
}
_OF_RESOURCE: dict[str, Any] = {
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
_OF_TIMELINE: dict[str, Any] = dict.fromkeys(("p50_us", "p99_second_us", "p99_before_us"), ())


def slim(result: Result) -> Result:
    """A result without what would fill the memory: ten thousand of them are kept at once."""
    if isinstance(result, records.FailedOrAbortedResult):
        return structs.replace(result, configuration=None, plugins=None)
    of_role = sorted(result.resources.items())
    resources = {role: structs.replace(resource, **_OF_RESOURCE) for role, resource in of_role}
    if isinstance(result, records.PrintedResult):
        program = structs.replace(result.program, arguments=[], output="")
        return structs.replace(result, **_DROPPED, resources=resources, program=program)
    shown = result.timeline if result.faults else None
    timeline = shown and structs.replace(shown, **_OF_TIMELINE)
    return structs.replace(result, **_DROPPED, **_READ, resources=resources, timeline=timeline)


def _percentiles(latency: records.Latency | None) -> dict[str, float]:
    """Those that are identified, by name."""
    stated = {name: getattr(latency, name, None) for name in PERCENTILES}
    return {name: value for name, value in stated.items() if value is not None}


def _measured(result: records.MeasuredResult, record: records.MeasuredResult) -> model.Measured:
    answered, unanswered = _merged_histograms(result)
    latency = result.latency
    consumer = result.consumers[0] if result.consumers else None
    _check_latency(result)
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
    if identity.configuration_hash is not None and external not in (None, identity.external_store):
        fact = f"the store is {'' if identity.external_store else 'not '}one that already ran"
        raise FieldError(
            "$.store.external", f"is {str(external).lower()}, but by its configuration {fact}"
        )


def run_of(result: Result, file: str) -> model.Run:
    """The run of a result, without its seconds, the bulk of it. The file's name is for messages and
    links.

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
    """Raises FieldError where a column has another length than the window, or counts other
    answers."""
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
    """Raises FieldError where figures are of no fault, or of one that was not injected."""
    faults = result.faults
    stated = result.fault_figures
    if not faults:
        return
    for at, figures in enumerate(stated.faults if stated else ()):
        if figures.fault >= len(faults) or faults[figures.fault].injected is None:
            text = f"is {figures.fault}: no such injected fault"
            raise FieldError(f"$.fault_figures.faults[{at}].fault", text)
        if (figures.recovery == "recovered") != (figures.recovery_s is not None):
            raise FieldError(
                f"$.fault_figures.faults[{at}].recovery_s", f"contradicts `{figures.recovery}`"
            )
    if result.timeline:
        _check_timeline(result, result.timeline)


#: Printed throughput has two decimals, and operations are whole.
_PRINTED_TOLERANCE: float = CONSTANTS["printed_rounding"]


def _check_operations(result: records.PrintedResult) -> None:
    """Raises FieldError where throughput and duration contradict the number of operations (rule
    M1)."""
    operations = result.operations
    duration_s = result.duration
    implied = operations.per_second * duration_s
    if abs(implied - operations.total) > max(1, _PRINTED_TOLERANCE * operations.total):
        text = f"is {operations.per_second:g}: in {duration_s:g} s that is not {operations.total}"
        raise FieldError("$.operations.per_second", text)


def _asked_for(manifest: Document, references: frozenset[str]) -> list[Mapping[str, Any]]:
    """The planned runs, of an adaptive campaign those that it asked for: what is beside the others
    of a group is left out where none of them is left."""
    rounds: dict[str, int] = manifest.get("adaptive", {}).get("rounds", {})
    by_turns = manifest["plan"]["order"] == "turns"

    def is_uncompared(entry: Mapping[str, Any]) -> bool:
        is_reference = entry["configuration_hash"] in references
        return "beside" in entry or ("group" in entry and not by_turns and is_reference)

    def number(entry: Mapping[str, Any]) -> int:
        return int(entry.get("round", entry["run"]))

    every = manifest["plan"]["runs"]
    asked = [
        entry
        for entry in every
        if number(entry) <= rounds.get(entry["configuration_hash"], number(entry))
    ]
    compared = {(number(entry), entry.get("group")) for entry in asked if not is_uncompared(entry)}
    return [
        entry
        for entry in asked
        if not is_uncompared(entry) or (number(entry), entry.get("group")) in compared
    ]


def planned_of(manifest: Document) -> tuple[model.Planned, ...]:
    """The configurations of a validated manifest's plan, in its order.

    Where the campaign found out how many runs it needs, the plan holds the most: what was not asked
    for is not planned."""
    plan = manifest["plan"]
    references = frozenset(plan.get("references", ()))
    runs: dict[str, list[int]] = {}
    places: dict[str, dict[int, Place]] = {}
    diagnosed = {entry["configuration_hash"] for entry in plan["runs"] if entry.get("diagnose")}
    for entry in _asked_for(manifest, references):
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
        # One that is only diagnosed has no row.
        if entry["hash"] in runs or entry["hash"] not in diagnosed
    )


def rankings_of(
    manifest: Document | None, planned: Sequence[model.Planned], runs: Sequence[model.Run]
) -> tuple[model.PlannedRanking, ...]:
    """The rankings of a plan; those of an older plan, and of rows that no plan holds, behind
    them."""
    plan = manifest["plan"] if manifest else {}
    stated = convert(plan.get("rankings", []), list[model.PlannedRanking])
    known = {key for ranking in stated for key in ranking.members}
    identities = [entry.identity for entry in planned] + [run.identity for run in runs]
    others = {identity.key: identity for identity in identities if identity.key not in known}
    return (*stated, *older_rankings(others.values(), plan, first_number=len(stated) + 1))
