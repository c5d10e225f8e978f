"""What two sides must have in common to be comparable (rules M12 and M19), and what is told of the
rest."""

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

Facts = Mapping[str, Mapping[str, str]]
Rows = tuple[Summary, Summary]
Names = tuple[str, str]

#: Words that `--allow` takes.
KINDS: tuple[str, ...] = tuple(CONSTANTS["compared_kinds"])

_GIB = 1024**3

#: A round trip that is longer by this factor is told: latencies contain it.
_ROUND_TRIP_FACTOR = 1.5
#: Below this, what the machines' programs and kernels take is most of it.
_SHORTEST_US = 50

#: Turns of another length differ by it at least: they follow from the latency of the slowest
#: target.
_SLICE_FACTOR = 1.5

#: Versions that targets have in common, or one for one; the store's is no note, see
#: `row_differences`.
_NOTED = ("client", "limiter", "node", "fastify", "autocannon", "harness")
PART_NAMES = {"node": "Node.js", "fastify": "Fastify", "harness": "ratelimit-bench"}


class Difference(Struct, frozen=True):
    """A difference that makes two sides not comparable; `kinds` are words that `--allow` takes."""

    kinds: tuple[str, ...]
    text: str


def _other_facts(machine: Mapping[str, Any]) -> dict[str, str]:
    """What is told of a machine and decides nothing. Memory differs by a few bytes after a
    restart."""
    facts = {"memory": f"{gibibytes(round(machine['memory_bytes'] / _GIB) * _GIB)} GiB"}
    if "governor" in machine:
        facts["CPU governor"] = machine["governor"]
    return {
        name: one_line(text) for name, text in (facts | machines.hardware_texts(machine)).items()
    }


def _differing(base: Facts, new: Facts) -> str:
    """Facts of machines by kind of role that both sides have, and that differ."""
    return "; ".join(
        f"{name} {text}, then {new[kind][name]}"
        + (f" (of the {machines.kind_name(kind)})" if kind else "")
        for kind, facts in base.items()
        if kind in new
        for name, text in facts.items()
        if new[kind].get(name, text) != text
    )


