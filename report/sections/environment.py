"""Tells where and how the campaign ran, as pairs of a name and a text, and what a reader must know
about it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from report.analysis import machines
from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Summary
from report.analysis.texts import cap_text, load_text, varying_fields
from report.base.format import ABSENT, gibibytes, plural
from report.results.catalog import MEASURED_KINDS
from report.results.model import Campaign
from report.sections.disturbances import foreign_cpu_notices
from report.sections.script_text import calls_text
from report.sections.section import (
    Column,
    Properties,
    Section,
    Table,
    TableCell,
    TableRow,
    named,
    table_of,
    words,
)

#: The picture draws this many machines of a tier and links of a gap, and counts the others.
_MOST_MACHINES = 6
_MOST_LINKS = 4


class MachineBox(Struct, frozen=True):
    """One machine of the picture, with its roles and its hardware."""

    name: str
    roles: tuple[str, ...]
    properties: tuple[str, ...]


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


def _box(name: str, roles: Sequence[str], machine: Mapping[str, Any] | None) -> MachineBox:
    if machine is None:
        return MachineBox(name, machines.roles_text(roles), ())
    properties = machine.get("facts")
    cpus = (
        f"{machines.cpus_text(properties)}, {properties['cpu_model']}"
        if properties
        else plural(machine["cpus"], "CPU")
    )
    memory = f"{gibibytes(machine['memory_bytes'])} GiB"
    return MachineBox(name, machines.roles_text(roles), (f"{cpus}, {memory}", machine["engine"]))


def _more_text(count: int, noun: str) -> str:
    return f"and {plural(count, noun)} more" if count > 0 else ""


def machine_picture(campaign: Campaign) -> MachinePicture | None:
    stated = {machine["name"]: machine for machine in machines.machines_in(campaign)}
    roles = machines.roles_by_machine(machines.all_runs(campaign))
    if not roles:
        return None
    tier = {name: machines.tier_of(roles_of_machine) for name, roles_of_machine in roles.items()}
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
                more_boxes=_more_text(len(names) - _MOST_MACHINES, "machine"),
                links=tuple(onward[:_MOST_LINKS]),
                more_links=_more_text(len(onward) - _MOST_LINKS, "link"),
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
    """Names each group of machines that are one computer once."""
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


def machines_properties(campaign: Campaign) -> list[tuple[str, str]]:
    def text(machine: Mapping[str, Any]) -> str:
        index = machines.index_text(machine.get("facts", {}))
        system = (machine["operating_system"], machine["kernel"], index)
        return "; ".join(filter(None, (*_box("", (), machine).properties, *system)))

    return [(machine["name"], text(machine)) for machine in machines.machines_in(campaign)]


Pairs = list[tuple[str, str]]

_SCRIPTS = (
    "Scripts that ran without an error, from the command statistics of all nodes. All measured runs count, "
    "with their warm-ups, invalid runs too."
)
_OTHER_USERS = " A store that already ran counts the calls of its other users too."

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
        {
            identity.store
            for identity in identities
            if identity.external_store and identity.store is not None
        }
    )


def external_notices(summaries: Sequence[Summary]) -> list[str]:
    return [
        f"The store {store} already ran before this campaign. It was not emptied and its statistics were not "
        "reset; it may hold other keys and serve others. Its rows are not compared with rows on a store that "
        "was started for the run."
        for store in _external_stores(summaries)
    ]


#: At most so many excluded files are named, and the others are counted.
_MAX_NAMED = 100


def campaign_notices(campaign: Campaign) -> tuple[str, ...]:
    unnamed = len(campaign.excluded) - _MAX_NAMED
    skipped_series = campaign.series_left_out
    series_notice = (
        f"The per-second series of {skipped_series:,} selected runs are left out: "
        "there are too many to show."
    )
    return (
        *foreign_cpu_notices(campaign),
        *(f"Excluded: {entry}." for entry in campaign.excluded[:_MAX_NAMED]),
        *([f"Excluded: {unnamed:,} more files; the command names each."] if unnamed > 0 else []),
        *([series_notice] if skipped_series else []),
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


def container_properties(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Describes engine, caps and images; empty for a campaign without containers.

    These are the requested caps, while the results say which were applied to each role."""
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


def machine_properties(campaign: Campaign, summaries: Sequence[Summary]) -> Pairs:
    """Describes the host and the runtime, without the properties that could not be read.

    The list is empty for a campaign without a manifest."""
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
        *((name, text) for name, text in optional.items() if text is not None),
        *sorted(machine["sysctl"].items()),
        (
            "Runtime",
            f"{runtime['id']}, {'caps applied' if runtime['caps_applied'] else 'no caps applied'}",
        ),
        *container_properties(manifest),
        *(
            _store_fact(store, binary, external)
            for store, binary in sorted(manifest["stores"].items())
        ),
        ("Load generator", plural(manifest["generator"]["workers"], "worker")),
    ]


def _runs(plan: Mapping[str, Any]) -> str:
    """How many runs a configuration has: `3`, or `5 to 20, as many as it took,`."""
    max_runs = plan["runs_per_configuration"]
    adaptive = plan.get("adaptive")
    return (
        f"{adaptive['looks'][0]} to {max_runs}, as many as it took," if adaptive else str(max_runs)
    )


