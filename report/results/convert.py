"""Converts validated documents to the model, and checks what a schema cannot express."""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hdrh.histogram import HdrHistogram
from msgspec import UNSET, convert, structs

from report.base.errors import FieldError
from report.results.model import (
    DIMENSIONS,
    AddedMemory,
    Diagnosis,
    Fault,
    FaultFigures,
    FaultRecord,
    FaultRun,
    Identity,
    LimiterScript,
    Measured,
    OverAdmission,
    Pauses,
    Planned,
    Printed,
    Role,
    Run,
    Second,
    Timeline,
)
from report.results.record import plain
from report.results.records import (
    Configuration,
    Consumer,
    FailedOrAbortedResult,
    FaultFiguresFault,
    Latency,
    MeasuredResult,
    MeasuredResultFault,
    Module,
    OpenLoad,
    PrintedResult,
    Request,
    Resource,
    ScriptCall,
    Server,
    StoreNode,
    Target,
)
from report.results.records import Diagnosis as StatedDiagnosis
from report.results.validate import Document, Result
from report.statistics.histograms import (
    PERCENTILES,
    Bounds,
    curve_ms,
    decode_histogram,
    merge_histograms,
    percentile_bounds,
    unsupported_percentiles,
)
from report.statistics.samples import Place

#: How far a stated percentile may lie from the one of the run's histograms: HDR's own error, and rounding.
_AGREEMENT_MS = 0.05
_AGREEMENT_SHARE = 0.005

_ANSWERED = ("allowed", "limited")
_UNANSWERED = ("failed", "censored")
_DECIDED = ("allowed", "limited")

#: Slices of a run that are kept: five minutes.
_MAX_SLICES = 3000
_ANSWERED_CODES = ("200", "429", "allowed", "limited")


def identity_of(configuration: Configuration, configuration_hash: str) -> Identity:
    """The identity of a configuration as plan and result hold it."""
    target, load, extent, limits = (
        configuration.target,
        configuration.load,
        configuration.extent,
        configuration.limits,
    )
    return Identity(
        key=configuration_hash,
        configuration_hash=configuration_hash,
        layer=configuration.layer,
        counts={dimension.key: dimension.count(configuration) for dimension in DIMENSIONS},
        label=target.label,
        client=target.client,
        client_version=target.client_version,
        options=tuple(target.options),
        store=target.store,
        store_version=target.store_version,
        external_store=bool(configuration.external_store),
        topology=target.topology,
        limiter=target.limiter,
        limiter_version=target.limiter_version,
        workload=configuration.workload.id,
        complexity=configuration.workload.complexity,
        payload_bytes=configuration.workload.payload_bytes,
        traffic=configuration.traffic,
        connections=load.connections,
        rate_per_second=load.rate_per_second if isinstance(load, OpenLoad) else None,
        arrivals=load.arrivals if isinstance(load, OpenLoad) else None,
        duration_s=extent.duration_s,
        requests=extent.requests,
        limits=(limits.points, limits.window_s, limits.block_s, limits.cost or 1),
        caps=json.dumps(plain(configuration.caps), sort_keys=True),
        faults=tuple(
            Fault(each.name, each.action, each.role, each.start_s, each.length_s)
            for each in configuration.faults or ()
        ),
        decided_by=target.decided_by or _decider(target),
        algorithm=target.algorithm,
        module=target.module,
        service=target.service,
        framework=target.framework,
        decides_locally=bool(target.decides_locally),
        program=target.program,
        node=target.node,
    )


def _decider(target: Target) -> str:
    """The decider of results that do not state it: they are older than modules and services."""
    if target.limiter == "none":
        return "nothing"
    return "in-process" if target.store == "memory" else "library"


