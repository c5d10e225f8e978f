"""Where and how the campaign ran, as pairs of a name and a text, and what a reader must know of
that."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from msgspec import Struct

from report.analysis import machines
from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Summary
from report.analysis.texts import cap_text, load_text, varying_fields
from report.base.contract import CONSTANTS
from report.base.format import ABSENT, gibibytes, percent, plural
from report.results.model import FOREIGN_CPU_RULE, MEASURED_KINDS, Campaign, Run, turns_of
from report.sections.script_text import calls_text
from report.sections.section import (
    Column,
    Facts,
    Section,
    Table,
    TableCell,
    TableRow,
    named,
    table_of,
    words,
)

#: More machines of a tier, or links of a gap, are counted and not drawn.
_MOST_MACHINES = 6
_MOST_LINKS = 4


class MachineBox(Struct, frozen=True):
    name: str
    roles: tuple[str, ...]
    facts: tuple[str, ...]


class Tier(Struct, frozen=True):
    """Machines that requests reach at the same time, and the links that lead on from there."""

    boxes: tuple[MachineBox, ...]
    more_boxes: str
    links: tuple[machines.Link, ...]
    more_links: str


class MachinePicture(Struct, frozen=True):
    sentence: str
    tiers: tuple[Tier, ...]
    notes: tuple[str, ...]


def _box(name: str, roles: Sequence[str], stated: Mapping[str, Any] | None) -> MachineBox:
    if stated is None:
        return MachineBox(name, machines.roles_text(roles), ())
    found = stated.get("facts")
    cpus = (
        f"{machines.cpus_text(found)}, {found['cpu_model']}"
        if found
        else plural(stated["cpus"], "CPU")
    )
    memory = f"{gibibytes(stated['memory_bytes'])} GiB"
    return MachineBox(name, machines.roles_text(roles), (f"{cpus}, {memory}", stated["engine"]))


def _more(left: int, what: str) -> str:
    return f"and {plural(left, what)} more" if left > 0 else ""


def machine_picture(campaign: Campaign) -> MachinePicture | None:
    stated = {each["name"]: each for each in machines.machines_in(campaign)}
    roles = machines.roles_by_machine(machines.all_runs(campaign))
    if not roles:
        return None
    tier = {name: machines.tier_of(found) for name, found in roles.items()}
    links = [
        link for link in machines.links_of(campaign) if all(end in tier for end in link.between)
    ]
    tiers = []
    for number in sorted(set(tier.values())):
        names = [
            name
            for name in [*stated, *sorted(set(roles) - set(stated))]
            if tier.get(name) == number
        ]
        # A link belongs to the end that requests reach first.
        onward = [link for link in links if min(tier[end] for end in link.between) == number]
        tiers.append(
            Tier(
                boxes=tuple(
                    _box(name, roles[name], stated.get(name)) for name in names[:_MOST_MACHINES]
                ),
                more_boxes=_more(len(names) - _MOST_MACHINES, "machine"),
                links=tuple(onward[:_MOST_LINKS]),
                more_links=_more(len(onward) - _MOST_LINKS, "link"),
            )
        )
    return MachinePicture(
        sentence=f"The roles ran on {plural(len(roles), 'machine')}. Between them is the median round trip "
        "of 64 bytes over TCP, just before the campaign.",
        tiers=tuple(tiers),
        notes=tuple(_kernel_notes(stated, roles)),
    )


def _kernel_notes(
    stated: Mapping[str, Mapping[str, Any]], roles: Mapping[str, Sequence[str]]
) -> list[str]:
    """Machines that are one computer, once each group."""
    groups = {
        tuple(sorted({name, *stated[name]["shares_kernel_with"]} & set(roles)))
        for name in roles
        if name in stated and "shares_kernel_with" in stated[name]
    }
    return [
        f"{', '.join(group[:-1])} and {group[-1]} are one computer: they share its CPUs, and the links "
        "between them are no real network."
        for group in sorted(groups)
        if len(group) > 1
    ]


def _link_text(link: machines.Link) -> str:
    return f"round trip {link.round_trip} ({link.p90}), {link.bandwidth}"


def machines_facts(campaign: Campaign) -> list[tuple[str, str]]:
    def text(machine: Mapping[str, Any]) -> str:
        index = machines.index_text(machine.get("facts", {}))
        system = (machine["operating_system"], machine["kernel"], index)
        return "; ".join(filter(None, (*_box("", (), machine).facts, *system)))

    return [(each["name"], text(each)) for each in machines.machines_in(campaign)]


Pairs = list[tuple[str, str]]

_SCRIPTS = (
    "Scripts that ran without an error, from the command statistics of all nodes. All measured runs count, "
    "with their warm-ups, invalid runs too."
)
_OTHERS = " A store that already ran counts the calls of its other users too."

_VERSIONS = {
    "store": "Store",
    "client": "Client",
    "limiter": "Limiter",
    "fastify": "Fastify",
    "node": "Node.js (server)",
    "autocannon": "autocannon",
    "harness": "ratelimit-bench",
}


def _external_stores(summaries: Sequence[Summary]) -> list[str]:
    identities = (summary.identity for summary in summaries)
    return sorted(
        {each.store for each in identities if each.external_store and each.store is not None}
    )


def external_notices(summaries: Sequence[Summary]) -> list[str]:
    return [
        f"The store {store} already ran before this campaign. It was not emptied and its statistics were not "
        "reset; it may hold other keys and serve others. Its rows are not compared with rows on a store that "
        "was started for the run."
        for store in _external_stores(summaries)
    ]


#: So many excluded files are named; beyond it they are counted.
_MAX_NAMED = 100
#: Other programs are named from this % of one CPU on (rule M25).
_FOREIGN_CPU_PERCENT: float = CONSTANTS["foreign_cpu_percent"]


def _foreign_cpu(campaign: Campaign) -> Iterator[str]:
    measured = [run for run in campaign.runs if run.measured]
    alone = [run for run in measured if not turns_of(run)]
    disturbed = [_foreign_percent(run) or 0 for run in alone if _is_disturbed(run)]
    if disturbed:
        yield (
            f"Other programs disturbed {len(disturbed):,} of {plural(len(alone), 'run')}: they used up to "
            f"{percent(max(disturbed), 0)} of one CPU meanwhile. Measure again on a machine where nothing "
            "else runs."
        )
    # By turns all runs of a group have one figure.
    groups = {run.place or run.file: run for run in measured if turns_of(run)}.values()
    beside = [used for run in groups if (used := _foreign_percent(run)) is not None]
    if max(beside, default=0) >= _FOREIGN_CPU_PERCENT:
        suspect = sum(map(_is_disturbed, groups))
        unit = "group" if any(run.place and run.place[1] > 1 for run in groups) else "round"
        which = f" In {suspect} of {plural(len(groups), unit)} their share makes the runs suspect."
        yield (
            f"Beside the rounds other programs used {percent(median(beside), 0)} of one CPU, at most "
            f"{percent(max(beside), 0)}. By turns all targets of a round meet the same."
            f"{which if suspect else ''}"
        )


def _foreign_percent(run: Run) -> float | None:
    return run.measured.foreign_cpu_percent if run.measured else None


def _is_disturbed(run: Run) -> bool:
    return any(reason.rule == FOREIGN_CPU_RULE for reason in run.reasons)


def campaign_notices(campaign: Campaign) -> tuple[str, ...]:
    more = len(campaign.excluded) - _MAX_NAMED
    left_out = campaign.series_left_out
    series = f"The per-second series of {left_out:,} selected runs are left out: there are too many to show."
    return (
        *_foreign_cpu(campaign),
        *(f"Excluded: {entry}." for entry in campaign.excluded[:_MAX_NAMED]),
        *([f"Excluded: {more:,} more files; the command names each."] if more > 0 else []),
        *([series] if left_out else []),
    )


def _store_fact(store: str, binary: Mapping[str, Any], external: Sequence[str]) -> tuple[str, str]:
    if store in external:
        return f"Store {store}", f"{binary['version']}, already ran, not emptied"
    kind = "Program" if store.startswith("node~") else "Store program"
    return f"{kind} {store}", f"{binary['version']}{', embedded' if binary['embedded'] else ''}"


_CAPS = {
    "store": "Cap of a store node",
    "service": "Cap of a service",
    "server": "Cap of a server",
    "generator": "Cap of the load generator",
}


def container_facts(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Empty for a campaign without containers. What was really applied to each role stands in the
    results."""
    engine = manifest.get("engine")
    if engine is None:
        return []
    caps = manifest["runtime"].get("caps", {})
    host = (
        f"{engine['operating_system']}, {engine['kernel']}, {plural(engine['cpus'], 'core')}, "
        f"control groups version {engine['cgroup_version']}"
    )

    def image_text(image: Mapping[str, Any]) -> str:
        pinned = "" if image.get("pinned", True) else ", not pinned"
        return f"{image['name']} {image.get('digest', image['id'])}{pinned}"

    images = sorted(manifest.get("images", {}).items())
    return [
        ("Engine", f"{engine['name']} {engine['version']}, API {engine['api_version']}"),
        ("Engine's host", host),
        ("Memory of the engine's host", f"{gibibytes(engine['memory_bytes'])} GiB"),
        *((_CAPS[kind], cap_text(caps[kind])) for kind in MEASURED_KINDS if kind in caps),
        *((f"Image {name}", image_text(image)) for name, image in images),
    ]


