"""Converts older documents to the present format.

Only one other place knows what former formats lacked: `older_rankings.py` ranks the rows of plans
that name no rankings, because that needs all rows of a campaign and not a single document.

Everything that loads a document calls `converted` first. That is the report, `compare`, and the
command `report documents`, whose lines `ratelimit-bench judge` reads. What is rendered, compared or
judged afterwards has the present format, so that no rule and no section asks how old a document is.
The stored files stay as they are. The orchestrator needs no converter, because it resumes only
campaigns of its own version.

The history of results and manifests, which share their versions:

1. The first format. It is not read any more.
2. Layers, any number of servers, stores that do not speak RESP, roles by kind.
3. Turns. A round began with runs that were numbered 0 and never counted; they are gone, as are
   the readings of the host's speed, because by turns it cancels. Places in a round are called
   groups.
4. A document states what the report derived from it: the load in words, what the options of a
   target mean, the curve of the latencies, when requests were served again after a fault. Machines
   lost their id, which several processors shared. The first documents of this version also had
   how far the clocks of two machines were apart, which nothing used.

The history of audits:

1. The first format, in which what is not promised was kept or broken like a promise.
2. What is not promised has its own status, and the consequences of a defect are counted separately.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from math import inf
from typing import Any

from msgspec import ValidationError, convert

from report.base.contract import CONSTANTS, generated
from report.base.format import plural
from report.results.generated import records
from report.results.served_again import served_again_s
from report.statistics.histograms import (
    CURVE,
    Histogram,
    bounds_at,
    decode_histogram,
    merge_histograms,
)

Document = Mapping[str, Any]

RESULT = "ratelimit-bench/result"
MANIFEST = "ratelimit-bench/manifest"
AUDIT = "ratelimit-bench/audit"

#: The version of results, plans and manifests.
SCHEMA_VERSION: int = CONSTANTS["schema_version"]
OLDEST_VERSION: int = CONSTANTS["oldest_schema_version"]

_PRESENT: Mapping[str, int] = {RESULT: SCHEMA_VERSION, MANIFEST: SCHEMA_VERSION, AUDIT: 2}

#: The errors that a step raises for a damaged document. The step is then skipped, so that
#: validation names the field.
_DAMAGED = (AttributeError, IndexError, KeyError, TypeError, ValueError, ValidationError)


def converted(document: Document) -> Document:
    """A document of an older format as the present one has it. Any other document is unchanged."""
    schema = document.get("schema")
    version = document.get("schema_version")
    if not isinstance(schema, str) or not isinstance(version, int) or schema not in _PRESENT:
        return document
    if not _OLDEST[schema] <= version <= _PRESENT[schema]:
        return document

    for last_version, step_schema, step in STEPS:
        if step_schema == schema and last_version >= version:
            try:
                document = step(document)
            except _DAMAGED:
                continue

    return {**document, "schema_version": _PRESENT[schema]}


def never_counted(document: object) -> bool:
    """Whether it is a result of version 2 that came before the first round that counts."""
    return (
        isinstance(document, Mapping)
        and document.get("schema_version") == 2
        and document.get("run") == 0
    )


# From 2 to 3: turns.

_HOST_SPEED = ("readings", "host_speed", "machine_speed")


def _without(names: Sequence[str], fields: Document) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _without_host_speed(document: Document) -> Document:
    return _without(_HOST_SPEED, document)


def _run_from_1(result: Document) -> Document:
    return {**result, "run": 1} if result.get("run") == 0 else result


def _machines_without_host_speed(manifest: Document) -> Document:
    if "machines" not in manifest:
        return manifest
    return {
        **manifest,
        "machines": [_without(_HOST_SPEED, machine) for machine in manifest["machines"]],
    }


def _plan_of_counted_runs(manifest: Document) -> Document:
    """The plan without runs that never count, in which blocks are called groups."""
    plan = manifest["plan"]
    runs = [
        {"group" if name == "block" else name: value for name, value in run.items()}
        for run in plan["runs"]
        if run.get("run") != 0
    ]
    return {**manifest, "plan": {**plan, "schema_version": 3, "runs": runs}}


# From 3 to 4: what the report derived before.


def _decided_by(target: Document) -> str:
    """The decider of a target in a result without it, which is older than modules and services."""
    if target["limiter"] == "none":
        return "nothing"
    return "in-process" if target["store"] == "memory" else "library"


def _described(target: Document) -> dict[str, Any]:
    """A target with the meaning of its options."""
    options: Sequence[str] = target["options"]
    settings = [option for option in options if option in ("defaults", "tuned")]
    label_parts = [part for part in target["label"].split("+") if part != "copy"]

    described = {"decided_by": _decided_by(target), **target}
    if "same-script" in options:
        described["same_script"] = True
    if settings:
        described["settings"] = settings[0]
    if "tls" in options:
        described["encrypted"] = True
    if "copy" in options:
        described["copy_of"] = "+".join(label_parts)
    return described


def load_text(layer: str, load: Document) -> str:
    """The load as text, such as `50 connections` or `5,000/s constant, up to 200 connections`. At
    the limiter layer connections are `50 at a time`."""
    count = load["connections"]
    connections = f"{count:,} at a time" if layer == "limiter" else plural(count, "connection")
    if load["model"] == "closed":
        return connections
    return f"{load['rate_per_second']:,.15g}/s {load['arrivals']}, up to {connections}"


def _result_with_described_target(result: Document) -> Document:
    if "configuration" not in result:
        return result
    configuration = result["configuration"]
    return {
        **result,
        "configuration": {**configuration, "target": _described(configuration["target"])},
    }


def _result_with_load_text(result: Document) -> Document:
    """The load is that of the configuration, or of the request to a generator that was started by
    hand."""
    source = result["configuration"] if "configuration" in result else result["request"]
    return {**result, "load_text": load_text(source["layer"], source["load"])}


def curve_ms(answered: Histogram | None, unanswered: Histogram | None) -> list[float]:
    """The latencies in ms at `CURVE`, up to the first one that is not identified. Empty without
    answers."""
    if answered is None or answered.total == 0:
        return []
    figures = (bounds.figure for bounds in bounds_at(answered, unanswered, CURVE))
    return [
        figure
        for figure in takewhile(lambda value: value is not None, figures)
        if figure is not None
    ]


def _result_with_curve(result: Document) -> Document:
    if result["status"] != "measured":
        return result

    def merged(*outcomes: str) -> Histogram | None:
        parts = [generator["histograms"] for generator in result["generators"]]
        encoded = [part[outcome] for part in parts for outcome in outcomes]
        histograms = [decode_histogram(data["data"], data["count"]) for data in encoded]
        return merge_histograms(histograms)

    curve = curve_ms(merged("allowed", "limited"), merged("failed", "censored"))
    return {**result, "latency_curve_ms": curve}


def _result_with_served_again(result: Document) -> Document:
    """Adds when requests were served again. It stays unknown without a timeline."""
    if "timeline" not in result or "fault_figures" not in result:
        return result

    timeline = convert(result["timeline"], records.Timeline)
    faults = convert(result["faults"], list[records.MeasuredResultFault])
    fault_figures = result["fault_figures"]
    converted_faults = [
        _with_served_again(figures, timeline, faults) for figures in fault_figures["faults"]
    ]
    return {**result, "fault_figures": {**fault_figures, "faults": converted_faults}}


def _with_served_again(
    figures: Document, timeline: records.Timeline, faults: Sequence[records.MeasuredResultFault]
) -> Document:
    if "served_again_s" in figures:
        return figures

    seconds = served_again_s(timeline, faults, convert(figures, records.FaultFiguresFault))
    converted_figures = {**figures, "served_again_from": "timeline"}
    if seconds is not None:
        converted_figures["served_again_s"] = None if seconds == inf else seconds
    return converted_figures


def _plan_with_described_configurations(manifest: Document) -> Document:
    plan = manifest["plan"]
    configurations = [_planned(entry) for entry in plan["configurations"]]
    return {**manifest, "plan": {**plan, "schema_version": 4, "configurations": configurations}}


def _planned(entry: Document) -> Document:
    configuration = entry["configuration"]
    described = {**configuration, "target": _described(configuration["target"])}
    text = load_text(configuration["layer"], configuration["load"])
    return {**entry, "configuration": described, "load_text": text}


_MACHINE_ID = ("machine_id",)


def _machine_without_id(manifest: Document) -> Document:
    return {**manifest, "machine": _without(_MACHINE_ID, manifest["machine"])}


def _properties_without_id(manifest: Document) -> Document:
    if "machines" not in manifest:
        return manifest
    machines = [
        {**machine, "facts": _without(_MACHINE_ID, machine["facts"])}
        if "facts" in machine
        else machine
        for machine in manifest["machines"]
    ]
    return {**manifest, "machines": machines}


# Early documents of version 4: clocks of machines.


def _links_without_clocks(manifest: Document) -> Document:
    sessions = manifest.get("sessions", [])
    if not any("clock" in link for session in sessions for link in session.get("links", [])):
        return manifest
    return {**manifest, "sessions": [_session_without_clocks(session) for session in sessions]}


def _session_without_clocks(session: Document) -> Document:
    if "links" not in session:
        return session
    return {**session, "links": [_without(("clock",), link) for link in session["links"]]}


# Audits from 1 to 2: what nobody promises.

#: The reasons for which what a check tries is not promised, by check and store.
_UNPROMISED: Mapping[str, Mapping[str, str]] = generated("unpromised")


def _audit_of_promises(audit: Document) -> Document:
    """The audit in which what is not promised is neither kept nor broken."""
    targets = [
        {
            **target,
            "findings": [_finding(target["target"], finding) for finding in target["findings"]],
        }
        for target in audit["targets"]
    ]
    statuses = Counter(finding["status"] for target in targets for finding in target["findings"])
    counts = {name: statuses[name] for name in ("holds", "broken", "skipped", "failed")}
    counts |= {"not_promised": statuses["not-promised"], "consequences": 0}
    return {**audit, "targets": targets, "counts": counts}


def _finding(target: Document, finding: Document) -> Document:
    # The name of the store may include its version.
    store = target["store"].partition("~")[0]
    reason = _UNPROMISED.get(finding["check"], {}).get(store)
    if reason is None or finding["status"] not in ("holds", "broken"):
        return finding
    notes = [reason, *finding.get("notes", [])]
    return {
        **finding,
        "status": "not-promised",
        "holds": finding["status"] == "holds",
        "notes": notes,
    }


#: The newest version that needs a step, the documents that the step is for, and what it does. The
#: steps run in this order.
STEPS: Sequence[tuple[int, str, Callable[[Document], Document]]] = (
    (2, RESULT, _without_host_speed),
    (2, RESULT, _run_from_1),
    (2, MANIFEST, _without_host_speed),
    (2, MANIFEST, _machines_without_host_speed),
    (2, MANIFEST, _plan_of_counted_runs),
    (3, RESULT, _result_with_load_text),
    (3, RESULT, _result_with_described_target),
    (3, RESULT, _result_with_curve),
    (3, RESULT, _result_with_served_again),
    (3, MANIFEST, _plan_with_described_configurations),
    (3, MANIFEST, _machine_without_id),
    (3, MANIFEST, _properties_without_id),
    (4, MANIFEST, _links_without_clocks),
    (1, AUDIT, _audit_of_promises),
)

_OLDEST: Mapping[str, int] = {
    schema: min(last_version for last_version, step_schema, _ in STEPS if step_schema == schema)
    for schema in _PRESENT
}