def _manual_identity(request: Request) -> Identity:
    """The identity of a run made by hand: what was asked of the generator."""
    asked = ("layer", "label", "urls", "workload", "traffic", "load", "extent")
    load, extent = request.load, request.extent
    return Identity(
        key=json.dumps([plain(getattr(request, name)) for name in asked], sort_keys=True),
        configuration_hash=None,
        layer=request.layer,
        counts={dimension.key: 0 for dimension in DIMENSIONS} | {"servers": len(request.urls)},
        label=request.label,
        client=request.label,
        client_version=None,
        options=(),
        store=None,
        external_store=False,
        topology=None,
        limiter=None,
        limiter_version=None,
        workload=request.workload,
        complexity=None,
        traffic=request.traffic,
        connections=load.connections,
        rate_per_second=load.rate_per_second if isinstance(load, OpenLoad) else None,
        arrivals=load.arrivals if isinstance(load, OpenLoad) else None,
        duration_s=extent.duration_s,
        requests=extent.requests,
        limits=None,
        caps="{}",
    )


def _identity(result: Result) -> Identity:
    configuration, configuration_hash = result.configuration, result.configuration_hash
    if configuration is not None and configuration_hash is not None:
        return identity_of(configuration, configuration_hash)
    if configuration is not None or configuration_hash is not None:
        absent = "configuration" if configuration is None else "configuration_hash"
        raise FieldError(f"$.{absent}", "is missing, though the other half of the identity is there")
    if not isinstance(result, MeasuredResult):
        raise FieldError("$.configuration", "is missing")
    return _manual_identity(result.request)


def _merged_histograms(result: MeasuredResult) -> tuple[HdrHistogram | None, HdrHistogram | None]:
    """All generators' latencies of the answers; and of the requests that failed or got no answer, their
    latencies and ages."""
    answered: list[HdrHistogram] = []
    unanswered: list[HdrHistogram] = []
    for index, generator in enumerate(result.generators):
        for outcome in (*_ANSWERED, *_UNANSWERED):
            try:
                histogram = decode_histogram(plain(getattr(generator.histograms, outcome)))
            except ValueError as error:
                field = f"$.generators[{index}].histograms.{outcome}.data"
                raise FieldError(field, str(error)) from error
            (answered if outcome in _ANSWERED else unanswered).append(histogram)
    return merge_histograms(answered), merge_histograms(unanswered)


def _stated_bounds(latency: Latency | None) -> dict[str, Bounds]:
    stated = (latency.bounds if latency else None) or {}
    return {name: Bounds(bounds.low, bounds.high) for name, bounds in stated.items()}


def _ms(value: float | None) -> str:
    return "null" if value is None else f"{value:g} ms"


def _agree(stated: float | None, found: float | None) -> bool:
    if stated is None or found is None:
        return stated is found
    return abs(stated - found) <= max(_AGREEMENT_MS, _AGREEMENT_SHARE * found)


def _check_latency(stated: Latency | None, found: Mapping[str, Bounds], unanswered: int) -> None:
    """The result's latencies against the histograms: figures, nulls, and the bounds of the nulls."""
    if found and not stated:
        raise FieldError("$.latency", "is missing, though requests were answered")
    if stated and not found:
        raise FieldError("$.latency", "is given, though nothing was answered")
    if not stated:
        return
    bounds = _stated_bounds(stated)
    for name, known in found.items():
        _check_agreement(f"$.latency.{name}", getattr(stated, name), known.figure)
        if known.figure is None:
            _check_bounds(name, bounds.get(name), known)
    for name in ("average", "max", "stddev"):
        figure = getattr(stated, name)
        if (figure is None) != (unanswered > 0):
            raise FieldError(
                f"$.latency.{name}", f"is {_ms(figure)}, though {unanswered} requests failed or got no answer"
            )
    for name in bounds:
        if getattr(stated, name) is not None:
            raise FieldError(f"$.latency.bounds.{name}", "is given, though the figure is known")


def _check_agreement(field: str, stated: float | None, found: float | None) -> None:
    if not _agree(stated, found):
        raise FieldError(field, f"is {_ms(stated)}, but the histograms give {_ms(found)}")


def _check_bounds(name: str, stated: Bounds | None, found: Bounds) -> None:
    if stated is None:
        raise FieldError(f"$.latency.bounds.{name}", "is missing")
    _check_agreement(f"$.latency.bounds.{name}.low", stated.low, found.low)
    _check_agreement(f"$.latency.bounds.{name}.high", stated.high, found.high)


