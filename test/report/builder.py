"""Builds documents as the harness writes them, from the fixtures and what a test changes. Their
histograms are real."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from evidence import (
    calls_of,
    consumes,
    curve,
    encoded,
    latency,
    reading,
    role,
    script_of,
    spread_evenly,
    usage,
)
from fixtures import Document as Document
from fixtures import fixture
from fixtures import target as target
from report.results.older_documents import load_text
from report.statistics.histograms import unsupported_percentiles

CAMPAIGN: str = fixture("measured")["campaign"]


def configuration(label: str = "iovalkey", **changes: Any) -> Document:
    return {**fixture("configuration"), "target": target(label), **changes}


def configuration_without_algorithm(label: str) -> Document:
    """The configuration of a limiter whose algorithm is not on record."""
    described = target(label)
    described.pop("algorithm", None)
    return configuration(label, target=described)


def hash_of(configured: Document) -> str:
    return hashlib.sha256(json.dumps(configured, sort_keys=True).encode()).hexdigest()[:16]


def verdict(status: str = "valid", *reasons: tuple[str, str]) -> Document:
    return {
        "status": status,
        "reasons": [{"rule": rule, "severity": status, "text": text} for rule, text in reasons],
        "not_applicable": [],
    }


def _identified(name: str, configured: Document, run: int) -> Document:
    return {
        **fixture(name),
        "run": run,
        "configuration": configured,
        "configuration_hash": hash_of(configured),
        "load_text": load_text(configured["layer"], configured["load"]),
    }


def failed_result(
    configured: Document, run: int, text: str = "exited with code 137", **changes: Any
) -> Document:
    document = _identified("failed", configured, run)
    return {**document, "failure": {**document["failure"], "text": text}, **changes}


def result(  # long: the document is one literal, a member a line
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
    """A measured run, by default of 5 s. A tenth of its answers are limited, unless histograms are
    given.

    At the limiter layer the generator is the client, and latencies are a hundredth of the others.

    Args:
        allowed_us, limited_us, failed_us: latencies of answers in µs, with counts.
        timed_out_us, lost_us, unsent_us: ages of requests without an answer in µs, with counts.
        followed: the number of allowed requests that were answered after the window.
        outcome: what the target did, or None if it is not known. `outcome_text` explains it.
        service_cpu_us: CPU time of the service per answer, by default 60 for a target with one.
        limiter_script: `{kind, name_or_sha1}`, by default that of the client and its options.
        script_calls: calls by command that the store counted, by default one for each answer.
        changes: top-level fields to replace. None removes a field.
    """
    total = requests_per_second * window_s
    slice_count = 10 * window_s
    limiter_layer = configured["layer"] == "limiter"
    servers = configured["servers"]
    typical_us = (500_000 if limiter_layer else 50_000_000) // requests_per_second
    tail = {
        typical_us * 5 // 4: total // 5,
        typical_us * 2: total // 25,
        typical_us * 4: total // 500,
    }
    if allowed_us is None:
        allowed_us = {typical_us: total - total // 10 - sum(tail.values()), **tail}
    if limited_us is None:
        limited_us = {typical_us * 9 // 10: total // 10}
    failed_us = failed_us or {}
    timed_out_us = timed_out_us or {}
    lost_us = lost_us or {}
    unsent_us = unsent_us or {}
    admitted = sum(allowed_us.values()) - followed
    limited = sum(limited_us.values())
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
    consumer_ids = (
        ["generator-1"] if limiter_layer else [f"server-{n}" for n in range(1, servers + 1)]
    )
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
    base = _identified("measured", configured, run)
    consumer = base["consumers"][0]
    del consumer["limiter_script"]
    latency_sum = sum(
        us * number for latencies in (allowed_us, limited_us) for us, number in latencies.items()
    )
    document = {
        **base,
        "request": {
            **base["request"],
            "layer": configured["layer"],
            "urls": [f"http://127.0.0.1:{3001 + number}" for number in range(servers)],
            "label": configured["target"]["label"],
            "workload": configured["workload"]["id"],
            "traffic": configured["traffic"],
            "load": configured["load"],
            "extent": configured["extent"],
        },
        "duration": window_s,
        "requests": {"average": answered / window_s, "total": answered},
        "warmup": {**base["warmup"], "requests": requests_per_second},
        "latency": latency(allowed_us, limited_us, censored=Counter(failed_us) + censored),
        "latency_curve_ms": curve(allowed_us, limited_us, censored=Counter(failed_us) + censored),
        "unsupported": list(unsupported_percentiles(answered + followed)),
        "rate_limit_hits": limited,
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
        "prediction": {**base["prediction"], "seen_share": limited / answered},
        "consumers": [
            {
                **consumer,
                "id": name,
                "workloads": [] if limiter_layer else consumer["workloads"],
                **({"limiter_script": limiter_script} if limiter_script else {}),
                "at_start": usage(0),
                "at_window_open": usage(1, consumes(100, 10) if decides else None),
                "at_end": usage(
                    2, consumes(100 + consumed[0], 10 + consumed[1]) if decides else None
                ),
                **({"consumes": consumes(*consumed)} if decides else {}),
            }
            for name, consumed in zip(consumer_ids, split, strict=True)
        ],
        "store": {
            **base["store"],
            "nodes": [
                {
                    "role": "store-1",
                    "at_start": reading(),
                    "at_end": reading(calls_of(script_calls)),
                }
            ],
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
    """A run that a load program measured."""
    document = _identified("printed", configured, run)
    total = round(per_second * 2)
    before: int = document["calls"]["before"]
    return {
        **document,
        "started_at": f"2026-01-02T03:04:{run:02}.000Z",
        "finished_at": f"2026-01-02T03:04:{run + 4:02}.000Z",
        "operation": configured["workload"],
        "load": configured["load"],
        "duration": total / per_second,
        "operations": {"total": total, "per_second": per_second},
        "calls": {"before": before, "after": before + total},
        "store_cpu_us_per_operation": 100_000 / per_second,
        **changes,
    }