def machine_facts(campaign: Campaign, summaries: Sequence[Summary]) -> Pairs:
    """The host and the runtime; empty without a manifest. What could not be read is not there."""
    if campaign.manifest is None:
        return []
    manifest = campaign.manifest
    machine = manifest["machine"]
    runtime = manifest["runtime"]
    external = _external_stores(summaries)
    optional = {
        "CPU governor": machine.get("governor"),
        "Microcode": machine.get("microcode"),
        "Limits": machines.limits_text(machine) or None,
        "Open files limit": machine.get("open_files_limit"),
        "Index of the machine": machines.index_text(machine) or None,
    }
    return [
        ("CPU", f"{machine['cpu_model']}, {machines.cpus_text(machine)}"),
        *(
            (f"{name[0].upper()}{name[1:]}", text)
            for name, text in machines.hardware_texts(machine).items()
        ),
        ("Memory", f"{gibibytes(machine['memory_bytes'])} GiB"),
        ("Kernel", f"{machine['platform']} {machine['kernel']}"),
        *((name, fact) for name, fact in optional.items() if fact is not None),
        *sorted(machine["sysctl"].items()),
        (
            "Runtime",
            f"{runtime['id']}, {'caps applied' if runtime['caps_applied'] else 'no caps applied'}",
        ),
        *container_facts(manifest),
        *(
            _store_fact(store, binary, external)
            for store, binary in sorted(manifest["stores"].items())
        ),
        ("Load generator", plural(manifest["generator"]["workers"], "worker")),
    ]


