"""Converts the plan of a validated manifest to the model."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import convert

from report.results import model
from report.results.generated import records
from report.results.identities import identity_of
from report.results.older_rankings import older_rankings
from report.results.validate import Document
from report.statistics.samples import Place


def _requested_runs(manifest: Document, references: frozenset[str]) -> list[Mapping[str, Any]]:
    """The planned runs, of which an adaptive campaign has requested only some.

    Runs that only stand beside the others of a group do not count if no other run of the group was
    requested."""
    rounds: dict[str, int] = manifest.get("adaptive", {}).get("rounds", {})
    by_turns = manifest["plan"]["order"] == "turns"

    def is_uncompared(entry: Mapping[str, Any]) -> bool:
        is_reference = entry["configuration_hash"] in references
        return "beside" in entry or ("group" in entry and not by_turns and is_reference)

    def number(entry: Mapping[str, Any]) -> int:
        return int(entry.get("round", entry["run"]))

    requested = [
        entry
        for entry in manifest["plan"]["runs"]
        if number(entry) <= rounds.get(entry["configuration_hash"], number(entry))
    ]
    compared_places = {
        (number(entry), entry.get("group")) for entry in requested if not is_uncompared(entry)
    }
    return [
        entry
        for entry in requested
        if not is_uncompared(entry) or (number(entry), entry.get("group")) in compared_places
    ]


def planned_of(manifest: Document) -> tuple[model.Planned, ...]:
    """The configurations of the plan of a validated manifest, in its order.

    If the campaign found out how many runs it needs, the plan holds the largest number, and runs
    that were not requested do not count as planned."""
    plan = manifest["plan"]
    references = frozenset(plan.get("references", ()))
    runs: dict[str, list[int]] = {}
    places: dict[str, dict[int, Place]] = {}
    diagnosed = {entry["configuration_hash"] for entry in plan["runs"] if entry.get("diagnose")}
    for entry in _requested_runs(manifest, references):
        if entry.get("diagnose"):
            continue
        key = entry["configuration_hash"]
        run = entry["run"]
        runs.setdefault(key, []).append(run)
        if "round" in entry:
            places.setdefault(key, {})[run] = (entry["round"], entry.get("group", 1))

    return tuple(
        model.Planned(
            identity=identity_of(
                convert(entry["configuration"], records.Configuration),
                entry["hash"],
                entry["load_text"],
            ),
            runs=tuple(sorted(runs.get(entry["hash"], []))),
            places=places.get(entry["hash"], {}),
            by_turns=plan["order"] == "turns",
        )
        for entry in plan["configurations"]
        # A configuration that is only diagnosed has no row.
        if entry["hash"] in runs or entry["hash"] not in diagnosed
    )


def rankings_of(
    manifest: Document | None, planned: Sequence[model.Planned], runs: Sequence[model.Run]
) -> tuple[model.PlannedRanking, ...]:
    """The rankings of a plan, followed by those that an older plan implies, and those of rows that
    no plan holds."""
    plan = manifest["plan"] if manifest else {}
    rankings = convert(plan.get("rankings", []), list[model.PlannedRanking])

    ranked_keys = {key for ranking in rankings for key in ranking.members}
    identities = [entry.identity for entry in planned] + [run.identity for run in runs]
    unranked = {
        identity.key: identity for identity in identities if identity.key not in ranked_keys
    }
    return (*rankings, *older_rankings(unranked.values(), plan, first_number=len(rankings) + 1))
