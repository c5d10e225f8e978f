"""Older documents as the present format has them: the only place in this project that knows former
formats.

Everything that loads a document goes through `converted` first: the report, `compare`, and the line
a result that `report documents` prints for `ratelimit-bench judge`. What is rendered, compared or
judged afterwards has the present format, so that no rule and no section asks how old its evidence
is. The stored files stay as they are. The orchestrator has no converter: it resumes campaigns of
its own version alone.

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

1. The first format, in which what nobody promises was kept or broken as a promise is.
2. What nobody promises has a status of its own, and the consequences of one defect are counted as
   such.
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

#: Of results, plans and manifests.
SCHEMA_VERSION: int = CONSTANTS["schema_version"]
OLDEST_VERSION: int = CONSTANTS["oldest_schema_version"]

_PRESENT: Mapping[str, int] = {RESULT: SCHEMA_VERSION, MANIFEST: SCHEMA_VERSION, AUDIT: 2}

#: What a step raises on a document that is damaged. The document stays as it is there, so that its
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

    for since, of_schema, step in STEPS:
        if of_schema == schema and since >= version:
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
    """The plan without runs that never count, with groups in the place of blocks."""
    plan = manifest["plan"]
    runs = [
        {"group" if name == "block" else name: value for name, value in run.items()}
        for run in plan["runs"]
        if run.get("run") != 0
    ]
    return {**manifest, "plan": {**plan, "schema_version": 3, "runs": runs}}


# From 3 to 4: what the report derived.


def _decided_by(target: Document) -> str:
    """Results that do not state it are older than modules and services."""
    if target["limiter"] == "none":
        return "nothing"
    return "in-process" if target["store"] == "memory" else "library"


def _described(target: Document) -> dict[str, Any]:
    """A target with what its options say."""
    options: Sequence[str] = target["options"]
    settings = [option for option in options if option in ("defaults", "tuned")]
    is_copy = "copy" in options
    label_parts = [part for part in target["label"].split("+") if part != "copy"]
    return {
        "decided_by": _decided_by(target),
        **target,
        **({"same_script": True} if "same-script" in options else {}),
        **({"settings": settings[0]} if settings else {}),
        **({"encrypted": True} if "tls" in options else {}),
        **({"copy_of": "+".join(label_parts)} if is_copy else {}),
    }


def load_text(layer: str, load: Document) -> str:
    """`50 connections`, or `5,000/s constant, up to 200 connections`; at the limiter layer `50 at a
    time`."""
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
    """A generator that was started by hand has no configuration, but what it was asked."""
    asked = result["configuration"] if "configuration" in result else result["request"]
    return {**result, "load_text": load_text(asked["layer"], asked["load"])}


def curve_ms(answered: Histogram | None, unanswered: Histogram | None) -> list[float]:
    """Latencies in ms at `CURVE`, up to the first one that is not identified; nothing without
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
        return merge_histograms([decode_histogram(each["data"], each["count"]) for each in encoded])

    curve = curve_ms(merged("allowed", "limited"), merged("failed", "censored"))
    return {**result, "latency_curve_ms": curve}


def _result_with_served_again(result: Document) -> Document:
    """The timeline tells when requests were served again; without one it stays unknown."""
    if "timeline" not in result or "fault_figures" not in result:
        return result
    timeline = convert(result["timeline"], records.Timeline)
    faults = convert(result["faults"], list[records.MeasuredResultFault])
    stated = result["fault_figures"]
    figures = [_with_served_again(of_fault, timeline, faults) for of_fault in stated["faults"]]
    return {**result, "fault_figures": {**stated, "faults": figures}}


def _with_served_again(
    figures: Document, timeline: records.Timeline, faults: Sequence[records.MeasuredResultFault]
) -> Document:
    if "served_again_s" in figures:
        return figures
    seconds = served_again_s(timeline, faults, convert(figures, records.FaultFiguresFault))
    read = {**figures, "served_again_from": "timeline"}
    return (
        read if seconds is None else {**read, "served_again_s": None if seconds == inf else seconds}
    )


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


def _facts_without_id(manifest: Document) -> Document:
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

#: Why nobody promises what a check tries, by check and store.
_UNPROMISED: Mapping[str, Mapping[str, str]] = generated("unpromised")


def _audit_of_promises(audit: Document) -> Document:
    """What nobody promises is neither kept nor broken."""
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
    # A store may be named with its version.
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
    (3, MANIFEST, _facts_without_id),
    (4, MANIFEST, _links_without_clocks),
    (1, AUDIT, _audit_of_promises),
)

_OLDEST: Mapping[str, int] = {
    schema: min(since for since, of_schema, _ in STEPS if of_schema == schema)
    for schema in _PRESENT
}