def _runs(plan: Mapping[str, Any]) -> str:
    """`3`, or `5 to 20, as many as it took,`."""
    most = plan["runs_per_configuration"]
    adaptive = plan.get("adaptive")
    return f"{adaptive['looks'][0]} to {most}, as many as it took," if adaptive else str(most)


def campaign_facts(campaign: Campaign) -> Pairs:
    if campaign.manifest is None:
        return [("Campaign", campaign.name)]
    manifest = campaign.manifest
    plan = campaign.manifest["plan"]
    harness = manifest["harness"]
    revision = f", revision {harness['git_revision']}" if "git_revision" in harness else ""
    return [
        ("Campaign", f"{manifest['campaign']}, {manifest['status']}"),
        ("Started", manifest["started_at"]),
        *([("Finished", manifest["finished_at"])] if "finished_at" in manifest else []),
        ("Runs", f"{_runs(plan)} per configuration, {plan['order']}, seed {plan['seed']}"),
        ("Warm-up", _warm_up(plan["warmup_s"], by_turns=plan["order"] == "turns")),
        ("Cool-down", _cool_down(plan)),
        ("Harness", f"ratelimit-bench {harness['version']}{revision}, Node.js {harness['node']}"),
        *_installed_versions(manifest),
        ("Command", manifest["command"]),
    ]


