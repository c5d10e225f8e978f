"""Makes results of runs on a number of fresh keys."""

from typing import Any

from builder import Document, configuration, result
from evidence import usage


def _usage(consumed: int, heap: int, failed: int = 0) -> Document:
    consumes = {"calls": consumed, "allowed": consumed - failed, "limited": 0, "failed": failed}
    return {**usage(0), "consumes": consumes, "heap_used_bytes": heap}


def _node(keys: int, used: int | None, **more: int) -> Document:
    read = {"version": "9.0.0", "uptime_s": 1, "keys": keys, **more}
    return read if used is None else {**read, "used_memory_bytes": used}


def run_of(
    keys: int,
    added: int,
    run: int = 1,
    label: str = "iovalkey",
    *,
    items: int | None = None,
    counter: bool = True,
    resident: int = 0,
    failed: int = 0,
    **more: Any,
) -> Document:
    """A run on this number of fresh keys, which adds this number of bytes to the counter of the
    store, or to the heap."""
    in_process = label in ("memory", "none")
    document = result(
        configuration(
            label,
            layer="limiter",
            servers=0,
            workload={"id": "none"},
            traffic="variable",
            extent={"requests": keys},
            limits={"points": 10, "window_s": 3600, "block_s": 0},
        ),
        run,
    )
    document["warmup"] = {"took_s": 0, "requests": 0, "lead_in": {"took_s": 0, "requests": 0}}
    (consumer,) = document["consumers"]
    heap = added if in_process else 12_345_678
    at_end = _usage(keys, 1000 + heap, failed)
    # Without a warm-up all consumes belong to the window.
    consumer.update(
        at_start=_usage(0, 1000),
        at_window_open=_usage(0, 1000),
        at_end=at_end,
        consumes=at_end["consumes"],
    )
    if label == "none":
        consumer.pop("consumes", None)
        for moment in ("at_start", "at_window_open", "at_end"):
            consumer[moment].pop("consumes", None)
    if in_process:
        document.pop("store", None)
    else:
        items = keys if items is None else items
        used = (5000, 5000 + added) if counter else (None, None)
        document["store"]["nodes"] = [
            {
                "role": "store-1",
                "at_start": _node(0, used[0], expired_keys=0),
                "at_end": _node(items, used[1], **{"expired_keys": 0, **more}),
            }
        ]
        document["resources"]["store-1"] = {
            **document["resources"]["store-1"],
            "resident_bytes_at_window_open": 7_000,
            "resident_bytes_at_end": 7_000 + resident,
        }
    return document