def _store_memory(result: MeasuredResult) -> int | None:
    """Memory of all nodes at the end; None where one does not say."""
    nodes = result.store.nodes if result.store else []
    found = [node.at_end.used_memory_bytes for node in nodes]
    return _total(found)


def _grown(pairs: Sequence[tuple[Any, Any]]) -> int | None:
    """What the ends add to the starts, all together; None without any, and if one is not known."""
    if not pairs or any(None in pair for pair in pairs):
        return None
    return sum(int(end) - int(start) for start, end in pairs)


def _delta(nodes: Sequence[StoreNode | Consumer], name: str) -> int | None:
    return _grown([(getattr(node.at_start, name), getattr(node.at_end, name)) for node in nodes])


def _resident_delta(result: MeasuredResult, kind: str) -> int | None:
    """What lead-in and window add to the resident memory of a kind of roles."""
    roles = [role for role in result.resources.values() if role.kind == kind]
    return _grown([(role.resident_bytes_at_window_open, role.resident_bytes_at_end) for role in roles])


#: Its counter is of items without their hash table.
_COUNTS_ITEMS = "memcached"


def _added_memory(result: MeasuredResult) -> AddedMemory | None:
    consumers = result.consumers
    counted = [
        (start, end)
        for each in consumers
        if (start := each.at_start.consumes) and (end := each.at_end.consumes)
    ]
    if not counted or len(counted) < len(consumers):
        return None

    def consumed(outcome: str) -> int:
        return sum(getattr(end, outcome) - getattr(start, outcome) for start, end in counted)

    nodes = result.store.nodes if result.store else []
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
    lost = [count for name in ("expired_keys", "evicted_keys") if (count := _delta(nodes, name)) is not None]
    return AddedMemory(
        keys=sum(consumed(outcome) for outcome in ("allowed", "limited", "failed")),
        failed=consumed("failed"),
        items=_delta(nodes, "keys"),
        lost_keys=sum(lost) if lost else None,
        bytes={source: count for source, count in read.items() if count is not None},
    )


def _answers_by_server(result: MeasuredResult) -> tuple[int, ...]:
    """See `Measured.answers_by_server`; at the limiter layer, nothing is answered by a server."""
    if result.request.layer == "limiter":
        return ()
    return tuple(max(0, each.at_end.requests - each.at_window_open.requests) for each in result.consumers)


def _limiter_script(consumer: Consumer | None) -> LimiterScript | None:
    script = consumer.limiter_script if consumer else None
    return LimiterScript(script.kind, script.name_or_sha1) if script else None


def _script_calls(result: MeasuredResult) -> dict[str, int] | None:
    """Calls less those that failed, at the end less at the start, summed over the nodes, by command.

    None without nodes, where a node counts none, and where a counter went back: it was reset, or the node was
    restarted.
    """
    nodes = result.store.nodes if result.store else []
    ran: dict[str, int] = {}
    for node in nodes:
        start, end = node.at_start.script_calls, node.at_end.script_calls
        if start is None or end is None:
            return None
        for command in {*start, *end}:
            calls = _successful_calls(end.get(command)) - _successful_calls(start.get(command))
            if calls < 0:
                return None
            ran[command] = ran.get(command, 0) + calls
    return {command: calls for command, calls in sorted(ran.items()) if calls} if nodes else None


def _store_failures(result: MeasuredResult) -> int | None:
    """Consumes that failed in the window, by the count of all that call the limiter."""
    counted = [
        max(0, ended.failed - opened.failed)
        for consumer in result.consumers
        if (opened := consumer.at_window_open.consumes) and (ended := consumer.at_end.consumes)
    ]
    return sum(counted) if counted else None


def _short_hash(module: Module) -> str | None:
    """A hash of the module's file; none for a store that the user runs."""
    return f"sha256 {module.sha256[:12]}" if module.sha256 else None


