"""Documents as the harness writes them, small, valid against the contract, with real histograms."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from evidence import calls_of, consumes, encoded, latency, reading, role, script_of, spread_evenly, usage

Document = dict[str, Any]

CAMPAIGN = "20260102_030405"
SETTINGS = {"protocol": 3, "request_timeout_ms": 5000, "offline_queue": False, "password": None}


def target(label: str) -> Document:
    """`client[~version][@store[~version]][:topology][+option[~version]…]` with our defaults."""
    plain, *asked = label.split("+")
    rest, _, topology = plain.partition(":")
    named, _, store = rest.partition("@")
    client, _, client_version = named.partition("~")
    program, (store, _, store_version) = store, store.partition("~")
    versions = dict(each.split("~") for each in asked if "~" in each)
    options = [each for each in (each.partition("~")[0] for each in asked) if each != "rate-limiter-flexible"]
    nodes = [each for each in options if each.startswith("node-")]
    control = client in ("none", "memory")
    store = store or (client if control else "redis" if "redis" in client else "valkey")
    topology = topology or ("none" if control else "standalone")
    limiter = "fastify-rate-limit" if "fastify-rate-limit" in options else "rate-limiter-flexible"
    return {
        "text": client if control else "+".join([f"{named}@{program or store}:{topology}", *asked]),
        "label": label,
        "client": client,
        **({"client_version": client_version} if client_version else {}),
        "store": store,
        **({"store_version": store_version} if store_version else {}),
        "topology": topology,
        "limiter": "none" if client == "none" else limiter,
        **({"limiter_version": versions[limiter]} if limiter in versions else {}),
        "options": options,
        **({"node": nodes[0].removeprefix("node-")} if nodes else {}),
        **({"framework": "express"} if "express" in options else {}),
    }


#: Limiters that an option names: what decides, and the algorithm.
_LIMITERS = {
    "redis-cell": ("module", "GCRA"),
    "redis-shield": ("module", "token bucket"),
    "redis-gcra": ("library", "GCRA"),
    "rate-limit-redis": ("library", "fixed window"),
    "fastify-rate-limit": ("library", "fixed window"),
    "async-ratelimiter": ("library", "sliding log"),
}


def fact_target(label: str) -> Document:
    """The same with its facts, as since there are modules and services."""
    found = target(label)
    limiter = next((option for option in found["options"] if option in _LIMITERS), found["limiter"])
    decided_by, algorithm = _LIMITERS.get(limiter, ("library", "fixed window"))
    facts: Document = {"limiter": limiter, "decided_by": decided_by, "algorithm": algorithm}
    if decided_by == "module":
        facts["module"] = limiter
    if found["client"].startswith("envoy"):
        facts |= {"limiter": "envoy-ratelimit", "service": "envoy-ratelimit", "decided_by": "service"}
        facts["algorithm"] = "aligned window"
    if found["store"] == "throttlecrab":
        facts |= {"limiter": "throttlecrab", "decided_by": "service", "algorithm": "GCRA"}
    if "local-cache" in found["options"]:
        facts["decides_locally"] = True
    if found["client"] in ("none", "memory"):
        decided_by = "in-process" if found["client"] == "memory" else "nothing"
        facts = {
            "decided_by": decided_by,
            **({"algorithm": "fixed window"} if decided_by != "nothing" else {}),
        }
    return found | facts


def configuration(label: str = "iovalkey", **changes: Any) -> Document:
    return {
        "layer": "server",
        "target": target(label),
        "servers": 1,
        "workload": {"id": "light"},
        "traffic": "realistic",
        "load": {"model": "closed", "connections": 50},
        "extent": {"duration_s": 5},
        "limits": {"points": 1_000_000, "window_s": 60, "block_s": 0},
        "caps": {},
        **changes,
    }


def hash_of(configured: Document) -> str:
    return hashlib.sha256(json.dumps(configured, sort_keys=True).encode()).hexdigest()[:16]


def verdict(status: str = "valid", *reasons: tuple[str, str]) -> Document:
    return {
        "status": status,
        "reasons": [{"rule": rule, "severity": status, "text": text} for rule, text in reasons],
        "not_applicable": [],
    }


def _identity(configured: Document, run: int, campaign: str) -> Document:
    return {
        "schema": "ratelimit-bench/result",
        "schema_version": 3,
        "campaign": campaign,
        "run": run,
        "configuration": configured,
        "configuration_hash": hash_of(configured),
        "runtime": {"id": "local", "embedded_store": True, "caps_applied": False},
        "started_at": "2026-01-02T03:04:05.000Z",
        "finished_at": "2026-01-02T03:04:15.000Z",
        "notes": [],
    }


def failed_result(
    configured: Document, run: int, text: str = "exited with code 137", **changes: Any
) -> Document:
    return {
        **_identity(configured, run, CAMPAIGN),
        "status": "failed",
        "failure": {"role": "server-1", "text": text},
        "verdict": verdict("invalid"),
        **changes,
    }


def result(
    configured: Document,
    run: int = 1,
    requests_per_second: int = 2000,
    *,
    allowed_us: Mapping[int, int] | None = None,
    limited_us: Mapping[int, int] | None = None,
    failed_us: Mapping[int, int] | None = None,
    timed_out_us: Mapping[int, int] | None = None,
    lost_us: Mapping[int, int] | None = None,
    unsent_us: Mapping[int, int] | None = None,
    followed: int = 0,
    verdict: Document = verdict(),  # noqa: B008 (never changed)
    outcome: str | None = "served",
    outcome_text: str | None = None,
    service_cpu_us: int | None = None,
    limiter_script: Document | None = None,
    script_calls: Mapping[str, int] | None = None,
    window_s: int = 5,
    **changes: Any,
) -> Document:
    """A measured run, by default of 5 s; a tenth of its answers are limited, unless histograms are given.

    At the limiter layer the generator is the client, and latencies are a hundredth.

    Args:
        allowed_us, limited_us, failed_us: latencies of answers in µs, with counts.
        timed_out_us, lost_us, unsent_us: the same of the ages of requests without an answer.
        followed: so many of the allowed ones were answered after the window.
        outcome: what the target did; None where that is not known. `outcome_text` explains it.
        service_cpu_us: CPU time of a service per answer; 60 for a target with one, unless given.
        limiter_script: `{kind, name_or_sha1}`; that of the client and its options, unless given.
        script_calls: calls by command that the store counted over the run; one an answer, unless given.
        changes: top-level fields to replace; None removes one.
    """
    total = requests_per_second * window_s
    slice_count = 10 * window_s
    limiter_layer, servers = configured["layer"] == "limiter", configured["servers"]
    typical_us = (500_000 if limiter_layer else 50_000_000) // requests_per_second
    tail = {typical_us * 5 // 4: total // 5, typical_us * 2: total // 25, typical_us * 4: total // 500}
    if allowed_us is None:
        allowed_us = {typical_us: total - total // 10 - sum(tail.values()), **tail}
    if limited_us is None:
        limited_us = {typical_us * 9 // 10: total // 10}
    failed_us, timed_out_us, lost_us = failed_us or {}, timed_out_us or {}, lost_us or {}
    unsent_us = unsent_us or {}
    admitted, limited = sum(allowed_us.values()) - followed, sum(limited_us.values())
    failed, timed_out, lost = (sum(ages.values()) for ages in (failed_us, timed_out_us, lost_us))
    answered = admitted + limited
    censored = Counter(timed_out_us) + Counter(lost_us) + Counter(unsent_us)
    codes = ("allowed", "limited", "failed") if limiter_layer else ("200", "429", "500")
    by_code = dict(zip(codes, (admitted, limited, failed), strict=True))
    counts = {
        "sent": answered + failed + lost + timed_out + followed,
        "allowed": admitted,
        "limited": limited,
        "failed_answers": failed,
        "connection_errors": lost,
        "timed_out": timed_out,
        "followed": followed,
        "after_window": {
            "allowed": followed,
            "limited": 0,
            "failed_answers": 0,
            "connection_errors": 0,
            "timed_out": 0,
        },
        "cut": 0,
        "by_code": by_code if failed else {code: by_code[code] for code in codes[:2]},
    }
    consumer_ids = ["generator-1"] if limiter_layer else [f"server-{n}" for n in range(1, servers + 1)]
    parts = [spread_evenly(number, len(consumer_ids)) for number in (admitted, limited)]
    split = list(zip(*parts, strict=True))
    decides = configured["target"]["client"] != "none"
    server_ids = [f"server-{number}" for number in range(1, servers + 1)]
    limiter_script = limiter_script or script_of(configured["target"])
    if script_calls is None:
        script_calls = {limiter_script["kind"]: answered} if limiter_script else {}
    generator = {
        "id": "generator-1",
        "workers": [{"connections": 50, "counts": counts, "event_loop_utilisation": 0.5}],
        "counts": counts,
        "window_s": window_s,
        "cpu_us": 40 * answered,
        "resident_bytes": 80_000_000,
        "histograms": {
            "allowed": encoded(allowed_us),
            "limited": encoded(limited_us),
            "failed": encoded(failed_us),
            "censored": encoded(censored),
        },
    }
    service = configured["target"].get("service")
    service_us = service_cpu_us or (60 if service else 0)
    latency_sum = sum(us * number for each in (allowed_us, limited_us) for us, number in each.items())
    document = {
        **_identity(configured, run, CAMPAIGN),
        "status": "measured",
        "request": {
            "layer": configured["layer"],
            "urls": [f"http://127.0.0.1:{3001 + number}" for number in range(servers)],
            "label": configured["target"]["label"],
            "workload": configured["workload"]["id"],
            "traffic": configured["traffic"],
            "load": configured["load"],
            "extent": configured["extent"],
            "workers": 1,
            "warmup_s": 1,
            "seed": 1,
            "timeout_s": 10,
        },
        "duration": window_s,
        "requests": {"average": answered / window_s, "total": answered},
        "warmup": {"took_s": 1, "requests": requests_per_second, "lead_in": {"took_s": 0, "requests": 0}},
        "latency": latency(allowed_us, limited_us, censored=Counter(failed_us) + censored),
        "unsupported": [],
        "rate_limit_hits": limited,
        "cpu_usage": 61.25,
        "memory_usage": 20_000_000,
        "memory_resident": 90_000_000,
        "errors": lost,
        "timeouts": timed_out,
        "totalErrors": failed + lost + timed_out,
        "counts": counts,
        "generators": [generator],
        "samples": [
            {
                "t_s": second,
                "interval_s": 1,
                "allowed": admitted // window_s + 7 * (second % 3),
                "limited": limited // window_s,
                "failed": 0,
                "p50_ms": 0.47,
                "p99_ms": 2.3,
            }
            for second in range(1, window_s + 1)
        ],
        "slices": {
            "width_ms": 100,
            "allowed": spread_evenly(admitted, slice_count),
            "limited": spread_evenly(limited, slice_count),
            "failed": spread_evenly(failed + lost + timed_out, slice_count),
            "latency_sum_us": spread_evenly(latency_sum, slice_count),
        },
        "prediction": {
            "limited_share": 0.1,
            "seen_share": limited / answered,
            "tolerance": 0.01,
            "basis": "traffic",
        },
        "consumers": [
            {
                "id": name,
                "run_nonce": "n",
                "target": "of the builder",
                "workloads": [] if limiter_layer else [{"id": "light"}],
                **({"limiter_script": limiter_script} if limiter_script else {}),
                "client_settings": SETTINGS,
                "at_start": usage(0),
                "at_window_open": usage(1, consumes(100, 10) if decides else None),
                "at_end": usage(2, consumes(100 + own[0], 10 + own[1]) if decides else None),
                **({"consumes": consumes(*own)} if decides else {}),
            }
            for name, own in zip(consumer_ids, split, strict=True)
        ],
        "calls_per_request": 1,
        "descriptors_per_call": 1,
        "store": {
            "nodes": [{"role": "store-1", "at_start": reading(), "at_end": reading(calls_of(script_calls))}],
            "settings": {},
            "external": configured.get("external_store", False),
        },
        "service": {
            "id": service,
            "role": "service-1",
            "at_start": {"version": "1.4.0", "decisions": 0},
            "at_end": {"version": "1.4.0", "decisions": answered},
            "settings": {"LOG_LEVEL": "warn"},
        }
        if service
        else None,
        "resources": {
            **{
                name: role("server", "process.cpuUsage", 4_000_000 // servers, answered, window_s)
                for name in server_ids
            },
            **(
                {"service-1": role("service", "cgroup", service_us * answered, answered, window_s)}
                if service_us
                else {}
            ),
            "store-1": role("store", "INFO cpu", 12 * answered, answered, window_s),
            "generator-1": role("generator", "process.cpuUsage", 40 * answered, answered, window_s),
        },
        "versions": {
            "node": "24.11.0",
            "fastify": "5.12.8",
            "client": "1.2.3",
            "limiter": "11.4.0",
            "store": "9.1.2",
            "autocannon": "9.0.0",
            "harness": "0.1.0",
        },
        "limited_by": {"resource": "server loop", "text": "the server's event loop was 97 % busy"},
        "verdict": verdict,
        "outcome": outcome,
        "outcome_text": outcome_text,
        **changes,
    }
    if limiter_layer:
        del document["cpu_usage"], document["memory_usage"], document["memory_resident"]
    if configured["target"]["client"] == "none":
        del document["calls_per_request"], document["descriptors_per_call"]
    if configured["target"]["client"] in ("none", "memory"):
        del document["store"], document["resources"]["store-1"], document["versions"]["store"]
    return {name: value for name, value in document.items() if value is not None}


def printed_result(configured: Document, run: int, per_second: float, **changes: Any) -> Document:
    """A run that a foreign program measured."""
    reading = {"version": "8.1.4", "uptime_s": 3, "run_id": "abc", "keys": 50_000}
    total = round(per_second * 2)
    return {
        "schema": "ratelimit-bench/result",
        "schema_version": 3,
        "campaign": CAMPAIGN,
        "run": run,
        "configuration": configured,
        "configuration_hash": hash_of(configured),
        "runtime": {"id": "local", "embedded_store": False, "caps_applied": False},
        "started_at": f"2026-01-02T03:04:{run:02}.000Z",
        "finished_at": f"2026-01-02T03:04:{run + 4:02}.000Z",
        "notes": [],
        "status": "printed",
        "operation": configured["workload"],
        "load": configured["load"],
        "warmup_s": 1.5,
        "duration": total / per_second,
        "program_s": 2.1,
        "operations": {"total": total, "per_second": per_second},
        "latency": {"average": 0.4, "min": 0.05, "p50": 0.35, "p95": 0.7, "p99": 1.1, "max": 5.2},
        "program": {"id": "valkey-benchmark", "version": "8.1.4", "arguments": ["-n", "1"], "output": ""},
        "calls": {"before": 5, "after": 5 + total},
        "memory": {"keys": 50_000, "used_bytes": 9_000_000, "bytes_per_key": 180},
        "store": {
            "nodes": [{"role": "store-1", "at_start": reading, "at_end": reading}],
            "settings": {},
            "external": False,
        },
        "resources": {},
        "store_cpu_us_per_operation": 100_000 / per_second,
        "host_load": {"cpus": 4, "busy_cpu_percent": 180, "foreign_cpu_percent": 1},
        "versions": {"store": "8.1.4", "program": "8.1.4"},
        "limited_by": {"resource": "generator", "text": "valkey-benchmark used 98 % of one core"},
        "verdict": verdict(),
        "outcome": "served",
        **changes,
    }
