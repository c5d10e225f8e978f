"""A campaign reduced to what is compared with others, so that many fit into memory."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from report.analysis.figures import FIGURES, server_cpu
from report.analysis.summary import Summary, row_order
from report.base.errors import one_line
from report.compare.common_reference import Thing, ratios_to, references_of
from report.results.model import Campaign, Excluded, Identity, Run
from report.sections.environment import machine_facts
from report.statistics.runs import Spread

Facts = tuple[tuple[str, str], ...]

#: What all rows of a campaign share; client, limiter and store are versions of a row.
_SHARED_VERSIONS = {
    "node": "Node.js",
    "fastify": "Fastify",
    "autocannon": "autocannon",
    "harness": "ratelimit-bench",
}
_ROW_VERSIONS = ("client", "limiter", "store")

#: Facts about a machine that describe what was measured, not where. Rows and versions have them already.
_NOT_ENVIRONMENT = ("Store ", "Image ")


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRow:
    """A configuration of one campaign; figures of its median run, None where there is none, or the target
    failed its load in it. `values` are those of all runs that count, by the name of the figure: what ratios
    between campaigns are of."""

    identity: Identity
    requests_per_second: float | None
    spread: Spread | None
    p50_ms: float | None
    p99_ms: float | None
    p99_supported: bool
    server_cpu_us: float | None
    calls_per_request: float | None
    descriptors_per_call: float | None
    values: Mapping[str, tuple[float, ...]]
    ratios: Mapping[Thing, Mapping[str, tuple[float, ...]]]
    """By reference, and by the name of the figure: this row's ÷ the reference's, by round."""
    valid_runs: int
    served_runs: int
    spoiled_runs: int
    planned_runs: int
    verdict: str | None
    versions: Mapping[str, str]
    """Of client, limiter and store as seen in its runs; several of one part with a comma between."""
    no_figures_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignRecord:
    """`environment` is machine and runtime, `software` what all rows share, each as names and texts."""

    name: str
    """Of its folder: no two beside each other share it."""
    campaign: str
    folder: Path
    started_at: str
    status: str
    environment: Facts
    software: Facts
    rows: tuple[CampaignRow, ...]
    runs: int
    valid_runs: int
    by_hand: int
    """Rows without a configuration's hash: they cannot be matched with any other."""
    unranked: int
    """Configurations that are in no table of speed: with faults, and of foreign programs."""
    excluded: tuple[Excluded, ...]

    @property
    def order(self) -> tuple[str, str]:
        return (self.started_at, self.name)