def _deciding_software(result: MeasuredResult) -> dict[str, str]:
    """See `Measured.deciding_software`."""
    modules = (result.store.modules if result.store else None) or []
    found = {
        f"Module {each.id}": ", ".join(filter(None, (each.version, _short_hash(each)))) for each in modules
    }
    if service := result.service:
        found[f"Service {service.id}"] = service.at_end.version or "version not known"
    return found


def _decisions(result: MeasuredResult) -> int | None:
    """See `Measured.decisions`.

    Raises:
        FieldError: a count is not the difference of its two readings, which are those of the CPU time.
    """
    found = []
    for index, consumer in enumerate(result.consumers):
        stated = consumer.consumes
        opened, ended = consumer.at_window_open.consumes, consumer.at_end.consumes
        if not (stated and opened and ended):
            return None
        for name in _DECIDED:
            counted, grown = getattr(stated, name), getattr(ended, name) - getattr(opened, name)
            if counted != grown:
                raise FieldError(
                    f"$.consumers[{index}].consumes.{name}",
                    f"is {counted}, but the readings differ by {grown}",
                )
        found.append(stated.allowed + stated.limited)
    return sum(found) if found else None


def _successful_calls(counted: ScriptCall | None) -> int:
    return counted.calls - counted.failed if counted else 0


def _role(resources: Resource) -> Role:
    return Role(
        kind=resources.kind,
        source=resources.source,
        cpu_us=resources.cpu_us,
        cpu_percent=resources.cpu_percent,
        cpu_us_per_request=resources.cpu_us_per_request,
        resident_bytes=resources.resident_bytes_mean,
        run_delay_us=resources.run_delay_us,
    )


def seconds_of(result: Result) -> tuple[Second, ...]:
    """The per-second series of a measured result; empty for any other."""
    return tuple(
        Second(each.t_s, each.interval_s, each.allowed, each.limited, each.failed, each.p99_ms)
        for each in (result.samples if isinstance(result, MeasuredResult) else ())
    )


def _answers_each_slice(result: MeasuredResult) -> "array[int]":
    """A slice that the end of the window cut short is not compared with whole ones."""
    slices = result.slices
    whole = min(_MAX_SLICES, int(result.duration * 1000 / slices.width_ms + 1e-6))
    both = zip(slices.allowed[:whole], slices.limited[:whole], strict=False)
    return array("L", (allowed + limited for allowed, limited in both))


def _figures(latency: Latency | None, names: Iterable[str]) -> dict[str, float]:
    """Those that are not null."""
    return {name: value for name in names if (value := getattr(latency, name, None)) is not None}


def _measured(result: MeasuredResult, series: bool) -> Measured:
    answered, unanswered = _merged_histograms(result)
    found = percentile_bounds(answered, unanswered) if answered else {}
    samples = answered.get_total_count() if answered else 0
    latency, service = result.latency, result.service_time
    consumer = result.consumers[0] if result.consumers else None
    _check_latency(latency, found, unanswered.get_total_count() if unanswered else 0)
    return Measured(
        layer=result.request.layer,
        duration_s=result.duration,
        requests_per_second=result.requests.average,
        requests_sent=result.counts.sent,
        requests_total=result.requests.total,
        requests_followed=result.counts.followed,
        percentiles_ms={name: bounds.figure for name, bounds in found.items() if bounds.figure is not None},
        bounds_ms={
            **{name: bounds for name, bounds in found.items() if bounds.figure is None},
            **{name: each for name, each in _stated_bounds(latency).items() if name not in PERCENTILES},
        },
        service_ms=_figures(service, PERCENTILES),
        service_bounds_ms=_stated_bounds(service),
        warm_up=result.warmup,
        schedule=result.schedule,
        latency_ms=_figures(latency, ("average", "min", "max", "stddev")),
        curve_ms=curve_ms(answered, unanswered),
        unsupported=tuple(sorted({*result.unsupported, *unsupported_percentiles(samples)})) if found else (),
        rate_limit_hits=result.rate_limit_hits,
        cpu_percent=result.cpu_usage,
        heap_bytes=result.memory_usage,
        resident_bytes=result.memory_resident,
        store_memory_bytes=_store_memory(result),
        added_memory=_added_memory(result),
        connection_errors=result.errors,
        timeouts=result.timeouts,
        errors_total=result.totalErrors,
        failed_answers=result.counts.failed_answers,
        failed_by_code={
            code: count
            for code, count in sorted(result.counts.by_code.items())
            if code not in _ANSWERED_CODES and count
        },
        store_failures=_store_failures(result),
        calls_per_request=result.calls_per_request,
        descriptors_per_call=result.descriptors_per_call,
        decisions=_decisions(result),
        prediction=result.prediction,
        boundary=result.boundary,
        roles={role: _role(resources) for role, resources in sorted(result.resources.items())},
        foreign_cpu_percent=result.host_load.foreign_cpu_percent if result.host_load else None,
        seconds=seconds_of(result) if series else (),
        answers_each_slice=_answers_each_slice(result),
        answers_by_server=_answers_by_server(result),
        servers_ready_s=tuple((result.servers_ready_s or {}).values()),
        client_settings=consumer.client_settings if consumer else {},
        deciding_software=_deciding_software(result),
        limited_by=result.limited_by,
        limiter_script=_limiter_script(consumer),
        script_calls=_script_calls(result),
    )


