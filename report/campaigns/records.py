"""A campaign reduced to what is compared with others, so that many fit into memory, and all of their rows as
one long table with the columns that only several campaigns can have."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from report.analysis.figures import FIGURES, calls_per_request, descriptors_per_call, throughput
from report.analysis.summary import Summary, row_order
from report.analysis.texts import load_text
from report.base.csv_text import Cell, csv_number, picked, records_csv
from report.base.errors import one_line
from report.compare.comparability import PART_NAMES
from report.compare.matching import ratios_to, references_of
from report.export.tables_csv import LATER_DIMENSIONS
from report.results.model import Campaign, Excluded
from report.sections.environment import machine_facts
from report.statistics.decision import compare_runs

Facts = tuple[tuple[str, str], ...]

Record = dict[str, Any]
"""A configuration of one campaign; medians over its runs, None where no run counts, or the target typically
failed its load."""

#: Of a record, in no file: `values` are figures of all runs that count, by the name of the figure; `ratios`,
#: by reference, those of this row by the reference's, by round; `history` numbers what is of one history.
_INTERNAL = ("identity", "group_text", "store_version", "values", "ratios", "history")
#: Figures whose range is at the end: that of throughput stands beside it.
_RANGED = tuple(name for name in FIGURES if name != "requests_per_second")
_TO_BASELINE = tuple(f"{name}_to_baseline" for name in FIGURES)

#: What all rows of a campaign share; client, limiter and store are versions of a row.
_SHARED_VERSIONS = {part: PART_NAMES.get(part, part) for part in ("node", "fastify", "autocannon", "harness")}

#: Facts about a machine that describe what was measured, not where. Rows and versions have them already.
_NOT_ENVIRONMENT = ("Store ", "Image ")


class CampaignRecord(Struct, frozen=True, kw_only=True):
    """`environment` is machine and runtime, `software` what all rows share, each as names and texts."""

    name: str
    """Of its folder: no two beside each other share it."""
    campaign: str
    folder: Path
    started_at: str
    status: str
    environment: Facts
    software: Facts
    rows: tuple[Record, ...]
    runs: int
    valid_runs: int
    counted_runs: int
    """Valid and suspect ones, and those in which the target failed its load."""
    by_hand: int
    """Rows without a configuration's hash: they cannot be matched with any other."""
    unranked: int
    """Configurations that are in no table of speed: with faults, and of foreign programs."""
    excluded: tuple[Excluded, ...]

    @property
    def order(self) -> tuple[str, str]:
        return (self.started_at, self.name)


def _versions(summaries: Iterable[Summary]) -> dict[str, str]:
    """Several of one part with a comma between."""
    seen = {item for summary in summaries for run in summary.runs for item in run.versions.items()}
    found: dict[str, list[str]] = {}
    for part, version in sorted(seen):
        found.setdefault(part, []).append(version)
    return {part: ", ".join(versions) for part, versions in found.items()}


def _environment(campaign: Campaign, summaries: Sequence[Summary]) -> Facts:
    """Without a manifest the machine is not known: such a campaign is like no other."""
    facts = machine_facts(campaign, summaries)
    environment = tuple(fact for fact in facts if not fact[0].startswith(_NOT_ENVIRONMENT))
    runtimes = ", ".join(sorted({summary.runtime for summary in summaries if summary.runtime}))
    unknown = (("Machine", f"not known ({campaign.name})"), *([("Runtime", runtimes)] if runtimes else []))
    return environment or unknown


