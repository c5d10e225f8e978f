"""Converts validated documents to the model, and checks what a schema cannot express."""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hdrh.histogram import HdrHistogram

from report.base.errors import FieldError
from report.results.model import (
    DIMENSIONS,
    AddedMemory,
    Boundary,
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
    SendSchedule,
    Timeline,
    Turns,
    WarmUp,
)
from report.results.records import LimitedBy, Prediction, Promise, Reason
from report.results.validate import Document
from report.statistics.bounds import Bounds
from report.statistics.histograms import (
    PERCENTILES,
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


def identity_of(configuration: Mapping[str, Any], configuration_hash: str) -> Identity:
    """The identity of a configuration as plan and result hold it."""
    target, load, extent, limits = (configuration[part] for part in ("target", "load", "extent", "limits"))
    return Identity(
        key=configuration_hash,
        configuration_hash=configuration_hash,
        layer=configuration["layer"],
        counts={dimension.key: dimension.count(configuration) for dimension in DIMENSIONS},
        label=target["label"],
        client=target["client"],
        client_version=target.get("client_version"),
        options=tuple(target["options"]),
        store=target["store"],
        store_version=target.get("store_version"),
        external_store=configuration.get("external_store", False),
        topology=target["topology"],
        limiter=target["limiter"],
        limiter_version=target.get("limiter_version"),
        workload=configuration["workload"]["id"],
        complexity=configuration["workload"].get("complexity"),
        payload_bytes=configuration["workload"].get("payload_bytes"),
        traffic=configuration["traffic"],
        connections=load["connections"],
        rate_per_second=load.get("rate_per_second"),
        arrivals=load.get("arrivals"),
        duration_s=extent.get("duration_s"),
        requests=extent.get("requests"),
        limits=(limits["points"], limits["window_s"], limits["block_s"], limits.get("cost", 1)),
        caps=json.dumps(configuration["caps"], sort_keys=True),
        faults=tuple(
            Fault(each.get("name"), each["action"], each["role"], each["start_s"], each.get("length_s"))
            for each in configuration.get("faults", ())
        ),
        decided_by=target.get("decided_by") or _decider(target),
        algorithm=target.get("algorithm"),
        module=target.get("module"),
        service=target.get("service"),
        framework=target.get("framework"),
        decides_locally=target.get("decides_locally", False),
        program=target.get("program"),
        node=target.get("node"),
    )


def _decider(target: Mapping[str, Any]) -> str:
    """The decider of results that do not state it: they are older than modules and services."""
    if target["limiter"] == "none":
        return "nothing"
    return "in-process" if target["store"] == "memory" else "library"


def _manual_identity(request: Mapping[str, Any]) -> Identity:
    """The identity of a run made by hand: what was asked of the generator."""
    asked = ("layer", "label", "urls", "workload", "traffic", "load", "extent")
    load, extent = request["load"], request["extent"]
    return Identity(
        key=json.dumps([request[name] for name in asked], sort_keys=True),
        configuration_hash=None,
        layer=request["layer"],
        counts={dimension.key: 0 for dimension in DIMENSIONS} | {"servers": len(request["urls"])},
        label=request["label"],
        client=request["label"],
        client_version=None,
        options=(),
        store=None,
        external_store=False,
        topology=None,
        limiter=None,
        limiter_version=None,
        workload=request["workload"],
        complexity=None,
        traffic=request["traffic"],
        connections=load["connections"],
        rate_per_second=load.get("rate_per_second"),
        arrivals=load.get("arrivals"),
        duration_s=extent.get("duration_s"),
        requests=extent.get("requests"),
        limits=None,
        caps="{}",
    )


def _identity(result: Document) -> Identity:
    configuration, configuration_hash = result.get("configuration"), result.get("configuration_hash")
    if configuration is not None and configuration_hash is not None:
        return identity_of(configuration, configuration_hash)
    if configuration is not None or configuration_hash is not None:
        absent = "configuration" if configuration is None else "configuration_hash"
        raise FieldError(f"$.{absent}", "is missing, though the other half of the identity is there")
    if "request" not in result:
        raise FieldError("$.configuration", "is missing")
    return _manual_identity(result["request"])


def _merged_histograms(result: Document) -> tuple[HdrHistogram | None, HdrHistogram | None]:
    """All generators' latencies of the answers; and of the requests that failed or got no answer, their
    latencies and ages."""
    answered: list[HdrHistogram] = []
    unanswered: list[HdrHistogram] = []
    for index, generator in enumerate(result["generators"]):
        for outcome in (*_ANSWERED, *_UNANSWERED):
            try:
                histogram = decode_histogram(generator["histograms"][outcome])
            except ValueError as error:
                field = f"$.generators[{index}].histograms.{outcome}.data"
                raise FieldError(field, str(error)) from error
            (answered if outcome in _ANSWERED else unanswered).append(histogram)
    return merge_histograms(answered), merge_histograms(unanswered)


def _stated_bounds(latency: Mapping[str, Any]) -> dict[str, Bounds]:
    return {name: Bounds(**bounds) for name, bounds in latency.get("bounds", {}).items()}


def _ms(value: float | None) -> str:
    return "null" if value is None else f"{value:g} ms"


def _agree(stated: float | None, found: float | None) -> bool:
    if stated is None or found is None:
        return stated is found
    return abs(stated - found) <= max(_AGREEMENT_MS, _AGREEMENT_SHARE * found)


def _check_latency(stated: Mapping[str, Any], found: Mapping[str, Bounds], unanswered: int) -> None:
    """The result's latencies against the histograms: figures, nulls, and the bounds of the nulls."""
    if found and not stated:
        raise FieldError("$.latency", "is missing, though requests were answered")
    if stated and not found:
        raise FieldError("$.latency", "is given, though nothing was answered")
    if not stated:
        return
    bounds = _stated_bounds(stated)
    for name, known in found.items():
        _check_agreement(f"$.latency.{name}", stated[name], known.figure)
        if known.figure is None:
            _check_bounds(name, bounds.get(name), known)
    for name in ("average", "max", "stddev"):
        if (stated[name] is None) != (unanswered > 0):
            raise FieldError(
                f"$.latency.{name}",
                f"is {_ms(stated[name])}, though {unanswered} requests failed or got no answer",
            )
    for name in bounds:
        if stated[name] is not None:
            raise FieldError(f"$.latency.bounds.{name}", "is given, though the figure is known")


def _check_agreement(field: str, stated: float | None, found: float | None) -> None:
    if not _agree(stated, found):
        raise FieldError(field, f"is {_ms(stated)}, but the histograms give {_ms(found)}")


def _check_bounds(name: str, stated: Bounds | None, found: Bounds) -> None:
    if stated is None:
        raise FieldError(f"$.latency.bounds.{name}", "is missing")
    _check_agreement(f"$.latency.bounds.{name}.low", stated.low, found.low)
    _check_agreement(f"$.latency.bounds.{name}.high", stated.high, found.high)


def _store_memory(result: Document) -> int | None:
    """Memory of all nodes at the end; None where one does not say."""
    nodes: Sequence[Mapping[str, Any]] = result.get("store", {}).get("nodes", [])
    found = [node["at_end"].get("used_memory_bytes") for node in nodes]
    return sum(found) if found and None not in found else None


def _grown(pairs: Sequence[tuple[Any, Any]]) -> int | None:
    """What the ends add to the starts, all together; None without any, and if one is not known."""
    if not pairs or any(None in pair for pair in pairs):
        return None
    return sum(int(end) - int(start) for start, end in pairs)


def _delta(nodes: Sequence[Mapping[str, Any]], name: str) -> int | None:
    return _grown([(node["at_start"].get(name), node["at_end"].get(name)) for node in nodes])


def _resident_delta(result: Document, kind: str) -> int | None:
    """What lead-in and window add to the resident memory of a kind of roles."""
    roles = [role for role in result["resources"].values() if role["kind"] == kind]
    return _grown(
        [(role.get("resident_bytes_at_window_open"), role.get("resident_bytes_at_end")) for role in roles]
    )


#: Its counter is of items without their hash table.
_COUNTS_ITEMS = "memcached"


def _added_memory(result: Document) -> AddedMemory | None:
    consumers: Sequence[Mapping[str, Any]] = result["consumers"]
    counted = [(each["at_start"].get("consumes"), each["at_end"].get("consumes")) for each in consumers]
    if not counted or any(None in pair for pair in counted):
        return None

    def consumed(outcome: str) -> int:
        return sum(int(end[outcome]) - int(start[outcome]) for start, end in counted)

    nodes: Sequence[Mapping[str, Any]] = result.get("store", {}).get("nodes", [])
    # Resident memory is read when the window opens: the keys of a warm-up are there already.
    warm = result["warmup"]["requests"] > 0
    # Garbage is only collected where the generator itself keeps the counters.
    in_process = result["request"]["layer"] == "limiter" and not nodes
    counter = "store_items" if result["configuration"]["target"]["store"] == _COUNTS_ITEMS else "store"
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


def _answers_by_server(result: Document) -> tuple[int, ...]:
    """See `Measured.answers_by_server`; at the limiter layer, nothing is answered by a server."""
    if result["request"]["layer"] == "limiter":
        return ()
    return tuple(
        max(0, each["at_end"]["requests"] - each["at_window_open"]["requests"])
        for each in result["consumers"]
    )


def _consumer(result: Document) -> Mapping[str, Any]:
    """The first process that calls the limiter: all of a run have one target, and so its settings."""
    consumers: Sequence[Mapping[str, Any]] = result["consumers"]
    return consumers[0] if consumers else {}


def _limiter_script(result: Document) -> LimiterScript | None:
    script = _consumer(result).get("limiter_script")
    return LimiterScript(script["kind"], script["name_or_sha1"]) if script else None


def _script_calls(result: Document) -> dict[str, int] | None:
    """Calls less those that failed, at the end less at the start, summed over the nodes, by command.

    None without nodes, where a node counts none, and where a counter went back: it was reset, or the node was
    restarted.
    """
    nodes: Sequence[Mapping[str, Any]] = result.get("store", {}).get("nodes", [])
    ran: dict[str, int] = {}
    for node in nodes:
        start, end = (node[moment].get("script_calls") for moment in ("at_start", "at_end"))
        if start is None or end is None:
            return None
        for command in {*start, *end}:
            calls = _successful_calls(end.get(command)) - _successful_calls(start.get(command))
            if calls < 0:
                return None
            ran[command] = ran.get(command, 0) + calls
    return {command: calls for command, calls in sorted(ran.items()) if calls} if nodes else None


def _store_failures(result: Document) -> int | None:
    """Consumes that failed in the window, by the count of all that call the limiter."""
    counted = [
        max(0, int(ended["failed"]) - int(opened["failed"]))
        for consumer in result["consumers"]
        if (opened := consumer["at_window_open"].get("consumes"))
        and (ended := consumer["at_end"].get("consumes"))
    ]
    return sum(counted) if counted else None


def _short_hash(module: Document) -> str | None:
    """A hash of the module's file; none for a store that the user runs."""
    sha256 = module.get("sha256")
    return f"sha256 {sha256[:12]}" if sha256 else None


def _deciding_software(result: Document) -> dict[str, str]:
    """See `Measured.deciding_software`."""
    modules = result.get("store", {}).get("modules", [])
    found = {
        f"Module {each['id']}": ", ".join(filter(None, (each.get("version"), _short_hash(each))))
        for each in modules
    }
    service = result.get("service")
    if service:
        found[f"Service {service['id']}"] = service["at_end"].get("version", "version not known")
    return found


def _decisions(result: Document) -> int | None:
    """See `Measured.decisions`.

    Raises:
        FieldError: a count is not the difference of its two readings, which are those of the CPU time.
    """
    found = []
    for index, consumer in enumerate(result["consumers"]):
        stated = consumer.get("consumes")
        opened, ended = (consumer[moment].get("consumes") for moment in ("at_window_open", "at_end"))
        if not (stated and opened and ended):
            return None
        for name in _DECIDED:
            if stated[name] != ended[name] - opened[name]:
                raise FieldError(
                    f"$.consumers[{index}].consumes.{name}",
                    f"is {stated[name]}, but the readings differ by {ended[name] - opened[name]}",
                )
        found.append(sum(int(stated[name]) for name in _DECIDED))
    return sum(found) if found else None


def _successful_calls(counted: Mapping[str, int] | None) -> int:
    return counted["calls"] - counted["failed"] if counted else 0


def _role(resources: Mapping[str, Any]) -> Role:
    return Role(
        kind=resources["kind"],
        source=resources["source"],
        cpu_us=resources["cpu_us"],
        cpu_percent=resources["cpu_percent"],
        cpu_us_per_request=resources.get("cpu_us_per_request"),
        resident_bytes=resources.get("resident_bytes_mean"),
        run_delay_us=resources.get("run_delay_us"),
    )


def _schedule(stated: Mapping[str, Any] | None) -> SendSchedule | None:
    """From a validated result's `schedule`; None in a closed loop."""
    if stated is None:
        return None
    counts = {name: stated[name] for name in ("offered", "sent", "late", "dropped", "unsent")}
    return SendSchedule(
        **counts,
        achieved_per_second=stated["achieved_per_second"],
        lateness_p99_ms=stated.get("lateness_ms", {}).get("p99"),
        late_percentiles=tuple(stated["late_percentiles"]),
        gaps_ms=stated.get("gaps_ms", {}),
        shared_wakes=stated["shared_wakes"],
    )


def seconds_of(result: Document) -> tuple[Second, ...]:
    """The per-second series of a validated, measured result."""
    return tuple(
        Second(
            sample["t_s"],
            sample["interval_s"],
            sample["allowed"],
            sample["limited"],
            sample["failed"],
            sample.get("p99_ms"),
        )
        for sample in result["samples"]
    )


def _answers_each_slice(result: Document) -> "array[int]":
    """A slice that the end of the window cut short is not compared with whole ones."""
    slices = result["slices"]
    whole = min(_MAX_SLICES, int(result["duration"] * 1000 / slices["width_ms"] + 1e-6))
    both = zip(slices["allowed"][:whole], slices["limited"][:whole], strict=False)
    return array("L", (allowed + limited for allowed, limited in both))


def _warm_up(stated: Mapping[str, Any]) -> WarmUp:
    return WarmUp(stated["took_s"], stated["requests"], stated.get("steady"))


def _figures(latency: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """Those that are not null."""
    return {name: value for name in names if (value := latency.get(name)) is not None}


def _boundary(stated: Mapping[str, Any] | None) -> Boundary | None:
    """From a validated result's `boundary`; None with other traffic."""
    if stated is None:
        return None
    return Boundary(
        quota=stated["quota"],
        window_s=stated["window_s"],
        burst_quotas=stated["burst"]["factor"],
        over_admitted=stated["over_admission"]["total"],
        under_admitted=stated["under_admission"]["total"],
        promises=tuple(Promise(**promise) for promise in stated["promises"]),
    )


def _measured(result: Document, series: bool) -> Measured:
    answered, unanswered = _merged_histograms(result)
    found = percentile_bounds(answered, unanswered) if answered else {}
    samples = answered.get_total_count() if answered else 0
    latency: Mapping[str, Any] = result.get("latency", {})
    service: Mapping[str, Any] = result.get("service_time", {})
    _check_latency(latency, found, unanswered.get_total_count() if unanswered else 0)
    prediction = result.get("prediction")
    return Measured(
        layer=result["request"]["layer"],
        duration_s=result["duration"],
        requests_per_second=result["requests"]["average"],
        requests_sent=result["counts"]["sent"],
        requests_total=result["requests"]["total"],
        requests_followed=result["counts"]["followed"],
        percentiles_ms={name: bounds.figure for name, bounds in found.items() if bounds.figure is not None},
        bounds_ms={
            **{name: bounds for name, bounds in found.items() if bounds.figure is None},
            **{name: each for name, each in _stated_bounds(latency).items() if name not in PERCENTILES},
        },
        service_ms=_figures(service, PERCENTILES),
        service_bounds_ms=_stated_bounds(service),
        warm_up=_warm_up(result["warmup"]),
        schedule=_schedule(result.get("schedule")),
        latency_ms=_figures(latency, ("average", "min", "max", "stddev")),
        curve_ms=curve_ms(answered, unanswered),
        unsupported=tuple(sorted({*result["unsupported"], *unsupported_percentiles(samples)}))
        if found
        else (),
        rate_limit_hits=result["rate_limit_hits"],
        cpu_percent=result.get("cpu_usage"),
        heap_bytes=result.get("memory_usage"),
        resident_bytes=result.get("memory_resident"),
        store_memory_bytes=_store_memory(result),
        added_memory=_added_memory(result),
        connection_errors=result["errors"],
        timeouts=result["timeouts"],
        errors_total=result["totalErrors"],
        failed_answers=result["counts"]["failed_answers"],
        failed_by_code={
            code: count
            for code, count in sorted(result["counts"]["by_code"].items())
            if code not in _ANSWERED_CODES and count
        },
        store_failures=_store_failures(result),
        calls_per_request=result.get("calls_per_request"),
        descriptors_per_call=result.get("descriptors_per_call"),
        decisions=_decisions(result),
        prediction=Prediction(**prediction) if prediction else None,
        boundary=_boundary(result.get("boundary")),
        roles={role: _role(resources) for role, resources in sorted(result["resources"].items())},
        foreign_cpu_percent=result.get("host_load", {}).get("foreign_cpu_percent"),
        seconds=seconds_of(result) if series else (),
        answers_each_slice=_answers_each_slice(result),
        answers_by_server=_answers_by_server(result),
        servers_ready_s=tuple(result.get("servers_ready_s", {}).values()),
        client_settings=_consumer(result).get("client_settings", {}),
        deciding_software=_deciding_software(result),
        limited_by=LimitedBy(**limit) if (limit := result.get("limited_by")) else None,
        limiter_script=_limiter_script(result),
        script_calls=_script_calls(result),
    )


def _check_store(result: Document, identity: Identity) -> None:
    external = result.get("store", {}).get("external")
    if identity.configuration_hash is not None and external not in (None, identity.external_store):
        verb = "is" if identity.external_store else "is not"
        raise FieldError(
            "$.store.external",
            f"is {str(external).lower()}, but by its configuration the store {verb} one that already ran",
        )


def run_of(result: Document, file: str, series: bool = True) -> Run:
    """The run of a validated result.

    Args:
        result: a document that `validate_result` admitted.
        file: its name in the campaign's folder, for messages and links.
        series: whether to keep what each second counted, the bulk of a run.
    Raises:
        FieldError: an incomplete identity, a damaged histogram, or latencies that contradict the histograms.
    """
    failure = result.get("failure")
    identity = _identity(result)
    _check_store(result, identity)
    return Run(
        identity=identity,
        file=file,
        run=result["run"],
        campaign=result.get("campaign"),
        started_at=result["started_at"],
        finished_at=result["finished_at"],
        status=result["status"],
        failure=f"{failure['role']}: {failure['text']}" if failure else None,
        verdict=result["verdict"]["status"] if failure is None else "invalid",
        reasons=tuple(Reason(**reason) for reason in result["verdict"]["reasons"]),
        not_applicable=tuple((entry["rule"], entry["text"]) for entry in result["verdict"]["not_applicable"]),
        notes=tuple(result["notes"]),
        runtime=result.get("runtime"),
        versions=result.get("versions", {}),
        outcome=result.get("outcome"),
        outcome_text=result.get("outcome_text"),
        measured=_measured(result, series) if result["status"] == "measured" else None,
        printed=_printed(result) if result["status"] == "printed" else None,
        diagnosis=_diagnosis(stated) if (stated := result.get("diagnosis")) is not None else None,
        placement=result.get("placement", {}),
        faults=_faults(result) if result["status"] == "measured" and "faults" in result else None,
        turns=Turns(turns["group"], turns["slice_ms"]) if (turns := result.get("turns")) else None,
    )


_TIMELINE_COUNTS = ("allowed", "limited", "failed", "timed_out")


def _timeline(result: Document) -> Timeline | None:
    """Raises FieldError where a column has another length than the window, or counts other answers."""
    stated = result.get("timeline")
    if stated is None:
        return None
    slices = len(result["slices"]["allowed"])
    for name, column in stated.items():
        if isinstance(column, list) and len(column) != slices:
            raise FieldError(f"$.timeline.{name}", f"has {len(column)} slices, but the window has {slices}")
    for name in _ANSWERED:
        if stated[name] != result["slices"][name]:
            raise FieldError(f"$.timeline.{name}", f"differs from $.slices.{name}")
    return Timeline(
        width_s=stated["width_ms"] / 1000,
        **{name: array("L", stated[name]) for name in _TIMELINE_COUNTS},
        p50_us=tuple(stated["p50_us"]),
        p99_us=tuple(stated["p99_us"]),
        backlog=array("L", stated["backlog"]) if "backlog" in stated else None,
    )


def _fault_figures(stated: Mapping[str, Any]) -> FaultFigures:
    over: Mapping[str, int] | None = stated.get("over_admission")
    return FaultFigures(
        observed_s=stated["observed_s"],
        outage_injected_s=stated["outage_injected_s"],
        outage_seen_s=stated["outage_seen_s"],
        first_error_s=stated["first_error_s"],
        error_share=stated["error_share"],
        recovery=stated["recovery"],
        recovery_s=stated["recovery_s"],
        recovery_text=stated.get("recovery_text", ""),
        requests_lost=stated["requests_lost"],
        p99_worst_us=stated["p99_worst_us"],
        over_admission=OverAdmission(over["admitted"], over["counters_kept"], over.get("counters_lost"))
        if over
        else None,
        quotas_bind=over is not None if "over_admission" in stated else None,
        answers=stated["answers"],
        behaviour=stated["behaviour"],
        server_memory_peak_bytes=stated.get("server_memory_peak_bytes"),
        server_memory_before_bytes=stated.get("server_memory_before_bytes"),
    )


def _faults(result: Document) -> FaultRun:
    """Raises FieldError where figures are of no fault, or of one that was not injected."""
    figures: dict[int, Mapping[str, Any]] = {}
    for place, stated in enumerate(result.get("fault_figures", {}).get("faults", ())):
        fault = stated["fault"]
        if fault >= len(result["faults"]) or "injected" not in result["faults"][fault]:
            raise FieldError(f"$.fault_figures.faults[{place}].fault", f"is {fault}: no such injected fault")
        if (stated["recovery"] == "recovered") != (stated["recovery_s"] is not None):
            raise FieldError(
                f"$.fault_figures.faults[{place}].recovery_s", f"contradicts `{stated['recovery']}`"
            )
        figures[fault] = stated
    return FaultRun(
        records=tuple(
            FaultRecord(
                name=each.get("name"),
                action=each["action"],
                roles=tuple(each["roles"]),
                from_s=each.get("injected", {}).get("from_s"),
                to_s=each.get("injected", {}).get("to_s"),
                undone=each["undone"],
                note=each.get("note", ""),
                store_reconnections=each.get("store_reconnections"),
                figures=_fault_figures(figures[place]) if place in figures else None,
            )
            for place, each in enumerate(result["faults"])
        ),
        p99_before_us=result.get("fault_figures", {}).get("before", {}).get("p99_us"),
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


def _pauses(servers: Sequence[Mapping[str, Any]]) -> dict[str, Pauses]:
    found: dict[str, Pauses] = {}
    for kind, each in ((kind, each) for server in servers for kind, each in server["gc"].items()):
        before = found.get(kind, Pauses(0, 0, 0))
        found[kind] = Pauses(
            before.count + each["pauses"],
            before.total_us + each["total_us"],
            max(before.longest_us, each["longest_us"]),
        )
    return found


def _diagnosis(stated: Mapping[str, Any]) -> Diagnosis:
    servers: Sequence[Mapping[str, Any]] = list(stated["servers"].values())
    nodes: Sequence[Mapping[str, Any]] = stated["nodes"]
    commands = [command for node in nodes for command in node["commands"].values()]
    decisions = sum(command["calls"] for command in commands)
    delays = [delay for server in servers if (delay := server.get("loop_delay_us"))]
    p99s = [command["p99_us"] for command in commands if "p99_us" in command]
    return Diagnosis(
        requests=sum(server["requests"] for server in servers),
        pauses=_pauses(servers),
        loop_delay_us=max(delays, key=lambda delay: float(delay["p99"]), default={}),
        allocated_bytes=_total([server.get("allocated_bytes") for server in servers]),
        context_switches=_totals([server.get("context_switches") for server in servers]),
        system_calls=_totals([server.get("system_calls") for server in servers]),
        decisions=decisions,
        script_us=sum(command["us"] for command in commands) if decisions else None,
        script_p99_us=max(p99s, default=None),
        store_received_bytes=_total([node.get("received_bytes") for node in nodes]),
        store_sent_bytes=_total([node.get("sent_bytes") for node in nodes]),
    )


#: Printed throughput has two decimals, and operations are whole.
_PRINTED_TOLERANCE = 0.01


def _printed(result: Document) -> Printed:
    """Raises FieldError where throughput and duration contradict the number of operations (rule M1)."""
    operations, duration_s = result["operations"], result["duration"]
    implied = operations["per_second"] * duration_s
    if abs(implied - operations["total"]) > max(1, _PRINTED_TOLERANCE * operations["total"]):
        raise FieldError(
            "$.operations.per_second",
            f"is {operations['per_second']:g}: in {duration_s:g} s that is not {operations['total']}",
        )
    limited = result.get("limited_by")
    return Printed(
        operations_per_second=operations["per_second"],
        operations=operations["total"],
        duration_s=duration_s,
        latency_ms=result["latency"],
        store_cpu_us_per_operation=result.get("store_cpu_us_per_operation"),
        service_cpu_us_per_operation=next(
            (
                role.get("cpu_us_per_request")
                for role in result["resources"].values()
                if role["kind"] == "service"
            ),
            None,
        ),
        bytes_per_key=result.get("memory", {}).get("bytes_per_key"),
        program=result["program"]["id"],
        program_version=result["program"]["version"],
        store_version=result["versions"].get("store"),
        foreign_cpu_percent=result.get("host_load", {}).get("foreign_cpu_percent"),
        limited_by=LimitedBy(**limited) if limited else None,
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
            identity=identity_of(entry["configuration"], entry["hash"]),
            runs=tuple(sorted(runs.get(entry["hash"], []))),
            places=places.get(entry["hash"], {}),
            reference=entry["hash"] in references,
            by_turns=plan["order"] == "turns",
        )
        for entry in plan["configurations"]
        # One that is only diagnosed has no row.
        if entry["hash"] in runs or entry["hash"] not in diagnosed
    )