def _installed_versions(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for each in manifest.get("versions", []):
        others = (
            f"{name} {version}"
            for name, version in each["packages"].items()
            if name != each["name"]
        )
        yield (
            f"Installed {each['name']} {each['version']}",
            ", ".join(others) or "without dependencies",
        )


def _warm_up(warmup: float | str, by_turns: bool) -> str:
    if warmup == "auto":
        return f"until the load was steady, {1.5 if by_turns else 3} to 10 s, discarded"
    return f"{warmup:g} s, discarded"


def _cool_down(plan: Mapping[str, Any]) -> str:
    between = f"{plan['cooldown_s']:g} s between runs"
    clients = (
        ""
        if plan["order"] == "interleaved"
        else f", {plan['client_cooldown_s']:g} s between clients"
    )
    return f"{between}{clients}"


def version_facts(summaries: Sequence[Summary]) -> list[tuple[str, Pairs]]:
    by_label: dict[str, dict[str, dict[str, None]]] = {}
    for summary in summaries:
        found = by_label.setdefault(summary.identity.label, {})
        for run in summary.runs:
            settings = run.measured.client_settings if run.measured else {}
            seen = [
                (_VERSIONS[part], run.versions[part]) for part in _VERSIONS if part in run.versions
            ]
            seen += list(run.measured.deciding_software.items()) if run.measured else []
            seen += [(name, _setting(value)) for name, value in sorted(settings.items())]
            for name, text in seen:
                found.setdefault(name, {})[text] = None
    return [
        (label, [(name, ", ".join(texts)) for name, texts in found.items()])
        for label, found in by_label.items()
    ]


def _setting(value: str | float | bool | None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not set" if value is None else f"{value}"


def script_calls(summaries: Sequence[Summary]) -> Table | None:
    """The proof of which scripts ran: what the stores' own command statistics counted, by
    configuration."""
    fields = varying_fields(summaries)
    rows = []
    for summary in summaries:
        measured = [run.measured for run in summary.runs if run.measured]
        counted = [each.script_calls for each in measured if each.script_calls is not None]
        calls: Counter[str] = Counter()
        for each in counted:
            calls.update(each)
        scripts = dict.fromkeys(each.limiter_script for each in measured if each.limiter_script)
        if not calls and not scripts:
            continue
        cells = (
            *named(summary.identity.label, load_text(summary.identity, fields)),
            TableCell(f"{len(counted)} of {len(measured)}", kind="number"),
            TableCell(
                calls_text(calls) if counted else "not known: no counters, or they went back"
            ),
            TableCell(
                ", ".join(f"{each.kind.upper()} {each.name_or_sha1}" for each in scripts) or ABSENT
            ),
        )
        rows.append(TableRow(summary.id, cells))
    heads = ("Calls by command", "Script, as the server named it")
    columns = (*words("Configuration", "Load"), Column("Runs"), *words(*heads))
    caption = _SCRIPTS + (_OTHERS if _external_stores(summaries) else "")
    title = "Limiter scripts, by the stores’ own count"
    return table_of("table-scripts", columns, rows, title, caption=caption) if rows else None


def environment(analysis: Analysis) -> Section:
    campaign = analysis.campaign
    rows = analysis.ordered
    links = [(link.ends, _link_text(link)) for link in machines.links_of(campaign)]
    placed = [*machines_facts(campaign), *links]
    blocks = [
        Facts("Machines of the runs, and links", tuple(placed)),
        Facts(
            "Machine of the command" if placed else "Machine", tuple(machine_facts(campaign, rows))
        ),
        Facts("Campaign", tuple(campaign_facts(campaign))),
    ]
    for label, facts in version_facts(rows):
        ids = " ".join(row.id for row in rows if row.identity.label == label)
        title = f"Versions and client settings of {label}, as seen at run time"
        blocks.append(Facts(title, tuple(facts), ids))
    scripts = script_calls(rows)
    return Section(
        "environment",
        "Environment",
        "machine, software and versions",
        tables=(scripts,) if scripts else (),
        facts=tuple(block for block in blocks if block.facts),
        notes=() if campaign.manifest else ("The machine is not known: there is no manifest.",),
    )