def _check_store(result: Result, identity: Identity) -> None:
    store = None if isinstance(result, FailedOrAbortedResult) else result.store
    external = store.external if store else None
    if identity.configuration_hash is not None and external not in (None, identity.external_store):
        verb = "is" if identity.external_store else "is not"
        raise FieldError(
            "$.store.external",
            f"is {str(external).lower()}, but by its configuration the store {verb} one that already ran",
        )


def run_of(result: Result, file: str, series: bool = True) -> Run:
    """The run of a result.

    Args:
        result: what `validate_result` read.
        file: its name in the campaign's folder, for messages and links.
        series: whether to keep what each second counted, the bulk of a run.
    Raises:
        FieldError: an incomplete identity, a damaged histogram, or latencies that contradict the histograms.
    """
    failure = result.failure if isinstance(result, FailedOrAbortedResult) else None
    measured = result if isinstance(result, MeasuredResult) else None
    identity = _identity(result)
    _check_store(result, identity)
    return Run(
        identity=identity,
        file=file,
        run=result.run,
        campaign=result.campaign,
        started_at=result.started_at,
        finished_at=result.finished_at,
        status=result.status,
        failure=f"{failure.role}: {failure.text}" if failure else None,
        verdict=result.verdict.status if failure is None else "invalid",
        reasons=tuple(result.verdict.reasons),
        not_applicable=tuple((entry.rule, entry.text) for entry in result.verdict.not_applicable),
        notes=tuple(result.notes),
        runtime=plain(result.runtime),
        versions={} if isinstance(result, FailedOrAbortedResult) else plain(result.versions),
        outcome=None if isinstance(result, FailedOrAbortedResult) else result.outcome,
        outcome_text=measured.outcome_text if measured else None,
        measured=_measured(measured, series) if measured else None,
        printed=_printed(result) if isinstance(result, PrintedResult) else None,
        diagnosis=_diagnosis(result.diagnosis) if result.diagnosis else None,
        placement=(None if isinstance(result, FailedOrAbortedResult) else result.placement) or {},
        faults=_faults(measured, measured.faults) if measured and measured.faults else None,
        turns=measured.turns if measured else None,
    )


_TIMELINE_COUNTS = ("allowed", "limited", "failed", "timed_out")


def _timeline(result: MeasuredResult) -> Timeline | None:
    """Raises FieldError where a column has another length than the window, or counts other answers."""
    stated = result.timeline
    if stated is None:
        return None
    slices = len(result.slices.allowed)
    for name, column in structs.asdict(stated).items():
        if isinstance(column, list) and len(column) != slices:
            raise FieldError(f"$.timeline.{name}", f"has {len(column)} slices, but the window has {slices}")
    for name in _ANSWERED:
        if getattr(stated, name) != getattr(result.slices, name):
            raise FieldError(f"$.timeline.{name}", f"differs from $.slices.{name}")
    return Timeline(
        width_s=stated.width_ms / 1000,
        **{name: array("L", getattr(stated, name)) for name in _TIMELINE_COUNTS},
        p50_us=tuple(stated.p50_us),
        p99_us=tuple(stated.p99_us),
        backlog=None if stated.backlog is None else array("L", stated.backlog),
    )


