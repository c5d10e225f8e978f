"""Results of a target with several numbers of servers, with planted throughput and CPU per request."""

from collections.abc import Mapping, Sequence
from typing import Any

from builder import Document, configuration, result

#: The median run is as planted, and there are enough for an interval of 95 %.
FACTORS = (0.98, 0.99, 0.995, 1.0, 1.005, 1.01, 1.02)

#: µs per request of all roles of a kind together.
CPU_US = {"generator": 20.0, "server": 40.0, "store": 10.0}


def host(cpus: int) -> Document:
    return {"cpus": cpus, "busy_cpu_percent": 50, "foreign_cpu_percent": 0}


def capacity_runs(
    servers: int,
    requests_per_second: float,
    *,
    label: str = "iovalkey",
    cpu_us: Mapping[str, float] = CPU_US,
    store_shares: Sequence[float] = (1.0,),
    cpus: int = 32,
    limited_by: str = "server loop",
    warm_up_requests: int = 50_000,
    factors: Sequence[float] = FACTORS,
    configured: Mapping[str, Any] | None = None,
    **changes: Any,
) -> list[Document]:
    """One run for each factor, which its throughput has, and CPU per request the inverse of it.

    Args:
        store_shares: what each store node takes of the CPU of all.
        cpus: of the machine.
        warm_up_requests: of each server.
        configured, changes: of configuration and result.
    """
    documents = []
    for run, factor in enumerate(factors, start=1):
        document = result(
            configuration(label, servers=servers, **(configured or {})),
            run,
            round(requests_per_second * factor),
            host_load=host(cpus),
            limited_by={"resource": limited_by, "text": "as planted"},
            **changes,
        )
        document["warmup"]["requests"] = warm_up_requests * servers
        roles = document["resources"]
        store = roles.pop("store-1", None)
        if store:
            for node, share in enumerate(store_shares, start=1):
                roles[f"store-{node}"] = {**store, "cpu_us_per_request": cpu_us["store"] * share / factor}
        for role in roles.values():
            if role["kind"] != "store":
                count = servers if role["kind"] == "server" else 1
                role["cpu_us_per_request"] = cpu_us[role["kind"]] / count / factor
        documents.append(document)
    return documents
