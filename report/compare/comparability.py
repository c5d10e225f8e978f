"""Checks what two sides must have in common to be comparable (rules M12 and M19), and notes their
other differences."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from report.analysis import machines
from report.analysis.summary import Summary
from report.analysis.texts import caps_text
from report.base.contract import CONSTANTS
from report.base.errors import one_line
from report.base.format import decimals, gibibytes, joined
from report.results.model import Campaign, Run, turns_of
from report.results.record import plain
from report.sections.script_text import script_names

PropertiesByKind = Mapping[str, Mapping[str, str]]
Rows = tuple[Summary, Summary]
Names = tuple[str, str]

#: The words that `--allow` takes.
KINDS: tuple[str, ...] = tuple(CONSTANTS["compared_kinds"])

_GIB = 1024**3

#: A round trip that is longer by this factor gets a note, because latencies contain it.
_ROUND_TRIP_FACTOR = 1.5
#: In a shorter round trip most of the time is that of programs and kernels, not of the network.
_SHORTEST_US = 50

#: Slices count as different only beyond this factor, because their length follows from the latency
#: of the slowest target.
_SLICE_FACTOR = 1.5

#: The parts whose versions get a note. The version of the store gets none, because
#: `row_differences` refuses it.
_NOTED = ("client", "limiter", "node", "fastify", "autocannon", "harness")
PART_NAMES = {"node": "Node.js", "fastify": "Fastify", "harness": "ratelimit-bench"}


class Difference(Struct, frozen=True):
    """A difference that makes two sides not comparable. `kinds` are the words of `--allow` that
    permit it."""

    kinds: tuple[str, ...]
    text: str


def _other_facts(machine: Mapping[str, Any]) -> dict[str, str]:
    """The properties of a machine that get a note and decide nothing.

    Memory is rounded to GiB, because it differs by a few bytes after a restart."""
    facts = {"memory": f"{gibibytes(round(machine['memory_bytes'] / _GIB) * _GIB)} GiB"}
    if "governor" in machine:
        facts["CPU governor"] = machine["governor"]
    return {
        name: one_line(text) for name, text in (facts | machines.hardware_texts(machine)).items()
    }


def _differing(base: PropertiesByKind, new: PropertiesByKind) -> str:
    """Lists the properties of machines that both sides have for a kind of role, and that differ."""
    return "; ".join(
        f"{name} {text}, then {new[kind][name]}"
        + (f" (of the {machines.kind_name(kind)})" if kind else "")
        for kind, facts in base.items()
        if kind in new
        for name, text in facts.items()
        if new[kind].get(name, text) != text
    )


def _machine_text(base: Campaign, new: Campaign) -> str:
    """Tells how the machines of two campaigns differ; empty where they do not.

    Campaigns on several machines must have some placement in common: rows are held against each
    other by `row_differences`. Not every system reports its hardware: nothing is claimed where a
    side has no such fact."""
    for side in (base, new):
        if side.manifest is None:
            return f"that of campaign {side.name} is not on record (it has no manifest)"
    shapes = [
        machines.placement_shapes(machines.all_runs(side)) or ["one machine"]
        for side in (base, new)
    ]
    if not set(shapes[0]) & set(shapes[1]):
        return f"{joined(shapes[0])}, then {joined(shapes[1])}"
    return _differing(machines.keys_by_kind(base), machines.keys_by_kind(new))


def campaign_differences(base: Campaign, new: Campaign, pairs: Sequence[Rows]) -> list[Difference]:
    differences = []
    if machine_text := _machine_text(base, new):
        differences.append(Difference(("machine",), f"machine differs: {machine_text}"))
    manifests = [side.manifest for side in (base, new)]
    base_schema, new_schema = (
        str(manifest["schema_version"]) if manifest else "none on record" for manifest in manifests
    )
    if base_schema != new_schema:
        differences.append(
            Difference(("schema",), f"schema version differs: {base_schema}, then {new_schema}")
        )
    orders = [manifest["plan"]["order"] for manifest in manifests if manifest]
    if len(set(orders)) > 1:
        differences.append(Difference(("order",), f"order differs: {orders[0]}, then {orders[1]}"))
    return [
        *differences,
        *(Difference(("order",), text) for pair in pairs for text in _turns_texts(*pair)),
    ]


def _turns_texts(base: Summary, new: Summary) -> Iterator[str]:
    """When targets took turns, compares how many were up at once, and how long a slice was (rule
    M22)."""
    base_turns, new_turns = (list(filter(None, map(turns_of, row.runs))) for row in (base, new))
    if not base_turns or not new_turns:
        return
    # With `--runs auto` decided targets leave their groups: the largest is the planned one.
    group_sizes = [max(turns.group for turns in side) for side in (base_turns, new_turns)]
    slices_ms = [max(turns.slice_ms for turns in side) for side in (base_turns, new_turns)]
    if group_sizes[0] != group_sizes[1]:
        yield f"targets of a group differ: {group_sizes[0]}, then {group_sizes[1]}"
    if max(slices_ms) > _SLICE_FACTOR * min(slices_ms):
        yield f"length of a slice differs: {slices_ms[0]} ms, then {slices_ms[1]} ms"


def campaign_notes(base: Campaign, new: Campaign) -> Iterator[str]:
    """Notes differences that are no reason to refuse a comparison: properties that are no part of a
    machine's key, and round trips."""
    if base.manifest and new.manifest:
        facts_of_sides = [machines.facts_by_kind(side) for side in (base, new)]
        base_facts, new_facts = (
            {kind: _other_facts(facts) for kind, facts in side.items()} for side in facts_of_sides
        )
        if text := _differing(base_facts, new_facts):
            yield f"facts of the machine differ: {text}. A difference may be that of the machines"
    new_round_trips = machines.round_trips_by_kinds(new)
    for (begin, end), base_us in machines.round_trips_by_kinds(base).items():
        new_us = new_round_trips.get((begin, end), base_us)
        if max(base_us, new_us) > _ROUND_TRIP_FACTOR * max(min(base_us, new_us), _SHORTEST_US):
            yield (
                f"the round trip between {machines.kind_name(begin)} and {machines.kind_name(end)} was "
                f"{decimals(base_us, 0)} µs, then {decimals(new_us, 0)} µs: latencies contain it, "
                "and a closed loop's throughput follows from them"
            )


