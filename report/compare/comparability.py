"""What two sides must have in common to be comparable (rules M12 and M19)."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from report.analysis.hardware_text import hardware_texts
from report.analysis.load_text import caps_text
from report.analysis.machines import (
    all_runs,
    kind_name,
    machine_by_kind,
    machines_in,
    placement_shapes,
    round_trips_by_kinds,
)
from report.analysis.summary import Summary
from report.base.errors import one_line
from report.base.format import decimals, gibibytes, joined
from report.compare.selection import Selection
from report.results.model import Campaign, Run
from report.results.record import plain
from report.results.records import Turns
from report.sections.script_text import script_names

#: Of the machine in the manifest; memory apart, which differs by a few bytes after a restart.
_MACHINE = {
    "platform": "platform",
    "kernel": "kernel",
    "cpu_model": "CPU model",
    "cpus": "number of CPUs",
    "governor": "CPU governor",
}
_MEMORY = "memory_gib"
_GIB = 1024**3

#: A hash of the machine's own id.
_ID = "machine_id"
#: What `hardware_texts` tells. Not every system reports it: nothing is claimed where a side has no such fact.
_HARDWARE = "hardware"

#: Which roles shared machines, where there were several; and a machine's facts, by the kind of its roles.
_SHAPES = "placements"
_KINDS = "by_kind"

#: A round trip that is longer by this factor is told: latencies contain it.
_ROUND_TRIP_FACTOR = 1.5
#: Below this, what the machines' programs and kernels take is most of it.
_SHORTEST_US = 50

#: Words that `--allow` takes.
KINDS = ("machine", "schema", "store", "script", "topology", "runtime", "order")

#: Turns of another length differ by it at least: they follow from the latency of the slowest target.
_SLICE_FACTOR = 1.5


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference that makes two sides not comparable; `kinds` are words that `--allow` takes."""

    kinds: tuple[str, ...]
    text: str


def machine_of(campaign: Campaign) -> dict[str, Any] | None:
    """The facts by which machines are compared; None if the campaign has no manifest.

    Of several machines those of each kind of role: the machine of the command runs nothing."""
    if campaign.manifest is None:
        return None
    machine: Mapping[str, Any] = campaign.manifest["machine"]
    runs = all_runs(campaign)
    shapes = placement_shapes(runs)
    if not shapes:
        return {**_facts_of(machine), _ID: machine.get(_ID)}
    stated = {each["name"]: each for each in machines_in(campaign)}
    of_kinds = {
        kind: _facts_of(stated[name].get("facts", stated[name]))
        for kind, name in machine_by_kind(runs).items()
        if name in stated
    }
    return {_SHAPES: shapes, _KINDS: of_kinds, _ID: None}


def _facts_of(machine: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: machine.get(name) for name in _MACHINE},
        _MEMORY: round(machine["memory_bytes"] / _GIB),
        _HARDWARE: hardware_texts(machine),
    }


def machine_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What tells the kinds of two machines apart, one text each, as `machine_of` has their facts.

    Campaigns on several machines must have some placement in common: rows are held against each other by
    `row_differences`."""
    shapes = [side.get(_SHAPES, ["one machine"]) for side in (one, other)]
    if not set(shapes[0]) & set(shapes[1]):
        return [f"{joined(shapes[0])}, then {joined(shapes[1])}"]
    if _SHAPES not in one:
        return _facts_differences(one, other)
    return [
        f"{text} (of the {kind_name(kind)})"
        for kind, facts in one[_KINDS].items()
        if kind in other[_KINDS]
        for text in _facts_differences(facts, other[_KINDS][kind])
    ]


def _facts_differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    found = [
        f"{name} {_known(one[key])}, then {_known(other[key])}"
        for key, name in _MACHINE.items()
        if one[key] != other[key]
    ]
    if one[_MEMORY] != other[_MEMORY]:
        sizes = [f"{gibibytes(side[_MEMORY] * _GIB)} GiB" for side in (one, other)]
        found.append(f"memory {sizes[0]}, then {sizes[1]}")
    hardware = [side.get(_HARDWARE, {}) for side in (one, other)]
    found += [
        f"{name} {one_line(text)}, then {one_line(hardware[1][name])}"
        for name, text in hardware[0].items()
        if hardware[1].get(name, text) != text
    ]
    return found


def other_machine(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether they are two machines, be they of one kind or not; False where that is not known."""
    ids = [side.get(_ID) for side in (one, other)]
    return all(ids) and ids[0] != ids[1]