def _fault_figures(stated: FaultFiguresFault) -> FaultFigures:
    over = None if stated.over_admission is UNSET else stated.over_admission
    return FaultFigures(
        observed_s=stated.observed_s,
        outage_injected_s=stated.outage_injected_s,
        outage_seen_s=stated.outage_seen_s,
        first_error_s=stated.first_error_s,
        error_share=stated.error_share,
        recovery=stated.recovery,
        recovery_s=stated.recovery_s,
        recovery_text=stated.recovery_text or "",
        requests_lost=stated.requests_lost,
        p99_worst_us=stated.p99_worst_us,
        over_admission=OverAdmission(over.admitted, over.counters_kept, over.counters_lost) if over else None,
        quotas_bind=None if stated.over_admission is UNSET else over is not None,
        answers=plain(stated.answers),
        behaviour=stated.behaviour,
        server_memory_peak_bytes=stated.server_memory_peak_bytes,
        server_memory_before_bytes=stated.server_memory_before_bytes,
    )


def _faults(result: MeasuredResult, faults: Sequence[MeasuredResultFault]) -> FaultRun:
    """Raises FieldError where figures are of no fault, or of one that was not injected."""
    figures: dict[int, FaultFiguresFault] = {}
    stated = result.fault_figures
    for place, each in enumerate(stated.faults if stated else ()):
        if each.fault >= len(faults) or faults[each.fault].injected is None:
            raise FieldError(
                f"$.fault_figures.faults[{place}].fault", f"is {each.fault}: no such injected fault"
            )
        if (each.recovery == "recovered") != (each.recovery_s is not None):
            raise FieldError(f"$.fault_figures.faults[{place}].recovery_s", f"contradicts `{each.recovery}`")
        figures[each.fault] = each
    return FaultRun(
        records=tuple(
            FaultRecord(
                name=fault.name,
                action=fault.action,
                roles=tuple(fault.roles),
                from_s=fault.injected.from_s if fault.injected else None,
                to_s=fault.injected.to_s if fault.injected else None,
                undone=fault.undone,
                note=fault.note or "",
                store_reconnections=fault.store_reconnections,
                figures=_fault_figures(figures[place]) if place in figures else None,
            )
            for place, fault in enumerate(faults)
        ),
        p99_before_us=stated.before.p99_us if stated and stated.before else None,
        timeline=_timeline(result),
    )


def _total(values: Sequence[int | None]) -> int | None:
    """None without values, and where one is not known."""
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def _totals(counts: Sequence[Mapping[str, int] | None]) -> dict[str, int]:
    """Added up by name; empty without counts, and where some are not known."""
    known = [each for each in counts if each is not None]
    if len(known) < len(counts):
        return {}
    return {name: sum(each[name] for each in known) for name in (known[0] if known else {})}


def _pauses(servers: Sequence[Server]) -> dict[str, Pauses]:
    found: dict[str, Pauses] = {}
    for kind, each in ((kind, each) for server in servers for kind, each in server.gc.items()):
        before = found.get(kind, Pauses(0, 0, 0))
        found[kind] = Pauses(
            before.count + each.pauses,
            before.total_us + each.total_us,
            max(before.longest_us, each.longest_us),
        )
    return found


def _diagnosis(stated: StatedDiagnosis) -> Diagnosis:
    servers, nodes = list(stated.servers.values()), stated.nodes
    commands = [command for node in nodes for command in node.commands.values()]
    decisions = sum(command.calls for command in commands)
    delays = [delay for server in servers if (delay := server.loop_delay_us)]
    p99s = [command.p99_us for command in commands if command.p99_us is not None]
    return Diagnosis(
        requests=sum(server.requests for server in servers),
        pauses=_pauses(servers),
        loop_delay_us=plain(max(delays, key=lambda delay: delay.p99)) if delays else {},
        allocated_bytes=_total([server.allocated_bytes for server in servers]),
        context_switches=_totals([plain(server.context_switches) for server in servers]),
        system_calls=_totals([plain(server.system_calls) for server in servers]),
        decisions=decisions,
        script_us=sum(command.us for command in commands) if decisions else None,
        script_p99_us=max(p99s, default=None),
        store_received_bytes=_total([node.received_bytes for node in nodes]),
        store_sent_bytes=_total([node.sent_bytes for node in nodes]),
    )


