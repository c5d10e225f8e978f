"""Where and how the campaign ran, as pairs of a name and a text."""

from collections.abc import Mapping, Sequence
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.load_text import cap_text
from report.analysis.machines import cpus_text, hardware_texts, index_text
from report.analysis.summary import Summary
from report.base.format import gibibytes, plural
from report.results.model import MEASURED_KINDS, Campaign
from report.sections.machines import link_facts, machines_facts
from report.sections.script_calls import script_calls
from report.sections.section import Facts, Section

Pairs = list[tuple[str, str]]

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
    used = {summary.identity.store for summary in summaries if summary.identity.external_store}
    return sorted(store for store in used if store is not None)


def external_notices(summaries: Sequence[Summary]) -> list[str]:
    return [
        f"The store {store} already ran before this campaign. It was not emptied and its statistics were not "
        "reset; it may hold other keys and serve others. Its rows are not compared with rows on a store that "
        "was started for the run."
        for store in _external_stores(summaries)
    ]


def _store_fact(store: str, binary: dict[str, Any], external: Sequence[str]) -> tuple[str, str]:
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
    """Empty for a campaign without containers. What was really applied to each role stands in the results."""
    engine = manifest.get("engine")
    if engine is None:
        return []
    caps = manifest["runtime"].get("caps", {})
    return [
        ("Engine", f"{engine['name']} {engine['version']}, API {engine['api_version']}"),
        (
            "Engine's host",
            f"{engine['operating_system']}, {engine['kernel']}, {plural(engine['cpus'], 'core')}, "
            f"{gibibytes(engine['memory_bytes'])} GiB, control groups version {engine['cgroup_version']}",
        ),
        *((_CAPS[kind], cap_text(caps[kind])) for kind in MEASURED_KINDS if kind in caps),
        *(
            (
                f"Image {name}",
                f"{image['name']} {image.get('digest', image['id'])}"
                + ("" if image.get("pinned", True) else ", not pinned"),
            )
            for name, image in sorted(manifest.get("images", {}).items())
        ),
    ]


def machine_facts(campaign: Campaign, summaries: Sequence[Summary]) -> Pairs:
    """The host and the runtime; empty without a manifest. What could not be read is not there."""
    if campaign.manifest is None:
        return []
    manifest, machine, runtime = (
        campaign.manifest,
        campaign.manifest["machine"],
        campaign.manifest["runtime"],
    )
    external = _external_stores(summaries)
    facts: Pairs = [
        ("CPU", f"{machine['cpu_model']}, {cpus_text(machine)}"),
        *((f"{name[0].upper()}{name[1:]}", text) for name, text in hardware_texts(machine).items()),
        ("Memory", f"{gibibytes(machine['memory_bytes'])} GiB"),
        ("Kernel", f"{machine['platform']} {machine['kernel']}"),
    ]
    optional = (
        ("governor", "CPU governor"),
        ("machine_id", "Machine"),
        ("open_files_limit", "Open files limit"),
    )
    facts += [(name, machine[key]) for key, name in optional if key in machine]
    facts += [("Index of the machine", text)] if (text := index_text(machine)) else []
    facts += sorted(machine["sysctl"].items())
    facts += [
        ("Runtime", f"{runtime['id']}, {'caps applied' if runtime['caps_applied'] else 'no caps applied'}"),
        *container_facts(manifest),
        *(_store_fact(store, binary, external) for store, binary in sorted(manifest["stores"].items())),
        ("Load generator", plural(manifest["generator"]["workers"], "worker")),
    ]
    return facts


def _runs(plan: Mapping[str, Any]) -> str:
    """`3`, or `5 to 20, as many as it took,`."""
    most = plan["runs_per_configuration"]
    adaptive = plan.get("adaptive")
    return f"{adaptive['looks'][0]} to {most}, as many as it took," if adaptive else str(most)


def campaign_facts(campaign: Campaign) -> Pairs:
    if campaign.manifest is None:
        return [("Campaign", campaign.name)]
    manifest, plan = campaign.manifest, campaign.manifest["plan"]
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


def _installed_versions(manifest: Mapping[str, Any]) -> Pairs:
    return [
        (
            f"Installed {each['name']} {each['version']}",
            ", ".join(
                f"{name} {version}" for name, version in each["packages"].items() if name != each["name"]
            )
            or "without dependencies",
        )
        for each in manifest.get("versions", [])
    ]


def _warm_up(warmup: float | str, by_turns: bool) -> str:
    if warmup == "auto":
        return f"until the load was steady, {1.5 if by_turns else 3} to 10 s, discarded"
    return f"{warmup:g} s, discarded"


def _cool_down(plan: dict[str, Any]) -> str:
    between = f"{plan['cooldown_s']:g} s between runs"
    return (
        between
        if plan["order"] == "interleaved"
        else f"{between}, {plan['client_cooldown_s']:g} s between clients"
    )


def version_facts(summaries: Sequence[Summary]) -> list[tuple[str, Pairs]]:
    by_label: dict[str, dict[str, list[str]]] = {}
    for summary in summaries:
        found = by_label.setdefault(summary.identity.label, {})
        for run in summary.runs:
            settings = run.measured.client_settings if run.measured else {}
            seen = [(_VERSIONS[part], run.versions[part]) for part in _VERSIONS if part in run.versions]
            seen += list(run.measured.deciding_software.items()) if run.measured else []
            seen += [(name, _setting(value)) for name, value in sorted(settings.items())]
            for name, text in seen:
                texts = found.setdefault(name, [])
                if text not in texts:
                    texts.append(text)
    return [
        (label, [(name, ", ".join(texts)) for name, texts in found.items()])
        for label, found in by_label.items()
    ]


def _setting(value: str | float | bool | None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "not set" if value is None else f"{value}"


def environment(analysis: Analysis) -> Section:
    campaign, rows = analysis.campaign, analysis.ordered
    placed = [*machines_facts(campaign), *link_facts(campaign)]
    by_label: dict[str, list[str]] = {}
    for row in rows:
        by_label.setdefault(row.identity.label, []).append(row.id)
    blocks = [
        Facts("Machines of the runs, and links", tuple(placed)),
        Facts("Machine of the command" if placed else "Machine", tuple(machine_facts(campaign, rows))),
        Facts("Campaign", tuple(campaign_facts(campaign))),
        *(
            Facts(
                f"Versions and client settings of {label}, as seen at run time",
                tuple(facts),
                " ".join(by_label[label]),
            )
            for label, facts in version_facts(rows)
        ),
    ]
    scripts = script_calls(rows, bool(external_notices(rows)))
    return Section(
        "environment",
        "Environment",
        "machine, software and versions",
        tables=(scripts,) if scripts else (),
        facts=tuple(block for block in blocks if block.facts),
        notes=() if campaign.manifest else ("The machine is not known: there is no manifest.",),
    )
