"""Makes the identity of a configuration from the documents that hold it."""

import json
from typing import Any

from report.base.errors import FieldError
from report.results.catalog import DIMENSIONS
from report.results.generated import records
from report.results.identity import Identity
from report.results.record import plain
from report.results.validate import Result

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
) -> Identity:
    """The identity of a configuration of a plan or result."""
    target = configuration.target
    workload = configuration.workload
    limits = configuration.limits
    return Identity(
        **{name: getattr(target, name) for name in _TARGET_MEMBERS},
        **_load(configuration.load, configuration.extent),
        load_text=load_text,
        key=configuration_hash,
        configuration_hash=configuration_hash,
        layer=configuration.layer,
        counts={dimension.key: dimension.count(configuration) for dimension in DIMENSIONS},
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


def _manual_identity(request: records.Request, load_text: str) -> Identity:
    """The identity of a run made by hand, which is the request to the generator."""
    members = ("layer", "label", "urls", "workload", "traffic", "load", "extent")
    return Identity(
        **_load(request.load, request.extent),
        load_text=load_text,
        key=json.dumps([plain(getattr(request, name)) for name in members], sort_keys=True),
        layer=request.layer,
        counts={
            **{dimension.key: 0 for dimension in DIMENSIONS},
            "servers": len(request.urls),
        },
        label=request.label,
        client=request.label,
        workload=request.workload,
        traffic=request.traffic,
    )


def result_identity(result: Result) -> Identity:
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
