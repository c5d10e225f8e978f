"""The highest rate that each target keeps, by the trials of a search (rule M30)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from report.analysis.subjects import subject
from report.analysis.summary import Summary
from report.analysis.texts import LOAD, load_text, varying_fields
from report.base.contract import CONSTANTS
from report.base.format import plural
from report.results.generated.records import LimitedBy
from report.results.identity import Identity
from report.results.model import Campaign
from report.statistics.max_rate_estimate import RateEstimate, estimate_max_rate

_MIN_TRIALS: int = CONSTANTS["min_trials_per_rate"]


class RateTrial(Struct, frozen=True, kw_only=True):
    """A run of the search at one rate."""

    rate_per_second: float
    bracket: bool
    """Whether it brackets the bound. The estimate uses the other trials."""
    status: str
    """`kept`, `missed`, or `void` if its measurement says nothing."""
    reason: str
    """The reason for which the rate was missed, or the trial is void."""
    file: str
    limit: LimitedBy | None
    """The resource that limited the run. None if it is not on record."""


class MaxRate(Struct, frozen=True, kw_only=True):
    """The search for the highest rate of one target."""

    identity: Identity
    """The identity of the target at one of the rates."""
    name: str
    """The label, with the parts of the load in which searches of the target differ."""
    ids: tuple[str, ...]
    """The ids of its rows."""
    objectives: tuple[str, ...]
    trials: tuple[RateTrial, ...]
    """The trials in the order in which they ran."""
    estimate: RateEstimate | None
    """The estimate, or None before there are enough trials near the bound."""
    censored: bool
    """Whether the generator limited most of the misses, so that the target may keep more."""
    ended: str | None
    """`done` or `budget`. None if the search goes on, or was interrupted."""

    @property
    def near(self) -> tuple[RateTrial, ...]:
        """The trials near the bound that count."""
        return tuple(trial for trial in self.trials if not trial.bracket and trial.status != "void")

    @property
    def bracketed(self) -> tuple[float | None, float | None]:
        """The highest rate that was kept, and the lowest one above it that was missed."""
        kept_rates = [trial.rate_per_second for trial in self.trials if trial.status == "kept"]
        highest_kept = max(kept_rates, default=None)

        missed_rates = [
            trial.rate_per_second
            for trial in self.trials
            if trial.status == "missed"
            and (highest_kept is None or trial.rate_per_second > highest_kept)
        ]
        return highest_kept, min(missed_rates, default=None)

    @property
    def limit(self) -> LimitedBy | None:
        """The resource that limited the lowest rate that was missed."""
        missed = [trial for trial in (self.near or self.trials) if trial.status == "missed"]
        if not missed:
            return None
        return min(missed, key=lambda trial: trial.rate_per_second).limit


def _trials(
    campaign: Campaign, manifest: Mapping[str, Any]
) -> dict[str, list[tuple[Identity, RateTrial]]]:
    planned = {entry["file"]: entry for entry in manifest["plan"]["runs"]}
    identities = {entry.identity.configuration_hash: entry.identity for entry in campaign.planned}
    limits = {run.file: run.measured.record.limited_by for run in campaign.runs if run.measured}

    trials_by_subject: dict[str, list[tuple[Identity, RateTrial]]] = {}
    for recorded in manifest["max_rate"]["trials"]:
        file = recorded["file"]
        entry = planned.get(file)
        identity = identities.get(entry["configuration_hash"]) if entry else None
        if entry is None or identity is None:
            continue

        trial = RateTrial(
            rate_per_second=identity.rate_per_second or 0,
            bracket=entry.get("bracket", False),
            status=recorded["status"],
            reason=recorded["reason"],
            file=file,
            limit=limits.get(file),
        )
        key = subject(identity, rate_per_second=None)
        trials_by_subject.setdefault(key, []).append((identity, trial))
    return trials_by_subject


def _is_censored(trials: Sequence[RateTrial]) -> bool:
    """Whether the generator limited at least half of the misses. Such a miss says nothing about the
    target."""
    missed = [trial for trial in trials if trial.status == "missed"]
    by_generator = [
        trial for trial in missed if trial.limit and trial.limit.resource == "generator"
    ]
    return 2 * len(by_generator) >= len(missed) > 0


def _names(identities: Sequence[Identity], summaries: Sequence[Summary]) -> list[str]:
    labels = [identity.label for identity in identities]
    # The search varies the rate, so that subjects differ in no other part of the load than the
    # connections.
    parts = [part for part in varying_fields(summaries) if part is not LOAD]
    connections_differ = len({identity.connections for identity in identities}) > 1

    def name(identity: Identity) -> str:
        connections = ""
        if connections_differ:
            connections = f"up to {plural(identity.connections, 'connection')}"
        return ", ".join(filter(None, (identity.label, load_text(identity, parts), connections)))

    return [
        name(identity) if labels.count(label) > 1 else label
        for label, identity in zip(labels, identities, strict=True)
    ]


def max_rates(campaign: Campaign, summaries: Sequence[Summary]) -> Iterator[MaxRate]:
    manifest = campaign.manifest
    if manifest is None or "max_rate" not in manifest or "max_rate" not in manifest["plan"]:
        return

    by_subject = _trials(campaign, manifest)
    names = _names([members[0][0] for members in by_subject.values()], summaries)
    for name, (key, members) in zip(names, by_subject.items(), strict=True):
        trials = tuple(trial for _, trial in members)
        near = [trial for trial in trials if not trial.bracket and trial.status != "void"]
        outcomes = [(trial.rate_per_second, trial.status == "kept") for trial in near]
        rows = (row for row in summaries if subject(row.identity, rate_per_second=None) == key)
        yield MaxRate(
            identity=members[0][0],
            name=name,
            ids=tuple(row.id for row in rows),
            objectives=tuple(manifest["plan"]["max_rate"]["objectives"]),
            trials=trials,
            estimate=estimate_max_rate(outcomes) if len(near) >= _MIN_TRIALS else None,
            censored=_is_censored(near or trials),
            ended=manifest["max_rate"].get("ended", {}).get("why"),
        )