def measured_runs(row: Summary) -> list[Run]:
    return [run for run in row.runs if run.measured]


def _versions(row: Summary, part: str) -> list[str]:
    return sorted({run.versions[part] for run in measured_runs(row) if part in run.versions})


def _stated_runtimes(row: Summary) -> list[dict[str, Any]]:
    return [plain(run.record.runtime) or {} for run in measured_runs(row)]


def _store_text(row: Summary) -> str:
    embedded = any(runtime.get("embedded_store") for runtime in _stated_runtimes(row))
    parts = [
        row.identity.store_text,
        ", ".join(_versions(row, "store")),
        "(embedded)" if embedded else "",
    ]
    return one_line(" ".join(filter(None, parts)))


def _runtimes(row: Summary) -> set[str]:
    """The runtimes of the runs with their caps, as JSON.

    Whether the store is embedded is left out here, because it belongs to the store."""
    runtimes = [{**runtime, "embedded_store": None} for runtime in _stated_runtimes(row)]
    return {json.dumps([runtime, row.identity.caps], sort_keys=True) for runtime in runtimes}


def _runtime_text(row: Summary, with_caps: bool) -> str:
    name = row.runtime or "not known"
    if not with_caps:
        return name
    caps_of_runs = [runtime.get("caps", {}) for runtime in _stated_runtimes(row)]
    caps = dict.fromkeys(
        caps_text({**stated_caps, **json.loads(row.identity.caps)}) for stated_caps in caps_of_runs
    )
    return f"{name} (caps: {one_line(' and '.join(caps))})"


def _script_differs(base: Summary, new: Summary) -> bool:
    base_scripts, new_scripts = (
        {script.name_or_sha1 for script in row.scripts} for row in (base, new)
    )
    return not base.identity.ceiling and not new.identity.ceiling and base_scripts != new_scripts


def _scripts_text(*rows: Summary) -> str:
    return "; ".join(
        one_line(script_names(row)) if row.scripts else "none on record" for row in rows
    )


def script_note(base: Summary, new: Summary, names: Names) -> str:
    if not _script_differs(base, new):
        return ""
    has_own_scripts = not (base.identity.same_script or new.identity.same_script)
    both_own = base.identity.label != new.identity.label and has_own_scripts
    ran = "each ran their own limiter script" if both_own else "ran different limiter scripts"
    return f"{names[0]} and {names[1]} {ran} ({_scripts_text(base, new)})"


def _place_kinds(base: Summary, new: Summary) -> list[str]:
    differing = {
        "store": _store_text(base) != _store_text(new),
        "topology": base.identity.topology != new.identity.topology,
        "runtime": _runtimes(base) != _runtimes(new),
    }
    return [kind for kind, differs in differing.items() if differs]


def _named(kind: str, base: Summary, new: Summary) -> str:
    base_store, new_store = (
        (row.identity.store, row.identity.external_store) for row in (base, new)
    )
    return "store version" if kind == "store" and base_store == new_store else kind


