"""What two sides must have in common before a comparison means anything (rules M12 and M19)."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import one_line
from ..model import Campaign
from ..summarize import Summary
from .sides import Side

#: Of the machine in the manifest; memory apart, which differs by a few bytes after a restart.
_MACHINE = ("platform", "kernel", "cpu_model", "cpus", "governor")
_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Unlike:
    """`kind` is the word that `--allow` takes."""

    kind: str
    text: str


def machine_of(campaign: Campaign) -> dict[str, Any] | None:
    """What tells machines apart; None where the campaign has no manifest."""
    if campaign.manifest is None:
        return None
    machine: Mapping[str, Any] = campaign.manifest["machine"]
    memory = {"memory_gib": round(machine["memory_bytes"] / _GIB)}
    return {**{name: machine.get(name) for name in _MACHINE}, **memory}


def runtime_of(summary: Summary) -> str:
    """Where its runs ran, with the caps: canonical JSON."""
    found = {
        json.dumps([run.runtime, summary.identity.caps], sort_keys=True)
        for run in summary.runs
        if run.measured
    }
    return " and ".join(sorted(found))


def _machine(base: Side, new: Side) -> str:
    if base.folder == new.folder:
        return ""
    one, other = machine_of(base.campaign), machine_of(new.campaign)
    if one is None or other is None:
        lacking = base if one is None else new
        return f"that of campaign {lacking.campaign.name} is not on record (it has no manifest)"
    differing = [name for name in one if one[name] != other[name]]
    return "; ".join(f"{name} is {one[name]}, then {other[name]}" for name in differing)


def _versions(summary: Summary, part: str) -> tuple[str, ...]:
    found = {run.versions[part] for run in summary.runs if run.measured and part in run.versions}
    return tuple(sorted(found))


def _store(summary: Summary) -> str:
    return " ".join([summary.identity.store_text, *_versions(summary, "store")])


def _script(summary: Summary) -> str:
    return ", ".join(sorted({script.name for script in summary.scripts})) or "none on record"


def _schema(side: Side) -> str:
    manifest = side.campaign.manifest
    return "none on record" if manifest is None else str(manifest["schema_version"])


_OF_ROWS: tuple[tuple[str, Callable[[Summary], str]], ...] = (
    ("store", _store),
    ("script", _script),
    ("topology", lambda summary: summary.identity.topology or "not known"),
    ("runtime", runtime_of),
)

#: Words that `--allow` takes.
KINDS = ("machine", "schema", *(kind for kind, _ in _OF_ROWS))


def unlike_sides(base: Side, new: Side) -> list[Unlike]:
    """What differs between the campaigns as a whole."""
    found = []
    machine = _machine(base, new)
    if machine:
        found.append(Unlike("machine", f"machine differs: {machine}"))
    one, other = _schema(base), _schema(new)
    if one != other:
        found.append(Unlike("schema", f"schema version differs: {one}, then {other}"))
    return found


def unlike_rows(base: Summary, new: Summary) -> list[Unlike]:
    """What differs between two configurations, besides what the comparison is about."""
    labels = [base.identity.label, new.identity.label]
    pair = labels[0] if labels[0] == labels[1] else f"{labels[0]}, {labels[1]}"
    return [
        Unlike(kind, f"{kind} differs ({pair}): {one_line(read(base))}, then {one_line(read(new))}")
        for kind, read in _OF_ROWS
        if read(base) != read(new)
    ]


def version_notes(base: Summary, new: Summary) -> list[str]:
    """Versions that differ and are nobody's business to refuse: often they are what is compared."""
    notes = []
    for part in ("client", "limiter", "node", "fastify", "autocannon", "harness"):
        one, other = _versions(base, part), _versions(new, part)
        same_client = base.identity.client == new.identity.client
        if one != other and one and other and (part != "client" or same_client):
            notes.append(
                f"version of {part} differs ({new.identity.label}): {', '.join(one)}, then {', '.join(other)}"
            )
    if base.identity.limiter != new.identity.limiter:
        notes.append(f"limiter differs: {base.identity.limiter}, then {new.identity.limiter}")
    return notes