#: Printed throughput has two decimals, and operations are whole.
_PRINTED_TOLERANCE = 0.01


def _printed(result: PrintedResult) -> Printed:
    """Raises FieldError where throughput and duration contradict the number of operations (rule M1)."""
    operations, duration_s = result.operations, result.duration
    implied = operations.per_second * duration_s
    if abs(implied - operations.total) > max(1, _PRINTED_TOLERANCE * operations.total):
        raise FieldError(
            "$.operations.per_second",
            f"is {operations.per_second:g}: in {duration_s:g} s that is not {operations.total}",
        )
    return Printed(
        operations_per_second=operations.per_second,
        operations=operations.total,
        duration_s=duration_s,
        latency_ms=plain(result.latency),
        store_cpu_us_per_operation=result.store_cpu_us_per_operation,
        service_cpu_us_per_operation=next(
            (role.cpu_us_per_request for role in result.resources.values() if role.kind == "service"), None
        ),
        bytes_per_key=result.memory.bytes_per_key if result.memory else None,
        program=result.program.id,
        program_version=result.program.version,
        store_version=result.versions.store,
        foreign_cpu_percent=result.host_load.foreign_cpu_percent if result.host_load else None,
        limited_by=result.limited_by,
    )


def _asked_for(manifest: Document, references: frozenset[str]) -> list[Mapping[str, Any]]:
    """The planned runs, of an adaptive campaign those that it asked for: what is beside the others of a group
    is left out where none of them is left."""
    rounds: dict[str, int] = manifest.get("adaptive", {}).get("rounds", {})
    by_turns = manifest["plan"]["order"] == "turns"

    def beside(entry: Mapping[str, Any]) -> bool:
        is_reference = entry["configuration_hash"] in references
        return "beside" in entry or ("group" in entry and not by_turns and is_reference)

    def number(entry: Mapping[str, Any]) -> int:
        return int(entry.get("round", entry["run"]))

    asked = [
        entry
        for entry in manifest["plan"]["runs"]
        if number(entry) <= rounds.get(entry["configuration_hash"], number(entry))
    ]
    compared = {(number(entry), entry.get("group")) for entry in asked if not beside(entry)}
    return [entry for entry in asked if not beside(entry) or (number(entry), entry.get("group")) in compared]


def planned_of(manifest: Document) -> tuple[Planned, ...]:
    """The configurations of a validated manifest's plan, in its order.

    Where the campaign found out how many runs it needs, the plan holds the most: what was not asked for is
    not planned.
    """
    plan = manifest["plan"]
    references = frozenset(plan.get("references", ()))
    runs: dict[str, list[int]] = {}
    places: dict[str, dict[int, Place]] = {}
    diagnosed = {entry["configuration_hash"] for entry in plan["runs"] if entry.get("diagnose")}
    for entry in _asked_for(manifest, references):
        if entry.get("diagnose"):
            continue
        key, run = entry["configuration_hash"], entry["run"]
        runs.setdefault(key, []).append(run)
        if "round" in entry:
            places.setdefault(key, {})[run] = (entry["round"], entry.get("group", 1))
    return tuple(
        Planned(
            identity=identity_of(convert(entry["configuration"], Configuration), entry["hash"]),
            runs=tuple(sorted(runs.get(entry["hash"], []))),
            places=places.get(entry["hash"], {}),
            reference=entry["hash"] in references,
            by_turns=plan["order"] == "turns",
        )
        for entry in plan["configurations"]
        # One that is only diagnosed has no row.
        if entry["hash"] in runs or entry["hash"] not in diagnosed
    )