def _place_text(rows: Sequence[Summary], kinds: Sequence[str], with_caps: bool) -> str:
    texts_by_kind = {
        "store": (_store_text(row) for row in rows if not row.identity.ceiling),
        "topology": (f"topology {row.identity.topology or 'not known'}" for row in rows),
        "runtime": (f"runtime {_runtime_text(row, with_caps)}" for row in rows),
    }
    return ", ".join(joined(list(dict.fromkeys(texts_by_kind[kind]))) for kind in kinds)


def row_differences(pairs: Sequence[Rows], names: Sequence[Names]) -> list[list[Difference]]:
    """The differences of each pair that make it not comparable.

    A script that a client chooses itself is no such difference, because the report compares client
    and script together. It is one where two clients were to run one script and did not."""
    differences = [
        list(_of_pair(*pair, of_pair)) for pair, of_pair in zip(pairs, names, strict=True)
    ]
    unlike_places = [
        index
        for index, pair in enumerate(pairs)
        if _place_kinds(*pair) and not _control_text(*pair)
    ]
    for names_of_pair in dict.fromkeys(names[index] for index in unlike_places):
        places = [index for index in unlike_places if names[index] == names_of_pair]
        place_difference = _place_difference([pairs[index] for index in places], names_of_pair)
        for index in places:
            differences[index].append(place_difference)
    return differences


def _control_text(base: Summary, new: Summary) -> str:
    controls = [row.identity.label for row in (base, new) if row.identity.ceiling]
    return f"{controls[0]} is a control without a store" if len(controls) == 1 else ""


def _of_pair(base: Summary, new: Summary, names: Names) -> Iterator[Difference]:
    if text := _control_text(base, new):
        yield Difference(tuple(_place_kinds(base, new)), text)
    base_placement, new_placement = (
        " and ".join(machines.placement_shapes(row.runs)) for row in (base, new)
    )
    if base_placement and new_placement and base_placement != new_placement:
        text = f"machines differ: {names[0]} ran on {base_placement}; {names[1]} on {new_placement}"
        yield Difference(("machine",), text)
    one_script = base.identity.same_script and new.identity.same_script
    if one_script and base.identity.label != new.identity.label and _script_differs(base, new):
        clause = f"were to run one script and did not ({_scripts_text(base, new)})"
        yield Difference(("script",), f"script differs: {names[0]} and {names[1]} {clause}")


def _place_difference(pairs: Sequence[Rows], names: Names) -> Difference:
    kinds = [kind for kind in KINDS if any(kind in _place_kinds(*pair) for pair in pairs)]
    subject = joined(list(dict.fromkeys(_named(kind, *pair) for kind in kinds for pair in pairs)))
    with_caps = "runtime" in kinds and any(base.runtime == new.runtime for base, new in pairs)
    base_place, new_place = (
        _place_text(rows, kinds, with_caps) for rows in zip(*pairs, strict=True)
    )
    verb = "differ" if " and " in subject else "differs"
    return Difference(
        tuple(kinds), f"{subject} {verb}: {names[0]} ran on {base_place}; {names[1]} on {new_place}"
    )


def compared_parts(base: Summary, new: Summary) -> tuple[str, ...]:
    base_identity = base.identity
    new_identity = new.identity
    options = [
        set(row.options) - {"same-script", row.limiter} for row in (base_identity, new_identity)
    ]
    version_differs = {
        part: _versions(base, part) != _versions(new, part) for part in ("client", "limiter")
    }
    parts = {
        "client": base_identity.client != new_identity.client,
        "client version": base_identity.client == new_identity.client
        and (
            base_identity.client_version != new_identity.client_version or version_differs["client"]
        ),
        "options": options[0] != options[1],
        "limiter": base_identity.limiter != new_identity.limiter,
        "limiter version": base_identity.limiter == new_identity.limiter
        and version_differs["limiter"],
        "script": _script_differs(base, new),
    }
    differing = [part for part, differs in parts.items() if differs]
    return (*differing, *(_named(kind, base, new) for kind in _place_kinds(base, new)))


def together_text(parts: Sequence[str]) -> str:
    return f"{joined(list(parts))} {'alone' if len(parts) == 1 else 'together'}" if parts else ""


def version_notes(base: Summary, new: Summary, names: Names) -> Iterator[str]:
    """Notes the versions that differ. They are no reason to refuse, because often they are what is
    compared."""
    for part in _NOTED:
        base_version, new_version = (", ".join(_versions(row, part)) for row in (base, new))
        if part == "client" and base.identity.client != new.identity.client:
            continue
        if base_version != new_version and base_version and new_version:
            versioned = base.identity.client if part == "client" else PART_NAMES.get(part, part)
            had = f"{names[0]} had {base_version}; {names[1]} had {new_version}"
            yield f"version of {versioned} differs: {had}"
    limiters = [row.identity.limiter for row in (base, new)]
    if limiters[0] != limiters[1]:
        yield f"limiter differs: {names[0]} had {limiters[0]}; {names[1]} had {limiters[1]}"