def _spare_round(manifest: Mapping[str, Any]) -> str:
    spare = manifest.get("spare_round")
    if spare is None:
        return ""
    rounds = ", ".join(map(str, spare["replaces"]))
    return f"; round {spare['round']} is the spare round, for invalid runs in {rounds}"


def campaign_properties(campaign: Campaign) -> Pairs:
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
        (
            "Runs",
            f"{_runs(plan)} per configuration, {plan['order']}, seed {plan['seed']}"
            f"{_spare_round(manifest)}",
        ),
        ("Warm-up", _warm_up(plan["warmup_s"])),
        ("Cool-down", _cool_down(plan)),
        ("Harness", f"ratelimit-bench {harness['version']}{revision}, Node.js {harness['node']}"),
        *_installed_versions(manifest),
        *_apps(manifest),
        ("Command", manifest["command"]),
    ]


def _installed_versions(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for installed in manifest.get("versions", []):
        dependencies = (
            f"{name} {version}"
            for name, version in installed["packages"].items()
            if name != installed["name"]
        )
        yield (
            f"Installed {installed['name']} {installed['version']}",
            ", ".join(dependencies) or "without dependencies",
        )


def _apps(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What each app is, and the commit that it was started from."""
    for name, app in manifest.get("apps", {}).items():
        commit = f", commit {app['revision']}" if "revision" in app else ""
        yield f"App {name}", f"{app['command']}{commit}"


def _warm_up(warmup: float | str) -> str:
    if warmup == "auto":
        return "until the load was steady, up to 10 s of each target, discarded"
    return f"{warmup:g} s, discarded"


def _cool_down(plan: Mapping[str, Any]) -> str:
    between = f"{plan['cooldown_s']:g} s between runs"
    clients = (
        ""
        if plan["order"] == "interleaved"
        else f", {plan['client_cooldown_s']:g} s between clients"
    )
    return f"{between}{clients}"


def version_properties(summaries: Sequence[Summary]) -> list[tuple[str, Pairs]]:
    by_label: dict[str, dict[str, dict[str, None]]] = {}
    for summary in summaries:
        texts_by_name = by_label.setdefault(summary.identity.label, {})
        for run in summary.runs:
            settings = run.measured.client_settings if run.measured else {}
            versions_and_settings = [
                (_VERSIONS[part], run.versions[part]) for part in _VERSIONS if part in run.versions
            ]
            versions_and_settings += (
                list(run.measured.deciding_software.items()) if run.measured else []
            )
            versions_and_settings += [
                (name, _setting(value)) for name, value in sorted(settings.items())
            ]
            for name, text in versions_and_settings:
                texts_by_name.setdefault(name, {})[text] = None
    return [
        (label, [(name, ", ".join(texts)) for name, texts in texts_by_name.items()])
        for label, texts_by_name in by_label.items()
    ]


def _setting(value: str | float | bool | None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not set" if value is None else f"{value}"


def script_calls(summaries: Sequence[Summary]) -> Table | None:
    """Proves which scripts ran, by what the command statistics of the stores counted for each
    configuration; None where neither calls nor scripts are on record."""
    fields = varying_fields(summaries)
    rows = []
    for summary in summaries:
        measured = [run.measured for run in summary.runs if run.measured]
        counted = [figures.script_calls for figures in measured if figures.script_calls is not None]
        calls: Counter[str] = Counter()
        for script_calls in counted:
            calls.update(script_calls)
        scripts = dict.fromkeys(
            figures.limiter_script for figures in measured if figures.limiter_script
        )
        if not calls and not scripts:
            continue
        cells = (
            *named(summary.identity.label, load_text(summary.identity, fields)),
            TableCell(f"{len(counted)} of {len(measured)}", kind="number"),
            TableCell(
                calls_text(calls) if counted else "not known: no counters, or they went back"
            ),
            TableCell(
                ", ".join(f"{script.kind.upper()} {script.name_or_sha1}" for script in scripts)
                or ABSENT
            ),
        )
        rows.append(TableRow(summary.id, cells))
    heads = ("Calls by command", "Script, as the server named it")
    columns = (*words("Configuration", "Load"), Column("Runs"), *words(*heads))
    caption = _SCRIPTS + (_OTHER_USERS if _external_stores(summaries) else "")
    title = "Limiter scripts, by the stores’ own count"
    return table_of("table-scripts", columns, rows, title, caption=caption) if rows else None


def environment(analysis: Analysis) -> Section:
    campaign = analysis.campaign
    rows = analysis.ordered
    links = [(link.ends, _link_text(link)) for link in machines.links_of(campaign)]
    placed = [*machines_properties(campaign), *links]
    blocks = [
        Properties("Machines of the runs, and links", tuple(placed)),
        Properties(
            "Machine of the command" if placed else "Machine",
            tuple(machine_properties(campaign, rows)),
        ),
        Properties("Campaign", tuple(campaign_properties(campaign))),
    ]
    for label, version_pairs in version_properties(rows):
        ids = " ".join(row.id for row in rows if row.identity.label == label)
        title = f"Versions and client settings of {label}, as seen at run time"
        blocks.append(Properties(title, tuple(version_pairs), ids))
    scripts = script_calls(rows)
    return Section(
        "environment",
        "Environment",
        "machine, software and versions",
        tables=(scripts,) if scripts else (),
        properties=tuple(block for block in blocks if block.properties),
        notes=() if campaign.manifest else ("The machine is not known: there is no manifest.",),
    )