def _row(summary: Summary, every: Sequence[Summary], manifest: Mapping[str, Any]) -> Record:
    identity, spread = summary.identity, summary.spread
    found = {name: summary.figure_of(figure) for name, figure in FIGURES.items()}
    shown = {name: each.value for name, each in found.items()}
    versions = _versions([summary])
    if "store" in versions and manifest["stores"].get(identity.store_program, {}).get("embedded"):
        # Another build of the same version.
        versions["store"] += " embedded"
    parts = [part for part in ("client", "limiter", "store") if part in versions]
    return {
        # What others have to say is filled in by `records_of`.
        **dict.fromkeys(("campaign", "started_at", "place", "group")),
        **picked(identity, "configuration_hash", "label", "store", "topology", "workload", "traffic"),
        "load": load_text(identity),
        "control": identity.control,
        "valid_runs": summary.valid_runs,
        "planned_runs": len(summary.runs) + len(summary.missing),
        "verdict": summary.verdict,
        "requests_per_second": shown["requests_per_second"],
        "requests_per_second_min": spread.min if spread else None,
        "requests_per_second_max": spread.max if spread else None,
        "requests_per_second_cv_percent": spread.cv_percent if spread else None,
        "latency_p50_ms": shown["latency_p50_ms"],
        "latency_p99_ms": shown["latency_p99_ms"],
        "latency_p99_supported": summary.has_figures and not found["latency_p99_ms"].few_samples,
        "server_cpu_us_per_request": shown["server_cpu_us_per_request"],
        "versions": ", ".join(f"{part} {versions[part]}" for part in parts),
        "software": None,
        "hole": summary.no_figures_reason,
        **dict.fromkeys(("highest_to_lowest", "versions_changed", *_TO_BASELINE)),
        # What reads columns by their place goes on working: later ones come last.
        "layer": identity.layer,
        "servers": identity.counts["servers"],
        "calls_per_request": summary.figure_of(calls_per_request).value,
        "descriptors_per_call": summary.figure_of(descriptors_per_call).value,
        **picked(summary, "served_runs", "spoiled_runs"),
        **{name: identity.counts[name] for name in LATER_DIMENSIONS},
        **{
            f"{name}_{end}": getattr(found[name], member)
            for name in _RANGED
            for end, member in (("min", "low"), ("max", "high"))
        },
        "latency_p99_merged": found["latency_p99_ms"].merged,
        "suspect_runs": summary.suspect_runs,
        "identity": identity,
        "group_text": summary.group_text,
        "store_version": versions.get("store"),
        "values": {name: summary.sample(figure) for name, figure in FIGURES.items()},
        "ratios": {
            thing: {name: ratios_to(reference, summary, figure) for name, figure in FIGURES.items()}
            for thing, reference in references_of(summary, every).items()
        },
    }


def record_of(campaign: Campaign, summaries: Sequence[Summary], folder: Path) -> CampaignRecord:
    versions, manifest = _versions(summaries), campaign.manifest
    known = [summary for summary in summaries if summary.identity.configuration_hash]
    known.sort(key=lambda row: row_order(row.identity))
    unranked = [run for run in campaign.counted if not run.identity.ranked]
    every = (*campaign.counted, *campaign.beside)
    return CampaignRecord(
        name=one_line(folder.name),
        campaign=campaign.name,
        folder=folder,
        started_at=manifest["started_at"] if manifest else min(run.record.started_at for run in every),
        status=manifest["status"] if manifest else "no manifest",
        environment=_environment(campaign, summaries),
        software=tuple((name, versions[part]) for part, name in _SHARED_VERSIONS.items() if part in versions),
        rows=tuple(_row(summary, summaries, manifest or {"stores": {}}) for summary in known),
        runs=len(campaign.counted),
        valid_runs=sum(summary.valid_runs for summary in summaries)
        + sum(run.verdict == "valid" and run.failure is None for run in unranked),
        counted_runs=sum(summary.counted_runs for summary in summaries)
        + sum(run.verdict != "invalid" and run.failure is None for run in unranked),
        by_hand=len(summaries) - len(known),
        unranked=len({run.identity.key for run in unranked}),
        excluded=campaign.excluded,
    )


def store_notices(campaigns: Sequence[CampaignRecord]) -> tuple[str, ...]:
    """A sentence for each store of which campaigns ran several versions: which, in which runtime, where."""
    found: dict[str, dict[str, dict[str, dict[str, None]]]] = {}
    for campaign in campaigns:
        runtime = dict(campaign.environment).get("Runtime", "runtime not known").split(",")[0]
        for row in campaign.rows:
            if row["store"] and row["store_version"]:
                by_version = found.setdefault(row["identity"].store_text, {})
                by_version.setdefault(row["store_version"], {}).setdefault(runtime, {})[campaign.name] = None
    return tuple(
        f"These campaigns did not all run the same {store}: "
        f"{'; '.join(f'{version} ({_where(places)})' for version, places in by_version.items())}. "
        "Their figures differ for that reason too, and no ratio is made of them."
        for store, by_version in found.items()
        if len(by_version) > 1
    )


def _where(names: Mapping[str, Iterable[str]]) -> str:
    """By runtime: `local, 20260102_030405; docker, 20260102_030405 and 3 more`."""
    places = ((f"{runtime}, {list(each)[-1]}", len(list(each)) - 1) for runtime, each in names.items())
    return "; ".join(f"{newest} and {more} more" if more else newest for newest, more in places)


