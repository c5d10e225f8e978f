"""What is kept of campaigns that measured the same thing again, for the noise between them (M32).

One file for each configuration, host, runtime and software, in `noise/` of the user's state folder, beside
the other things that are about this host and not about one results folder.
"""

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.analysis.load_text import load_text
from report.analysis.summary import Summary
from report.base.errors import ENVIRONMENT, ReportError, one_line
from report.base.files import write_all
from report.compare.comparability import machine_differences, machine_of, other_machine, runtime_of
from report.compare.metrics import METRICS, values_of
from report.results.model import Campaign
from report.statistics.variance_components import (
    MIN_CAMPAIGNS,
    VarianceComponents,
    variance_components,
)

SCHEMA = "ratelimit-bench/repeated-campaigns"
SCHEMA_VERSION = 1

#: Fewer runs that count say too little about what is within a campaign.
MIN_RUNS = 5

#: The newest that are kept: a host changes over the years.
_MOST_CAMPAIGNS = 40

#: With other versions it is another thing: campaigns before and after an update would differ for that.
_SOFTWARE = ("client", "limiter", "store", "node", "fastify", "harness")


@dataclass(frozen=True, slots=True)
class RepeatedCampaigns:
    """Campaigns that measured one configuration with one software on one host."""

    names: tuple[str, ...]
    metrics: Mapping[str, VarianceComponents]
    """Figures by metric; empty with fewer than five campaigns."""


def state_folder() -> Path:
    """The user's state folder for this project, by the XDG Base Directory rules, as the harness has it."""
    named = os.environ.get("XDG_STATE_HOME", "")
    # The XDG rules treat a relative path as unset.
    base = Path(named) if named.startswith("/") else Path.home() / ".local" / "state"
    return base / "ratelimit-bench"


def _folder() -> Path:
    return state_folder() / "noise"


def _software(summary: Summary) -> dict[str, list[str]]:
    runs = [run for run in summary.runs if run.measured]
    return {part: sorted({run.versions[part] for run in runs if part in run.versions}) for part in _SOFTWARE}


def _figures(summary: Summary) -> dict[str, list[float]]:
    """Figures by metric, where every run that counts has it."""
    found = {metric.id: list(values_of(summary, metric)) for metric in METRICS.values()}
    return {
        name: values
        for name, values in found.items()
        if len(values) == summary.counted_runs and all(0 < value < math.inf for value in values)
    }


def remember(campaign: Campaign, summary: Summary) -> RepeatedCampaigns:
    """Keeps a campaign's figures of one configuration. One that is kept already is replaced, never doubled.

    Args:
        summary: with at least `MIN_RUNS` runs that count.
    Returns:
        All campaigns of its kind so far.
    Raises:
        ReportError: exit code 3 when the state folder cannot be written, 4 when the disk is full.
    """
    kind = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "configuration_hash": summary.identity.configuration_hash,
        "machine": machine_of(campaign),
        "runtime": runtime_of(summary),
        "software": _software(summary),
    }
    name = f"{hashlib.sha256(json.dumps(kind, sort_keys=True).encode()).hexdigest()[:16]}.json"
    folder = _folder()
    kept = _read(folder / name)
    started = campaign.manifest["started_at"] if campaign.manifest else ""
    this = {"campaign": campaign.name, "started_at": started, "values": _figures(summary)}
    others = [
        each
        for each in (kept or {}).get("campaigns", [])
        if (each["campaign"], each["started_at"]) != (this["campaign"], this["started_at"])
    ]
    campaigns = sorted([*others, this], key=lambda each: each["started_at"])[-_MOST_CAMPAIGNS:]
    document = {
        **kind,
        "label": summary.identity.label,
        "load": load_text(summary.identity),
        "campaigns": campaigns,
    }
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReportError(
            f"{one_line(folder.parent)} cannot be written ({error.strerror}): set XDG_STATE_HOME to a folder "
            "that can",
            ENVIRONMENT,
        ) from error
    write_all(folder, {name: json.dumps(document, ensure_ascii=False, indent=1) + "\n"})
    return _repeated(document)


def noise_between(campaign: Campaign, summary: Summary, metric: str) -> VarianceComponents | None:
    """What is known of a configuration on a campaign's host, by the newest software that is; None: nothing.

    The software may be another one: to compare versions is what campaigns are compared for.
    """
    machine = machine_of(campaign)
    if machine is None or summary.identity.configuration_hash is None:
        return None
    found = [
        (max(each["started_at"] for each in document["campaigns"]), components)
        for document in _documents()
        if _is_of(document, machine, summary)
        and (components := _repeated(document).metrics.get(metric)) is not None
    ]
    return max(found, key=lambda each: each[0])[1] if found else None


def _is_of(document: Mapping[str, Any], machine: Mapping[str, Any], summary: Summary) -> bool:
    there = document["machine"]
    return (
        document["configuration_hash"] == summary.identity.configuration_hash
        and document["runtime"] == runtime_of(summary)
        and there is not None
        and not other_machine(there, machine)
        and not machine_differences(there, machine)
    )


def _documents() -> Iterator[dict[str, Any]]:
    """Those that can be read. Others are passed over: they cannot make a floor."""
    for path in sorted(_folder().glob("*.json")):
        document = _read(path)
        if document:
            yield document


def _read(path: Path) -> dict[str, Any] | None:
    """None where the file is not there, or not one of ours."""
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if (document["schema"], document["schema_version"]) != (SCHEMA, SCHEMA_VERSION):
            return None
        _repeated(document)
        machine = document["machine"]
        if machine is not None:
            machine_differences(machine, machine)
        str(document["configuration_hash"] + document["runtime"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return document


def _repeated(document: Mapping[str, Any]) -> RepeatedCampaigns:
    """Raises KeyError, TypeError or ValueError for a document that is not what it should be."""
    campaigns = document["campaigns"]
    metrics = {}
    for metric in METRICS:
        values: Sequence[list[float]] = [
            each["values"][metric] for each in campaigns if metric in each["values"]
        ]
        if len(values) >= MIN_CAMPAIGNS:
            metrics[metric] = variance_components(values)
    return RepeatedCampaigns(tuple(str(each["campaign"]) for each in campaigns), metrics)