def _machine_text(base: Campaign, new: Campaign) -> str:
    """What tells the machines of two campaigns apart.

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
    found = []
    if machine := _machine_text(base, new):
        found.append(Difference(("machine",), f"machine differs: {machine}"))
    manifests = [side.manifest for side in (base, new)]
    one, other = (str(each["schema_version"]) if each else "none on record" for each in manifests)
    if one != other:
        found.append(Difference(("schema",), f"schema version differs: {one}, then {other}"))
    orders = [each["plan"]["order"] for each in manifests if each]
    if len(set(orders)) > 1:
        found.append(Difference(("order",), f"order differs: {orders[0]}, then {orders[1]}"))
    return [
        *found,
        *(Difference(("order",), text) for pair in pairs for text in _turns_texts(*pair)),
    ]


def _turns_texts(base: Summary, new: Summary) -> Iterator[str]:
    """By turns: how many targets were up at once, and how long a slice was (rule M22)."""
    one, other = (list(filter(None, map(turns_of, row.runs))) for row in (base, new))
    if not one or not other:
        return
    # With `--runs auto` decided targets leave their groups: the largest is the planned one.
    groups = [max(turns.group for turns in side) for side in (one, other)]
    slices = [max(turns.slice_ms for turns in side) for side in (one, other)]
    if groups[0] != groups[1]:
        yield f"targets of a group differ: {groups[0]}, then {groups[1]}"
    if max(slices) > _SLICE_FACTOR * min(slices):
        yield f"length of a slice differs: {slices[0]} ms, then {slices[1]} ms"


def campaign_notes(base: Campaign, new: Campaign) -> Iterator[str]:
    """What differs and is no reason to refuse: facts that are no part of a machine's key, and round
    trips."""
    if base.manifest and new.manifest:
        facts = [machines.facts_by_kind(side) for side in (base, new)]
        one, other = ({kind: _other_facts(each) for kind, each in side.items()} for side in facts)
        if text := _differing(one, other):
            yield f"facts of the machine differ: {text}. A difference may be that of the machines"
    then = machines.round_trips_by_kinds(new)
    for (begin, end), us in machines.round_trips_by_kinds(base).items():
        later = then.get((begin, end), us)
        if max(us, later) > _ROUND_TRIP_FACTOR * max(min(us, later), _SHORTEST_US):
            yield (
                f"the round trip between {machines.kind_name(begin)} and {machines.kind_name(end)} was "
                f"{decimals(us, 0)} µs, then {decimals(later, 0)} µs: latencies contain it, and a closed "
                "loop's throughput follows from them"
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
    """Whether the store is embedded is a fact of the store."""
    runtimes = [{**runtime, "embedded_store": None} for runtime in _stated_runtimes(row)]
    return {json.dumps([runtime, row.identity.caps], sort_keys=True) for runtime in runtimes}


def _runtime_text(row: Summary, with_caps: bool) -> str:
    name = row.runtime or "not known"
    if not with_caps:
        return name
    applied = [runtime.get("caps", {}) for runtime in _stated_runtimes(row)]
    caps = dict.fromkeys(caps_text({**asked, **json.loads(row.identity.caps)}) for asked in applied)
    return f"{name} (caps: {one_line(' and '.join(caps))})"


def _script_differs(base: Summary, new: Summary) -> bool:
    one, other = ({script.name_or_sha1 for script in row.scripts} for row in (base, new))
    return not base.identity.ceiling and not new.identity.ceiling and one != other


def _scripts_text(*rows: Summary) -> str:
    return "; ".join(
        one_line(script_names(row)) if row.scripts else "none on record" for row in rows
    )


def script_note(base: Summary, new: Summary, names: Names) -> str:
    if not _script_differs(base, new):
        return ""
    own = not (base.identity.same_script or new.identity.same_script)
    each = base.identity.label != new.identity.label and own
    ran = "each ran their own limiter script" if each else "ran different limiter scripts"
    return f"{names[0]} and {names[1]} {ran} ({_scripts_text(base, new)})"


def _place_kinds(base: Summary, new: Summary) -> list[str]:
    differing = {
        "store": _store_text(base) != _store_text(new),
        "topology": base.identity.topology != new.identity.topology,
        "runtime": _runtimes(base) != _runtimes(new),
    }
    return [kind for kind, differs in differing.items() if differs]


def _named(kind: str, base: Summary, new: Summary) -> str:
    one, other = ((row.identity.store, row.identity.external_store) for row in (base, new))
    return "store version" if kind == "store" and one == other else kind


def _place_text(rows: Sequence[Summary], kinds: Sequence[str], with_caps: bool) -> str:
    shown = {
        "store": (_store_text(row) for row in rows if not row.identity.ceiling),
        "topology": (f"topology {row.identity.topology or 'not known'}" for row in rows),
        "runtime": (f"runtime {_runtime_text(row, with_caps)}" for row in rows),
    }
    return ", ".join(joined(list(dict.fromkeys(shown[kind]))) for kind in kinds)


def row_differences(pairs: Sequence[Rows], names: Sequence[Names]) -> list[list[Difference]]:
    """What makes configurations unlike, besides what the comparison is about, of each pair.

    Scripts of their own are no such thing, as in the report: client and script are compared
    together. Two clients that were to run one script, and did not, are."""
    found = [list(_of_pair(*pair, of_pair)) for pair, of_pair in zip(pairs, names, strict=True)]
    unlike = [
        at for at, pair in enumerate(pairs) if _place_kinds(*pair) and not _control_text(*pair)
    ]
    for each in dict.fromkeys(names[index] for index in unlike):
        placed = [index for index in unlike if names[index] == each]
        place = _place_difference([pairs[index] for index in placed], each)
        for index in placed:
            found[index].append(place)
    return found


def _control_text(base: Summary, new: Summary) -> str:
    controls = [row.identity.label for row in (base, new) if row.identity.ceiling]
    return f"{controls[0]} is a control without a store" if len(controls) == 1 else ""


def _of_pair(base: Summary, new: Summary, names: Names) -> Iterator[Difference]:
    if text := _control_text(base, new):
        yield Difference(tuple(_place_kinds(base, new)), text)
    one, other = (" and ".join(machines.placement_shapes(row.runs)) for row in (base, new))
    if one and other and one != other:
        text = f"machines differ: {names[0]} ran on {one}; {names[1]} on {other}"
        yield Difference(("machine",), text)
    one_script = base.identity.same_script and new.identity.same_script
    if one_script and base.identity.label != new.identity.label and _script_differs(base, new):
        what = f"were to run one script and did not ({_scripts_text(base, new)})"
        yield Difference(("script",), f"script differs: {names[0]} and {names[1]} {what}")


def _place_difference(pairs: Sequence[Rows], names: Names) -> Difference:
    kinds = [kind for kind in KINDS if any(kind in _place_kinds(*pair) for pair in pairs)]
    what = joined(list(dict.fromkeys(_named(kind, *pair) for kind in kinds for pair in pairs)))
    caps = "runtime" in kinds and any(base.runtime == new.runtime for base, new in pairs)
    one, other = (_place_text(rows, kinds, caps) for rows in zip(*pairs, strict=True))
    verb = "differ" if " and " in what else "differs"
    return Difference(
        tuple(kinds), f"{what} {verb}: {names[0]} ran on {one}; {names[1]} on {other}"
    )


def compared_parts(base: Summary, new: Summary) -> tuple[str, ...]:
    one = base.identity
    other = new.identity
    options = [set(row.options) - {"same-script", row.limiter} for row in (one, other)]
    newer = {part: _versions(base, part) != _versions(new, part) for part in ("client", "limiter")}
    parts = {
        "client": one.client != other.client,
        "client version": one.client == other.client
        and (one.client_version != other.client_version or newer["client"]),
        "options": options[0] != options[1],
        "limiter": one.limiter != other.limiter,
        "limiter version": one.limiter == other.limiter and newer["limiter"],
        "script": _script_differs(base, new),
    }
    found = [part for part, differs in parts.items() if differs]
    return (*found, *(_named(kind, base, new) for kind in _place_kinds(base, new)))


def together_text(parts: Sequence[str]) -> str:
    return f"{joined(list(parts))} {'alone' if len(parts) == 1 else 'together'}" if parts else ""


def version_notes(base: Summary, new: Summary, names: Names) -> Iterator[str]:
    """Versions that differ. They are notes and no reason to refuse: often they are what is
    compared."""
    for part in _NOTED:
        one, other = (", ".join(_versions(row, part)) for row in (base, new))
        if part == "client" and base.identity.client != new.identity.client:
            continue
        if one != other and one and other:
            of = base.identity.client if part == "client" else PART_NAMES.get(part, part)
            yield f"version of {of} differs: {names[0]} had {one}; {names[1]} had {other}"
    limiters = [row.identity.limiter for row in (base, new)]
    if limiters[0] != limiters[1]:
        yield f"limiter differs: {names[0]} had {limiters[0]}; {names[1]} had {limiters[1]}"