def _versions(summaries: Iterable[Summary]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for summary in summaries:
        for run in summary.runs:
            for part, version in run.versions.items():
                found.setdefault(part, set()).add(version)
    return {part: ", ".join(sorted(versions)) for part, versions in sorted(found.items())}


def _environment(campaign: Campaign, summaries: tuple[Summary, ...]) -> Facts:
    """Without a manifest the machine is not known: such a campaign is like no other."""
    facts = machine_facts(campaign, summaries)
    environment = tuple(fact for fact in facts if not fact[0].startswith(_NOT_ENVIRONMENT))
    return environment or (("Machine", f"not known ({campaign.name})"), *_runtimes(summaries))


def _runtimes(summaries: Iterable[Summary]) -> Facts:
    found = sorted({summary.runtime for summary in summaries if summary.runtime})
    return (("Runtime", ", ".join(found)),) if found else ()


def _row(summary: Summary, every: Sequence[Summary], manifest: Mapping[str, Any] | None) -> CampaignRow:
    figures = summary.figures
    versions = _versions([summary])
    stores = manifest["stores"] if manifest else {}
    if "store" in versions and stores.get(summary.identity.store_program, {}).get("embedded"):
        # Another build of the same version.
        versions["store"] += " embedded"
    return CampaignRow(
        identity=summary.identity,
        requests_per_second=figures.requests_per_second if figures else None,
        spread=summary.spread,
        p50_ms=figures.percentiles_ms.get("p50") if figures else None,
        p99_ms=figures.percentiles_ms.get("p99") if figures else None,
        p99_supported=bool(figures and "p99" not in figures.unsupported),
        server_cpu_us=server_cpu(figures) if figures else None,
        calls_per_request=figures.record.calls_per_request if figures else None,
        descriptors_per_call=figures.record.descriptors_per_call if figures else None,
        values={name: summary.sample(figure) for name, figure in FIGURES.items()},
        ratios={
            thing: {name: ratios_to(reference, summary, figure) for name, figure in FIGURES.items()}
            for thing, reference in references_of(summary, every).items()
        },
        valid_runs=summary.valid_runs,
        served_runs=summary.served_runs,
        spoiled_runs=summary.spoiled_runs,
        planned_runs=len(summary.runs) + len(summary.missing),
        verdict=summary.verdict,
        versions={part: versions[part] for part in _ROW_VERSIONS if part in versions},
        no_figures_reason=summary.no_figures_reason,
    )


def _unranked(campaign: Campaign) -> tuple[Run, ...]:
    return (*campaign.operations, *campaign.fault_runs)


def record_of(campaign: Campaign, summaries: tuple[Summary, ...], folder: Path) -> CampaignRecord:
    versions = _versions(summaries)
    manifest = campaign.manifest
    known = [summary for summary in summaries if summary.identity.configuration_hash]
    runs = (*campaign.runs, *_unranked(campaign))
    every = (*runs, *campaign.diagnoses, *campaign.set_aside)
    return CampaignRecord(
        name=one_line(folder.name),
        campaign=campaign.name,
        folder=folder,
        started_at=manifest["started_at"] if manifest else min(run.record.started_at for run in every),
        status=manifest["status"] if manifest else "no manifest",
        environment=_environment(campaign, summaries),
        software=tuple((name, versions[part]) for part, name in _SHARED_VERSIONS.items() if part in versions),
        rows=tuple(
            _row(summary, summaries, manifest)
            for summary in sorted(known, key=lambda row: row_order(row.identity))
        ),
        runs=len(runs),
        valid_runs=sum(summary.valid_runs for summary in summaries)
        + sum(run.verdict != "invalid" and run.failure is None for run in _unranked(campaign)),
        by_hand=len(summaries) - len(known),
        unranked=len({run.identity.key for run in _unranked(campaign)}),
        excluded=campaign.excluded,
    )


def store_notices(campaigns: Sequence[CampaignRecord]) -> tuple[str, ...]:
    """A sentence for each store of which campaigns ran several versions: which, in which runtime, where."""
    found: dict[str, dict[str, dict[str, list[str]]]] = {}
    for campaign in campaigns:
        runtime = dict(campaign.environment).get("Runtime", "runtime not known").split(",")[0]
        for row in campaign.rows:
            if row.identity.store and "store" in row.versions:
                by_version = found.setdefault(row.identity.store_text, {})
                names = by_version.setdefault(row.versions["store"], {}).setdefault(runtime, [])
                if campaign.name not in names:
                    names.append(campaign.name)
    notices = []
    for store, by_version in found.items():
        if len(by_version) > 1:
            texts = [
                f"{version} ({'; '.join(_where(runtime, names) for runtime, names in by_runtime.items())})"
                for version, by_runtime in by_version.items()
            ]
            notices.append(
                f"These campaigns did not all run the same {store}: {'; '.join(texts)}. "
                "Their figures differ for that reason too, and no ratio is made of them."
            )
    return tuple(notices)


def _where(runtime: str, names: Sequence[str]) -> str:
    """`local, 20260102_030405`, `docker, 20260102_030405 and 3 more`."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{runtime}, {names[-1]}{more}"


def differences(ours: Facts, theirs: Facts) -> list[str]:
    """How two environments differ: `CPU: A, there B`."""
    one, other = dict(ours), dict(theirs)
    return [
        f"{name}: {one.get(name, 'not known')}, there {other.get(name, 'not known')}"
        for name in dict.fromkeys([*one, *other])
        if one.get(name) != other.get(name)
    ]