def differences(ours: Facts, theirs: Facts) -> str:
    """How two environments differ: `CPU: A, there B`."""
    one, other = dict(ours), dict(theirs)
    return "; ".join(
        f"{name}: {one.get(name, 'not known')}, there {other.get(name, 'not known')}"
        for name in dict.fromkeys([*one, *other])
        if one.get(name) != other.get(name)
    )


def _numbers(facts: Iterable[Any]) -> dict[Any, int]:
    return {each: number for number, each in enumerate(dict.fromkeys(facts), start=1)}


def group_numbers(campaigns: Sequence[CampaignRecord]) -> dict[tuple[Facts, Facts], int]:
    return _numbers((campaign.environment, campaign.software) for campaign in campaigns)


def _ratio(name: str, new: Record, base: Record) -> float | None:
    """The one estimate of a ratio (rule M28), through their common reference where they have one (rule M22);
    None below two runs, or rounds, per side."""
    thing = next((each for each in base["ratios"] if each in new["ratios"]), None)
    sides = [row["values"] if thing is None else row["ratios"][thing] for row in (new, base)]
    return compare_runs(sides[0][name], sides[1][name]).ratio


def ranked(record: Record) -> float | None:
    """A throughput as it is ranked: the worst where the target typically failed its load (M24)."""
    value: float | None = record["requests_per_second"]
    return throughput.worst if value is None and record["spoiled_runs"] else value


def _highest_to_lowest(rows: Sequence[Record]) -> float | None:
    """Of what is alike, the campaign with the highest median throughput to that with the lowest; None if the
    lowest failed its load."""
    known = [(value, row) for row in rows if (value := ranked(row)) is not None]
    ordered = [row for _, row in sorted(known, key=lambda each: each[0])]
    return _ratio("requests_per_second", ordered[-1], ordered[0]) if len(ordered) > 1 else None


def records_of(campaigns: Sequence[CampaignRecord], baseline: str | None) -> list[Record]:
    """One for each campaign and configuration, histories together and in order of time."""
    groups, places = group_numbers(campaigns), _numbers(campaign.environment for campaign in campaigns)
    alike: dict[Any, list[Record]] = {}
    histories: dict[Any, list[Record]] = {}
    for campaign in campaigns:
        shared = {
            "campaign": campaign.name,
            "started_at": campaign.started_at,
            "place": places[campaign.environment],
            "group": groups[campaign.environment, campaign.software],
            "software": ", ".join(f"{name} {version}" for name, version in campaign.software),
        }
        for row in campaign.rows:
            record, key = row | shared, row["identity"].key
            alike.setdefault((record["group"], key, row["versions"]), []).append(record)
            # Versions may change in a history, and are marked.
            histories.setdefault((record["place"], key), []).append(record)
    for rows in alike.values():
        spread, base = _highest_to_lowest(rows), [row for row in rows if row["campaign"] == baseline]
        for row in rows:
            row["highest_to_lowest"] = spread
            for name, column in zip(FIGURES, _TO_BASELINE, strict=True):
                row[column] = _ratio(name, row, base[-1]) if base else None
    for number, members in enumerate(histories.values()):
        for before, row in zip([members[0], *members], members, strict=False):
            row["history"] = number
            row["versions_changed"] = any(before[name] != row[name] for name in ("software", "versions"))
    return [record for members in histories.values() for record in members]


def published(records: Iterable[Record], baseline: str | None) -> list[Record]:
    hidden = {*_INTERNAL, *(_TO_BASELINE if baseline is None else ())}
    return [{name: value for name, value in each.items() if name not in hidden} for each in records]


_DIGITS = {
    **dict.fromkeys((f"requests_per_second{end}" for end in ("", "_min", "_max", "_cv_percent")), 2),
    **dict.fromkeys((f"{name}{end}" for name in _RANGED for end in ("", "_min", "_max")), 3),
    **dict.fromkeys(("calls_per_request", "descriptors_per_call"), 3),
    "highest_to_lowest": 4,
    **dict.fromkeys(_TO_BASELINE, 6),
}


def _cell(name: str, value: Any) -> Cell:
    cell: Cell = str(value).lower() if isinstance(value, bool) else value
    return csv_number(value, _DIGITS[name]) if name in _DIGITS else cell


def compare_csv(records: Sequence[Record], baseline: str | None) -> str:
    rows = published(records, baseline)
    return records_csv({name: _cell(name, value) for name, value in row.items()} for row in rows)