def other_machine_note(base: Selection, new: Selection) -> str:
    """That two campaigns ran on two machines of one kind; empty where they did not, or it is not known.

    It is no reason to refuse: each job on hosted runners has another machine."""
    one, other = machine_of(base.campaign), machine_of(new.campaign)
    if base.folder == new.folder or one is None or other is None or not other_machine(one, other):
        return ""
    if machine_differences(one, other):
        return ""
    ids = f"id {one_line(one[_ID])}, then {one_line(other[_ID])}"
    return f"two machines of the same hardware ({ids}): a difference may be that of the machines"


def round_trip_notes(base: Selection, new: Selection) -> list[str]:
    if base.folder == new.folder:
        return []
    one, other = round_trips_by_kinds(base.campaign), round_trips_by_kinds(new.campaign)
    return [
        f"the round trip between {kind_name(kinds[0])} and {kind_name(kinds[1])} was {decimals(us, 0)} µs, "
        f"then {decimals(other[kinds], 0)} µs: latencies contain it, and a closed loop's throughput follows "
        "from them"
        for kinds, us in one.items()
        if kinds in other
        and max(us, other[kinds]) > _ROUND_TRIP_FACTOR * max(min(us, other[kinds]), _SHORTEST_US)
    ]


def _runtimes(summary: Summary, read: Callable[[Mapping[str, Any] | None], Any]) -> str:
    found = {
        json.dumps([read(plain(run.record.runtime)), summary.identity.caps], sort_keys=True)
        for run in summary.runs
        if run.measured
    }
    return " and ".join(sorted(found))


def _runtime_without_store(summary: Summary) -> str:
    """Whether the store is embedded is a fact of the store."""
    return _runtimes(
        summary,
        lambda runtime: {name: value for name, value in (runtime or {}).items() if name != "embedded_store"},
    )


def _machine(base: Selection, new: Selection) -> str:
    if base.folder == new.folder:
        return ""
    one, other = machine_of(base.campaign), machine_of(new.campaign)
    if one is None or other is None:
        lacking = base if one is None else new
        return f"that of campaign {lacking.campaign.name} is not on record (it has no manifest)"
    return "; ".join(machine_differences(one, other))


def _known(value: Any) -> str:
    return "not known" if value is None else one_line(value)


def _versions(summary: Summary, part: str) -> tuple[str, ...]:
    found = {run.versions[part] for run in summary.runs if run.measured and part in run.versions}
    return tuple(sorted(found))


def store_text(summary: Summary) -> str:
    measured = [run.record.runtime for run in summary.runs if run.measured]
    embedded = any(runtime and runtime.embedded_store for runtime in measured)
    version = ", ".join(_versions(summary, "store"))
    parts = [summary.identity.store_text, version, "(embedded)" if embedded else ""]
    return one_line(" ".join(filter(None, parts)))


def _runtime_text(summary: Summary, with_caps: bool) -> str:
    name = summary.runtime or "not known"
    if not with_caps:
        return name
    applied = [(plain(run.record.runtime) or {}).get("caps", {}) for run in summary.runs if run.measured]
    caps = dict.fromkeys(caps_text({**asked, **json.loads(summary.identity.caps)}) for asked in applied)
    return f"{name} (caps: {one_line(' and '.join(caps))})"


def _has_script(summary: Summary) -> bool:
    return not summary.identity.ceiling


def _scripts(summary: Summary) -> set[str]:
    return {script.name_or_sha1 for script in summary.scripts}


def _script_differs(base: Summary, new: Summary) -> bool:
    return _has_script(base) and _has_script(new) and _scripts(base) != _scripts(new)


