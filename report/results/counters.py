"""What counters of processes and stores say of a run, between their readings."""

from array import array
from collections.abc import Sequence
from operator import add
from typing import Any

from report.base.errors import FieldError
from report.results import model
from report.results.generated import records

#: The number of slices of a run that are kept, which is five minutes.
_MAX_SLICES = 3000


def nodes_of(result: records.MeasuredResult) -> list[records.StoreNode]:
    return result.store.nodes if result.store else []


def _growth(pairs: Sequence[tuple[Any, Any]]) -> int | None:
    """The sum of the differences of pairs of start and end. None without pairs, and if a value is
    not known."""
    if not pairs or any(None in pair for pair in pairs):
        return None
    return sum(int(end) - int(start) for start, end in pairs)


def _delta(nodes: Sequence[records.StoreNode | records.Consumer], name: str) -> int | None:
    return _growth([(getattr(node.at_start, name), getattr(node.at_end, name)) for node in nodes])


def _resident_delta(result: records.MeasuredResult, kind: str) -> int | None:
    """The growth of the resident memory of a kind of roles in lead-in and window."""
    roles = [role for role in result.resources.values() if role.kind == kind]
    return _growth(
        [(role.resident_bytes_at_window_open, role.resident_bytes_at_end) for role in roles]
    )


#: The store that counts the memory of items without their hash table.
_STORE_THAT_COUNTS_ITEMS = "memcached"


def added_memory(result: records.MeasuredResult) -> model.AddedMemory | None:
    consumers = result.consumers
    counted = [
        (start, end)
        for consumer in consumers
        if (start := consumer.at_start.consumes) and (end := consumer.at_end.consumes)
    ]
    if not counted or len(counted) < len(consumers):
        return None

    def consumed(outcome: str) -> int:
        return sum(getattr(end, outcome) - getattr(start, outcome) for start, end in counted)

    nodes = nodes_of(result)
    # Resident memory is read when the window opens, after the keys of a warm-up were written.
    was_warmed_up = result.warmup.requests > 0
    # Garbage is only collected if the generator itself keeps the counters.
    in_process = result.request.layer == "limiter" and not nodes
    store = result.configuration.target.store if result.configuration else None
    counter = "store_items" if store == _STORE_THAT_COUNTS_ITEMS else "store"
    bytes_by_source = {
        counter: _delta(nodes, "used_memory_bytes"),
        "store_resident": None if was_warmed_up else _resident_delta(result, "store"),
        "service_resident": None if was_warmed_up else _resident_delta(result, "service"),
        "heap": _delta(consumers, "heap_used_bytes") if in_process else None,
    }
    lost = [
        count
        for name in ("expired_keys", "evicted_keys")
        if (count := _delta(nodes, name)) is not None
    ]
    return model.AddedMemory(
        keys=sum(consumed(outcome) for outcome in ("allowed", "limited", "failed")),
        failed=consumed("failed"),
        items=_delta(nodes, "keys"),
        lost_keys=sum(lost) if lost else None,
        bytes={source: count for source, count in bytes_by_source.items() if count is not None},
    )


def answers_by_server(result: records.MeasuredResult) -> tuple[int, ...]:
    """See `Measured.answers_by_server`. No server answers at the limiter layer."""
    if result.request.layer == "limiter":
        return ()
    return tuple(
        max(0, consumer.at_end.requests - consumer.at_window_open.requests)
        for consumer in result.consumers
    )


def script_calls(result: records.MeasuredResult) -> dict[str, int] | None:
    """The successful calls of scripts between start and end, summed over the nodes, by command.

    None without nodes, if a node does not count them, and if a counter went back because it was
    reset or the node was restarted."""
    nodes = nodes_of(result)
    calls_by_command: dict[str, int] = {}
    for node in nodes:
        start = node.at_start.script_calls
        end = node.at_end.script_calls
        if start is None or end is None:
            return None
        for command in {*start, *end}:
            calls = _successful_calls(end.get(command)) - _successful_calls(start.get(command))
            if calls < 0:
                return None
            calls_by_command[command] = calls_by_command.get(command, 0) + calls

    if not nodes:
        return None
    return {command: calls for command, calls in sorted(calls_by_command.items()) if calls}


def store_failures(result: records.MeasuredResult) -> int | None:
    """The consumes that failed in the window, as all processes counted them that call the
    limiter."""
    counted = [
        max(0, ended.failed - opened.failed)
        for consumer in result.consumers
        if (opened := consumer.at_window_open.consumes) and (ended := consumer.at_end.consumes)
    ]
    return sum(counted) if counted else None


def deciding_software(result: records.MeasuredResult) -> dict[str, str]:
    """See `Measured.deciding_software`."""
    modules = (result.store.modules if result.store else None) or []
    versions = {}
    for module in modules:
        # The checksum of a module in an external store is not known.
        checksum = f"sha256 {module.sha256[:12]}" if module.sha256 else None
        versions[f"Module {module.id}"] = ", ".join(filter(None, (module.version, checksum)))
    if service := result.service:
        versions[f"Service {service.id}"] = service.at_end.version or "version not known"
    return versions


def decisions(result: records.MeasuredResult) -> int | None:
    """See `Measured.decisions`. Raises FieldError if a count is not the difference of its two
    readings."""
    counts: list[int] = []
    for index, consumer in enumerate(result.consumers):
        consumes = consumer.consumes
        opened = consumer.at_window_open.consumes
        ended = consumer.at_end.consumes
        if not (consumes and opened and ended):
            return None

        for name in ("allowed", "limited"):
            count = getattr(consumes, name)
            growth = getattr(ended, name) - getattr(opened, name)
            if count != growth:
                text = f"is {count}, but the readings differ by {growth}"
                raise FieldError(f"$.consumers[{index}].consumes.{name}", text)
        counts.append(consumes.allowed + consumes.limited)
    return sum(counts) if counts else None


def _successful_calls(counted: records.ScriptCall | None) -> int:
    return counted.calls - counted.failed if counted else 0


def answers_each_slice(result: records.MeasuredResult) -> "array[int]":
    """See `Measured.answers_each_slice`. A slice that the end of the window cut short does not
    count."""
    slices = result.slices
    count = min(_MAX_SLICES, int(result.duration * 1000 / slices.width_ms + 1e-6))
    return array("L", map(add, slices.allowed[:count], slices.limited[:count]))
