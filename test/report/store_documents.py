"""Makes configurations of the store layer."""

from builder import Document, configuration


def store_configuration(store: str, operation: str = "set", payload: int | None = 100) -> Document:
    label = f"valkey-benchmark@{store}:standalone"
    return configuration(
        layer="store",
        servers=0,
        target={
            "text": label,
            "label": store,
            "client": "valkey-benchmark",
            "store": store,
            "topology": "standalone",
            "limiter": "none",
            "options": [],
            "decided_by": "nothing",
            "algorithm": "none",
        },
        workload={
            "id": operation,
            **({"payload_bytes": payload} if payload else {}),
            "keys": 50_000,
        },
        traffic="random-keys",
        extent={"duration_s": 2},
        limits={"points": 1, "window_s": 60, "block_s": 0},
    )