def _place_kinds(base: Summary, new: Summary) -> list[str]:
    differing = {
        "store": store_text(base) != store_text(new),
        "topology": base.identity.topology != new.identity.topology,
        "runtime": _runtime_without_store(base) != _runtime_without_store(new),
    }
    return [kind for kind, differs in differing.items() if differs]


def _named(kind: str, base: Summary, new: Summary) -> str:
    same_store = kind == "store" and base.identity.store == new.identity.store
    same_store = same_store and base.identity.external_store == new.identity.external_store
    return "store version" if same_store else kind


def _control_text(base: Summary, new: Summary) -> str:
    controls = [row.identity.label for row in (base, new) if row.identity.ceiling]
    return f"{controls[0]} is a control without a store" if len(controls) == 1 else ""


def _place_text(rows: Sequence[Summary], kinds: Sequence[str], with_caps: bool) -> str:
    shown = {
        "store": (store_text(row) for row in rows if not row.identity.ceiling),
        "topology": (f"topology {row.identity.topology or 'not known'}" for row in rows),
        "runtime": (f"runtime {_runtime_text(row, with_caps)}" for row in rows),
    }
    return ", ".join(joined(list(dict.fromkeys(shown[kind]))) for kind in kinds)


def campaign_differences(base: Selection, new: Selection) -> list[Difference]:
    found = []
    machine = _machine(base, new)
    if machine:
        found.append(Difference(("machine",), f"machine differs: {machine}"))
    one, other = _schema(base), _schema(new)
    if one != other:
        found.append(Difference(("schema",), f"schema version differs: {one}, then {other}"))
    orders = [side.campaign.manifest["plan"]["order"] for side in (base, new) if side.campaign.manifest]
    if len(set(orders)) > 1:
        found.append(Difference(("order",), f"order differs: {orders[0]}, then {orders[1]}"))
    return found


def turns_of(run: Run) -> Turns | None:
    """None of a run that had the load alone."""
    return run.measured.record.turns if run.measured else None


def turns_differences(pairs: Sequence[tuple[Summary, Summary]]) -> list[Difference]:
    """Of two campaigns by turns: how many targets were up at once, and how long a slice was (rule M22)."""
    found = []
    for base, new in pairs:
        one, other = (list(filter(None, map(turns_of, row.runs))) for row in (base, new))
        if not one or not other:
            continue
        # With `--runs auto` decided targets leave their groups: the largest is the planned one.
        groups = [max(turns.group for turns in side) for side in (one, other)]
        slices = [max(turns.slice_ms for turns in side) for side in (one, other)]
        if groups[0] != groups[1]:
            found.append(f"targets of a group differ: {groups[0]}, then {groups[1]}")
        if max(slices) > _SLICE_FACTOR * min(slices):
            found.append(f"length of a slice differs: {slices[0]} ms, then {slices[1]} ms")
    return [Difference(("order",), text) for text in dict.fromkeys(found)]


def _schema(side: Selection) -> str:
    manifest = side.campaign.manifest
    return "none on record" if manifest is None else str(manifest["schema_version"])


def names_of(base: Selection, new: Selection, pair: tuple[Summary, Summary]) -> tuple[str, str]:
    labels = [row.identity.label for row in pair]
    campaigns = [side.campaign.name for side in (base, new)]
    if base.folder == new.folder:
        return labels[0], labels[1]
    if labels[0] == labels[1]:
        return campaigns[0], campaigns[1]
    return f"{campaigns[0]}#{labels[0]}", f"{campaigns[1]}#{labels[1]}"


def row_differences(
    pairs: Sequence[tuple[Summary, Summary]], names: tuple[str, str]
) -> list[list[Difference]]:
    """What makes configurations unlike, besides what the comparison is about, of each pair.

    Scripts of their own are no such thing, as in the report: client and script are compared together. Two
    clients that were to run one script, and did not, are."""
    placed = [pair for pair in pairs if _place_kinds(*pair) and not _control_text(*pair)]
    place = _places(placed, names)
    return [[*_of_pair(*pair, names), *(place if pair in placed else [])] for pair in pairs]


def _of_pair(base: Summary, new: Summary, names: tuple[str, str]) -> list[Difference]:
    found = []
    if text := _control_text(base, new):
        found.append(Difference(tuple(_place_kinds(base, new)), text))
    shapes = [" and ".join(placement_shapes(row.runs)) for row in (base, new)]
    if all(shapes) and shapes[0] != shapes[1]:
        text = f"machines differ: {names[0]} ran on {shapes[0]}; {names[1]} on {shapes[1]}"
        found.append(Difference(("machine",), text))
    one_script = base.identity.same_script and new.identity.same_script
    if one_script and base.identity.label != new.identity.label and _script_differs(base, new):
        scripts = f"{_script_text(base)}; {_script_text(new)}"
        text = f"script differs: {names[0]} and {names[1]} were to run one script and did not ({scripts})"
        found.append(Difference(("script",), text))
    return found


def _places(pairs: Sequence[tuple[Summary, Summary]], names: tuple[str, str]) -> list[Difference]:
    kinds = [kind for kind in KINDS if any(kind in _place_kinds(*pair) for pair in pairs)]
    if not kinds:
        return []
    what = joined(list(dict.fromkeys(_named(kind, *pair) for kind in kinds for pair in pairs)))
    caps = "runtime" in kinds and any(base.runtime == new.runtime for base, new in pairs)
    one, other = (_place_text(rows, kinds, caps) for rows in zip(*pairs, strict=True))
    verb = "differ" if " and " in what else "differs"
    return [Difference(tuple(kinds), f"{what} {verb}: {names[0]} ran on {one}; {names[1]} on {other}")]


def _script_text(summary: Summary) -> str:
    return one_line(script_names(summary)) if summary.scripts else "none on record"


def script_note(base: Summary, new: Summary, names: tuple[str, str]) -> str:
    if not _script_differs(base, new):
        return ""
    own = not (base.identity.same_script or new.identity.same_script)
    each = base.identity.label != new.identity.label and own
    ran = "each ran their own limiter script" if each else "ran different limiter scripts"
    return f"{names[0]} and {names[1]} {ran} ({_script_text(base)}; {_script_text(new)})"


def compared_parts(base: Summary, new: Summary) -> tuple[str, ...]:
    one, other = base.identity, new.identity
    options = [set(row.options) - {"same-script", row.limiter} for row in (one, other)]
    parts = []
    if one.client != other.client:
        parts.append("client")
    elif one.client_version != other.client_version or _versions(base, "client") != _versions(new, "client"):
        parts.append("client version")
    if options[0] != options[1]:
        parts.append("options")
    if one.limiter != other.limiter:
        parts.append("limiter")
    elif _versions(base, "limiter") != _versions(new, "limiter"):
        parts.append("limiter version")
    if _script_differs(base, new):
        parts.append("script")
    return (*parts, *(_named(kind, base, new) for kind in _place_kinds(base, new)))


def together_text(parts: Sequence[str]) -> str:
    return f"{joined(list(parts))} {'alone' if len(parts) == 1 else 'together'}" if parts else ""


#: Parts that targets have in common, or one for one; the store's version is no note, see `row_differences`.
_NOTED = {
    "client": "{client}",
    "limiter": "limiter",
    "node": "Node.js",
    "fastify": "Fastify",
    "autocannon": "autocannon",
    "harness": "ratelimit-bench",
}


def version_notes(base: Summary, new: Summary, names: tuple[str, str]) -> list[str]:
    """Versions that differ. They are notes and no reason to refuse: often they are what is compared."""
    notes = []
    for part, name in _NOTED.items():
        one, other = _versions(base, part), _versions(new, part)
        same_client = base.identity.client == new.identity.client
        if one != other and one and other and (part != "client" or same_client):
            of = name.format(client=base.identity.client)
            notes.append(
                f"version of {of} differs: {names[0]} had {', '.join(one)}; {names[1]} had {', '.join(other)}"
            )
    if base.identity.limiter != new.identity.limiter:
        notes.append(
            f"limiter differs: {names[0]} had {base.identity.limiter}; {names[1]} had {new.identity.limiter}"
        )
    return notes
